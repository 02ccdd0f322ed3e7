"""A choice between a stretched tensor and another one."""

from math import prod

from tasks.lazy import torch
from tasks.spec import Task


def reference(input, target_sizes, cond, other):
    return torch.where(cond, input.expand(target_sizes), other)


def inputs(make, rows, columns, outliers=0.0, zeros=False):
    input, cond = make.normal(1, columns, outliers=outliers), make.boolean(rows, 1)
    other = make.full(rows, columns, value=0.0) if zeros else make.normal(rows, columns)
    return [input, (rows, columns), cond, other], {}


TASK = Task(
    name="expand_where",
    category="Index",
    signature="expand_where(input, target_sizes, cond, other) -> Tensor",
    prompt=(
        "Stretch `input`, float32 of shape (1, C), to the shape `target_sizes` = (R, C), a tuple, by repeating its "
        "row. Return a new tensor of that shape which holds the stretched input where `cond`, a boolean tensor (R, 1) "
        "that is stretched likewise, is True, and `other`, float32 (R, C), elsewhere."
    ),
    formula=r"y_{rc} = c_r\,?\,x_c : z_{rc}",
    reference=reference,
    inputs=inputs,
    comparator="exact",
    oracle=False,
    correctness=[
        {"rows": 4, "columns": 8},
        {"rows": 2, "columns": 1},
        {"rows": 32, "columns": 128, "zeros": True},
        {"rows": 33, "columns": 131},
        {"rows": 64, "columns": 512, "outliers": 1e-3},
        {"rows": 257, "columns": 1031},
    ],
    timing=[{"rows": 256, "columns": 1 << p} for p in range(10, 15)],
    bytes_moved=lambda rows, columns, itemsize: (2 * prod((rows, columns)) + columns) * itemsize + rows,
    flops=lambda: 0,
)
