"""Linear systems whose matrix is given by its Cholesky factor."""

from math import prod

from tasks.lazy import torch
from tasks.spec import Task


def reference(B, L, upper=False):
    return torch.cholesky_solve(B, L, upper=upper)


def inputs(make, batch, n, k, dtype=None, outliers=0.0, **options):
    # A unit diagonal and small elements beside it: well conditioned at every size.
    factor = make.normal(*batch, n, n, std=0.25 / n**0.5, dtype=dtype)
    factor = factor.triu(1) if options.get("upper") else factor.tril(-1)
    factor.diagonal(dim1=-2, dim2=-1).copy_(make.uniform(*batch, n, low=0.5, high=2.0, dtype=dtype))
    return [make.normal(*batch, n, k, dtype=dtype, outliers=outliers), factor], options


TASK = Task(
    name="cholesky_solve",
    category="LinearAlgebra",
    signature="cholesky_solve(B, L, upper=False) -> Tensor",
    prompt=(
        "Solve A X = B for symmetric positive definite matrices A that are given by their Cholesky factor `L`: "
        "A = L L^T with L lower triangular, or with upper=True A = L^T L with L upper triangular; the other triangle "
        "of L is zero. `B` is (*, n, k), `L` (*, n, n), both float32 or float64; return X of B's shape and dtype."
    ),
    formula=r"X = (L L^\top)^{-1} B",
    reference=reference,
    inputs=inputs,
    correctness=[
        {"batch": [], "n": 2, "k": 1},
        {"batch": [], "n": 1, "k": 1},
        {"batch": [], "n": 2, "k": 1, "upper": True},
        {"batch": [2], "n": 2, "k": 1},
        {"batch": [2], "n": 3, "k": 2, "upper": True},
        {"batch": [1], "n": 16, "k": 8, "dtype": "float64", "upper": False, "outliers": 1e-2},
        {"batch": [4], "n": 8, "k": 4, "dtype": "float64", "upper": True},
        {"batch": [], "n": 33, "k": 5},
        {"batch": [], "n": 130, "k": 10},
    ],
    timing=[{"batch": [], "n": 1 << p, "k": 10, "upper": False} for p in range(4, 16)],
    bytes_moved=lambda batch, n, k, itemsize: prod(batch) * (n * n + 2 * n * k) * itemsize,
    flops=lambda batch, n, k: 2 * prod(batch) * n * n * k,  # two triangular systems, n^2 each a column
)
