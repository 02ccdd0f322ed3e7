"""The largest magnitude of an eigenvalue."""

from math import prod

from tasks.lazy import torch
from tasks.spec import Task, Tolerance


def reference(A):
    return torch.linalg.eigvals(A).abs().amax(-1)


def largest_singular_value(A):
    return torch.linalg.matrix_norm(A, ord=2)


def inputs(make, shape, outliers=0.0, values=None):
    if values:
        return [make.values(values).reshape(shape)], {}
    return [make.normal(*shape, std=shape[-1] ** -0.5, outliers=outliers)], {}


TASK = Task(
    name="spectral_norm_eig",
    category="Normalization",
    signature="spectral_norm_eig(A) -> Tensor",
    prompt=(
        "For every matrix of `A`, real float32 (*, n, n), not symmetric in general, return the largest absolute value "
        "|λ| of its eigenvalues λ, which may be complex: a float32 tensor of shape (*), without dimensions for one "
        "matrix. For normal matrices this is the spectral norm."
    ),
    formula=r"r = \max \{|\lambda| : \lambda \text{ eigenvalue of } A\}",
    reference=reference,
    inputs=inputs,
    # Eigenvalues of matrices that are not normal lose a digit or two in float32.
    tolerance=Tolerance(rtol=1e-4, atol=1e-5),
    # The published text calls it the norm that the Euclidean one induces; its formula has eigenvalues.
    variants={"the largest singular value": largest_singular_value},
    correctness=[
        {"shape": [2, 2]},
        {"shape": [1, 1]},
        {"shape": [2, 2], "values": [1.0, 2.0, 3.0, 4.0]},
        {"shape": [2, 2], "values": [0.0, -2.0, 2.0, 0.0]},
        {"shape": [3, 3], "values": [2.0, 0.0, 0.0, 0.0, -5.0, 0.0, 0.0, 0.0, 3.0]},
        {"shape": [2, 3, 3]},
        {"shape": [32, 32], "outliers": 1e-3},
        {"shape": [16, 32, 32], "outliers": 1e-3},
        {"shape": [8, 17, 17]},
        {"shape": [64, 64]},
    ],
    timing=[{"shape": [1 << p, 1 << p]} for p in range(2, 8)],
    bytes_moved=lambda shape, itemsize: (prod(shape) + prod(shape[:-2])) * itemsize,
    flops=lambda shape: (
        10 * prod(shape) * shape[-1]
    ),  # QR algorithm, no vectors (Golub and Van Loan, section 7.5)
)
