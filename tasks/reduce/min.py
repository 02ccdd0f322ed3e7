"""Smallest elements along a dimension, and where they are."""

from math import prod

from tasks.lazy import torch
from tasks.spec import Task


def reference(input, dim, keepdim=False):
    values, indices = torch.min(input, dim, keepdim)
    return values, indices


def inputs(make, shape, integers=False, outliers=0.0, **options):
    if integers:
        return [make.permutation(prod(shape)).reshape(shape)], options
    return [make.normal(*shape, outliers=outliers)], options


TASK = Task(
    name="min",
    category="Reduce",
    signature="min(input, dim, keepdim=False) -> (Tensor, Tensor)",
    prompt=(
        "Return a tuple of two tensors: the smallest elements along dimension `dim` of `input`, a float32 or int64 "
        "tensor, in its dtype, and their positions along that dimension as int64 (the first one where several are "
        "equal). The dimension disappears, or stays with size 1 with keepdim=True. There are no NaN."
    ),
    formula=r"(\min_i x_i,\ \mathrm{argmin}_i\, x_i)",
    reference=reference,
    inputs=inputs,
    correctness=[
        {"shape": [2, 3], "dim": 0, "integers": True},
        {"shape": [2, 3], "dim": 1, "integers": True},
        {"shape": [2, 2, 3], "dim": 2, "keepdim": True, "integers": True},
        {"shape": [6], "dim": 0, "integers": True},
        {"shape": [128, 255], "dim": 0, "outliers": 1e-3},
        {"shape": [127, 256], "dim": 1, "outliers": 1e-3},
        {"shape": [8, 16, 33], "dim": 2, "keepdim": True},
        {"shape": [5, 7, 9], "dim": -2},
    ],
    timing=[{"shape": [1 << p, 1024], "dim": 0} for p in range(6, 20)],
    bytes_moved=lambda shape, dim, itemsize: (
        prod(shape) * itemsize + prod(shape) // shape[dim] * (itemsize + 8)
    ),
    flops=lambda shape: prod(shape),  # one comparison an element
)
