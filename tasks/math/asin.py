"""Arcsine."""

from math import prod

from tasks.lazy import torch
from tasks.spec import Task


def reference(input):
    return torch.asin(input)


def inputs(make, shape, values=None):
    x = make.values(values).reshape(shape) if values else make.uniform(*shape, low=-1.0, high=1.0)
    return [x], {}


TASK = Task(
    name="asin",
    category="Math",
    signature="asin(input) -> Tensor",
    prompt=(
        "Return the arcsine, in radians between -pi/2 and pi/2, of every element of `input`, a floating point tensor "
        "of any shape, also an empty one; shape and dtype stay. Elements outside [-1, 1] give NaN."
    ),
    formula=r"y = \sin^{-1}(x)",
    reference=reference,
    inputs=inputs,
    correctness=[
        {"shape": [7]},
        {"shape": [1]},
        {"shape": [0]},
        {"shape": [2, 3, 5]},
        {"shape": [9], "values": [-2.0, -1.0, -0.5, -1e-3, 0.0, 1e-3, 0.5, 1.0, 1.5]},
        {"shape": [97, 131]},
        {"shape": [1_000_003]},
    ],
    timing=[{"shape": [1 << p]} for p in range(12, 28)],
    bytes_moved=lambda shape, itemsize: 2 * prod(shape) * itemsize,
    flops=lambda shape: 15 * prod(shape),  # a square root and a polynomial of degree five in the square
)
