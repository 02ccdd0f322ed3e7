"""Softmax along one dimension."""

from math import prod

from tasks.lazy import torch
from tasks.spec import Task


def reference(input, dim, dtype=None):
    return torch.softmax(input, dim, dtype=dtype)


def inputs(make, shape, mean=0.0, outliers=0.0, values=None, **options):
    if dtype := options.get("dtype"):
        options["dtype"] = getattr(torch, dtype)
    if values:
        return [make.values(values).reshape(shape)], options
    return [make.normal(*shape, mean=mean, outliers=outliers)], options


TASK = Task(
    name="softmax",
    category="Math",
    signature="softmax(input, dim, dtype=None) -> Tensor",
    prompt=(
        "Return exp(x - m) / sum(exp(x - m)) along dimension `dim` of `input`, a floating point tensor of any shape, "
        "where m is the largest element of the slice (subtracted so that nothing overflows). `dim` may be negative. "
        "If `dtype` is given, cast the input to it first and return that dtype; otherwise the dtype stays. Slices "
        "reach 524,288 elements."
    ),
    formula=r"y_i = \frac{e^{x_i}}{\sum_j e^{x_j}}",
    reference=reference,
    inputs=inputs,
    correctness=[
        {"shape": [2, 3], "dim": 1},
        {"shape": [2, 3], "dim": 0},
        {"shape": [1, 1], "dim": 1},
        {"shape": [5, 7], "dim": 1, "dtype": "float64"},
        {"shape": [2, 4], "dim": -1, "values": [0.0, "-inf", 2.0, -0.0, 100.0, -100.0, 88.0, "-inf"]},
        {"shape": [33, 129], "dim": 1, "mean": 500.0},
        {"shape": [64, 128], "dim": 0, "outliers": 1e-2},
        {"shape": [17, 1031], "dim": -1, "outliers": 1e-3},
        {"shape": [64, 65537], "dim": 1},
        {"shape": [3, 5, 7], "dim": 1},
    ],
    timing=[{"shape": [1024, 1 << p], "dim": 1, "dtype": None} for p in range(4, 20)],
    bytes_moved=lambda shape, itemsize: 2 * prod(shape) * itemsize,
    flops=lambda shape: 5 * prod(shape),  # maximum, difference, exponential, sum, division
)
