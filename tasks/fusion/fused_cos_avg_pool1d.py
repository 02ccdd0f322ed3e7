"""Cosine of every element, then averages over windows of the last dimension."""

from math import prod

from tasks.lazy import torch
from tasks.spec import Task


def reference(input, kernel_size, stride=None, padding=0, ceil_mode=False, count_include_pad=True):
    pool = torch.nn.functional.avg_pool1d
    return pool(torch.cos(input), kernel_size, stride, padding, ceil_mode, count_include_pad)


def inputs(make, shape, std=2.0, outliers=0.0, **options):
    return [make.normal(*shape, std=std, outliers=outliers)], options


def _length(length, kernel_size, stride=None, padding=0, ceil_mode=False):
    stride = stride or kernel_size
    room = length + 2 * padding - kernel_size
    windows = -(-room // stride) if ceil_mode else room // stride
    # A last window that would begin in the padding on the right is left out.
    return windows + 1 - (ceil_mode and windows * stride >= length + padding)


def bytes_moved(shape, kernel_size, itemsize, stride=None, padding=0, ceil_mode=False):
    """Input and averages."""
    averages = prod(shape[:-1]) * _length(shape[-1], kernel_size, stride, padding, ceil_mode)
    return (prod(shape) + averages) * itemsize


TASK = Task(
    name="fused_cos_avg_pool1d",
    category="Fusion",
    signature=(
        "fused_cos_avg_pool1d(input, kernel_size, stride=None, padding=0, ceil_mode=False, count_include_pad=True) "
        "-> Tensor"
    ),
    prompt=(
        "Take the cosine of every element of `input`, float32 (N, C, L) in radians, and average it over windows of "
        "`kernel_size` neighbours along L that are `stride` apart (None: kernel_size). Before pooling, and after the "
        "cosine, `padding` zeros are added on each side, at most half a window. There are floor((L + 2 padding - "
        "kernel_size) / stride) + 1 windows. With ceil_mode=True it is ceil in place of floor, so that the last window "
        "may reach beyond the padded row; a window that would begin in the padding on the right is left out. A window "
        "is divided by the number of its positions within the padded row, or with count_include_pad=False by those "
        "that are no padding."
    ),
    formula=r"y = \mathrm{avgpool}(\cos x)",
    reference=reference,
    inputs=inputs,
    correctness=[
        {"shape": [1, 1, 5], "kernel_size": 2},
        {"shape": [1, 1, 1], "kernel_size": 1},
        {"shape": [1, 1, 5], "kernel_size": 2, "stride": 1},
        {"shape": [1, 1, 5], "kernel_size": 2, "padding": 1},
        {"shape": [1, 1, 5], "kernel_size": 2, "ceil_mode": True},
        {"shape": [2, 3, 11], "kernel_size": 4, "stride": 3, "padding": 2, "count_include_pad": False},
        {"shape": [2, 3, 13], "kernel_size": 5, "stride": 3, "padding": 1, "ceil_mode": True},
        {"shape": [2, 3, 10], "kernel_size": 4, "stride": 3, "padding": 2, "ceil_mode": True},
        {"shape": [4, 16, 256], "kernel_size": 4, "stride": 2, "padding": 1, "outliers": 1e-2},
        {"shape": [3, 7, 1031], "kernel_size": 3, "outliers": 1e-3},
        {"shape": [8, 16, 4099], "kernel_size": 7, "stride": 2, "padding": 3},
    ],
    timing=[{"shape": [32, 32, 128 * n], "kernel_size": 3} for n in range(12, 24)],
    bytes_moved=bytes_moved,
    flops=lambda shape: 2 * prod(shape),  # a cosine and a sum
)
