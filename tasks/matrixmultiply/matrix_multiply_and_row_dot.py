"""The dot product of the first two rows of a matrix product added to a matrix."""

from tasks.lazy import torch
from tasks.spec import Task


def reference(A, B, alpha, beta, C):
    sum = alpha * torch.mm(A, B) + beta * C
    return torch.dot(sum[0], sum[1])


def inputs(make, n, m, p, alpha=1.0, beta=1.0, dtype=None, outliers=0.0):
    # Sums of order one, with a mean that keeps their dot product away from zero and within float16.
    A = make.normal(n, m, std=m**-0.5, dtype=dtype, outliers=outliers)
    return [
        A,
        make.normal(m, p, dtype=dtype),
        alpha,
        beta,
        make.normal(n, p, mean=1.0, std=0.5, dtype=dtype),
    ], {}


TASK = Task(
    name="matrix_multiply_and_row_dot",
    category="MatrixMultiply",
    signature="matrix_multiply_and_row_dot(A, B, alpha, beta, C) -> Tensor",
    prompt=(
        "With M = alpha * (A @ B) + beta * C return the dot product of its first two rows, M[0] and M[1], as a tensor "
        "without dimensions. `A` is (n, m), `B` (m, p) and `C` (n, p) with n >= 2, all of one dtype, float32 or "
        "float16, which the result has; accumulate in float32. `alpha` and `beta` are Python numbers. `C` itself "
        "stays as it is. Only two rows of A and C matter."
    ),
    formula=r"r = M_0 \cdot M_1,\quad M = \alpha A B + \beta C",
    reference=reference,
    inputs=inputs,
    dtype="float16",
    correctness=[
        {"n": 2, "m": 2, "p": 2, "dtype": "float32"},
        {"n": 2, "m": 1, "p": 1, "dtype": "float32"},
        {"n": 2, "m": 2, "p": 2, "alpha": 2.0, "beta": 0.5, "dtype": "float32"},
        {"n": 3, "m": 5, "p": 4, "alpha": -0.5, "beta": 1.5, "dtype": "float32"},
        {"n": 64, "m": 128, "p": 64, "beta": 0.5, "dtype": "float32", "outliers": 1e-3},
        {"n": 32, "m": 64, "p": 32, "beta": 0.5, "dtype": "float32", "outliers": 1e-3},
        {"n": 33, "m": 65, "p": 131, "dtype": "float32"},
        {"n": 64, "m": 128, "p": 64, "beta": 0.5},
        {"n": 257, "m": 513, "p": 127, "beta": 1.0},
    ],
    timing=[{"n": n, "m": n, "p": n} for n in range(256, 4097, 128)],
    bytes_moved=lambda m, p, itemsize: (
        (2 * m + m * p + 2 * p + 1) * itemsize
    ),  # two rows of A and C, B, a number
    flops=lambda m, p: 2 * p * (2 * m + 3) + 2 * p,
)
