"""Rounding towards zero."""

from math import prod

from tasks.lazy import torch
from tasks.spec import Task


def reference(input):
    return torch.trunc(input)


def inputs(make, shape, outliers=0.0, values=None):
    if values:
        return [make.values(values).reshape(shape)], {}
    return [make.normal(*shape, std=10.0, outliers=outliers)], {}


TASK = Task(
    name="trunc",
    category="Math",
    signature="trunc(input) -> Tensor",
    prompt=(
        "Drop the fractional part of every element of `input`, a floating point tensor of any shape, which rounds "
        "towards zero; shape and dtype stay. Values may be larger than an int32 holds."
    ),
    formula=r"y = \mathrm{sign}(x)\,\lfloor |x| \rfloor",
    reference=reference,
    inputs=inputs,
    comparator="exact",
    oracle=False,
    correctness=[
        {"shape": [7]},
        {"shape": [1]},
        {"shape": [2, 3, 5]},
        {"shape": [2, 5], "values": ["-inf", -3e9, -2.0, -0.5, -0.0, 0.5, 2.0, 3e9, "inf", "nan"]},
        {"shape": [97, 131], "outliers": 1e-2},
        {"shape": [1_000_003]},
        {"shape": [1024, 1024], "outliers": 1e-3},
    ],
    timing=[{"shape": [1 << p]} for p in range(12, 28)],
    bytes_moved=lambda shape, itemsize: 2 * prod(shape) * itemsize,
    flops=lambda shape: prod(shape),
)
