"""Slices picked by their positions, compared with a tensor or a number."""

from math import prod

from tasks.lazy import torch
from tasks.spec import Task


def reference(input, dim, index, other):
    return torch.index_select(input, dim, index) == other


def inputs(make, shape, dim, count, other=None, dtype="int64"):
    def drawn(*size):
        return make.integers(*size, low=-3, high=4).to(getattr(torch, dtype))  # equal in one of seven places

    index = make.integers(count, low=0, high=shape[dim])
    selected = [count if axis == dim else size for axis, size in enumerate(shape)]
    return [drawn(*shape), dim, index, drawn(*selected) if other is None else other], {}


def bytes_moved(shape, dim, count, itemsize, other=None, dtype="int64"):
    """Chosen slices and indices read, the other tensor read, one byte written for each boolean."""
    elements = count * prod(shape) // shape[dim]
    size = itemsize if dtype == "float32" else 8
    return elements * (size * (2 if other is None else 1) + 1) + 8 * count


TASK = Task(
    name="fused_index_select_eq",
    category="Fusion",
    signature="fused_index_select_eq(input, dim, index, other) -> Tensor",
    prompt=(
        "Pick the slices of `input` along dimension `dim` that `index` names, in its order (a one-dimensional int64 "
        "tensor of positions from 0 on, which may repeat), and return a boolean tensor that is True where an element "
        "of them equals `other`: a tensor of the shape of the picked slices and the input's dtype, or a Python number. "
        "`input` is int64 or float32 of one or two dimensions. The timed tensors are float32, `other` a number."
    ),
    formula=r"y_{j \ldots} = [\,x_{i_j \ldots} = z_{j \ldots}\,]",
    reference=reference,
    inputs=inputs,
    comparator="exact",
    oracle=False,
    correctness=[
        {"shape": [2, 3], "dim": 0, "count": 4},
        {"shape": [2, 3], "dim": 1, "count": 2},
        {"shape": [5, 3], "dim": 0, "count": 3, "other": 2},
        {"shape": [128, 64], "dim": 0, "count": 32},
        {"shape": [33, 65], "dim": 1, "count": 40},
        {"shape": [128, 64], "dim": 0, "count": 33, "dtype": "float32"},
        {"shape": [1000, 128], "dim": 0, "count": 125, "other": 0.0, "dtype": "float32"},
    ],
    timing=[
        {"shape": [1 << p, 128], "dim": 0, "count": 1 << (p - 3), "other": 0.0, "dtype": "float32"}
        for p in range(12, 24)
    ],
    bytes_moved=bytes_moved,
    flops=lambda: 0,
)
