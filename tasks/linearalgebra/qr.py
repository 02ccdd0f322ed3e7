"""QR factorisation."""

from math import prod

from tasks.lazy import torch
from tasks.linearalgebra._matrices import regular
from tasks.spec import Task


def reference(A, mode="reduced"):
    Q, R = torch.linalg.qr(A, mode=mode)
    return Q, R


def inputs(make, shape, dtype=None, outliers=0.0, **options):
    return [regular(make, *shape, dtype=dtype, outliers=outliers)], options


def invariants(call, outputs):
    """What every factorisation has in common: the signs of Q's columns, and those beyond A's rank, are free."""
    Q, R = outputs
    found = {"magnitudes in R": R.abs()}
    if Q.numel():
        found["Q R"] = Q @ R
        found["Q^T Q"] = Q.mT @ Q
    return found


def bytes_moved(shape, itemsize, mode="reduced"):
    """The matrices and their factors."""
    *batch, m, n = shape
    k = m if mode == "complete" else min(m, n)
    return prod(batch) * (m * n + (mode != "r") * m * k + k * n) * itemsize


def flops(shape, mode="reduced"):
    """Householder's R and the columns of Q (geqrf and orgqr, LAPACK Working Note 41)."""
    *batch, m, n = shape
    k, longer = min(m, n), max(m, n)
    columns = m if mode == "complete" else k
    triangle = 2 * longer * k * k - 2 * k**3 // 3
    vectors = 4 * m * columns * k - 2 * (m + columns) * k * k + 4 * k**3 // 3
    return prod(batch) * (triangle + (mode != "r") * vectors)


TASK = Task(
    name="qr",
    category="LinearAlgebra",
    signature="qr(A, mode='reduced') -> (Tensor, Tensor)",
    prompt=(
        "QR factorisation of every matrix of `A`, (*, m, n), float32 or float64, of full rank, with k = min(m, n): "
        "return the tuple (Q, R) with A = Q R, orthonormal columns in Q and an upper triangular R. mode='reduced' (the "
        "default): Q is (*, m, k) and R (*, k, n); 'complete': Q is (*, m, m) and R (*, m, n); 'r': R is that of "
        "'reduced', and Q an empty tensor of shape (0,). Both have A's dtype. The signs of R's rows with those of Q's "
        "columns, and the columns of Q that meet only zeros in R, are free: the product, the orthogonality and the "
        "magnitudes in R are checked, not single vectors."
    ),
    formula=r"A = Q R",
    reference=reference,
    inputs=inputs,
    comparator="invariants",
    invariants=invariants,
    correctness=[
        {"shape": [2, 2], "mode": "reduced"},
        {"shape": [1, 1]},
        {"shape": [3, 2], "mode": "complete"},
        {"shape": [2, 3], "mode": "r"},
        {"shape": [2, 2, 2], "mode": "reduced"},
        {"shape": [5, 8]},
        {"shape": [7, 5], "mode": "r"},
        {"shape": [64, 32], "dtype": "float64", "mode": "reduced", "outliers": 1e-3},
        {"shape": [64, 32], "dtype": "float64", "mode": "complete", "outliers": 1e-3},
        {"shape": [32, 64], "dtype": "float64", "mode": "r", "outliers": 1e-3},
        {"shape": [3, 17, 9], "mode": "complete"},
        {"shape": [33, 33]},
        {"shape": [130, 130]},
    ],
    timing=[{"shape": [1 << p, 1 << p], "mode": "reduced"} for p in range(4, 13)],
    bytes_moved=bytes_moved,
    flops=flops,
)
