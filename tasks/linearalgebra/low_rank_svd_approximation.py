"""The best approximation of a matrix by one of lower rank."""

from math import prod

from tasks.lazy import torch
from tasks.spec import Task


def reference(A, k, *, full_matrices=True):
    U, S, Vh = torch.linalg.svd(A, full_matrices=full_matrices)
    return (U[..., :, :k] * S[..., None, :k]) @ Vh[..., :k, :]


def inputs(make, shape, k, outliers=0.0, **options):
    *batch, m, n = shape
    # k strong directions and weak noise: without a gap after the k-th singular value the result is ill determined.
    strong = make.normal(*batch, m, k, outliers=outliers) @ make.normal(*batch, k, n)
    return [strong + 0.05 * make.normal(*shape), k], options


TASK = Task(
    name="low_rank_svd_approximation",
    category="LinearAlgebra",
    signature="low_rank_svd_approximation(A, k, *, full_matrices=True) -> Tensor",
    prompt=(
        "Return, for every matrix of `A`, float32 (*, m, n), the nearest one of rank `k` (1 <= k <= min(m, n)): with "
        "the singular value decomposition A = U diag(S) Vh it is U[:, :k] diag(S[:k]) Vh[:k, :], where S descends. "
        "`full_matrices` says whether the decomposition is computed in full or reduced, and does not change the "
        "result. The k-th singular value is well apart from the next."
    ),
    formula=r"A_k = U_k\,\mathrm{diag}(S_k)\,V_k^{H}",
    reference=reference,
    inputs=inputs,
    correctness=[
        {"shape": [5, 4], "k": 2},
        {"shape": [2, 2], "k": 1},
        {"shape": [6, 3], "k": 2, "full_matrices": False},
        {"shape": [2, 5, 4], "k": 3},
        {"shape": [3, 6, 3], "k": 2, "full_matrices": False},
        {"shape": [32, 16], "k": 8, "full_matrices": True},
        {"shape": [4, 32, 16], "k": 8, "full_matrices": False, "outliers": 1e-2},
        {"shape": [17, 33], "k": 5},
    ],
    timing=[{"shape": [n, n], "k": 50} for n in range(256, 1409, 128)],
    bytes_moved=lambda shape, itemsize: 2 * prod(shape) * itemsize,
    # reduced decomposition (Golub and Van Loan, table 8.6.1) for m >= n, and the product
    flops=lambda shape, k: (
        prod(shape[:-2])
        * (
            14 * max(shape[-2:]) * min(shape[-2:]) ** 2
            + 8 * min(shape[-2:]) ** 3
            + 2 * shape[-2] * shape[-1] * k
        )
    ),
)
