"""A matrix taken apart into singular values and vectors, and multiplied together again."""

from tasks.lazy import torch
from tasks.spec import Task, Tolerance


def reference(A):
    U, S, Vh = torch.linalg.svd(A, full_matrices=False)
    return (U * S) @ Vh


def inputs(make, shape, outliers=0.0):
    return [make.normal(*shape, outliers=outliers)], {}


def flops(shape):
    """The factors by R-SVD, 4 m n^2 + 22 n^3 for m >= n (Golub and Van Loan, section 8.6), and the product."""
    n, m = sorted(shape)
    return 4 * m * n * n + 22 * n**3 + 2 * m * n * n


TASK = Task(
    name="fused_svd_reconstruct",
    category="Fusion",
    signature="fused_svd_reconstruct(A) -> Tensor",
    prompt=(
        "Compute the reduced singular value decomposition of `A`, a real float32 matrix (m, n): A = U diag(S) Vh with "
        "U (m, k), S (k), Vh (k, n), k = min(m, n). Return the product U diag(S) Vh, of shape (m, n). Up to rounding "
        "that is A again; the work asked for is the decomposition and the product."
    ),
    formula=r"Y = U\,\mathrm{diag}(S)\,V^{H},\quad A = U\,\mathrm{diag}(S)\,V^{H}",
    reference=reference,
    inputs=inputs,
    # How much rounding remains is a matter of the algorithm.
    tolerance=Tolerance(rtol=1e-4, atol=1e-4),
    correctness=[
        {"shape": [2, 2]},
        {"shape": [1, 1]},
        {"shape": [3, 2]},
        {"shape": [2, 3]},
        {"shape": [16, 16]},
        {"shape": [32, 16], "outliers": 1e-2},
        {"shape": [16, 33]},
        {"shape": [130, 67]},
    ],
    timing=[{"shape": [1 << p, 1 << p]} for p in range(6, 11)],
    bytes_moved=lambda shape, itemsize: 2 * shape[0] * shape[1] * itemsize,
    flops=flops,
)
