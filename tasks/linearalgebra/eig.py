"""Eigenvalues and eigenvectors of general matrices."""

from math import prod

from tasks.lazy import torch
from tasks.spec import Task, Tolerance


def reference(A):
    values, vectors = torch.linalg.eig(A)
    return values, vectors


def inputs(make, shape, dtype=None, symmetric=False, outliers=0.0, values=None):
    if values:
        return [make.values(values).reshape(shape)], {}
    A = make.normal(*shape, std=shape[-1] ** -0.5, outliers=outliers, dtype=dtype)
    return [(A + A.mT) / 2 if symmetric else A], {}


def invariants(call, outputs):
    """What every decomposition has in common: order, phases, and bases of repeated eigenvalues are free."""
    A = call[0][0]
    values, V = outputs
    residual = A.to(V.dtype) @ V - V * values.unsqueeze(-2)
    # Sorted parts move no more than the eigenvalues do; a sorted list of complex numbers may change places.
    return {
        "sorted real parts": values.real.sort().values,
        "sorted imaginary parts": values.imag.sort().values,
        "A V - V diag(values) beyond 1e-5": (residual.abs() - 1e-5).clamp(
            min=0.0
        ),  # rounding is not compared
        "norms of the columns of V": V.norm(dim=-2),
        "rank of V": torch.linalg.matrix_rank(V, rtol=1e-6),
    }


TASK = Task(
    name="eig",
    category="LinearAlgebra",
    signature="eig(A) -> (Tensor, Tensor)",
    prompt=(
        "Eigenvalues and eigenvectors of every matrix of `A`, a real tensor (*, n, n), float32 or float64, not "
        "symmetric in general but diagonalisable: return the tuple (values, V), complex64 of shape (*, n) and "
        "(*, n, n) for float32, complex128 for float64, with A V = V diag(values). The columns of V are of norm 1 and "
        "linearly independent. The order of the eigenvalues, the phase of each vector, and the basis where an "
        "eigenvalue repeats are free: eigenvalues, residual, norms and rank are checked, not single vectors."
    ),
    formula=r"A V = V\,\mathrm{diag}(\lambda)",
    reference=reference,
    inputs=inputs,
    comparator="invariants",
    invariants=invariants,
    # Eigenvalues of matrices that are not normal lose up to two digits in float32; a wrong one is off by far more.
    tolerance=Tolerance(rtol=1e-4, atol=1e-4),
    correctness=[
        {"shape": [2, 2], "values": [2.0, 0.0, 0.0, 3.0]},
        {"shape": [1, 1]},
        {"shape": [2, 2], "values": [1.0, 0.0, 0.0, 1.0]},
        {"shape": [3, 3], "values": [0.0, -1.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0, 1.0]},
        {"shape": [3, 3], "values": [4.0, 1.0, 0.0, 1.0, 4.0, 0.0, 0.0, 0.0, 5.0]},
        {"shape": [3, 3]},
        {"shape": [8, 8], "dtype": "float64", "symmetric": True, "outliers": 1e-2},
        {"shape": [16, 16], "dtype": "float64", "symmetric": True},
        {"shape": [17, 17], "outliers": 1e-2},
        {"shape": [3, 5, 5]},
        {"shape": [64, 64]},
    ],
    timing=[{"shape": [1 << p, 1 << p]} for p in range(6, 11)],
    # values and vectors are complex: twice the size
    bytes_moved=lambda shape, itemsize: (3 * prod(shape) + 2 * prod(shape[:-1])) * itemsize,
    flops=lambda shape: 25 * prod(shape) * shape[-1],  # QR algorithm (Golub and Van Loan, section 7.5)
)
