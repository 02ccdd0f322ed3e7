"""A system of linear equations solved through an LU factorisation."""

from tasks.lazy import torch
from tasks.spec import Task


def reference(A, b):
    return torch.linalg.solve(A, b)


def permutation_dropped(A, b):
    _, L, U = torch.linalg.lu(A)
    y = torch.linalg.solve_triangular(L, b.unsqueeze(-1), upper=False, unitriangular=True)
    return torch.linalg.solve_triangular(U, y, upper=True).squeeze(-1)


def inputs(make, n, outliers=0.0):
    # Around the identity with a norm well below 1: well conditioned, and each pivot is far larger than its rivals.
    A = make.normal(n, n, std=0.25 / n**0.5, outliers=outliers)
    A.diagonal().add_(3.0 if outliers else 1.0)
    return [A[make.permutation(n)].contiguous(), make.normal(n)], {}  # rows out of place: pivoting is needed


TASK = Task(
    name="fused_lu_solve",
    category="Fusion",
    signature="fused_lu_solve(A, b) -> Tensor",
    prompt=(
        "Return the solution x of A x = b through an LU factorisation with partial pivoting: with A = P L U (P a "
        "permutation, L unit lower and U upper triangular) solve L U x = P^T b by substitution, forwards and then "
        "backwards. `A` is an invertible float32 matrix (n, n) whose leading elements may be zero, `b` is (n), and so "
        "is the result. The permutation counts: result and right-hand side must satisfy A x = b."
    ),
    formula=r"x = U^{-1} L^{-1} P^\top b,\quad A = PLU",
    reference=reference,
    inputs=inputs,
    # The published code and half of its text leave the permutation out.
    variants={"L U x = b, without the permutation": permutation_dropped},
    correctness=[
        {"n": 3},
        {"n": 1},
        {"n": 2},
        {"n": 4},
        {"n": 64},
        {"n": 64, "outliers": 1e-3},
        {"n": 33},
        {"n": 130},
    ],
    timing=[{"n": 1 << p} for p in range(8, 13)],
    bytes_moved=lambda n, itemsize: (n * n + 2 * n) * itemsize,
    flops=lambda n: 2 * n**3 // 3 + 2 * n * n,  # LU and two substitutions (Golub and Van Loan, chapter 3)
)
