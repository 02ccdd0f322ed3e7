"""A two-dimensional convolution, SELU, and instance normalisation of the result."""

from math import prod

from tasks.convolution import conv2d
from tasks.lazy import torch
from tasks.spec import Task


def reference(input, weight, bias=None, stride=1, padding=0, dilation=1, groups=1, eps=1e-5):
    out = torch.nn.functional.conv2d(input, weight, bias, stride, padding, dilation, groups)
    return torch.nn.functional.instance_norm(torch.selu(out), eps=eps)


def flops(x, w, bias=False, stride=1, padding=0, dilation=1):
    """The convolution; three an element for SELU, six for mean, variance and scaling."""
    return conv2d.flops(x, w, bias, stride, padding, dilation) + 9 * prod(
        conv2d.output_shape(x, w, stride, padding, dilation)
    )


TASK = Task(
    name="fused_instance_norm_selu_conv2d",
    category="Fusion",
    signature=(
        "fused_instance_norm_selu_conv2d(input, weight, bias=None, stride=1, padding=0, dilation=1, groups=1, "
        "num_features=None, eps=1e-5, momentum=0.1, affine=False, track_running_stats=False) -> Tensor"
    ),
    prompt=(
        "Three steps on float32 tensors, in this order. Two-dimensional cross-correlation of `input` (N, C, H, W) with "
        "`weight` (O, C / groups, kH, kW), plus `bias` (O) unless it is None, with zeros outside the input; `stride`, "
        "`padding` and `dilation` are a number or a pair (vertical, horizontal), and channels are split into `groups` "
        "that do not mix. SELU of every element: 1.0507009873554805 * (z if z > 0 else 1.6732632423543772 * "
        "(exp(z) - 1)). Instance normalisation: for each sample and channel (s - mean) / sqrt(variance + eps), mean "
        "and biased variance over its H' * W' > 1 elements. There are no learnable parameters and no running "
        "statistics: `num_features`, `momentum`, `affine` and `track_running_stats` have no effect."
    ),
    formula=r"y = \mathrm{instancenorm}(\mathrm{selu}(\mathrm{conv2d}(x, w) + b))",
    reference=reference,
    inputs=conv2d.inputs,
    correctness=[
        {"x": [1, 3, 5, 5], "w": [3, 3, 3, 3]},
        {"x": [1, 3, 5, 5], "w": [3, 3, 3, 3], "stride": 2},
        {"x": [1, 3, 5, 5], "w": [3, 3, 3, 3], "padding": 1, "eps": 0.1},
        {"x": [2, 4, 9, 7], "w": [6, 2, 3, 3], "bias": True, "dilation": 2, "groups": 2},
        {"x": [2, 3, 16, 17], "w": [8, 3, 3, 3], "bias": True, "padding": 1},
        {"x": [2, 3, 16, 16], "w": [8, 3, 3, 3], "bias": True, "padding": 1, "outliers": 1e-2},
        {"x": [2, 5, 13, 11], "w": [7, 5, 2, 4], "bias": True, "stride": [2, 1], "padding": [1, 2]},
        {"x": [2, 16, 128, 128], "w": [64, 16, 3, 3], "bias": True},
    ],
    # The largest published size does not fit the footprint that is timed.
    timing=[
        {"x": [1 << p, 8 << p, 32 << p, 32 << p], "w": [64, 8 << p, 3, 3], "bias": True, "stride": 1,
         "padding": 0, "dilation": 1, "groups": 1, "eps": 1e-5}
        for p in range(5)
    ],
    bytes_moved=conv2d.bytes_moved,
    flops=flops,
)  # fmt: skip
