"""Solution of A x = b for positive definite A through its Cholesky factor."""

from tasks.lazy import torch
from tasks.spec import Task


def reference(A, b):
    return torch.cholesky_solve(b, torch.linalg.cholesky(A))


def inputs(make, n, k, outliers=0.0):
    # A symmetric matrix with a norm below 1, and twice the identity: well conditioned at every size.
    noise = make.normal(n, n, std=0.5 / n**0.5)
    A = (noise + noise.mT) / 2
    A.diagonal().add_(3.0 if n < 4 else 2.0)
    return [A, make.normal(n, k, outliers=outliers)], {}


TASK = Task(
    name="fused_cholesky_solve",
    category="Fusion",
    signature="fused_cholesky_solve(A, b) -> Tensor",
    prompt=(
        "Solve A x = b for a symmetric positive definite matrix through its Cholesky factorisation: A = L L^T with L "
        "lower triangular, then L y = b and L^T x = y. `A` is float32 (n, n), exactly symmetric and well conditioned; "
        "`b` is float32 (n, k). Return x, (n, k); the arguments stay."
    ),
    formula=r"x = L^{-\top} L^{-1} b,\quad A = LL^\top",
    reference=reference,
    inputs=inputs,
    correctness=[
        {"n": 2, "k": 1},
        {"n": 1, "k": 1},
        {"n": 3, "k": 2},
        {"n": 17, "k": 5},
        {"n": 64, "k": 8},
        {"n": 64, "k": 8, "outliers": 1e-2},
        {"n": 33, "k": 1},
        {"n": 130, "k": 3, "outliers": 1e-2},
    ],
    timing=[{"n": 1 << p, "k": 1} for p in range(2, 10)],
    bytes_moved=lambda n, k, itemsize: (
        (n * (n + 1) // 2 + 2 * n * k) * itemsize
    ),  # one triangle of A suffices
    # the factor (Golub and Van Loan, section 4.2.5) and two triangular systems
    flops=lambda n, k: n**3 // 3 + 2 * n * n * k,
)
