"""A two-dimensional convolution whose result goes through GELU."""

from math import prod

from tasks.convolution import conv2d
from tasks.lazy import torch
from tasks.spec import Task


def reference(input, weight, bias=None, stride=1, padding=0, dilation=1, groups=1, approximate="none"):
    out = torch.nn.functional.conv2d(input, weight, bias, stride, padding, dilation, groups)
    return torch.nn.functional.gelu(out, approximate=approximate)


def flops(x, w, bias=False, stride=1, padding=0, dilation=1):
    """The convolution, and five for GELU."""
    out = prod(conv2d.output_shape(x, w, stride, padding, dilation))
    return conv2d.flops(x, w, bias, stride, padding, dilation) + 5 * out


TASK = Task(
    name="fused_gelu_conv2d",
    category="Fusion",
    signature=(
        "fused_gelu_conv2d(input, weight, bias=None, stride=1, padding=0, dilation=1, groups=1, approximate='none') "
        "-> Tensor"
    ),
    prompt=(
        "Two-dimensional cross-correlation of `input` (N, C, H, W) with `weight` (O, C / groups, kH, kW), plus `bias` "
        "(O) unless it is None, and then GELU of every element c of the result: 0.5 * c * (1 + erf(c / sqrt(2))) with "
        "approximate='none', or 0.5 * c * (1 + tanh(sqrt(2/pi) * (c + 0.044715 * c**3))) with approximate='tanh'. "
        "Elements outside the input count as zero. `stride`, `padding` and `dilation` are a number or a pair "
        "(vertical, horizontal); `padding` may also be 'valid' or 'same'. Channels are split into `groups` that do not "
        "mix. The result (N, O, H', W') has the input's dtype and H' = floor((H + 2 pH - dH (kH - 1) - 1) / sH) + 1."
    ),
    formula=r"y = \mathrm{GELU}(\mathrm{conv2d}(x, w) + b)",
    reference=reference,
    inputs=conv2d.inputs,
    correctness=[
        {"x": [1, 3, 5, 5], "w": [2, 3, 3, 3]},
        {"x": [1, 1, 1, 1], "w": [1, 1, 1, 1]},
        {"x": [1, 3, 5, 5], "w": [2, 3, 3, 3], "bias": True},
        {"x": [1, 3, 8, 8], "w": [2, 3, 3, 3], "stride": 2, "padding": 1},
        {"x": [1, 4, 10, 10], "w": [4, 1, 3, 3], "dilation": 2, "groups": 4},
        {"x": [2, 3, 32, 32], "w": [8, 3, 3, 3], "bias": True, "padding": 1, "approximate": "tanh"},
        {"x": [2, 5, 13, 11], "w": [7, 5, 2, 4], "bias": True, "stride": [2, 1], "padding": [1, 2]},
        {"x": [1, 3, 8, 8], "w": [4, 3, 3, 3], "padding": "same"},
        {"x": [2, 3, 32, 32], "w": [8, 3, 3, 3], "bias": True, "padding": 1, "outliers": 1e-2},
        {"x": [4, 16, 90, 90], "w": [32, 16, 3, 3], "padding": 1},
    ],
    # The largest published size, 1448, does not fit the footprint that is timed.
    timing=[
        {"x": [16, 16, n, n], "w": [32, 16, 3, 3], "padding": 1}
        for n in (16, 22, 32, 45, 64, 90, 128, 181, 256, 362, 512, 724, 1024)
    ],
    bytes_moved=conv2d.bytes_moved,
    flops=flops,
)
