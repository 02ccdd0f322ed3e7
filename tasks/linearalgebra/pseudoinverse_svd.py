"""Moore-Penrose pseudoinverse through a singular value decomposition."""

from math import prod

from tasks.lazy import torch
from tasks.spec import Task


def reference(A, *, full_matrices=True, rcond=1e-15):
    U, S, Vh = torch.linalg.svd(A, full_matrices=False)  # the missing vectors would meet zeros only
    inverse = torch.where(rcond * S[..., :1] < S, 1 / S, 0.0)
    return (Vh.mH * inverse.unsqueeze(-2)) @ U.mH


def inputs(make, shape, rank=None, dtype=None, outliers=0.0, **options):
    *batch, m, n = shape
    if rank:
        return [
            make.normal(*batch, m, rank, dtype=dtype) @ make.normal(*batch, rank, n, dtype=dtype)
        ], options
    A = make.normal(*shape, std=0.25 / max(m, n) ** 0.5, dtype=dtype, outliers=outliers)
    A.diagonal(dim1=-2, dim2=-1).add_(1.0)  # well conditioned
    return [A], options


TASK = Task(
    name="pseudoinverse_svd",
    category="LinearAlgebra",
    signature="pseudoinverse_svd(A, *, full_matrices=True, rcond=1e-15) -> Tensor",
    prompt=(
        "Return the pseudoinverse of every matrix of `A`, float32 or float64 of shape (*, m, n): with the singular "
        "value decomposition A = U diag(S) V^T it is V diag(s) U^T, of shape (*, n, m), where s = 1 / S for singular "
        "values above rcond times the largest one, and 0 for the others. `full_matrices` says whether the "
        "decomposition is computed in full or reduced, and does not change the result; non-square matrices are passed "
        "with False. Matrices without full rank come with an `rcond` well between their singular values and rounding."
    ),
    formula=r"A^{+} = V\,\mathrm{diag}(s)\,U^{\top}",
    reference=reference,
    inputs=inputs,
    correctness=[
        {"shape": [2, 2]},
        {"shape": [1, 1]},
        {"shape": [2, 2], "rank": 1, "rcond": 1e-3},
        {"shape": [16, 16], "dtype": "float64", "full_matrices": True},
        {"shape": [32, 16], "dtype": "float64", "full_matrices": False},
        {"shape": [16, 16], "dtype": "float64", "rank": 4, "full_matrices": False, "rcond": 1e-8},
        {"shape": [17, 33], "full_matrices": False, "outliers": 1e-2},
        {"shape": [2, 9, 9]},
    ],
    timing=[{"shape": [1 << p, 1 << p]} for p in range(2, 10)],
    bytes_moved=lambda shape, itemsize: 2 * prod(shape) * itemsize,
    # reduced decomposition (Golub and Van Loan, table 8.6.1) for m >= n, and the product
    flops=lambda shape: (
        prod(shape[:-2]) * (16 * max(shape[-2:]) * min(shape[-2:]) ** 2 + 8 * min(shape[-2:]) ** 3)
    ),
)
