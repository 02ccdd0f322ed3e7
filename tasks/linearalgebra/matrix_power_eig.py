"""Real powers of symmetric matrices through their eigenvalues."""

from math import prod

from tasks.lazy import torch
from tasks.linearalgebra._matrices import symmetric
from tasks.spec import Task, Tolerance


def reference(A, k):
    values, vectors = torch.linalg.eigh(A)
    return (vectors * (values**k).unsqueeze(-2)) @ vectors.mT


def complex_result(A, k):
    values, vectors = torch.linalg.eig(A)
    return (vectors * (values**k).unsqueeze(-2)) @ torch.linalg.inv(vectors)


def inputs(make, shape, k, dtype=None, outliers=0.0, values=None):
    if values:
        return [make.values(values).reshape(shape), k], {}
    return [symmetric(make, *shape, dtype=dtype, outliers=outliers), k], {}


TASK = Task(
    name="matrix_power_eig",
    category="LinearAlgebra",
    signature="matrix_power_eig(A, k) -> Tensor",
    prompt=(
        "Raise every matrix of `A`, (*, n, n), float32 or float64, symmetric and positive definite, to the power `k`, "
        "a Python number that need not be whole and may be negative: with the eigenvalues λ and eigenvectors V of A "
        "return V diag(λ**k) V^-1, where V^-1 is V^T for orthonormal eigenvectors. The result is symmetric and of A's "
        "shape and dtype. float32 needs its full precision: TF32 is not accurate enough."
    ),
    formula=r"A^k = V\,\mathrm{diag}(\lambda^k)\,V^{-1}",
    reference=reference,
    inputs=inputs,
    # Eigenvectors in float32 are orthogonal to some 1e-6, and every element of the result mixes all of them.
    tolerance=Tolerance(rtol=1e-4, atol=2e-5),
    # The published text decomposes general matrices, and so returns complex numbers; its reference does not.
    variants={"the result is complex": complex_result},
    correctness=[
        {"shape": [2, 2], "k": 2, "values": [2.0, 0.0, 0.0, 3.0]},
        {"shape": [1, 1], "k": 0.5},
        {"shape": [3, 3], "k": 0.5},
        {"shape": [2, 2, 2], "k": 3},
        {"shape": [4, 4], "k": -1},
        {"shape": [5, 5], "k": -1.5},
        {"shape": [16, 16], "k": 0.5, "dtype": "float64", "outliers": 0.1},
        {"shape": [16, 16], "k": 2.0, "dtype": "float64", "outliers": 0.1},
        {"shape": [33, 33], "k": 0.3},
        {"shape": [3, 17, 17], "k": 2.5},
        {"shape": [130, 130], "k": 0.5},
    ],
    # Not k = 2, which is one product and needs no eigenvalues.
    timing=[{"shape": [n, n], "k": 0.5} for n in range(256, 1665, 128)],
    # one triangle read, a whole matrix written
    bytes_moved=lambda shape, itemsize: (prod(shape) + prod(shape[:-1]) * (shape[-1] + 1) // 2) * itemsize,
    # 9 n^3 for values and vectors (Golub and Van Loan, section 8.3), 2 n^3 for the product
    flops=lambda shape: 11 * prod(shape) * shape[-1],
)
