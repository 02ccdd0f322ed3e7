"""Quotient of a tensor and a tensor or number, with or without rounding."""

from math import prod

from tasks.lazy import torch
from tasks.spec import Task


def reference(input, other, rounding_mode=None):
    return torch.div(input, other, rounding_mode=rounding_mode)


def inputs(make, shape, other=None, outliers=0.0, values=None, **options):
    if values:
        return [make.values(part).reshape(shape) for part in values], options
    if isinstance(other, float):
        return [make.normal(*shape, outliers=outliers), other], options
    divisor = make.normal(*(other or shape))
    return [
        make.normal(*shape, outliers=outliers),
        torch.where(divisor < 0, divisor - 0.01, divisor + 0.01),
    ], options


def _second(shape, other):
    return 0 if isinstance(other, float) else prod(other or shape)


TASK = Task(
    name="div",
    category="Math",
    signature="div(input, other, *, rounding_mode=None) -> Tensor",
    prompt=(
        "Return input / other, element by element. `input` is a floating point tensor of any shape, also without "
        "dimensions, `other` a tensor of the same dtype whose shape broadcasts with it, or a Python number. With "
        "`rounding_mode` 'trunc' the quotient is rounded towards zero, with 'floor' down, with None not at all. The "
        "result has the broadcast shape and the dtype of the input."
    ),
    formula=r"y = x / z",
    reference=reference,
    inputs=inputs,
    correctness=[
        {"shape": [7]},
        {"shape": [1]},
        {"shape": []},
        {"shape": [2], "other": 3.0},
        {
            "shape": [6],
            "values": [[7.0, -7.0, 7.0, -7.0, 1.0, -9.0], [2, 2, -2, -2, 4, 4]],
            "rounding_mode": "trunc",
        },
        {
            "shape": [6],
            "values": [[7.0, -7.0, 7.0, -7.0, 1.0, -9.0], [2, 2, -2, -2, 4, 4]],
            "rounding_mode": "floor",
        },
        {"shape": [97, 131], "outliers": 1e-2},
        {"shape": [1_000_003]},
        {"shape": [2, 2], "other": [2]},
    ],
    timing=[{"shape": [1 << p]} for p in range(12, 28)],
    bytes_moved=lambda shape, itemsize, other=None: (2 * prod(shape) + _second(shape, other)) * itemsize,
    flops=lambda shape: prod(shape),
)
