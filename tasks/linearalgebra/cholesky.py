"""Cholesky factorisation."""

from math import prod

from tasks.lazy import torch
from tasks.linearalgebra._matrices import symmetric
from tasks.spec import Task


def reference(A, upper=False):
    return torch.linalg.cholesky(A, upper=upper)


def inputs(make, shape, dtype=None, outliers=0.0, **options):
    return [symmetric(make, *shape, dtype=dtype, outliers=outliers)], options


TASK = Task(
    name="cholesky",
    category="LinearAlgebra",
    signature="cholesky(A, *, upper=False) -> Tensor",
    prompt=(
        "Cholesky factorisation of every matrix of `A`, (*, n, n), symmetric (or, if complex, Hermitian) and positive "
        "definite, of dtype float32, float64, complex64 or complex128. Return the lower triangular L with positive "
        "diagonal and A = L L^H, or with upper=True its conjugate transpose L^H; the other triangle is zero. Shape and "
        "dtype stay. The timed matrices are float32, and need its full precision: TF32 is not accurate enough."
    ),
    formula=r"A = L L^{H}",
    reference=reference,
    inputs=inputs,
    correctness=[
        {"shape": [2, 2]},
        {"shape": [1, 1]},
        {"shape": [2, 2], "dtype": "float64"},
        {"shape": [2, 2], "dtype": "float64", "upper": True},
        {"shape": [2, 2], "dtype": "complex128"},
        {"shape": [2, 2], "dtype": "complex128", "upper": True},
        {"shape": [16, 16], "dtype": "float64", "upper": False, "outliers": 0.1},
        {"shape": [16, 16], "dtype": "float64", "upper": True, "outliers": 0.1},
        {"shape": [16, 16], "dtype": "complex64", "upper": False},
        {"shape": [16, 16], "dtype": "complex64", "upper": True, "outliers": 0.1},
        {"shape": [33, 33]},
        {"shape": [3, 17, 17], "upper": True},
        {"shape": [257, 257]},
    ],
    timing=[{"shape": [1 << p, 1 << p]} for p in range(8, 14)],
    # one triangle read, a whole matrix written
    bytes_moved=lambda shape, itemsize: (prod(shape) + prod(shape[:-1]) * (shape[-1] + 1) // 2) * itemsize,
    flops=lambda shape: prod(shape) * shape[-1] // 3,  # n^3 / 3 (Golub and Van Loan, section 4.2)
)
