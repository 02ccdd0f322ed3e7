"""Whether the sign bit is set, and the bitwise AND of the same elements, as integers, with others."""

from math import prod

from tasks.lazy import torch
from tasks.spec import Task


def reference(input, other):
    return torch.signbit(input), input.to(other.dtype) & other


def always_int8(input, other):
    return torch.signbit(input), input.to(torch.int8) & other.to(torch.int8)


def inputs(make, shape, booleans=False, scale=10.0, outliers=0.0, values=None):
    if values:
        x = make.values(values)
    else:
        # Values beyond 127 have no int8.
        x = make.normal(*shape, std=scale, outliers=outliers).clamp(-120.0, 120.0)
    other = make.boolean(*shape) if booleans else make.integers(*shape, low=-128, high=128, dtype="int8")
    return [x, other], {}


TASK = Task(
    name="signbit_bitwise_and",
    category="Math",
    signature="signbit_bitwise_and(input, other) -> (Tensor, Tensor)",
    prompt=(
        "Return a tuple of two tensors for `input`, float32 of any shape, and `other`, int8 or boolean of the same "
        "shape. The first is boolean: True where the sign bit of the input's element is set, which is so for negative "
        "numbers and for -0.0. The second is the bitwise AND of the input, converted to the dtype of `other`, with "
        "`other`, in that dtype: conversion to int8 cuts off the fraction (elements lie between -128 and 127), "
        "conversion to boolean gives True for every element that is not zero."
    ),
    formula=r"([\,\text{sign bit of } x\,],\ \mathrm{trunc}(x) \wedge z)",
    reference=reference,
    inputs=inputs,
    comparator="exact",
    oracle=False,
    # The published words convert to the second operand's dtype, the published code always to int8.
    variants={"the AND is int8 for booleans too": always_int8},
    correctness=[
        {"shape": [7]},
        {"shape": [4], "booleans": True},
        {"shape": [1]},
        {"shape": [8], "values": [0.7, -1.2, 0.0, 2.3, -0.0, -1e-10, 127.9, -128.0]},
        {"shape": [2, 3, 5]},
        {"shape": [1031], "scale": 1.0, "booleans": True, "outliers": 1e-2},
        {"shape": [97, 131], "scale": 1.0, "outliers": 1e-2},
        {"shape": [1_000_003]},
    ],
    timing=[{"shape": [1 << p]} for p in range(12, 28)],
    bytes_moved=lambda shape, itemsize: prod(shape) * (itemsize + 3),  # input; other and both results
    flops=lambda shape: 2 * prod(shape),
)
