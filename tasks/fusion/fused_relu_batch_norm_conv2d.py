"""A two-dimensional convolution, batch normalisation, and ReLU."""

from math import prod

from tasks.convolution import conv2d
from tasks.lazy import torch
from tasks.spec import Task


def reference(
    input, weight, bias=None, stride=1, padding=0, dilation=1, groups=1, running_mean=None, running_var=None,
    bn_weight=None, bn_bias=None, training=False, momentum=0.1, eps=1e-5, inplace=False,
):  # fmt: skip
    out = torch.nn.functional.conv2d(input, weight, bias, stride, padding, dilation, groups)
    out = torch.nn.functional.batch_norm(
        out, running_mean, running_var, bn_weight, bn_bias, training, momentum, eps
    )
    return torch.nn.functional.relu(out, inplace=inplace)


def inputs(
    make, x, w, bias=True, stride=1, padding=0, dilation=1, groups=1, affine=True, outliers=0.0, **options
):
    # Results of the convolution are near 1, and running statistics are of such values.
    weight = make.normal(*w, std=prod(w[1:]) ** -0.5)
    geometry = [tuple(v) if isinstance(v, list) else v for v in (stride, padding, dilation, groups)]
    mean, variance = make.normal(w[0], std=0.5), make.uniform(w[0], low=0.5, high=2.0)
    scale, shift = (make.normal(w[0]), make.normal(w[0])) if affine else (None, None)
    arguments = [make.normal(*x, outliers=outliers), weight, make.normal(w[0]) if bias else None, *geometry]
    return [*arguments, mean, variance, scale, shift], options


def bytes_moved(x, w, itemsize, bias=True, stride=1, padding=0, dilation=1, affine=True, training=False):
    """Convolution and one parameter of each kind a channel; in training the statistics are written too."""
    channel = 2 + 2 * affine + 2 * training
    return conv2d.bytes_moved(x, w, itemsize, bias, stride, padding, dilation) + w[0] * channel * itemsize


def flops(x, w, bias=True, stride=1, padding=0, dilation=1, training=False):
    """The convolution; difference, scaling, shift and ReLU; in training the statistics: four an element."""
    out = prod(conv2d.output_shape(x, w, stride, padding, dilation))
    return conv2d.flops(x, w, bias, stride, padding, dilation) + out * (4 + 4 * training)


TASK = Task(
    name="fused_relu_batch_norm_conv2d",
    category="Fusion",
    signature=(
        "fused_relu_batch_norm_conv2d(input, weight, bias=None, stride=1, padding=0, dilation=1, groups=1, "
        "running_mean=None, running_var=None, bn_weight=None, bn_bias=None, training=False, momentum=0.1, eps=1e-5, "
        "inplace=False) -> Tensor"
    ),
    prompt=(
        "Three steps on float32 tensors, in this order. Two-dimensional cross-correlation of `input` (N, C, H, W) with "
        "`weight` (O, C / groups, kH, kW), plus `bias` (O) unless it is None, with zeros outside the input; `stride`, "
        "`padding` and `dilation` are a number or a pair (vertical, horizontal), and channels are split into `groups` "
        "that do not mix. Batch normalisation of each output channel: (z - mean) / sqrt(var + eps) * bn_weight + "
        "bn_bias, where `bn_weight` and `bn_bias` are (O), or None for 1 and 0. ReLU: max(·, 0). With `training`=False "
        "mean and var are `running_mean` and `running_var`, both (O). With training=True they are the mean and the "
        "biased variance of the channel over N, H' and W', and the running ones are updated in place: new = "
        "(1 - momentum) * old + momentum * batch, with `momentum` a number and the unbiased variance (divided by one "
        "less) for running_var. `eps` is a number; `inplace` concerns a temporary only."
    ),
    formula=r"y = \max(\mathrm{batchnorm}(\mathrm{conv2d}(x, w) + b), 0)",
    reference=reference,
    inputs=inputs,
    mutates=(7, 8),
    correctness=[
        {"x": [1, 3, 5, 5], "w": [2, 3, 3, 3]},
        {"x": [4, 3, 16, 16], "w": [6, 3, 3, 3], "padding": 1, "training": True, "momentum": 0.1},
        {"x": [4, 3, 16, 16], "w": [6, 3, 3, 3], "padding": 1, "stride": 2, "affine": False},
        {"x": [2, 3, 16, 17], "w": [8, 3, 3, 3], "padding": 1, "training": True, "outliers": 1e-2},
        {"x": [2, 4, 9, 7], "w": [6, 2, 3, 3], "bias": False, "dilation": 2, "groups": 2, "inplace": True},
        {"x": [2, 5, 13, 11], "w": [7, 5, 2, 4], "stride": [2, 1], "padding": [1, 2], "training": True,
         "momentum": 0.3, "eps": 1e-2, "affine": False},
        {"x": [4, 64, 32, 32], "w": [128, 64, 3, 3], "bias": False, "padding": 1},
    ],
    timing=[
        {"x": [1, 64 << p, 32 << p, 32 << p], "w": [128 << p, 64 << p, 3, 3], "bias": False, "padding": 1}
        for p in range(5)
    ],
    bytes_moved=bytes_moved,
    flops=flops,
)  # fmt: skip
