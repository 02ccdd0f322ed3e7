"""Averages over bins of an image, and their sigmoid."""

from math import prod

from tasks.lazy import torch
from tasks.spec import Task


def reference(input, output_size):
    return torch.sigmoid(torch.nn.functional.adaptive_avg_pool2d(input, output_size))


def inputs(make, shape, size, outliers=0.0):
    # Each image has a level of its own: means of many values alone are nearly constant.
    images = make.normal(*shape, outliers=outliers) + make.normal(*shape[:2], 1, 1)
    return [images, tuple(size) if isinstance(size, list) else size], {}


def _means(shape, size):
    return shape[0] * shape[1] * (prod(size) if isinstance(size, list) else size * size)


# The published order jumps between small and large.
_TIMED = sorted(([1 << p % 4, 1 << p % 4, 1 << p // 2, 1 << p // 2] for p in range(8, 18)), key=prod)

TASK = Task(
    name="fused_sigmoid_adaptive_avg_pool2d",
    category="Fusion",
    signature="fused_sigmoid_adaptive_avg_pool2d(input, output_size) -> Tensor",
    prompt=(
        "Average-pool the last two dimensions (H, W) of `input`, float32 of shape (N, C, H, W), to `output_size`, a "
        "number (R = S) or a pair (R, S): element (i, j) is the mean over rows floor(i H / R) up to but not including "
        "ceil((i + 1) H / R), and columns likewise with W and S. Then return the sigmoid 1 / (1 + exp(-m)) of every "
        "mean m, of shape (N, C, R, S)."
    ),
    formula=r"y = \sigma(\mathrm{avgpool}(x))",
    reference=reference,
    inputs=inputs,
    correctness=[
        {"shape": [1, 3, 8, 8], "size": 4},
        {"shape": [1, 1, 1, 1], "size": 1},
        {"shape": [2, 3, 10, 10], "size": [5, 5]},
        {"shape": [1, 1, 12, 12], "size": [6, 6]},
        {"shape": [2, 3, 11, 7], "size": [5, 3]},
        {"shape": [4, 8, 32, 32], "size": [1, 1], "outliers": 1e-3},
        {"shape": [4, 8, 32, 32], "size": [8, 8], "outliers": 1e-2},
        {"shape": [4, 8, 32, 32], "size": 4},
        {"shape": [8, 8, 128, 129], "size": [64, 13]},
    ],
    timing=[{"shape": shape, "size": [1, 1]} for shape in _TIMED],
    bytes_moved=lambda shape, size, itemsize: (prod(shape) + _means(shape, size)) * itemsize,
    # each element added once; a division a bin; exponential, sum and division
    flops=lambda shape, size: prod(shape) + 4 * _means(shape, size),
)
