"""LU factorisation with and without exchanges of rows."""

from math import prod

from tasks.lazy import torch
from tasks.linearalgebra._matrices import regular
from tasks.spec import Task


def reference(A, pivot=True):
    if pivot or A.is_cuda:
        P, L, U = torch.linalg.lu(A, pivot=pivot)
        return P, L, U
    L, U = _without_exchanges(A)
    return A.new_empty(0), L, U


def _without_exchanges(A):
    """What PyTorch has on CUDA only."""
    k, LU = min(A.shape[-2:]), A.clone()
    for i in range(k):
        LU[..., i + 1 :, i] /= LU[..., i, i].unsqueeze(-1)
        LU[..., i + 1 :, i + 1 :] -= LU[..., i + 1 :, i, None] * LU[..., i, None, i + 1 :]
    L = LU[..., :, :k].tril(-1)
    L.diagonal(dim1=-2, dim2=-1).fill_(1.0)
    return L, LU[..., :k, :].triu()


def inputs(make, shape, dtype=None, outliers=0.0, **options):
    exchanged = options.get("pivot", True)
    return [regular(make, *shape, dtype=dtype, outliers=outliers, exchanged=exchanged)], options


def invariants(call, outputs):
    """What every factorisation has in common: which of two large elements becomes the pivot is free."""
    P, L, U = outputs
    found = {
        "P L U": L @ U,
        "L on and above its diagonal": L.triu(),
        "U below its diagonal": U.tril(-1),
    }
    if P.numel():
        found["P L U"] = P @ L @ U
        found["P P^T"] = P @ P.mT
        found["P's elements, 0 or 1"] = P * (1 - P)
        found["elements of L beyond 1"] = (L.abs() - 1.001).clamp(min=0.0)
    return found


def bytes_moved(shape, itemsize, pivot=True):
    """The matrices and their factors."""
    *batch, m, n = shape
    k = min(m, n)
    return prod(batch) * (m * n + pivot * m * m + m * k + k * n) * itemsize


def flops(shape):
    """For m rows and n columns m n k - (m + n) k^2 / 2 + k^3 / 3 products, and as many differences (getrf)."""
    *batch, m, n = shape
    k = min(m, n)
    return prod(batch) * (2 * m * n * k - (m + n) * k * k + 2 * k**3 // 3)


TASK = Task(
    name="lu",
    category="LinearAlgebra",
    signature="lu(A, *, pivot=True) -> (Tensor, Tensor, Tensor)",
    prompt=(
        "LU factorisation of every matrix of `A`, (*, m, n), float32 or float64, with k = min(m, n). With pivot=True "
        "return the tuple (P, L, U) with A = P L U: P (*, m, m) a permutation matrix, L (*, m, k) lower triangular "
        "with ones on the diagonal, U (*, k, n) upper triangular; leading elements may be small, so exchange rows such "
        "that no element of L is larger than 1 in magnitude (partial pivoting). With pivot=False exchange none: "
        "A = L U, and P is an empty tensor of shape (0,); then all leading minors are away from zero. All have A's "
        "dtype. Checked are the product and the form of the factors: between pivots of nearly one size the choice is "
        "free."
    ),
    formula=r"A = P L U",
    reference=reference,
    inputs=inputs,
    comparator="invariants",
    invariants=invariants,
    correctness=[
        {"shape": [2, 2]},
        {"shape": [1, 1]},
        {"shape": [3, 3]},
        {"shape": [4, 2, 2]},
        {"shape": [2, 3], "pivot": False},
        {"shape": [16, 16], "dtype": "float64", "pivot": True, "outliers": 1e-2},
        {"shape": [4, 16, 16], "dtype": "float64", "pivot": True},
        {"shape": [8, 12], "dtype": "float64", "pivot": False},
        {"shape": [12, 7]},
        {"shape": [7, 12]},
        {"shape": [3, 9, 5], "pivot": False},
        {"shape": [33, 33]},
        {"shape": [130, 130]},
    ],
    timing=[{"shape": [n, n], "pivot": True} for n in range(256, 1537, 128)],
    bytes_moved=bytes_moved,
    flops=flops,
)
