"""Singular value decomposition."""

from math import prod

from tasks.lazy import torch
from tasks.spec import Task


def reference(A, full_matrices=True):
    U, S, Vh = torch.linalg.svd(A, full_matrices=full_matrices)
    return U, S, Vh


def inputs(make, shape, identity=False, outliers=0.0, **options):
    if identity:
        A = make.full(*shape, value=0.0)
        A.diagonal().fill_(1.0)
    else:
        A = make.normal(*shape, outliers=outliers)
    return [A], options


def invariants(call, outputs):
    """What every decomposition has in common: the singular vectors are free up to signs and bases."""
    U, S, Vh = outputs
    rank = S.shape[-1]
    return {
        "singular values": S,
        "U S Vh": (U[..., :, :rank] * S.unsqueeze(-2)) @ Vh[..., :rank, :],
        "U^H U": U.mH @ U,
        "Vh Vh^H": Vh @ Vh.mH,
    }


def bytes_moved(shape, itemsize, full_matrices=True):
    """The matrices and their three factors."""
    *batch, m, n = shape
    k = min(m, n)
    factors = m * m + k + n * n if full_matrices else m * k + k + k * n
    return prod(batch) * (m * n + factors) * itemsize


def flops(shape, full_matrices=True):
    """Golub and Reinsch's algorithm (Golub and Van Loan, table 8.6.1), for m >= n."""
    *batch, m, n = shape
    m, n = max(m, n), min(m, n)
    return prod(batch) * (
        4 * m * m * n + 8 * m * n * n + 9 * n**3 if full_matrices else 14 * m * n * n + 8 * n**3
    )


TASK = Task(
    name="svd",
    category="LinearAlgebra",
    signature="svd(A, full_matrices=True) -> (Tensor, Tensor, Tensor)",
    prompt=(
        "Singular value decomposition of `A`, real float32 of shape (*, m, n): return the tuple (U, S, Vh) with "
        "A = U diag(S) Vh, S of shape (*, k) in descending order and not negative, k = min(m, n), and U and Vh with "
        "orthonormal columns and rows. With full_matrices=True U is (*, m, m) and Vh (*, n, n); with False they are "
        "(*, m, k) and (*, k, n). Signs, and bases where singular values repeat or vectors belong to no singular "
        "value, are free: the product, the singular values and the orthogonality are checked, not single vectors."
    ),
    formula=r"A = U\,\mathrm{diag}(S)\,V^{H}",
    reference=reference,
    inputs=inputs,
    comparator="invariants",
    invariants=invariants,
    correctness=[
        {"shape": [2, 2], "full_matrices": True},
        {"shape": [1, 1], "full_matrices": True},
        {"shape": [3, 2], "full_matrices": False},
        {"shape": [2, 3], "full_matrices": True},
        {"shape": [3, 3], "identity": True, "full_matrices": False},
        {"shape": [13, 7], "full_matrices": True},
        {"shape": [64, 32], "full_matrices": True},
        {"shape": [64, 32], "full_matrices": False, "outliers": 1e-3},
        {"shape": [4, 64, 32], "full_matrices": False},
    ],
    timing=[{"shape": [1 << p, 1 << p]} for p in range(4, 9)],
    bytes_moved=bytes_moved,
    flops=flops,
)
