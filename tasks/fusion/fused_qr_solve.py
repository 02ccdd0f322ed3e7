"""Least squares through a QR factorisation."""

from tasks.lazy import torch
from tasks.spec import Task


def reference(A, b):
    Q, R = torch.linalg.qr(A)
    return torch.linalg.solve_triangular(R, Q.mT @ b, upper=True)


def inputs(make, m, n, k, outliers=0.0, ridge=0.1):
    A = make.normal(m, n, outliers=outliers)
    A.diagonal().add_(ridge)
    return [A, make.normal(m, k)], {}


TASK = Task(
    name="fused_qr_solve",
    category="Fusion",
    signature="fused_qr_solve(A, b) -> Tensor",
    prompt=(
        "Solve A x = b through a QR factorisation: with A = Q R (Q of orthonormal columns, R upper triangular) return "
        "x = R^-1 (Q^T b), which is the least-squares solution where A has more rows than columns. `A` is (m, n) with "
        "m >= n and full column rank, `b` is (m, k), the result (n, k); all float32."
    ),
    formula=r"x = R^{-1} Q^\top b,\quad A = QR",
    reference=reference,
    inputs=inputs,
    correctness=[
        {"m": 2, "n": 2, "k": 1, "ridge": 3.0},
        {"m": 1, "n": 1, "k": 1, "ridge": 3.0},
        {"m": 3, "n": 2, "k": 2, "ridge": 3.0},
        {"m": 7, "n": 5, "k": 3, "ridge": 3.0},
        {"m": 64, "n": 32, "k": 16},
        {"m": 64, "n": 32, "k": 16, "outliers": 1e-3},
        {"m": 33, "n": 17, "k": 1},
        {"m": 256, "n": 128, "k": 10},
    ],
    timing=[{"m": 2 << p, "n": 1 << p, "k": 10} for p in range(4, 13)],
    bytes_moved=lambda m, n, k, itemsize: (m * n + m * k + n * k) * itemsize,
    # Householder QR, 2 n^2 (m - n / 3) (Golub and Van Loan, section 5.2); Q^T b; back substitution
    flops=lambda m, n, k: 2 * n * n * m - 2 * n**3 // 3 + 2 * m * n * k + n * n * k,
)
