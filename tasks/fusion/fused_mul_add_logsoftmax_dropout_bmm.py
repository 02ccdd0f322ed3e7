"""A product and a sum, log-softmax, dropout, and a batch of matrix products."""

from tasks.lazy import torch
from tasks.spec import Task


def reference(input1, input2, other, mat2, p=0.5, training=True, inplace=False, dim=-1):
    logarithms = torch.log_softmax(input1 * input2 + other, dim)
    return torch.bmm(torch.nn.functional.dropout(logarithms, p, training, inplace), mat2)


def inputs(make, batch, rows, inner, columns, other=None, outliers=0.0, **options):
    first, second = (make.normal(batch, rows, inner, outliers=outliers) for _ in range(2))
    if other is None:
        other = make.normal(batch, rows, inner)
    return [first, second, other, make.normal(batch, inner, columns)], options


def bytes_moved(batch, rows, inner, columns, itemsize, other=None):
    operands = (3 if other is None else 2) * rows * inner + inner * columns
    return batch * (operands + rows * columns) * itemsize


TASK = Task(
    name="fused_mul_add_logsoftmax_dropout_bmm",
    category="Fusion",
    signature=(
        "fused_mul_add_logsoftmax_dropout_bmm(input1, input2, other, mat2, p=0.5, training=True, inplace=False, "
        "dim=-1) -> Tensor"
    ),
    prompt=(
        "Return dropout(log_softmax(input1 * input2 + other, dim)) @ mat2, batch by batch. `input1` and `input2` are "
        "float32 of shape (B, N, D), `other` is such a tensor or a number, `mat2` is (B, D, M), the result (B, N, M). "
        "log-softmax along dimension `dim` is s - m - log(sum(exp(s - m))), with m the slice's largest element. "
        "Dropout with `training`=True sets each element to zero with probability `p`, independently and anew with "
        "every call, and multiplies the others by 1 / (1 - p); with training=False or p=0 it changes nothing. "
        "`inplace` concerns a temporary only: the arguments never change."
    ),
    formula=r"Y = \mathrm{dropout}(\log\,\mathrm{softmax}(X_1 \odot X_2 + O))\,M",
    reference=reference,
    inputs=inputs,
    correctness=[
        {"batch": 2, "rows": 3, "inner": 4, "columns": 5, "p": 0.0},
        {"batch": 1, "rows": 1, "inner": 3, "columns": 1, "training": False},
        {"batch": 2, "rows": 3, "inner": 4, "columns": 5, "training": False, "dim": 1},
        {"batch": 2, "rows": 3, "inner": 4, "columns": 5, "p": 0.0, "inplace": True},
        {"batch": 2, "rows": 5, "inner": 7, "columns": 3, "p": 0.0, "other": 0.5},
        {"batch": 4, "rows": 16, "inner": 64, "columns": 32, "p": 0.1, "training": False, "outliers": 1e-3},
        {"batch": 3, "rows": 33, "inner": 65, "columns": 17, "p": 0.0, "dim": 1},
        {"batch": 8, "rows": 128, "inner": 200, "columns": 72, "training": False},
    ],
    timing=[
        {"batch": 32, "rows": n, "inner": n, "columns": n, "p": 0.5, "training": False, "inplace": False,
         "dim": -1}
        for n in range(640, 2433, 128)
    ],
    bytes_moved=bytes_moved,
    # product, sum, and five of log-softmax an element; the matrix products
    flops=lambda batch, rows, inner, columns: batch * rows * inner * (7 + 2 * columns),
)  # fmt: skip
