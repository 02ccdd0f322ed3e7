"""Determinant of square matrices through an LU factorisation."""

from math import prod

from tasks.lazy import torch
from tasks.spec import Task


def reference(A, *, pivot=True):
    return torch.linalg.det(A)  # pivoting changes the rounding, not the operator


def inputs(make, shape, dtype=None, outliers=0.0, values=None, **options):
    if values:
        return [make.values(values).reshape(shape)], options
    # Around the identity with a norm well below 1: the determinant stays finite at every size.
    A = make.normal(*shape, std=0.25 / shape[-1] ** 0.5, outliers=outliers, dtype=dtype)
    A.diagonal(dim1=-2, dim2=-1).add_(3.0 if outliers else 1.0)
    if options.get("pivot", True):
        A = A[..., make.permutation(shape[-1]), :].contiguous()  # now only pivoting finds the large elements
    return [A], options


TASK = Task(
    name="determinant_lu",
    category="LinearAlgebra",
    signature="determinant_lu(A, *, pivot=True) -> Tensor",
    prompt=(
        "Return the determinant of every matrix of `A`, a float32 or float64 tensor (*, n, n), through an LU "
        "factorisation: the product of U's diagonal, times the sign of the row permutation. With pivot=True exchange "
        "rows (partial pivoting); leading elements may be zero. With pivot=False exchange none; then all leading "
        "minors are away from zero and the sign is 1. The result has shape (*), without dimensions for one matrix, "
        "and A's dtype."
    ),
    formula=r"\det A = \det P \prod_i U_{ii}",
    reference=reference,
    inputs=inputs,
    correctness=[
        {"shape": [2, 2]},
        {"shape": [1, 1]},
        {"shape": [2, 2], "values": [0.0, 2.0, 3.0, 4.0]},
        {"shape": [3, 3], "values": [0.0, 0.0, 2.0, 3.0, 0.0, 0.0, 0.0, 5.0, 0.0]},
        {"shape": [2, 2, 2]},
        {"shape": [4, 4], "values": [1, 2, 3, 4, 2, 1, 5, 1, 3, 3, 1, 2, 4, 1, 2, 5]},
        {"shape": [3, 3], "pivot": False},
        {"shape": [8, 8], "dtype": "float64", "outliers": 1e-2},
        {"shape": [16, 16], "dtype": "float64", "pivot": False},
        {"shape": [16, 16], "pivot": True},
        {"shape": [33, 33]},
        {"shape": [130, 130]},
        {"shape": [64, 17, 17]},
    ],
    timing=[{"shape": [1 << p, 1 << p]} for p in range(4, 11)],
    bytes_moved=lambda shape, itemsize: (prod(shape) + prod(shape[:-2])) * itemsize,
    flops=lambda shape: 2 * prod(shape) * shape[-1] // 3,  # LU, 2/3 n^3 (Golub and Van Loan, section 3.2)
)
