"""A matrix-vector product, log-softmax, and dropout."""

from tasks.lazy import torch
from tasks.spec import Task


def reference(input, vec, p=0.5, training=True, inplace=False, dim=0):
    logarithms = torch.log_softmax(torch.mv(input, vec), dim)
    return torch.nn.functional.dropout(logarithms, p, training, inplace)


def inputs(make, rows, columns, form=None, outliers=0.0, **options):
    # Logits near 1 at every size: with large ones float16 has no digits left.
    matrix = make.normal(rows, columns, std=columns**-0.5, outliers=outliers, dtype=form)
    return [matrix, make.normal(columns, dtype=form)], options


TASK = Task(
    name="fused_mv_logsoftmax_dropout",
    category="Fusion",
    signature=(
        "fused_mv_logsoftmax_dropout(input, vec, p=0.5, training=True, inplace=False, dim=0) -> Tensor"
    ),
    prompt=(
        "Return dropout(log_softmax(input @ vec)), where `input` is a matrix (n, m) and `vec` a vector (m), both "
        "float32 or both float16, which the result (n) is too; accumulate in float32. log-softmax is z - max(z) - "
        "log(sum(exp(z - max(z)))) over all n elements; `dim` is 0 or -1. Dropout with `training`=True sets each "
        "element to zero with probability `p`, independently and anew with every call, and multiplies the others by "
        "1 / (1 - p); with training=False or p=0 it changes nothing. `inplace` concerns a temporary only: the "
        "arguments never change."
    ),
    formula=r"y = \mathrm{dropout}(\log\,\mathrm{softmax}(A v))",
    reference=reference,
    inputs=inputs,
    dtype="float16",
    comparator="dropout",
    correctness=[
        {"rows": 96, "columns": 4, "form": "float32"},
        {"rows": 3, "columns": 4, "form": "float32", "training": False},
        {"rows": 2, "columns": 1, "form": "float32", "p": 0.0},
        {"rows": 3, "columns": 4, "form": "float32", "p": 0.0, "inplace": True},
        {"rows": 7, "columns": 9, "form": "float32", "training": False, "dim": -1},
        {"rows": 128, "columns": 256, "form": "float32", "p": 0.1, "training": False, "outliers": 1e-3},
        {"rows": 131, "columns": 77, "form": "float32", "p": 0.0, "outliers": 1e-2},
        {"rows": 256, "columns": 256, "p": 0.0},
        {"rows": 3, "columns": 4, "form": "float32", "p": 0.2},
        {"rows": 3, "columns": 4, "form": "float32", "inplace": True},
        {"rows": 128, "columns": 256, "form": "float32", "p": 0.1, "training": True, "outliers": 1e-3},
        {"rows": 10_007, "columns": 5, "form": "float32", "p": 0.3},
        {"rows": 1031, "columns": 517},
        {"rows": 1031, "columns": 517, "training": False},
    ],
    timing=[{"rows": n, "columns": n, "p": 0.5, "training": True} for n in range(256, 4097, 128)],
    bytes_moved=lambda rows, columns, itemsize: (rows * columns + columns + rows) * itemsize,
    flops=lambda rows, columns: 2 * rows * columns + 6 * rows,
)
