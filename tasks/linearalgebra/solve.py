"""Linear systems with a square matrix."""

from math import prod

from tasks.lazy import torch
from tasks.spec import Task


def reference(A, B):
    return torch.linalg.solve(A, B)


def inputs(make, n, columns, dtype=None, outliers=0.0):
    # Around the identity with a norm well below 1, its rows shuffled: only pivoting finds the large elements.
    A = make.normal(n, n, std=0.25 / n**0.5, dtype=dtype, outliers=outliers)
    A.diagonal().add_(3.0 if outliers else 1.0)
    return [A[make.permutation(n)], make.normal(n, *columns, dtype=dtype)], {}


TASK = Task(
    name="solve",
    category="LinearAlgebra",
    signature="solve(A, B) -> Tensor",
    prompt=(
        "Solve the linear system A X = B. `A` is (n, n) and invertible, float32 or float64, `B` of the same dtype a "
        "vector (n) or a matrix (n, k); return X of B's shape and dtype. Leading elements of A may be small: exchange "
        "rows (partial pivoting)."
    ),
    formula=r"X = A^{-1} B",
    reference=reference,
    inputs=inputs,
    correctness=[
        {"n": 2, "columns": []},
        {"n": 1, "columns": []},
        {"n": 3, "columns": []},
        {"n": 8, "columns": [], "dtype": "float64"},
        {"n": 16, "columns": [4], "dtype": "float64", "outliers": 1e-2},
        {"n": 33, "columns": [1]},
        {"n": 65, "columns": [7]},
        {"n": 130, "columns": []},
    ],
    timing=[{"n": 1 << p, "columns": [1]} for p in range(4, 12)],
    bytes_moved=lambda n, columns, itemsize: (n * n + 2 * n * prod(columns)) * itemsize,
    # LU, 2/3 n^3 (Golub and Van Loan, section 3.2), and two triangular systems
    flops=lambda n, columns: 2 * n**3 // 3 + 2 * n * n * prod(columns),
)
