"""Modified Bessel function of the first kind, order zero."""

from math import prod

from tasks.lazy import torch
from tasks.spec import Task


def reference(input):
    return torch.special.i0(input)


def inputs(make, shape, outliers=0.0, values=None):
    if values:
        return [make.values(values).reshape(shape)], {}
    return [make.normal(*shape, std=3.0, outliers=outliers).clamp(-10, 10)], {}


TASK = Task(
    name="i0",
    category="Math",
    signature="i0(input) -> Tensor",
    prompt=(
        "Return the modified Bessel function of the first kind of order zero, I0(x) = sum over k of "
        "(x**2 / 4)**k / (k!)**2, for every element x of `input`, a floating point tensor of any shape with values in "
        "[-10, 10]; shape and dtype stay. Relative accuracy of 1e-5 is needed up to I0(10) = 2815.7."
    ),
    formula=r"y = I_0(x) = \sum_k \frac{(x^2/4)^k}{(k!)^2}",
    reference=reference,
    inputs=inputs,
    correctness=[
        {"shape": [7]},
        {"shape": [1]},
        {"shape": [2, 3, 5]},
        {"shape": [2, 4], "values": [-10.0, -8.0, -3.0, 0.0, 0.5, 7.9, 8.1, 10.0]},
        {"shape": [97, 131], "outliers": 1e-2},
        {"shape": [1_000_003]},
    ],
    timing=[{"shape": [1 << p]} for p in range(12, 28)],
    bytes_moved=lambda shape, itemsize: 2 * prod(shape) * itemsize,
    flops=lambda shape: 10 * prod(shape),  # as the benchmark counts it
)
