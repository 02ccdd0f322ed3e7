"""Logistic sigmoid."""

from math import prod

from tasks.lazy import torch
from tasks.spec import Task


def reference(input):
    return torch.sigmoid(input)


def inputs(make, shape, outliers=0.0, values=None):
    x = make.values(values).reshape(shape) if values else make.normal(*shape, outliers=outliers)
    return [x], {}


TASK = Task(
    name="sigmoid",
    category="Activation",
    signature="sigmoid(input) -> Tensor",
    prompt=(
        "Return 1 / (1 + exp(-x)) for every element x of `input`, a floating point tensor of any shape; shape and "
        "dtype stay. It must not overflow: large negative x give 0, large positive x give 1."
    ),
    formula=r"y = \frac{1}{1 + e^{-x}}",
    reference=reference,
    inputs=inputs,
    correctness=[
        {"shape": [7]},
        {"shape": [1]},
        {"shape": [2, 2, 3]},
        {"shape": [2, 4], "values": ["-inf", -200.0, -0.0, 0.0, 1e-8, 200.0, "inf", "nan"]},
        {"shape": [97, 131], "outliers": 1e-2},
        {"shape": [1_000_003]},
        {"shape": [1024, 1024], "outliers": 1e-3},
    ],
    timing=[{"shape": [1 << p]} for p in range(12, 28)],
    bytes_moved=lambda shape, itemsize: 2 * prod(shape) * itemsize,
    flops=lambda shape: 4 * prod(shape),  # negation, exponential, sum, division
)
