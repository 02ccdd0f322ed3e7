"""Averages over a window that slides along the last dimension."""

from math import prod

from tasks.lazy import torch
from tasks.spec import Task


def reference(input, kernel_size, stride=None, padding=0):
    return torch.nn.functional.avg_pool1d(input, kernel_size, stride=stride, padding=padding)


def inputs(make, shape, outliers=0.0, **options):
    return [make.normal(*shape, outliers=outliers)], options


def _output(shape, kernel_size, stride=None, padding=0):
    length = (shape[-1] + 2 * padding - kernel_size) // (stride or kernel_size) + 1
    return prod(shape[:-1]) * length


TASK = Task(
    name="avg_pool1d",
    category="Pooling",
    signature="avg_pool1d(input, kernel_size, stride=None, padding=0) -> Tensor",
    prompt=(
        "Average-pool the last dimension of `input`, float32 (N, C, L): element l of the result is the sum of "
        "input[…, l * stride - padding + m] over m = 0 … kernel_size - 1, divided by kernel_size. Elements outside the "
        "input count as zero and still count in the divisor. `stride` is the kernel size where it is None; `padding` "
        "is at most half of it. The result has length floor((L + 2 * padding - kernel_size) / stride) + 1."
    ),
    formula=r"y_l = \frac{1}{k} \sum_{m < k} x_{l s - p + m}",
    reference=reference,
    inputs=inputs,
    correctness=[
        {"shape": [2, 4, 16], "kernel_size": 2},
        {"shape": [1, 1, 1], "kernel_size": 1},
        {"shape": [2, 4, 32], "kernel_size": 4, "stride": 2},
        {"shape": [2, 4, 16], "kernel_size": 3, "stride": 1, "padding": 1},
        {"shape": [3, 5, 17], "kernel_size": 3},
        {"shape": [3, 5, 17], "kernel_size": 2, "stride": 3},
        {"shape": [2, 3, 131], "kernel_size": 7, "stride": 4, "padding": 3, "outliers": 1e-2},
        {"shape": [2, 64, 1031], "kernel_size": 2, "outliers": 1e-3},
        {"shape": [2, 64, 4099], "kernel_size": 5, "stride": 2, "padding": 2},
    ],
    timing=[{"shape": [2, 64, 1 << p], "kernel_size": 2} for p in range(10, 16)],
    bytes_moved=lambda shape, itemsize, kernel_size, stride=None, padding=0: (
        (prod(shape) + _output(shape, kernel_size, stride, padding)) * itemsize
    ),
    flops=lambda shape, kernel_size, stride=None, padding=0: (
        _output(shape, kernel_size, stride, padding) * kernel_size
    ),
)
