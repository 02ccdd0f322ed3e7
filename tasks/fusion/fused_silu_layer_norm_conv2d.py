"""A two-dimensional convolution, layer normalisation of each sample, and SiLU."""

from math import prod

from tasks.convolution import conv2d
from tasks.lazy import torch
from tasks.spec import Task


def reference(
    x, weight, conv_weight, conv_bias=None, conv_stride=1, conv_padding=0, conv_dilation=1, conv_groups=1,
    ln_eps=1e-5,
):  # fmt: skip
    out = torch.nn.functional.conv2d(
        x, conv_weight, conv_bias, conv_stride, conv_padding, conv_dilation, conv_groups
    )
    out = torch.nn.functional.layer_norm(out, out.shape[1:], eps=ln_eps)
    if weight is not None:
        out = out * weight.reshape(-1, 1, 1)
    return torch.nn.functional.silu(out)


def weight_ignored(x, weight, conv_weight, conv_bias=None, **options):
    return reference(x, None, conv_weight, conv_bias, **options)


def inputs(make, shape, w, weight=False, bias=False, outliers=0.0, **options):
    scale = make.normal(w[0]) if weight else None
    tensors = [make.normal(*shape, outliers=outliers), scale, make.normal(*w)]
    return [*tensors, make.normal(w[0])] if bias else tensors, options


def bytes_moved(shape, w, itemsize, weight=False, bias=False, conv_stride=1, conv_padding=0, conv_dilation=1):
    convolution = conv2d.bytes_moved(shape, w, itemsize, bias, conv_stride, conv_padding, conv_dilation)
    return convolution + weight * w[0] * itemsize


def flops(shape, w, bias=False, conv_stride=1, conv_padding=0, conv_dilation=1):
    """The convolution; six an element for mean, variance and scaling, one for the weight, four for SiLU."""
    out = prod(conv2d.output_shape(shape, w, conv_stride, conv_padding, conv_dilation))
    return conv2d.flops(shape, w, bias, conv_stride, conv_padding, conv_dilation) + 11 * out


TASK = Task(
    name="fused_silu_layer_norm_conv2d",
    category="Fusion",
    signature=(
        "fused_silu_layer_norm_conv2d(x, weight, conv_weight, conv_bias=None, conv_stride=1, conv_padding=0, "
        "conv_dilation=1, conv_groups=1, ln_eps=1e-5) -> Tensor"
    ),
    prompt=(
        "Three steps on float32 tensors, in this order. Two-dimensional cross-correlation of `x` (N, C, H, W) with "
        "`conv_weight` (O, C / groups, kH, kW), plus `conv_bias` (O) unless it is None, with zeros outside the input; "
        "`conv_stride`, `conv_padding` and `conv_dilation` are numbers, and channels are split into `conv_groups` that "
        "do not mix. Layer normalisation of each sample: (z - mean) / sqrt(variance + ln_eps), mean and biased "
        "variance over all its channels, rows and columns together, then times weight[channel]; `weight` is (O), or "
        "None for no factor, and `ln_eps` a number. SiLU: n / (1 + exp(-n)) of every element n. The result is "
        "(N, O, H', W')."
    ),
    formula=r"y = \mathrm{silu}(\mathrm{layernorm}(\mathrm{conv2d}(x, w) + b)\,\gamma)",
    reference=reference,
    inputs=inputs,
    # The published code never reads the weight of the normalisation that its text describes.
    variants={"the weight of the normalisation is ignored": weight_ignored},
    correctness=[
        {"shape": [1, 3, 5, 5], "w": [6, 3, 3, 3]},
        {"shape": [1, 3, 5, 5], "w": [6, 3, 3, 3], "bias": True},
        {"shape": [1, 3, 5, 5], "w": [6, 3, 3, 3], "conv_stride": 2, "conv_padding": 1},
        {"shape": [1, 3, 5, 5], "w": [6, 3, 3, 3], "conv_dilation": 2, "ln_eps": 0.1},
        {"shape": [2, 4, 9, 7], "w": [6, 2, 3, 3], "weight": True, "bias": True, "conv_groups": 2},
        {"shape": [2, 3, 16, 16], "w": [8, 3, 3, 3], "bias": True, "conv_padding": 1, "outliers": 1e-2},
        {"shape": [2, 5, 13, 11], "w": [7, 5, 2, 4], "weight": True, "conv_stride": 2, "conv_padding": 1},
        {"shape": [4, 16, 64, 64], "w": [64, 16, 3, 3], "weight": True, "bias": True},
    ],
    timing=[
        {"shape": [1 << p, 8 << p, 32 << p, 32 << p], "w": [64, 8 << p, 3, 3], "weight": True, "bias": True}
        for p in range(5)
    ],
    bytes_moved=bytes_moved,
    flops=flops,
)  # fmt: skip
