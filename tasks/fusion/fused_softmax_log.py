"""Logarithm, then softmax: positive elements divided by their sum."""

from math import prod

from tasks.lazy import torch
from tasks.spec import Task


def reference(input, dim=-1, dtype=None):
    values = input if dtype is None else input.to(dtype)
    return torch.softmax(torch.log(values), dim)


def inputs(make, shape, outliers=0.0, values=None, **options):
    if dtype := options.get("dtype"):
        options["dtype"] = getattr(torch, dtype)
    if values:
        return [make.values(values).reshape(shape)], options
    return [make.normal(*shape, outliers=outliers).abs() + 0.1], options


TASK = Task(
    name="fused_softmax_log",
    category="Fusion",
    signature="fused_softmax_log(input, dim=-1, dtype=None) -> Tensor",
    prompt=(
        "Take the natural logarithm of every element of `input`, a floating point tensor, and return the softmax of "
        "the result along dimension `dim`. Mathematically that is x / sum(x) along the dimension, and it may be "
        "computed so. Elements are positive. With `dtype` cast the input to it first and return that dtype; otherwise "
        "the dtype stays."
    ),
    formula=r"y_i = \mathrm{softmax}(\ln x)_i = x_i / \textstyle\sum_j x_j",
    reference=reference,
    inputs=inputs,
    correctness=[
        {"shape": [2, 3]},
        {"shape": [1, 2]},
        {"shape": [3, 2], "dim": 0},
        {"shape": [2, 2], "dtype": "float64"},
        {"shape": [2, 4], "values": [1.0, 2.0, 3.0, 4.0, 1e-6, 1.0, 100.0, 1e4]},
        {"shape": [128, 256], "dim": 1, "outliers": 1e-3},
        {"shape": [33, 131], "outliers": 1e-2},
        {"shape": [77, 65], "dim": 0},
        {"shape": [257, 1031], "dim": -1},
    ],
    timing=[{"shape": [1024, 1 << p]} for p in range(4, 20)],
    bytes_moved=lambda shape, itemsize: 2 * prod(shape) * itemsize,
    flops=lambda shape: 2 * prod(shape),  # sum and division: logarithm and exponential cancel
)
