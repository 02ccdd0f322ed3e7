"""Absolute value."""

from math import prod

from tasks.lazy import torch
from tasks.spec import Task


def reference(input):
    return torch.abs(input)


def inputs(make, shape, outliers=0.0, values=None):
    x = make.values(values).reshape(shape) if values else make.normal(*shape, outliers=outliers)
    return [x], {}


TASK = Task(
    name="abs",
    category="Math",
    signature="abs(input) -> Tensor",
    prompt="Return the absolute value of every element of `input`, a tensor of any shape; shape and dtype stay.",
    formula=r"y = |x|",
    reference=reference,
    inputs=inputs,
    correctness=[
        {"shape": [7]},
        {"shape": [1]},
        {"shape": [2, 3, 5]},
        {"shape": [2, 4], "values": ["-inf", -1e10, -1e-10, -0.0, 0.0, 1e-10, "inf", "nan"]},
        {"shape": [97, 131], "outliers": 1e-2},
        {"shape": [1_000_003]},
        {"shape": [1024, 1024], "outliers": 1e-3},
    ],
    timing=[{"shape": [1 << p]} for p in range(12, 28)],
    bytes_moved=lambda shape, itemsize: 2 * prod(shape) * itemsize,
    flops=lambda shape: prod(shape),
)
