"""The exponential of the square root."""

from math import prod

from tasks.lazy import torch
from tasks.spec import Task


def reference(input):
    return torch.exp(torch.sqrt(input))


def inputs(make, shape, outliers=0.0, values=None):
    if values:
        return [make.values(values).reshape(shape)], {}
    return [make.normal(*shape, outliers=outliers).abs().clamp(max=100)], {}


TASK = Task(
    name="sqrt_exp",
    category="Math",
    signature="sqrt_exp(input) -> Tensor",
    prompt=(
        "Return exp(sqrt(x)) for every element x of `input`, a floating point tensor of any shape, possibly empty, "
        "with values in [0, 100]; shape and dtype stay."
    ),
    formula=r"y = e^{\sqrt{x}}",
    reference=reference,
    inputs=inputs,
    correctness=[
        {"shape": [7]},
        {"shape": [1]},
        {"shape": [2, 3, 5]},
        {"shape": [5], "values": [0.0, 0.25, 1.0, 9.0, 100.0]},
        {"shape": [97, 131], "outliers": 1e-2},
        {"shape": [1_000_003]},
        {"shape": [1024, 1024], "outliers": 1e-3},
        {"shape": [0]},
    ],
    timing=[{"shape": [1 << p]} for p in range(12, 28)],
    bytes_moved=lambda shape, itemsize: 2 * prod(shape) * itemsize,
    flops=lambda shape: 2 * prod(shape),  # root and exponential
)
