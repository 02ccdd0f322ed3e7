"""Dropout, then hard shrinkage."""

from math import prod

from tasks.lazy import torch
from tasks.spec import Task


def reference(input, p=0.5, training=True, lambd=0.5):
    return torch.nn.functional.hardshrink(torch.nn.functional.dropout(input, p, training), lambd)


def inputs(make, shape, outliers=0.0, values=None, **options):
    x = make.values(values).reshape(shape) if values else make.normal(*shape, outliers=outliers)
    return [x], options


TASK = Task(
    name="fused_hardshrink_dropout",
    category="Fusion",
    signature="fused_hardshrink_dropout(input, p=0.5, training=True, inplace=False, lambd=0.5) -> Tensor",
    prompt=(
        "Two steps on `input`, a float32 tensor of any shape. Dropout with training=True: every element is zeroed with "
        "probability `p`, independently and anew with every call, and the others are multiplied by 1 / (1 - p); with "
        "training=False, or with p = 0, nothing happens. Then hard shrinkage: x where x > lambd or x < -lambd, and 0 "
        "elsewhere. Return a new tensor; `inplace` is always False."
    ),
    formula=r"y = \mathrm{shrink}_\lambda(\mathrm{dropout}_p(x))",
    reference=reference,
    inputs=inputs,
    comparator="dropout",
    correctness=[
        {"shape": [8, 12]},
        {"shape": [5, 5], "p": 0.0},
        {"shape": [1], "p": 0.0},
        {"shape": [5, 5], "training": False},
        {"shape": [5, 5], "p": 0.0, "lambd": 0.7},
        {"shape": [8], "training": False, "values": [0.5, -0.5, 0.0, -0.0, 0.51, -0.51, "inf", "-inf"]},
        {"shape": [256, 256], "p": 0.1, "training": False, "lambd": 0.5, "outliers": 1e-2},
        {"shape": [97, 131], "p": 0.0, "lambd": 1.25, "outliers": 1e-3},
        {"shape": [5, 5], "p": 0.3},
        {"shape": [256, 256], "p": 0.1, "training": True, "lambd": 0.5, "outliers": 1e-2},
        {"shape": [97, 1031], "p": 0.3, "lambd": 1.25},
        {"shape": [1_000_003]},
    ],
    timing=[{"shape": [1 << p], "p": 0.5, "training": True, "lambd": 0.5} for p in range(12, 28)],
    bytes_moved=lambda shape, itemsize: 2 * prod(shape) * itemsize,
    flops=lambda shape: 3 * prod(shape),  # a product, two comparisons
)
