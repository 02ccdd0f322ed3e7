"""Symmetric and Hermitian linear systems."""

from math import prod

from tasks.lazy import torch
from tasks.linearalgebra._matrices import symmetric
from tasks.spec import Task


def reference(A, b, hermitian=False):
    return torch.linalg.solve(A, b.to(A.dtype))


def inputs(make, shape, columns=(), dtype=None, real=False, definite=False, outliers=0.0, **options):
    A = symmetric(make, *shape, dtype=dtype, outliers=outliers, indefinite=not definite)
    b = make.normal(*shape[:-1], *columns)
    if dtype == "complex64" and not real:
        b = torch.complex(b, make.normal(*shape[:-1], *columns))
    return [A, b], options


TASK = Task(
    name="solve_symmetric_ldl",
    category="LinearAlgebra",
    signature="solve_symmetric_ldl(A, b, *, hermitian=False) -> Tensor",
    prompt=(
        "Solve A x = b through an LDL factorisation. `A`, (*, n, n), is symmetric float32, or with hermitian=True "
        "Hermitian complex64; it may be indefinite and hold small elements on its diagonal, so pivot as Bunch and "
        "Kaufman do. `b` is (n), (*, n, k) with the same leading dimensions, float32 or complex64. Return x of b's "
        "shape and A's dtype: A @ x must give b back."
    ),
    formula=r"x = A^{-1} b,\quad A = L D L^{H}",
    reference=reference,
    inputs=inputs,
    correctness=[
        {"shape": [2, 2], "definite": True},
        {"shape": [1, 1]},
        {"shape": [2, 2]},
        {"shape": [3, 3]},
        {"shape": [2, 2], "dtype": "complex64", "real": True, "hermitian": True},
        {"shape": [3, 3], "dtype": "complex64", "real": True, "hermitian": True, "definite": True},
        {"shape": [16, 16], "hermitian": False, "outliers": 0.1},
        {"shape": [16, 16], "dtype": "complex64", "hermitian": True},
        {"shape": [7, 7], "columns": [3]},
        {"shape": [3, 9, 9], "columns": [2]},
        {"shape": [33, 33]},
        {"shape": [130, 130], "columns": [1]},
    ],
    timing=[{"shape": [1 << p, 1 << p], "columns": [1]} for p in range(3, 10)],
    # one triangle of A, b and x
    bytes_moved=lambda shape, itemsize, columns=(): (
        (prod(shape[:-1]) * (shape[-1] + 1) // 2 + 2 * prod(shape[:-1]) * prod(columns)) * itemsize
    ),
    # LDL, n^3 / 3 (Golub and Van Loan, section 4.4), and two triangular solves
    flops=lambda shape, columns=(): prod(shape) * shape[-1] // 3 + 2 * prod(shape) * prod(columns),
)
