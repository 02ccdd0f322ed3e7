"""Determinant of square matrices through a QR factorisation."""

from math import prod

from tasks.lazy import torch
from tasks.linearalgebra._matrices import regular
from tasks.spec import Task, Tolerance


def reference(A, *, mode="reduced"):
    return torch.linalg.det(A)  # square matrices have the same Q and R in both modes


def inputs(make, shape, dtype=None, outliers=0.0, values=None, **options):
    if values:
        return [make.values(values).reshape(shape)], options
    return [regular(make, *shape, dtype=dtype, outliers=outliers)], options


TASK = Task(
    name="determinant_via_qr",
    category="LinearAlgebra",
    signature="determinant_via_qr(A, *, mode='reduced') -> Tensor",
    prompt=(
        "Return the determinant of every matrix of `A`, a float32 or float64 tensor (*, n, n), through a QR "
        "factorisation A = Q R: det(Q), which is 1 or -1, times the product of R's diagonal. A product of k "
        "reflections has det(Q) = (-1)**k. `mode`, 'reduced' or 'complete', names the form of the factorisation, and "
        "is the same for square matrices. The result has shape (*), without dimensions for one matrix, and A's dtype. "
        "float32 needs its full precision: TF32 is not accurate enough."
    ),
    formula=r"\det A = \det Q \prod_i R_{ii},\quad A = QR",
    reference=reference,
    inputs=inputs,
    # Each of n reflections carries its own rounding into the product: 1e-4 in all at n = 2048.
    tolerance=Tolerance(rtol=1e-3, atol=1e-5),
    correctness=[
        {"shape": [2, 2]},
        {"shape": [1, 1]},
        {"shape": [3, 3]},
        {"shape": [2, 2], "values": [0.0, 2.0, 3.0, 4.0]},
        {"shape": [2, 2], "mode": "complete"},
        {"shape": [3, 3], "mode": "complete"},
        {"shape": [8, 8], "dtype": "float64", "mode": "reduced", "outliers": 1e-2},
        {"shape": [16, 16], "dtype": "float64", "mode": "complete"},
        {"shape": [3, 5, 5]},
        {"shape": [32, 32], "outliers": 1e-3},
        {"shape": [33, 33]},
        {"shape": [64, 17, 17]},
        {"shape": [130, 130]},
    ],
    timing=[{"shape": [1 << p, 1 << p]} for p in range(4, 14)],
    bytes_moved=lambda shape, itemsize: (prod(shape) + prod(shape[:-2])) * itemsize,
    # R alone, 4/3 n^3 (Golub and Van Loan, section 5.2)
    flops=lambda shape: 4 * prod(shape) * shape[-1] // 3,
)
