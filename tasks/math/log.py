"""Natural logarithm."""

from math import prod

from tasks.lazy import torch
from tasks.spec import Task


def reference(input):
    return torch.log(input)


def inputs(make, shape, outliers=0.0, values=None):
    if values:
        return [make.values(values).reshape(shape)], {}
    return [make.normal(*shape, outliers=outliers).abs() + 1e-3], {}


TASK = Task(
    name="log",
    category="Math",
    signature="log(input) -> Tensor",
    prompt=(
        "Return the natural logarithm of every element of `input`, a floating point tensor of any shape; shape and "
        "dtype stay. Zero gives -inf, a negative element gives NaN."
    ),
    formula=r"y = \ln x",
    reference=reference,
    inputs=inputs,
    correctness=[
        {"shape": [7]},
        {"shape": [1]},
        {"shape": [2, 3, 5]},
        {"shape": [2, 4], "values": [-2.0, 0.0, 1e-30, 0.5, 1.0, 1e10, "inf", "nan"]},
        {"shape": [97, 131], "outliers": 1e-2},
        {"shape": [1_000_003]},
        {"shape": [1024, 1024], "outliers": 1e-3},
    ],
    timing=[{"shape": [1 << p]} for p in range(12, 28)],
    bytes_moved=lambda shape, itemsize: 2 * prod(shape) * itemsize,
    flops=lambda shape: prod(shape),  # a logarithm counts as one operation
)
