"""A matrix product added to a matrix, and the sum's product with its own transpose added to the sum."""

from tasks.lazy import torch
from tasks.spec import Task


def reference(A, B, C, alpha, beta):
    sum = alpha * torch.mm(A, B) + beta * C
    return alpha * torch.mm(sum, sum.T) + beta * sum


def inputs(make, n, m, alpha=1.0, beta=0.5, dtype=None, outliers=0.0):
    # Sums of order one: their products reach n, within float16.
    A = make.normal(n, m, std=m**-0.5, dtype=dtype, outliers=outliers)
    return [A, make.normal(m, n, dtype=dtype), make.normal(n, n, dtype=dtype), alpha, beta], {}


TASK = Task(
    name="matrix_multiply_symmetric",
    category="MatrixMultiply",
    signature="matrix_multiply_symmetric(A, B, C, alpha, beta) -> Tensor",
    prompt=(
        "With S = alpha * (A @ B) + beta * C return alpha * (S @ S.T) + beta * S in a new tensor (n, n). `A` is "
        "(n, m), `B` (m, n) and `C` (n, n), all of one dtype, float32 or float16, which the result has; accumulate in "
        "float32. `alpha` and `beta` are Python numbers. `C` itself stays as it is. float32 inputs need full "
        "precision: TF32 is not accurate enough. The timed products are float16."
    ),
    formula=r"Y = \alpha S S^\top + \beta S,\quad S = \alpha A B + \beta C",
    reference=reference,
    inputs=inputs,
    dtype="float16",
    correctness=[
        {"n": 2, "m": 2, "alpha": 2.0, "beta": 0.5, "dtype": "float32"},
        {"n": 1, "m": 1, "dtype": "float32"},
        {"n": 2, "m": 2, "alpha": 0.5, "beta": 2.0, "dtype": "float32"},
        {"n": 3, "m": 5, "alpha": 1.0, "beta": 0.0, "dtype": "float32"},
        {"n": 32, "m": 64, "dtype": "float32", "outliers": 1e-3},
        {"n": 64, "m": 32, "dtype": "float32", "outliers": 1e-3},
        {"n": 33, "m": 65, "alpha": -1.5, "beta": 0.5, "dtype": "float32"},
        {"n": 65, "m": 97},
        {"n": 256, "m": 256, "outliers": 1e-3},
        {"n": 515, "m": 257},
    ],
    timing=[{"n": n, "m": n} for n in range(256, 4097, 128)],
    bytes_moved=lambda n, m, itemsize: (2 * n * m + 2 * n * n) * itemsize,
    flops=lambda n, m: n * n * (2 * m + 3) + n * n * (2 * n + 3),
)
