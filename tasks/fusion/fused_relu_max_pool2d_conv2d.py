"""A two-dimensional convolution, the largest element of each window, and ReLU."""

from math import prod

from tasks.convolution import conv2d
from tasks.lazy import torch
from tasks.spec import Task


def reference(
    input, weight, bias=None, conv_stride=1, conv_padding=0, conv_dilation=1, conv_groups=1,
    pool_kernel_size=2, pool_stride=None, pool_padding=0, pool_dilation=1, pool_ceil_mode=False, inplace=False,
):  # fmt: skip
    out = torch.nn.functional.conv2d(
        input, weight, bias, conv_stride, conv_padding, conv_dilation, conv_groups
    )
    out = torch.nn.functional.max_pool2d(
        out, pool_kernel_size, pool_stride, pool_padding, pool_dilation, pool_ceil_mode
    )
    return torch.nn.functional.relu(out, inplace=inplace)


def bytes_moved(
    x, w, itemsize, bias=False, conv_stride=1, conv_padding=0, conv_dilation=1, pool_kernel_size=2,
    pool_stride=None, pool_padding=0, pool_dilation=1, pool_ceil_mode=False,
):  # fmt: skip
    """Input, weight, bias and the pooled result; what the convolution gives need not leave the chip."""
    size, step = pool_kernel_size, pool_stride or pool_kernel_size
    full = conv2d.output_shape(x, w, conv_stride, conv_padding, conv_dilation)
    pooled = [_windows(n, size, step, pool_padding, pool_dilation, pool_ceil_mode) for n in full[2:]]
    return (prod(x) + prod(w) + bias * w[0] + full[0] * full[1] * prod(pooled)) * itemsize


def _windows(n, size, step, padding, dilation, ceil):
    free = n + 2 * padding - dilation * (size - 1) - 1
    count = -(-free // step) + 1 if ceil else free // step + 1
    # With ceil the last window must begin inside the input or its left padding.
    return count - 1 if ceil and (count - 1) * step >= n + padding else count


def flops(x, w, bias=False, conv_stride=1, conv_padding=0, conv_dilation=1):
    """The convolution, and about one comparison for each of its elements."""
    out = prod(conv2d.output_shape(x, w, conv_stride, conv_padding, conv_dilation))
    return conv2d.flops(x, w, bias, conv_stride, conv_padding, conv_dilation) + out


TASK = Task(
    name="fused_relu_max_pool2d_conv2d",
    category="Fusion",
    signature=(
        "fused_relu_max_pool2d_conv2d(input, weight, bias=None, conv_stride=1, conv_padding=0, conv_dilation=1, "
        "conv_groups=1, pool_kernel_size=2, pool_stride=None, pool_padding=0, pool_dilation=1, pool_ceil_mode=False, "
        "inplace=False) -> Tensor"
    ),
    prompt=(
        "Three steps on float32 tensors, in this order. Two-dimensional cross-correlation of `input` (N, C, H, W) with "
        "`weight` (O, C / groups, kH, kW), plus `bias` (O) unless it is None, with zeros outside the input; "
        "`conv_stride`, `conv_padding` and `conv_dilation` are a number or a pair (vertical, horizontal), and channels "
        "are split into `conv_groups` that do not mix. Max pooling: the largest element of each window of "
        "`pool_kernel_size` rows and columns, `pool_dilation` apart, at steps of `pool_stride` (None: the window's "
        "size), where `pool_padding` rows and columns around the image count as -inf; there are floor((H' + 2 p - "
        "d (k - 1) - 1) / s) + 1 windows in each direction. With `pool_ceil_mode`=True it is ceil in place of floor, "
        "without windows that begin beyond the image and its first padding. ReLU: max(·, 0). `inplace` concerns a "
        "temporary only: the arguments never change."
    ),
    formula=r"y = \max(\mathrm{maxpool}(\mathrm{conv2d}(x, w) + b), 0)",
    reference=reference,
    inputs=conv2d.inputs,
    correctness=[
        {"x": [1, 3, 8, 8], "w": [6, 3, 3, 3]},
        {"x": [1, 3, 8, 8], "w": [6, 3, 3, 3], "bias": True},
        {"x": [1, 3, 8, 8], "w": [6, 3, 3, 3], "conv_stride": 2, "conv_padding": 1},
        {"x": [1, 3, 8, 8], "w": [6, 3, 3, 3], "pool_kernel_size": 3, "pool_stride": 2, "pool_padding": 1},
        {"x": [1, 4, 12, 11], "w": [6, 2, 3, 3], "bias": True, "conv_dilation": 2, "conv_groups": 2,
         "inplace": True},
        {"x": [1, 3, 9, 11], "w": [2, 3, 3, 3], "pool_dilation": 2, "pool_stride": 1},
        {"x": [1, 3, 14, 17], "w": [2, 3, 3, 3], "pool_kernel_size": 3, "pool_ceil_mode": True},
        {"x": [2, 3, 12, 14], "w": [4, 3, 3, 3], "bias": True, "conv_stride": 1, "conv_padding": 1,
         "pool_kernel_size": 2, "pool_stride": 2, "pool_padding": 0, "inplace": False, "outliers": 1e-2},
        {"x": [2, 3, 258, 258], "w": [64, 3, 3, 3], "bias": True},
    ],
    # The largest published size, 8194, does not fit the footprint that is timed.
    timing=[
        {"x": [1, 3, (1 << p) + 2, (1 << p) + 2], "w": [64, 3, 3, 3], "bias": True, "conv_stride": 1,
         "conv_padding": 0, "pool_kernel_size": 2, "pool_stride": 2}
        for p in range(5, 13)
    ],
    bytes_moved=bytes_moved,
    flops=flops,
)  # fmt: skip
