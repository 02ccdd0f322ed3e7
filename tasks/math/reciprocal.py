"""Reciprocal."""

from math import prod

from tasks.lazy import torch
from tasks.spec import Task


def reference(input):
    return torch.reciprocal(input)


def inputs(make, shape, outliers=0.0, values=None):
    if values:
        return [make.values(values).reshape(shape)], {}
    x = make.normal(*shape, outliers=outliers)
    return [torch.where(x < 0, x - 0.01, x + 0.01)], {}  # zero is tried by `values` alone


TASK = Task(
    name="reciprocal",
    category="Math",
    signature="reciprocal(input) -> Tensor",
    prompt=(
        "Return 1 / x for every element x of `input`, a floating point tensor of any shape; shape and dtype stay. "
        "A zero gives infinity with the sign of the zero."
    ),
    formula=r"y = \frac{1}{x}",
    reference=reference,
    inputs=inputs,
    correctness=[
        {"shape": [7]},
        {"shape": [1]},
        {"shape": [2, 4], "values": ["-inf", -1e10, -1e-10, 0.0, 1e-10, 1e10, "inf", "nan"]},
        {"shape": [97, 131], "outliers": 1e-2},
        {"shape": [1_000_003]},
        {"shape": [1024, 1024], "outliers": 1e-3},
        {"shape": [3], "values": [-0.0, 1.0, -2.0]},
    ],
    timing=[{"shape": [1 << p]} for p in range(12, 28)],
    bytes_moved=lambda shape, itemsize: 2 * prod(shape) * itemsize,
    flops=lambda shape: prod(shape),
)
