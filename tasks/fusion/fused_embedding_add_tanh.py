"""Rows looked up in a table, plus a tensor, through tanh."""

from math import prod

from tasks.lazy import torch
from tasks.spec import Task


def reference(input_indices, weight, other, *, padding_idx=None, max_norm=None, norm_type=2.0):
    rows = torch.nn.functional.embedding(input_indices, weight, padding_idx, max_norm, norm_type)
    return torch.tanh(rows + other)


def table_stays(input_indices, weight, other, **options):
    return reference(input_indices, weight.clone(), other, **options)


def inputs(make, indices, table, other=None, outliers=0.0, **options):
    rows = make.integers(*indices, low=0, high=table[0])
    weight = make.normal(*table, outliers=outliers)
    return [rows, weight, make.normal(*(other or [*indices, table[1]]))], options


def bytes_moved(indices, table, itemsize, other=None):
    """Indices, table, summand and result."""
    looked_up = prod(indices) * table[1]
    summand = prod(other) if other else looked_up
    return 8 * prod(indices) + (prod(table) + summand + looked_up) * itemsize


TASK = Task(
    name="fused_embedding_add_tanh",
    category="Fusion",
    signature=(
        "fused_embedding_add_tanh(input_indices, weight, other, *, padding_idx=None, max_norm=None, norm_type=2.0, "
        "scale_grad_by_freq=False, sparse=False) -> Tensor"
    ),
    prompt=(
        "Return tanh(weight[input_indices] + other). `weight` is a float32 table (V, D); `input_indices` is int64 of "
        "any shape with values from 0 to V - 1, and may repeat; `other` broadcasts to the shape of the rows looked up, "
        "(*, D), which is that of the result. If `max_norm` is given, first scale every row of `weight` that is looked "
        "up and whose norm exceeds max_norm, in place and once, by max_norm / (norm + 1e-7); the norm is (sum of "
        "|element|**p)**(1/p) with p = `norm_type`. `padding_idx`, `scale_grad_by_freq` and `sparse` concern gradients "
        "only and have no effect here."
    ),
    formula=r"y = \tanh(W_{i} + o)",
    reference=reference,
    inputs=inputs,
    mutates=(1,),
    # The published prompt says nothing of a change of the table.
    variants={"the table itself stays": table_stays},
    correctness=[
        {"indices": [3], "table": [5, 3]},
        {"indices": [1], "table": [1, 1]},
        {"indices": [3], "table": [5, 3], "padding_idx": 0},
        {"indices": [3], "table": [5, 3], "max_norm": 1.0},
        {"indices": [3], "table": [5, 3], "norm_type": 1.0},
        {"indices": [4, 7], "table": [9, 33], "max_norm": 20.0, "norm_type": 1.0},
        {"indices": [4, 7], "table": [9, 33], "other": [33]},
        {"indices": [4, 16], "table": [128, 64], "padding_idx": 0, "outliers": 1e-3},
        {"indices": [257], "table": [101, 65], "outliers": 1e-2},
        {"indices": [64, 65], "table": [1000, 127]},
    ],
    timing=[
        {"indices": [1 << p // 3, 1 << (p + 1) // 3], "table": [1024, 1 << (p + 2) // 3]}
        for p in range(8, 28)
    ],
    bytes_moved=bytes_moved,
    flops=lambda indices, table: 2 * prod(indices) * table[1],  # a sum, tanh
)
