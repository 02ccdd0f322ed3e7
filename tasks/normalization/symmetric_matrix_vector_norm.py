"""The norm of a symmetric matrix-vector product added to the vector."""

from tasks.lazy import torch
from tasks.spec import Task


def reference(A, x, alpha, beta, p=2.0):
    return torch.linalg.vector_norm(alpha * torch.mv(A, x) + beta * x, ord=p)


def the_product_is_added_to_itself(A, x, alpha, beta, p=2.0):
    y = alpha * torch.mv(A, x)
    return torch.linalg.vector_norm(y + beta * y, ord=p)


def inputs(make, n, alpha, beta, outliers=0.0, **options):
    half = make.normal(n, n, std=n**-0.5, outliers=outliers)
    return [half + half.mT, make.normal(n), alpha, beta, *options.values()], {}


TASK = Task(
    name="symmetric_matrix_vector_norm",
    category="Normalization",
    signature="symmetric_matrix_vector_norm(A, x, alpha, beta, p=2.0) -> Tensor",
    prompt=(
        "With y = alpha * (A @ x) + beta * x return the norm (sum of |element of y|**p)**(1/p), as a float32 tensor "
        "without dimensions. `A` is symmetric (n, n), `x` is (n), both float32; `alpha`, `beta` and p >= 1 are Python "
        "numbers."
    ),
    formula=r"r = \|\alpha A x + \beta x\|_p",
    reference=reference,
    inputs=inputs,
    # The published text adds beta times a y that nothing defines: its code takes x for it, its reference A x.
    variants={"beta times the product itself is added": the_product_is_added_to_itself},
    correctness=[
        {"n": 2, "alpha": 1.0, "beta": 1.0},
        {"n": 1, "alpha": 2.0, "beta": 0.5},
        {"n": 3, "alpha": 0.5, "beta": 2.0},
        {"n": 2, "alpha": 1.0, "beta": 0.5, "p": 1.0},
        {"n": 5, "alpha": -1.5, "beta": 0.0},
        {"n": 128, "alpha": 1.0, "beta": 0.5, "p": 2.0, "outliers": 1e-3},
        {"n": 256, "alpha": 1.0, "beta": 1.0, "p": 1.0, "outliers": 1e-3},
        {"n": 131, "alpha": 0.1, "beta": -3.0, "p": 3.0},
        {"n": 1031, "alpha": 1.0, "beta": 1.0},
    ],
    timing=[{"n": 1 << p, "alpha": 1.0, "beta": 1.0, "p": 2.0} for p in range(2, 15)],
    bytes_moved=lambda n, itemsize: (n * (n + 1) // 2 + n + 1) * itemsize,  # one triangle of A, x, one number
    flops=lambda n: 2 * n * n + 5 * n,
)
