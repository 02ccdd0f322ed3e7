"""Hyperbolic tangent."""

from math import prod

from tasks.lazy import torch
from tasks.spec import Task


def reference(input):
    return torch.tanh(input)


def inputs(make, shape, outliers=0.0, values=None):
    x = make.values(values).reshape(shape) if values else make.normal(*shape, outliers=outliers)
    return [x], {}


TASK = Task(
    name="tanh",
    category="Activation",
    signature="tanh(input) -> Tensor",
    prompt=(
        "Return the hyperbolic tangent of every element of `input`, a floating point tensor of any shape, possibly "
        "empty; shape and dtype stay. Large arguments give 1 or -1, so the exponentials must not overflow into NaN."
    ),
    formula=r"y = \tanh(x)",
    reference=reference,
    inputs=inputs,
    correctness=[
        {"shape": [7]},
        {"shape": [1]},
        {"shape": [2, 2, 3]},
        {"shape": [2, 4], "values": ["-inf", -100.0, -0.0, 0.0, 1e-3, 100.0, "inf", "nan"]},
        {"shape": [97, 131], "outliers": 1e-2},
        {"shape": [1_000_003]},
        {"shape": [1024, 1024], "outliers": 1e-3},
        {"shape": [0]},
    ],
    timing=[{"shape": [1 << p]} for p in range(12, 28)],
    bytes_moved=lambda shape, itemsize: 2 * prod(shape) * itemsize,
    flops=lambda shape: prod(shape),  # tanh counts as one operation
)
