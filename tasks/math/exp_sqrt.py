"""The square root of the exponential."""

from math import prod

from tasks.lazy import torch
from tasks.spec import Task


def reference(input):
    return torch.sqrt(torch.exp(input))


def inputs(make, shape, outliers=0.0, values=None):
    x = make.values(values).reshape(shape) if values else make.normal(*shape, outliers=outliers)
    return [x.clamp(-10, 10)], {}


TASK = Task(
    name="exp_sqrt",
    category="Math",
    signature="exp_sqrt(input) -> Tensor",
    prompt=(
        "Return sqrt(exp(x)) for every element x of `input`, a floating point tensor of any shape with values in "
        "[-10, 10]; shape and dtype stay."
    ),
    formula=r"y = \sqrt{e^{x}}",
    reference=reference,
    inputs=inputs,
    correctness=[
        {"shape": [7]},
        {"shape": [1]},
        {"shape": [2, 3, 5]},
        {"shape": [2, 3], "values": [-10.0, -3.0, -0.0, 0.0, 0.5, 10.0]},
        {"shape": [97, 131], "outliers": 1e-2},
        {"shape": [1_000_003]},
        {"shape": [1024, 1024], "outliers": 1e-3},
    ],
    timing=[{"shape": [1 << p]} for p in range(12, 28)],
    bytes_moved=lambda shape, itemsize: 2 * prod(shape) * itemsize,
    flops=lambda shape: 2 * prod(shape),  # exponential and root
)
