"""Hurwitz zeta function."""

from math import prod

from tasks.lazy import torch
from tasks.spec import Task


def reference(input, other):
    return torch.special.zeta(input, other)


def inputs(make, shape, outliers=0.0, values=None):
    if values:
        return [make.values(part) for part in values], {}
    x = make.normal(*shape, outliers=outliers).abs() + 2.0
    return [x, make.normal(*shape, outliers=outliers).abs() + 1.0], {}


TASK = Task(
    name="zeta",
    category="Math",
    signature="zeta(input, other) -> Tensor",
    prompt=(
        "Return the Hurwitz zeta function zeta(x, q), the sum of (k + q)**(-x) over k = 0, 1, 2, …, element by element "
        "for x of `input` and q of `other`, two float32 tensors of one shape, which the result has too. Here x is at "
        "least 1.5 and q at least 1, or x is negative and the result is NaN. The sum's tail from a = q + N on is "
        "a**(1-x)/(x-1) + a**(-x)/2 + x a**(-x-1)/12 - … (Euler and Maclaurin)."
    ),
    formula=r"y = \zeta(x, q) = \sum_{k=0}^{\infty} (k + q)^{-x}",
    reference=reference,
    inputs=inputs,
    correctness=[
        {"shape": [7]},
        {"shape": [1]},
        {"shape": [2, 3, 5]},
        {"shape": [2], "values": [[2.0, 3.0], [1.0, 2.0]]},
        {"shape": [2], "values": [[10.0, 20.0], [5.0, 10.0]]},
        {"shape": [3], "values": [[1.5, 2.5, 3.5], [1.0, 1.5, 2.5]]},
        {"shape": [2], "values": [[-1.0, -2.0], [-3.0, -4.0]]},
        {"shape": [97, 131], "outliers": 1e-2},
        {"shape": [1_000_003]},
    ],
    timing=[{"shape": [1 << p]} for p in range(12, 28)],
    bytes_moved=lambda shape, itemsize: 3 * prod(shape) * itemsize,
    flops=lambda shape: 40 * prod(shape),  # ten powers, and a dozen terms of the tail
)
