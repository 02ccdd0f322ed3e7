"""A matrix-vector product, the sigmoid, and a difference."""

from tasks.lazy import torch
from tasks.spec import Task


def reference(input, vec, other, alpha=1):
    return torch.sub(torch.sigmoid(torch.mv(input, vec)), other, alpha=alpha)


def inputs(make, rows, columns, other=None, outliers=0.0, **options):
    # Products near 1 at every size: the sigmoid of large ones is a constant.
    matrix = make.normal(rows, columns, std=columns**-0.5, outliers=outliers)
    return [matrix, make.normal(columns), make.normal(rows) if other is None else other], options


TASK = Task(
    name="fused_mv_sigmoid_sub",
    category="Fusion",
    signature="fused_mv_sigmoid_sub(input, vec, other, alpha=1) -> Tensor",
    prompt=(
        "Return sigmoid(input @ vec) - alpha * other, where `input` is a float32 matrix (n, m), `vec` a vector (m), "
        "`other` a vector (n) or a Python number, `alpha` a Python number, and sigmoid(z) = 1 / (1 + exp(-z)). The "
        "result has shape (n)."
    ),
    formula=r"y = \sigma(A v) - \alpha b",
    reference=reference,
    inputs=inputs,
    correctness=[
        {"rows": 2, "columns": 3},
        {"rows": 1, "columns": 1},
        {"rows": 2, "columns": 2, "other": 0.5},
        {"rows": 2, "columns": 2, "alpha": 2},
        {"rows": 128, "columns": 256, "alpha": 0.5, "outliers": 1e-3},
        {"rows": 131, "columns": 77, "other": 0.5, "alpha": -1.5, "outliers": 1e-2},
        {"rows": 1031, "columns": 517},
    ],
    timing=[{"rows": 1 << p, "columns": 1 << p, "other": 0.5, "alpha": 1} for p in range(6, 16)],
    bytes_moved=lambda rows, columns, itemsize, other=None: (
        (rows * columns + columns + rows * (2 if other is None else 1)) * itemsize
    ),
    # products and sums; exponential, sum, division; product and difference
    flops=lambda rows, columns: 2 * rows * columns + 5 * rows,
)
