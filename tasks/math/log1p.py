"""Logarithm of 1 + x, accurate near zero."""

from math import prod

from tasks.lazy import torch
from tasks.spec import Task


def reference(input):
    return torch.log1p(input)


def plain_logarithm(input):
    return torch.log(1 + input)


def inputs(make, shape, outliers=0.0, values=None, scale=1.0):
    if values:
        return [make.values(values).reshape(shape)], {}
    x = make.normal(*shape, outliers=outliers, std=scale)
    return [torch.where(x < -0.9, -x, x)], {}


TASK = Task(
    name="log1p",
    category="Math",
    signature="log1p(input) -> Tensor",
    prompt=(
        "Return the natural logarithm of 1 + x for every element x of `input`, a floating point tensor of any "
        "shape; shape and dtype stay. The result must keep its relative accuracy for small |x|, where adding 1 first "
        "would lose the digits of x. x = -1 gives -inf, x < -1 gives NaN."
    ),
    formula=r"y = \ln(1 + x)",
    reference=reference,
    inputs=inputs,
    # The published formula does not say where the sum is rounded.
    variants={"log(1 + x), inaccurate near zero": plain_logarithm},
    correctness=[
        {"shape": [7]},
        {"shape": [1]},
        {"shape": [2, 4], "values": [-2.0, -1.0, -0.5, -0.0, 0.0, 5.0, "inf", "nan"]},
        {"shape": [97, 131], "outliers": 1e-2},
        {"shape": [1_000_003]},
        {"shape": [1024, 1024], "outliers": 1e-3},
        {"shape": [33, 65], "scale": 1e-6},
    ],
    timing=[{"shape": [1 << p]} for p in range(12, 28)],
    bytes_moved=lambda shape, itemsize: 2 * prod(shape) * itemsize,
    flops=lambda shape: 2 * prod(shape),  # sum and logarithm
)
