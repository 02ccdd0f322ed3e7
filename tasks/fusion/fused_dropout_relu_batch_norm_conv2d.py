"""A two-dimensional convolution, batch normalisation, ReLU, dropout."""

from math import prod

from tasks.convolution import conv2d
from tasks.lazy import torch
from tasks.spec import Task


def reference(
    input,
    weight,
    bias=None,
    stride=1,
    padding=0,
    dilation=1,
    groups=1,
    p=0.5,
    training=True,
    inplace=False,
):
    functional = torch.nn.functional
    out = functional.conv2d(input, weight, bias, stride, padding, dilation, groups)
    out = functional.batch_norm(out, None, None, training=True)  # there are no running statistics
    return functional.dropout(functional.relu(out, inplace=inplace), p, training, inplace)


def flops(x, w, bias=False, stride=1, padding=0, dilation=1):
    """The convolution; mean, three for the variance, difference, scaling, maximum, and scaling."""
    out = prod(conv2d.output_shape(x, w, stride, padding, dilation))
    return conv2d.flops(x, w, bias, stride, padding, dilation) + 8 * out


TASK = Task(
    name="fused_dropout_relu_batch_norm_conv2d",
    category="Fusion",
    signature=(
        "fused_dropout_relu_batch_norm_conv2d(input, weight, bias=None, stride=1, padding=0, dilation=1, groups=1, "
        "p=0.5, training=True, inplace=False) -> Tensor"
    ),
    prompt=(
        "Four steps on float32 tensors, in this order. Two-dimensional cross-correlation of `input` (N, C, H, W) with "
        "`weight` (O, C / groups, kH, kW), plus `bias` (O) unless it is None; elements outside the input count as "
        "zero; `stride`, `padding` and `dilation` are a number or a pair (vertical, horizontal), and channels are "
        "split into `groups`. Batch normalisation of the result c, whatever `training` is: for each channel, over N "
        "and all positions, (c - mean) / sqrt(variance + 1e-5) with the biased variance; there are no learnable "
        "parameters and no running statistics. ReLU: max(·, 0). Dropout with training=True: every element is zeroed "
        "with probability `p`, independently and anew with every call, and the others are multiplied by 1 / (1 - p); "
        "with training=False, or with p = 0, nothing happens. `inplace` concerns temporaries only: the arguments never "
        "change. The result is (N, O, H', W') with H' = floor((H + 2 pH - dH (kH - 1) - 1) / sH) + 1."
    ),
    formula=r"y = \mathrm{dropout}_p(\max(\mathrm{batchnorm}(\mathrm{conv2d}(x, w) + b), 0))",
    reference=reference,
    inputs=conv2d.inputs,
    comparator="dropout",
    correctness=[
        {"x": [1, 3, 8, 8], "w": [6, 3, 3, 3], "bias": True},
        {"x": [1, 3, 8, 8], "w": [6, 3, 3, 3], "bias": True, "p": 0.0},
        {"x": [1, 1, 3, 3], "w": [1, 1, 1, 1], "p": 0.0},
        {"x": [1, 3, 8, 8], "w": [6, 3, 3, 3], "bias": True, "stride": 2, "padding": 1, "p": 0.0},
        {"x": [1, 3, 8, 8], "w": [6, 3, 3, 3], "bias": True, "p": 0.3, "training": False},
        {"x": [1, 6, 8, 8], "w": [6, 1, 3, 3], "bias": True, "groups": 6, "p": 0.0},
        {"x": [2, 3, 32, 32], "w": [8, 3, 3, 3], "bias": True, "padding": 1, "p": 0.0, "outliers": 1e-2},
        {"x": [2, 5, 13, 11], "w": [7, 5, 2, 4], "dilation": 2, "padding": [1, 2], "p": 0.0, "inplace": True},
        {"x": [2, 3, 65, 127], "w": [17, 3, 3, 3], "bias": True, "p": 0.0, "outliers": 1e-3},
        {"x": [1, 6, 8, 8], "w": [6, 1, 3, 3], "bias": True, "groups": 6, "p": 0.3},
        {"x": [2, 3, 32, 32], "w": [8, 3, 3, 3], "bias": True, "padding": 1, "p": 0.1, "training": True},
        {"x": [2, 3, 65, 63], "w": [17, 3, 3, 3], "p": 0.3, "inplace": True},
        {"x": [4, 3, 128, 128], "w": [64, 3, 3, 3], "bias": True, "p": 0.0},
    ],
    timing=[
        {"x": [1, 3, 1 << p, 1 << p], "w": [64, 3, 3, 3], "bias": True, "stride": 1, "padding": 0, "p": 0.5}
        for p in range(5, 12)
    ],
    bytes_moved=conv2d.bytes_moved,
    flops=flops,
)
