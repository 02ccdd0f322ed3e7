"""The solution of an upper triangular system, and a multiple of a vector added to it."""

from tasks.lazy import torch
from tasks.linearalgebra._matrices import triangular
from tasks.spec import Task


def reference(A, b, y, alpha):
    return torch.linalg.solve_triangular(A, b, upper=True) + alpha * y


def inputs(make, n, k, alpha, columns=1, dtype=None, outliers=0.0):
    A = triangular(make, n, n, upper=True, dtype=dtype, outliers=outliers)
    return [A, make.normal(n, k, dtype=dtype), make.normal(n, columns, dtype=dtype), alpha], {}


TASK = Task(
    name="solve_and_add_scaled_vector",
    category="LinearAlgebra",
    signature="solve_and_add_scaled_vector(A, b, y, alpha) -> Tensor",
    prompt=(
        "Solve A x = b, where `A` is upper triangular (n, n) without zeros on its diagonal and `b` is (n, k), and "
        "return x + alpha * y, (n, k). `y` is (n, 1), added to every column, or (n, k); `alpha` is a Python number. "
        "All are float32, or all float64; the arguments stay as they are. float32 needs its full precision: "
        "TF32 is not accurate enough."
    ),
    formula=r"x = A^{-1} b + \alpha y",
    reference=reference,
    inputs=inputs,
    correctness=[
        {"n": 2, "k": 2, "alpha": 0.5},
        {"n": 1, "k": 1, "alpha": -1.0},
        {"n": 5, "k": 3, "alpha": 2.0, "columns": 3},
        {"n": 8, "k": 4, "alpha": 0.1, "dtype": "float64", "outliers": 1e-2},
        {"n": 16, "k": 4, "alpha": 0.1, "dtype": "float64"},
        {"n": 16, "k": 1, "alpha": 0.0, "outliers": 1e-2},
        {"n": 33, "k": 17, "alpha": 1.5},
        {"n": 257, "k": 1, "alpha": 1.0},
    ],
    timing=[{"n": 1 << p, "k": 1, "alpha": 1.0} for p in range(5, 11)],
    # one triangle of A, b, y and the result
    bytes_moved=lambda n, k, itemsize, columns=1: (n * (n + 1) // 2 + 2 * n * k + n * columns) * itemsize,
    flops=lambda n, k: n * n * k + 2 * n * k,
)
