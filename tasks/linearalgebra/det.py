"""Determinant of square matrices."""

from math import prod

from tasks.lazy import torch
from tasks.linearalgebra._matrices import regular
from tasks.spec import Task, Tolerance


def reference(A):
    return torch.linalg.det(A)


def inputs(make, shape, dtype=None, outliers=0.0, values=None):
    if values:
        return [make.values(values).reshape(shape)], {}
    return [regular(make, *shape, dtype=dtype, outliers=outliers)], {}


TASK = Task(
    name="det",
    category="LinearAlgebra",
    signature="det(A) -> Tensor",
    prompt=(
        "Return the determinant of every matrix of `A`, a float32 or float64 tensor (*, n, n): a tensor of shape (*), "
        "without dimensions for one matrix, of A's dtype. Leading elements may be small or zero, so exchange rows; a "
        "singular matrix has determinant 0. float32 needs its full precision: TF32 is not accurate enough."
    ),
    formula=r"y = \det A",
    reference=reference,
    inputs=inputs,
    # Each of n pivots carries its own rounding into the product.
    tolerance=Tolerance(rtol=1e-4, atol=1e-5),
    correctness=[
        {"shape": [2, 2]},
        {"shape": [1, 1]},
        {"shape": [2, 2], "values": [1.0, 0.0, 0.0, 1.0]},
        {"shape": [2, 2], "values": [4.0, 7.0, 2.0, 6.0]},
        {"shape": [2, 2], "values": [0.0, 2.0, 3.0, 4.0]},
        {"shape": [4, 4], "values": [0.0] * 16},
        {"shape": [3, 3]},
        {"shape": [4, 4]},
        {"shape": [3, 5, 5]},
        {"shape": [8, 8], "dtype": "float64", "outliers": 1e-2},
        {"shape": [32, 32], "outliers": 1e-3},
        {"shape": [33, 33]},
        {"shape": [64, 17, 17]},
        {"shape": [130, 130]},
    ],
    timing=[{"shape": [1 << p, 1 << p]} for p in range(4, 14)],
    bytes_moved=lambda shape, itemsize: (prod(shape) + prod(shape[:-2])) * itemsize,
    flops=lambda shape: 2 * prod(shape) * shape[-1] // 3,  # LU, 2/3 n^3 (Golub and Van Loan, section 3.2)
)
