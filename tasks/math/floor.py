"""Floor: the largest integer that is not above x."""

from math import prod

from tasks.lazy import torch
from tasks.spec import Task


def reference(input):
    return torch.floor(input)


def inputs(make, shape, outliers=0.0, values=None, integers=False):
    if values:
        return [make.values(values).reshape(shape)], {}
    if integers:
        return [make.integers(*shape, low=-50, high=50)], {}
    return [make.normal(*shape, std=10.0, outliers=outliers)], {}


TASK = Task(
    name="floor",
    category="Math",
    signature="floor(input) -> Tensor",
    prompt=(
        "Return the largest integer not above x for every element x of `input`, a tensor of any shape; shape and "
        "dtype stay. An integer tensor gives a copy of itself."
    ),
    formula=r"y = \lfloor x \rfloor",
    reference=reference,
    inputs=inputs,
    comparator="exact",
    oracle=False,
    correctness=[
        {"shape": [7]},
        {"shape": [1]},
        {"shape": [2, 5], "values": ["-inf", -3e9, -2.0, -0.5, -0.0, 0.5, 2.0, 3e9, "inf", "nan"]},
        {"shape": [97, 131], "outliers": 1e-2},
        {"shape": [1_000_003]},
        {"shape": [1024, 1024], "outliers": 1e-3},
        {"shape": [5, 7], "integers": True},
    ],
    timing=[{"shape": [1 << p]} for p in range(12, 28)],
    bytes_moved=lambda shape, itemsize: 2 * prod(shape) * itemsize,
    flops=lambda shape: prod(shape),
)
