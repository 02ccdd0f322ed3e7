"""LDL factorisation of symmetric and Hermitian matrices, in compact form."""

from math import prod

from tasks.lazy import torch
from tasks.linearalgebra._matrices import symmetric
from tasks.spec import Task


def reference(A, hermitian=False):
    if hermitian and A.is_complex():  # CUDA's library has no Hermitian form
        LD, pivots = torch.linalg.ldl_factor(A.cpu(), hermitian=True)
        return LD.to(A.device), pivots.to(A.device)
    LD, pivots = torch.linalg.ldl_factor(A)
    return LD, pivots


def inputs(make, shape, dtype=None, definite=False, outliers=0.0, **options):
    return [symmetric(make, *shape, dtype=dtype, outliers=outliers, indefinite=not definite)], options


def invariants(call, outputs):
    """The matrix that the factors make: which rows were exchanged, and where blocks of two stand, is free."""
    A, (LD, pivots) = call[0][0], outputs
    n = A.shape[-1]
    matrices = zip(A.reshape(-1, n, n), LD.reshape(-1, n, n), pivots.reshape(-1, n).tolist(), strict=True)
    return {"the product of the factors": torch.stack([_product(*one) for one in matrices])}


def _product(A, LD, pivots):
    """The matrix of one factorisation, zero if it is none.

    LAPACK leaves the columns to the left alone when it exchanges rows. That they are exchanged as well is
    also in use: whatever comes closer to A was meant.
    """
    blocks = _blocks(pivots)
    if blocks is None:
        return torch.zeros_like(A)
    D = torch.diag(LD.diagonal())
    for start, end, _ in blocks:
        if end - start == 2:
            D[start + 1, start] = LD[start + 1, start]
            D[start, start + 1] = LD[start + 1, start].conj()
    factors = (_unit_triangle(LD, blocks, whole_rows) for whole_rows in (False, True))
    products = [L @ D @ L.mH for L in factors]
    return min(products, key=lambda product: float((product - A).abs().max()))


def _blocks(pivots):
    """The blocks on D's diagonal: first index, end, and the row that the last one is exchanged with."""
    blocks, start, n = [], 0, len(pivots)
    while start < n:
        end = start + 1 if pivots[start] > 0 else start + 2
        row = abs(pivots[start]) - 1
        if not end - 1 <= row < n or pivots[end - 1] != pivots[start]:
            return None
        blocks.append((start, end, row))
        start = end
    return blocks


def _unit_triangle(LD, blocks, whole_rows):
    """L, with its rows where A has them."""
    L = torch.eye(LD.shape[-1], dtype=LD.dtype, device=LD.device)

    def exchange(end, row):
        if row != end - 1:
            L[[end - 1, row]] = L[[row, end - 1]]

    for start, end, row in reversed(blocks):
        L[end:] += LD[end:, start:end] @ L[start:end]
        if not whole_rows:
            exchange(end, row)
    if whole_rows:
        for _, end, row in reversed(blocks):
            exchange(end, row)
    return L


TASK = Task(
    name="ldl_factor",
    category="LinearAlgebra",
    signature="ldl_factor(A, *, hermitian=False) -> (Tensor, Tensor)",
    prompt=(
        "LDL factorisation of every matrix of `A`, (*, n, n), symmetric and possibly indefinite, float32 or float64, "
        "or with hermitian=True also complex64 and Hermitian: A = L D L^H, where D has blocks of one or two rows on "
        "its diagonal and L is a product of row exchanges and unit lower triangular factors. Return the tuple (LD, "
        "pivots) in the compact form of LAPACK's sytrf for the lower triangle: LD, of A's shape and dtype, holds D's "
        "diagonal, D's elements below it inside blocks of two, and L's multipliers below the blocks; pivots, int32 "
        "(*, n), counts from 1. pivots[k] = p > 0: a block of one at k, and rows k and p were exchanged. pivots[k] = "
        "pivots[k + 1] = -p < 0: a block of two at k and k + 1, and rows k + 1 and p were exchanged. Diagonal "
        "elements may be small, so pivot as Bunch and Kaufman do. Checked is the product of the factors: the choice "
        "of pivots is free, and so are the elements above LD's diagonal."
    ),
    formula=r"A = L D L^{H}",
    reference=reference,
    inputs=inputs,
    comparator="invariants",
    invariants=invariants,
    correctness=[
        {"shape": [2, 2]},
        {"shape": [1, 1]},
        {"shape": [2, 2], "definite": True},
        {"shape": [2, 2], "dtype": "complex64", "hermitian": True},
        {"shape": [2, 2, 2]},
        {"shape": [2, 2, 2], "dtype": "complex64", "hermitian": True, "definite": True},
        {"shape": [5, 5]},
        {"shape": [16, 16], "dtype": "float64", "hermitian": False, "outliers": 0.1},
        {"shape": [16, 16], "dtype": "complex64", "hermitian": True},
        {"shape": [16, 16], "dtype": "complex64", "hermitian": True, "outliers": 0.1},
        {"shape": [33, 33]},
        {"shape": [3, 17, 17]},
        {"shape": [130, 130]},
    ],
    timing=[{"shape": [1 << p, 1 << p]} for p in range(5, 11)],
    # one triangle read; a whole matrix and the pivots written
    bytes_moved=lambda shape, itemsize: (
        (prod(shape) + prod(shape[:-1]) * (shape[-1] + 1) // 2) * itemsize + prod(shape[:-1]) * 4
    ),
    flops=lambda shape: prod(shape) * shape[-1] // 3,  # n^3 / 3 (Golub and Van Loan, section 4.4)
)
