"""Values written to positions of a copy that indices name along one dimension."""

from math import prod

from tasks.lazy import torch
from tasks.spec import Task


def reference(input, dim, index, src):
    return torch.scatter(input, dim, index, src)


def inputs(make, shape, dim, part, shared=False, outliers=0.0):
    # The leading part of a random order: no position of a line twice.
    lines = [*part]
    lines[dim] = shape[dim]
    if shared:
        lines[0] = 1
    index = make.uniform(*lines, dtype="float32").argsort(dim).narrow(dim, 0, part[dim])
    index = index.expand(part) if shared else index
    return [make.normal(*shape, outliers=outliers), dim, index, make.normal(*part, outliers=outliers)], {}


TASK = Task(
    name="scatter",
    category="Index",
    signature="scatter(input, dim, index, src) -> Tensor",
    prompt=(
        "Return a copy of `input`, float32 of one to three dimensions, in which every element of `src` is written to "
        "its place; `input` itself stays as it is. `index`, int64, has src's shape; element (i, j, k) of src goes to "
        "position (index[i, j, k], j, k) of the result with dim = 0, to (i, index[i, j, k], k) with dim = 1 and so "
        "on. Both may be smaller than the input in every dimension; along `dim` no position is named twice in one "
        "line. `index` need not be contiguous, so use its strides."
    ),
    formula=r"y = x,\quad y_{i_{jk}, j, k} \leftarrow s_{ijk}",
    reference=reference,
    inputs=inputs,
    comparator="exact",
    oracle=False,
    correctness=[
        {"shape": [4, 3], "dim": 0, "part": [2, 3]},
        {"shape": [1], "dim": 0, "part": [1]},
        {"shape": [3, 4], "dim": 1, "part": [3, 2]},
        {"shape": [2, 3, 4], "dim": 2, "part": [2, 3, 2], "shared": True},
        {"shape": [17], "dim": 0, "part": [9]},
        {"shape": [7, 9, 5], "dim": 1, "part": [5, 9, 3]},
        {"shape": [4, 128, 256], "dim": 2, "part": [4, 128, 64], "outliers": 1e-3},
        {"shape": [33, 131], "dim": 0, "part": [17, 100]},
        {"shape": [1031, 257], "dim": 0, "part": [515, 257]},
    ],
    timing=[{"shape": [1 << p, 128], "dim": 0, "part": [1 << (p - 1), 128]} for p in range(8, 14)],
    bytes_moved=lambda shape, part, itemsize: 2 * prod(shape) * itemsize + prod(part) * (8 + itemsize),
    flops=lambda: 0,
)
