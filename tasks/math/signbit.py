"""Whether the sign bit is set."""

from math import prod

from tasks.lazy import torch
from tasks.spec import Task


def reference(input):
    return torch.signbit(input)


def inputs(make, shape, outliers=0.0, values=None):
    x = make.values(values).reshape(shape) if values else make.normal(*shape, outliers=outliers)
    return [x], {}


TASK = Task(
    name="signbit",
    category="Math",
    signature="signbit(input) -> Tensor",
    prompt=(
        "Return a boolean tensor of the shape of `input`, a floating point tensor: True where the sign bit of the "
        "element is set, which is so for negative numbers and for -0.0, but not for 0.0."
    ),
    formula=r"y = [\,\text{sign bit of } x\,]",
    reference=reference,
    inputs=inputs,
    comparator="exact",
    oracle=False,
    correctness=[
        {"shape": [7]},
        {"shape": [2]},
        {"shape": [2, 3, 5]},
        {"shape": [2, 4], "values": ["-inf", -1e10, -1e-10, -0.0, 0.0, 1e-10, 1e10, "inf"]},
        {"shape": [97, 131], "outliers": 1e-2},
        {"shape": [1_000_003]},
    ],
    timing=[{"shape": [1 << p]} for p in range(12, 28)],
    bytes_moved=lambda shape, itemsize: prod(shape) * (itemsize + 1),  # one byte a boolean
    flops=lambda shape: prod(shape),
)
