"""The lower triangle of a matrix times another matrix, scaled twice."""

from tasks.lazy import torch
from tasks.spec import Task


def reference(A, B, alpha, beta):
    return beta * (alpha * torch.mm(torch.tril(A), B))


def inputs(make, n, p, alpha=0.5, beta=0.5, outliers=0.0):
    return [make.normal(n, n, outliers=outliers), make.normal(n, p), alpha, beta], {}


TASK = Task(
    name="tril_mm_and_scale",
    category="MatrixMultiply",
    signature="tril_mm_and_scale(A, B, alpha, beta) -> Tensor",
    prompt=(
        "Return beta * (alpha * (tril(A) @ B)), where tril keeps the elements of `A`, float32 (n, n), on and below the "
        "diagonal and takes all others for zero. `B` is float32 (n, p), `alpha` and `beta` are Python numbers, the "
        "result is (n, p). Full float32 precision is needed: TF32 is not accurate enough."
    ),
    formula=r"C = \beta\,\alpha\,\mathrm{tril}(A)\,B",
    reference=reference,
    inputs=inputs,
    correctness=[
        {"n": 2, "p": 2},
        {"n": 1, "p": 1, "alpha": 3.0},
        {"n": 3, "p": 2, "alpha": 2.0, "beta": 0.5},
        {"n": 7, "p": 5, "alpha": -1.5, "beta": 0.25},
        {"n": 64, "p": 32, "alpha": 1.0, "beta": 0.5, "outliers": 1e-3},
        {"n": 128, "p": 16, "alpha": 1.0, "beta": 0.5, "outliers": 1e-3},
        {"n": 131, "p": 33},
        {"n": 513, "p": 257},
    ],
    timing=[{"n": 1 << p, "p": 1 << p} for p in range(4, 12)],
    bytes_moved=lambda n, p, itemsize: (n * (n + 1) // 2 + 2 * n * p) * itemsize,  # one triangle of A
    flops=lambda n, p: n * (n + 1) * p + 2 * n * p,
)
