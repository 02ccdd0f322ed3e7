"""Slices picked by their positions along a dimension."""

from math import prod

from tasks.lazy import torch
from tasks.spec import Task


def reference(input, dim, index):
    return torch.index_select(input, dim, index)


def inputs(make, shape, dim, count, outliers=0.0):
    return [make.normal(*shape, outliers=outliers), dim, make.integers(count, low=0, high=shape[dim])], {}


TASK = Task(
    name="index_select",
    category="Index",
    signature="index_select(input, dim, index) -> Tensor",
    prompt=(
        "Return a new tensor with those slices of `input` along dimension `dim` that `index` names, in its order: "
        "out[…, j, …] = input[…, index[j], …]. `index` is a one-dimensional int64 tensor of positions from 0 on, which "
        "may repeat; `input` is float32 of one to three dimensions. The size of the dimension becomes len(index)."
    ),
    formula=r"y_{\ldots j \ldots} = x_{\ldots\, i_j \ldots}",
    reference=reference,
    inputs=inputs,
    comparator="exact",
    oracle=False,
    correctness=[
        {"shape": [6, 4], "dim": 0, "count": 3},
        {"shape": [2], "dim": 0, "count": 1},
        {"shape": [3, 8], "dim": 1, "count": 5},
        {"shape": [2, 3, 10], "dim": 2, "count": 4},
        {"shape": [8, 32, 256], "dim": 2, "count": 64, "outliers": 1e-3},
        {"shape": [5, 17, 9], "dim": 1, "count": 33},
        {"shape": [4096, 256], "dim": 0, "count": 512},
    ],
    timing=[{"shape": [1 << p, 256], "dim": 0, "count": 1 << (p - 3)} for p in range(12, 18)],
    # chosen slices read and written, and the indices
    bytes_moved=lambda shape, dim, count, itemsize: (
        2 * count * prod(shape) // shape[dim] * itemsize + 8 * count
    ),
    flops=lambda: 0,
)
