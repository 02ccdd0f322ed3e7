"""Inverse of square matrices through an LU factorisation."""

from math import prod

from tasks.lazy import torch
from tasks.spec import Task


def reference(A, *, pivot=True):
    return torch.linalg.inv(A)  # pivoting changes the rounding, not the operator


def permutation_on_the_wrong_side(A, *, pivot=True):
    if not pivot:
        return torch.linalg.inv(A)
    P, L, U = torch.linalg.lu(A)
    Y = torch.linalg.solve_triangular(L, P, upper=False, unitriangular=True)
    return torch.linalg.solve_triangular(U, Y, upper=True)


def inputs(make, shape, dtype=None, outliers=0.0, **options):
    # Around the identity with a norm well below 1: well conditioned, and no leading minor vanishes.
    A = make.normal(*shape, std=0.25 / shape[-1] ** 0.5, outliers=outliers, dtype=dtype)
    A.diagonal(dim1=-2, dim2=-1).add_(3.0 if outliers else 1.0)
    if options.get("pivot", True):
        A = A[..., make.permutation(shape[-1]), :].contiguous()  # now only pivoting finds the large elements
    return [A], options


TASK = Task(
    name="invert_matrix_lu",
    category="LinearAlgebra",
    signature="invert_matrix_lu(A, *, pivot=True) -> Tensor",
    prompt=(
        "Return the inverse of every matrix of `A`, a float32 or float64 tensor (*, n, n), through an LU "
        "factorisation: with partial pivoting A = P L U (P a permutation, L unit lower and U upper triangular), and "
        "the inverse is U^-1 L^-1 P^T. With pivot=False factorise without exchanging rows; then all leading minors "
        "are away from zero. The result must satisfy result @ A = I; shape and dtype stay."
    ),
    formula=r"A^{-1} = U^{-1} L^{-1} P^\top,\quad A = PLU",
    reference=reference,
    inputs=inputs,
    # The published formula multiplies by P: the inverse only where P is symmetric.
    variants={"U^-1 L^-1 P, the published formula": permutation_on_the_wrong_side},
    correctness=[
        {"shape": [2, 2]},
        {"shape": [1, 1]},
        {"shape": [2, 2], "pivot": False},
        {"shape": [3, 3]},
        {"shape": [3, 3], "pivot": False},
        {"shape": [8, 8], "dtype": "float64", "pivot": True},
        {"shape": [16, 16], "dtype": "float64", "pivot": False},
        {"shape": [16, 16], "pivot": True, "outliers": 1e-2},
        {"shape": [33, 33]},
        {"shape": [129, 129]},
        {"shape": [3, 5, 5]},
    ],
    timing=[{"shape": [1 << p, 1 << p]} for p in range(6, 12)],
    bytes_moved=lambda shape, itemsize: 2 * prod(shape) * itemsize,
    flops=lambda shape: 2 * prod(shape) * shape[-1],  # 2 n^3: getrf and getri (LAPACK Working Note 41)
)
