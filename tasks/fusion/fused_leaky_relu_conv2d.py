"""A two-dimensional convolution whose result goes through leaky ReLU."""

from math import prod

from tasks.convolution import conv2d
from tasks.lazy import torch
from tasks.spec import Task


def reference(
    input, weight, bias=None, stride=1, padding=0, dilation=1, groups=1, negative_slope=0.01, inplace=False
):
    out = torch.nn.functional.conv2d(input, weight, bias, stride, padding, dilation, groups)
    return torch.nn.functional.leaky_relu(out, negative_slope, inplace=inplace)


def flops(x, w, bias=False, stride=1, padding=0, dilation=1):
    """The convolution, and a comparison and a product an element."""
    return conv2d.flops(x, w, bias, stride, padding, dilation) + 2 * prod(
        conv2d.output_shape(x, w, stride, padding, dilation)
    )


TASK = Task(
    name="fused_leaky_relu_conv2d",
    category="Fusion",
    signature=(
        "fused_leaky_relu_conv2d(input, weight, bias=None, stride=1, padding=0, dilation=1, groups=1, "
        "negative_slope=0.01, inplace=False) -> Tensor"
    ),
    prompt=(
        "Two-dimensional cross-correlation of `input` (N, C, H, W) with `weight` (O, C / groups, kH, kW), plus `bias` "
        "(O) unless it is None; then every negative element of the result is multiplied by `negative_slope`. Elements "
        "outside the input count as zero. `stride`, `padding` and `dilation` are a number or a pair (vertical, "
        "horizontal); channels are split into `groups` that do not mix. The result (N, O, H', W') has the input's "
        "dtype and H' = floor((H + 2 pH - dH (kH - 1) - 1) / sH) + 1. `inplace` concerns a temporary only: the "
        "arguments never change."
    ),
    formula=r"y = \max(z, 0) + a \min(z, 0),\quad z = \mathrm{conv2d}(x, w) + b",
    reference=reference,
    inputs=conv2d.inputs,
    correctness=[
        {"x": [1, 3, 8, 8], "w": [2, 3, 3, 3]},
        {"x": [1, 3, 16, 17], "w": [6, 3, 3, 3], "bias": True},
        {"x": [1, 3, 16, 17], "w": [6, 3, 3, 3], "bias": True, "stride": 2, "padding": 1},
        {"x": [1, 6, 16, 16], "w": [6, 1, 3, 3], "bias": True, "dilation": 2, "groups": 6},
        {"x": [1, 3, 16, 17], "w": [6, 3, 3, 3], "bias": True, "negative_slope": 0.1, "inplace": True},
        {"x": [2, 3, 16, 16], "w": [8, 3, 3, 3], "bias": True, "padding": 1, "negative_slope": 0.1,
         "outliers": 1e-2},
        {"x": [2, 5, 13, 11], "w": [7, 5, 2, 4], "bias": True, "stride": [2, 1], "padding": [1, 2]},
        {"x": [1, 3, 512, 512], "w": [6, 3, 3, 3], "bias": True},
    ],
    timing=[{"x": [1, 3, size, size], "w": [6, 3, 3, 3], "bias": True} for size in range(256, 1409, 128)],
    bytes_moved=conv2d.bytes_moved,
    flops=flops,
)  # fmt: skip
