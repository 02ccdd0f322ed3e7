"""The hyperbolic tangent of the square root."""

from math import prod

from tasks.lazy import torch
from tasks.spec import Task


def reference(input):
    return torch.tanh(torch.sqrt(input))


def inputs(make, shape, outliers=0.0, values=None):
    if values:
        return [make.values(values).reshape(shape)], {}
    return [make.normal(*shape, outliers=outliers).abs()], {}


TASK = Task(
    name="sqrt_tanh",
    category="Math",
    signature="sqrt_tanh(input) -> Tensor",
    prompt=(
        "Return tanh(sqrt(x)) for every element x of `input`, a floating point tensor of any shape; shape and dtype "
        "stay. A negative element gives NaN; large ones give 1."
    ),
    formula=r"y = \tanh\sqrt{x}",
    reference=reference,
    inputs=inputs,
    correctness=[
        {"shape": [7]},
        {"shape": [1]},
        {"shape": [2, 3, 5]},
        {"shape": [6], "values": [-2.0, -0.5, 0.0, 0.25, 9.0, 400.0]},
        {"shape": [97, 131], "outliers": 1e-2},
        {"shape": [1_000_003]},
        {"shape": [1024, 1024], "outliers": 1e-3},
    ],
    timing=[{"shape": [1 << p]} for p in range(12, 28)],
    bytes_moved=lambda shape, itemsize: 2 * prod(shape) * itemsize,
    flops=lambda shape: 2 * prod(shape),  # root and tanh
)
