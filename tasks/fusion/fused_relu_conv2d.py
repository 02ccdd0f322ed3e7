"""A two-dimensional convolution whose result goes through ReLU."""

from tasks.convolution import conv2d
from tasks.lazy import torch
from tasks.spec import Task


def reference(input, weight, bias=None, stride=1, padding=0, dilation=1, groups=1, inplace=False):
    out = torch.nn.functional.conv2d(input, weight, bias, stride, padding, dilation, groups)
    return torch.nn.functional.relu(out, inplace=inplace)


def flops(x, w, bias=False, stride=1, padding=0, dilation=1):
    out = conv2d.output_shape(x, w, stride, padding, dilation)
    return conv2d.flops(x, w, bias, stride, padding, dilation) + out[0] * out[1] * out[2] * out[3]


TASK = Task(
    name="fused_relu_conv2d",
    category="Fusion",
    signature=(
        "fused_relu_conv2d(input, weight, bias=None, stride=1, padding=0, dilation=1, groups=1, inplace=False) "
        "-> Tensor"
    ),
    prompt=(
        "Two-dimensional cross-correlation of `input` (N, C, H, W) with `weight` (O, C / groups, kH, kW), plus `bias` "
        "(O) unless it is None, and then max(·, 0) of every element of the result. Elements outside the input count as "
        "zero. `stride`, `padding` and `dilation` are a number or a pair (vertical, horizontal); `padding` may also be "
        "'valid' or 'same'. The result (N, O, H', W') has the input's dtype and H' = floor((H + 2 pH - dH (kH - 1) "
        "- 1) / sH) + 1. `inplace` concerns a temporary only: the arguments never change."
    ),
    formula=r"y = \max(\mathrm{conv2d}(x, w) + b, 0)",
    reference=reference,
    inputs=conv2d.inputs,
    correctness=[
        {"x": [1, 3, 5, 5], "w": [2, 3, 3, 3]},
        {"x": [1, 3, 5, 5], "w": [2, 3, 3, 3], "bias": True},
        {"x": [1, 3, 5, 5], "w": [2, 3, 3, 3], "stride": 2, "padding": 1},
        {"x": [1, 4, 6, 6], "w": [2, 2, 3, 3], "dilation": 2, "groups": 2},
        {"x": [2, 3, 32, 32], "w": [8, 3, 3, 3], "bias": True, "stride": 1, "padding": 1, "outliers": 1e-2},
        {"x": [2, 5, 13, 11], "w": [7, 5, 2, 4], "bias": True, "stride": [2, 1], "padding": [1, 2]},
        {"x": [1, 3, 8, 8], "w": [4, 3, 3, 3], "padding": "same", "inplace": True},
        {"x": [1, 3, 256, 256], "w": [64, 3, 3, 3], "padding": 1},
    ],
    timing=[
        {"x": [1, 3, 1 << p, 1 << p], "w": [64, 3, 3, 3], "stride": 1, "padding": 1, "inplace": False}
        for p in range(5, 12)
    ],
    bytes_moved=conv2d.bytes_moved,
    flops=flops,
)
