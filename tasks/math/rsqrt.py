"""Reciprocal square root."""

from math import prod

from tasks.lazy import torch
from tasks.spec import Task


def reference(input):
    return torch.rsqrt(input)


def inputs(make, shape, values=None):
    x = make.values(values).reshape(shape) if values else make.uniform(*shape, low=1e-3, high=100.0)
    return [x], {}


TASK = Task(
    name="rsqrt",
    category="Math",
    signature="rsqrt(input) -> Tensor",
    prompt=(
        "Return 1 / sqrt(x) for every element x of `input`, a floating point tensor of any shape; shape and dtype "
        "stay. Zero gives infinity, a negative element gives NaN."
    ),
    formula=r"y = 1 / \sqrt{x}",
    reference=reference,
    inputs=inputs,
    correctness=[
        {"shape": [7]},
        {"shape": [1]},
        {"shape": [2, 3, 5]},
        {"shape": [2, 2], "values": [0.0, 4.0, "inf", -1.0]},
        {"shape": [97, 131]},
        {"shape": [1_000_003]},
    ],
    timing=[{"shape": [1 << p]} for p in range(12, 28)],
    bytes_moved=lambda shape, itemsize: 2 * prod(shape) * itemsize,
    flops=lambda shape: 2 * prod(shape),
)
