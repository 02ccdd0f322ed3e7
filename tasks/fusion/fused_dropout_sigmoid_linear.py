"""A linear layer, a sigmoid, dropout."""

from math import prod

from tasks.lazy import torch
from tasks.spec import Task


def reference(input, weight, bias=None, p=0.5, training=True, inplace=False):
    activated = torch.sigmoid(torch.nn.functional.linear(input, weight, bias))
    return torch.nn.functional.dropout(activated, p, training, inplace)


def inputs(make, batch, features, out, bias=True, outliers=0.0, **options):
    # Weights small enough for a long row not to saturate the sigmoid.
    x, weight = (
        make.normal(*batch, features, outliers=outliers),
        make.normal(out, features, std=features**-0.5),
    )
    return [x, weight, *([make.normal(out)] if bias else [])], options


TASK = Task(
    name="fused_dropout_sigmoid_linear",
    category="Fusion",
    signature="fused_dropout_sigmoid_linear(input, weight, bias=None, p=0.5, training=True, inplace=False) -> Tensor",
    prompt=(
        "Three steps on float32 tensors, in this order. Linear: z = input @ weight.T + bias, where `input` is (*, in), "
        "`weight` (out, in) and `bias` (out) or None. Sigmoid: s = 1 / (1 + exp(-z)). Dropout with training=True: "
        "every element of s is zeroed with probability `p`, independently and anew with every call, and the others are "
        "multiplied by 1 / (1 - p); with training=False, or with p = 0, s stays. `inplace` concerns a temporary only: "
        "the arguments never change. Full precision is needed: TF32 is not accurate enough."
    ),
    formula=r"y = \mathrm{dropout}_p(\sigma(x W^\top + b))",
    reference=reference,
    inputs=inputs,
    comparator="dropout",
    correctness=[
        {"batch": [8], "features": 3, "out": 16},
        {"batch": [2], "features": 3, "out": 4, "p": 0.0},
        {"batch": [1], "features": 1, "out": 1, "p": 0.0},
        {"batch": [2], "features": 3, "out": 4, "bias": False, "p": 0.0},
        {"batch": [2], "features": 3, "out": 4, "training": False},
        {"batch": [2], "features": 3, "out": 4, "p": 0.0, "inplace": True},
        {"batch": [33], "features": 65, "out": 127, "training": False},
        {"batch": [64], "features": 128, "out": 256, "p": 0.1, "training": False, "outliers": 1e-2},
        {"batch": [2, 3], "features": 16, "out": 32, "training": False},
        {"batch": [2], "features": 3, "out": 4, "bias": False},
        {"batch": [2], "features": 3, "out": 4, "inplace": True},
        {"batch": [64], "features": 128, "out": 256, "p": 0.1, "training": True, "outliers": 1e-2},
        {"batch": [5, 31], "features": 33, "out": 129, "p": 0.3},
        {"batch": [100], "features": 1031, "out": 257, "p": 0.0, "outliers": 1e-3},
    ],
    timing=[
        {"batch": [1024], "features": 1 << p, "out": 256, "p": 0.5, "training": True} for p in range(8, 16)
    ],
    bytes_moved=lambda batch, features, out, itemsize, bias=True: (
        itemsize * (prod(batch) * (features + out) + out * features + bias * out)
    ),
    # products and sums of the linear layer; bias, four for the sigmoid, a scaling
    flops=lambda batch, features, out: prod(batch) * out * (2 * features + 6),
)
