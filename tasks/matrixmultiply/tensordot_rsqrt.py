"""The reciprocal square root of a tensor contraction."""

from math import prod

from tasks.lazy import torch
from tasks.spec import Task


def reference(a, b, dims):
    return torch.rsqrt(torch.tensordot(a, b, dims))


def inputs(make, left, right, dims, outliers=0.0, values=None):
    if isinstance(dims, list):
        dims = tuple(dims)
    if values:
        return [make.values(part).reshape(s) for part, s in zip(values, (left, right), strict=True)] + [
            dims
        ], {}
    a, b = make.normal(*left, outliers=outliers), make.normal(*right)
    return [a.abs() + 1e-3, b.abs() + 1e-3, dims], {}  # positive, and so is what they contract to


def _contracted(left, dims):
    """How many products are summed for each element."""
    axes = range(len(left) - dims, len(left)) if isinstance(dims, int) else dims[0]
    return prod(left[axis] for axis in axes)


def _elements(left, right, dims):
    return prod(left) * prod(right) // _contracted(left, dims) ** 2


TASK = Task(
    name="tensordot_rsqrt",
    category="MatrixMultiply",
    signature="tensordot_rsqrt(a, b, dims) -> Tensor",
    prompt=(
        "Contract two float32 tensors and return 1 / sqrt(c) for every element c of the contraction. `dims` is a "
        "number d: sum the products over the last d dimensions of `a` and the first d of `b`, in order; or a pair of "
        "lists: sum over the dimensions of a in the first list, each paired with that of b in the second. The result "
        "has the remaining dimensions of a, then those of b, in their order; none remain for two vectors. Zero gives "
        "infinity, a negative contraction NaN."
    ),
    formula=r"y = 1 \big/ \sqrt{\textstyle\sum_k a_{\ldots k}\, b_{k \ldots}}",
    reference=reference,
    inputs=inputs,
    correctness=[
        {"left": [3], "right": [3], "dims": 1},
        {"left": [1], "right": [1], "dims": 1},
        {"left": [2, 2], "right": [2, 2], "dims": [[1], [0]]},
        {"left": [2, 2, 2], "right": [2, 2, 2], "dims": [[2], [1]]},
        {"left": [2, 3], "right": [3, 2], "dims": 1},
        {"left": [2, 2], "right": [2, 1], "dims": 1, "values": [[1.0, -1.0, 1.0, 2.0], [2.0, 2.0]]},
        {"left": [2, 1], "right": [1, 1], "dims": 1, "values": [[-3.0, 4.0], [1.0]]},
        {"left": [3, 4, 5], "right": [4, 5, 2], "dims": 2},
        {"left": [32, 64], "right": [64, 32], "dims": 1, "outliers": 1e-3},
        {"left": [4, 8, 16], "right": [16, 8, 4], "dims": [[2, 1], [0, 1]], "outliers": 1e-3},
        {"left": [33, 5, 17], "right": [7, 33, 19], "dims": [[0], [1]]},
        {"left": [513, 257], "right": [257, 129], "dims": 1},
    ],
    timing=[{"left": [1 << p, 1 << p], "right": [1 << p, 1 << p], "dims": 1} for p in range(5, 12)],
    bytes_moved=lambda left, right, dims, itemsize: (
        (prod(left) + prod(right) + _elements(left, right, dims)) * itemsize
    ),
    flops=lambda left, right, dims: _elements(left, right, dims) * (2 * _contracted(left, dims) + 2),
)
