"""Slices of a tensor overwritten in place with one value."""

from math import prod

from tasks.spec import Task


def reference(dim, x, index, value):
    return x.index_fill_(dim, index, value)


def inputs(make, dim, shape, value, count=None, index=None, distinct=False, outliers=0.0):
    x = make.normal(*shape, outliers=outliers)
    if index is not None:
        positions = make.values(index, dtype="int64")
    elif distinct:
        positions = make.permutation(shape[dim])[:count]
    else:
        positions = make.integers(count, low=0, high=shape[dim])
    return [dim, x, positions, value], {}


def _positions(count, index):
    return len(index) if index is not None else count


TASK = Task(
    name="index_fill_",
    category="Index",
    signature="index_fill_(dim, x, index, value) -> Tensor",
    prompt=(
        "Set every element of `x` whose position along dimension `dim` is listed in `index` to `value`, in place, and "
        "return `x` itself. `x` is a floating point tensor of any shape, `index` a one-dimensional int64 tensor with "
        "values from 0 up to the size of that dimension, in any order and possibly repeated, `value` a Python number. "
        "All other elements stay."
    ),
    formula=r"x_{\ldots, i, \ldots} \leftarrow v \quad (i \in \mathrm{index})",
    reference=reference,
    inputs=inputs,
    comparator="exact",
    oracle=False,
    mutates=(1,),
    correctness=[
        {"dim": 0, "shape": [3, 3], "index": [0, 2], "value": 5},
        {"dim": 1, "shape": [3, 3], "index": [1], "value": 3},
        {"dim": 0, "shape": [1, 1], "index": [0], "value": 7},
        {"dim": 0, "shape": [5, 5], "index": [1, 3, 4], "value": 9},
        {"dim": 0, "shape": [64, 128], "count": 16, "value": 3.14, "outliers": 1e-3},
        {"dim": 1, "shape": [33, 65], "count": 40, "value": -1.5},
        {"dim": 0, "shape": [10_007], "count": 5_000, "value": 1.0},
        {"dim": 0, "shape": [1024, 1025], "count": 300, "value": 0.0},
    ],
    timing=[
        {"dim": 0, "shape": [1 << p], "count": 1 << (p - 1), "distinct": True, "value": 1.0}
        for p in range(12, 24)
    ],
    # indices read, the elements that they name written
    bytes_moved=lambda dim, shape, itemsize, count=None, index=None: (
        _positions(count, index) * (8 + prod(shape) // shape[dim] * itemsize)
    ),
    flops=lambda: 0,
)
