"""The sum of magnitudes of a matrix times its transpose, added to another matrix."""

from tasks.lazy import torch
from tasks.spec import Task


def reference(A, C, alpha, beta):
    return torch.sum(torch.abs(alpha * torch.mm(A, A.T) + beta * C))


def inputs(make, n, m, alpha=1.0, beta=0.5, outliers=0.0, spread=False):
    A = make.normal(n, m, outliers=outliers)
    if spread:
        A = A * make.uniform(1, low=0.5, high=2.0)
    return [A, make.normal(n, n), alpha, beta], {}


TASK = Task(
    name="symmetric_mm_and_abs_sum",
    category="MatrixMultiply",
    signature="symmetric_mm_and_abs_sum(A, C, alpha, beta) -> Tensor",
    prompt=(
        "Return the sum of the absolute values of all elements of alpha * (A @ A.T) + beta * C, as a float32 tensor "
        "without dimensions. `A` is (n, m) and `C` (n, n), both float32 and of any sign; `alpha` and `beta` are Python "
        "numbers. C need not be symmetric, and stays as it is."
    ),
    formula=r"r = \sum_{ij} |\alpha A A^\top + \beta C|_{ij}",
    reference=reference,
    inputs=inputs,
    correctness=[
        {"n": 2, "m": 2},
        {"n": 1, "m": 1},
        {"n": 2, "m": 2, "alpha": -2.0, "beta": 1.5},
        {"n": 3, "m": 5, "alpha": 1.0, "beta": 0.0},
        {"n": 33, "m": 17, "alpha": 0.0, "beta": 1.0},
        {"n": 64, "m": 128, "outliers": 1e-3},
        {"n": 128, "m": 64, "outliers": 1e-3},
        {"n": 131, "m": 97, "alpha": 0.1, "beta": -3.0},
    ],
    timing=[{"n": 1 << p, "m": 1 << p, "spread": True} for p in range(4, 12)],
    bytes_moved=lambda n, m, itemsize: (n * m + n * n + 1) * itemsize,
    # one half of the product is enough; two scalings, a sum, a magnitude and a sum an element
    flops=lambda n, m: n * (n + 1) * m + 5 * n * n,
)
