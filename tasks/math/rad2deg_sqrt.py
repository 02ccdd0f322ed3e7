"""Degrees of angles in radians, and square roots of the same elements."""

from math import prod

from tasks.lazy import torch
from tasks.spec import Task


def reference(input):
    return torch.rad2deg(input), torch.sqrt(input)


def inputs(make, shape, outliers=0.0, values=None):
    if values:
        return [make.values(values).reshape(shape)], {}
    return [make.normal(*shape, outliers=outliers).abs()], {}


TASK = Task(
    name="rad2deg_sqrt",
    category="Math",
    signature="rad2deg_sqrt(input) -> (Tensor, Tensor)",
    prompt=(
        "Return a tuple of two tensors of the shape and dtype of `input`, a floating point tensor: every element x in "
        "degrees, x * 180 / pi, and its square root, which is NaN where x is negative."
    ),
    formula=r"(180\, x / \pi,\ \sqrt{x})",
    reference=reference,
    inputs=inputs,
    correctness=[
        {"shape": [7]},
        {"shape": [1]},
        {"shape": [2, 3, 5]},
        {"shape": [6], "values": [-3.0, -1.0, 0.0, 0.25, 2.0, 9.0]},
        {"shape": [97, 131], "outliers": 1e-2},
        {"shape": [1_000_003]},
    ],
    timing=[{"shape": [1 << p]} for p in range(12, 28)],
    bytes_moved=lambda shape, itemsize: 3 * prod(shape) * itemsize,
    flops=lambda shape: 2 * prod(shape),  # a product and a root
)
