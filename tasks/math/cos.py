"""Cosine."""

from math import prod

from tasks.lazy import torch
from tasks.spec import Task


def reference(input):
    return torch.cos(input)


def inputs(make, shape, outliers=0.0, values=None):
    x = make.values(values).reshape(shape) if values else make.normal(*shape, outliers=outliers)
    return [x], {}


TASK = Task(
    name="cos",
    category="Math",
    signature="cos(input) -> Tensor",
    prompt=(
        "Return the cosine of every element of `input`, angles in radians in a floating point tensor of any shape; "
        "shape and dtype stay. Arguments reach a few hundred, so they need an accurate reduction to one period."
    ),
    formula=r"y = \cos x",
    reference=reference,
    inputs=inputs,
    correctness=[
        {"shape": [7]},
        {"shape": [1]},
        {"shape": [2, 3, 5]},
        {
            "shape": [2, 4],
            "values": [-0.0, 1.0471976, -3.1415927, 3.1415927, 6.2831855, -100.5, 333.25, "nan"],
        },
        {"shape": [97, 131], "outliers": 1e-2},
        {"shape": [1_000_003]},
        {"shape": [1024, 1024], "outliers": 1e-3},
    ],
    timing=[{"shape": [1 << p]} for p in range(12, 28)],
    bytes_moved=lambda shape, itemsize: 2 * prod(shape) * itemsize,
    flops=lambda shape: prod(shape),  # a cosine counts as one operation
)
