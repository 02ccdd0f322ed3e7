"""Polygamma: a derivative of the digamma function."""

from math import prod

from tasks.lazy import torch
from tasks.spec import Task


def reference(n, input):
    return torch.polygamma(n, input)


def inputs(make, shape, n, outliers=0.0, values=None):
    if values:
        return [n, make.values(values).reshape(shape)], {}
    return [n, make.normal(*shape, outliers=outliers).abs() + 0.1], {}


TASK = Task(
    name="polygamma",
    category="Math",
    signature="polygamma(n, input) -> Tensor",
    prompt=(
        "Return the `n`-th derivative of the digamma function psi(x) = d/dx ln Gamma(x) for every element x of "
        "`input`, a float32 tensor of any shape with values of at least 0.1; shape and dtype stay. `n` is a Python "
        "integer from 0 on; n = 0 is psi itself, and for n >= 1 the result is (-1)**(n+1) n! times the sum of "
        "1 / (x + k)**(n+1) over k = 0, 1, 2, …; the sum's tail is known from Euler and Maclaurin's formula."
    ),
    formula=r"y = \psi^{(n)}(x) = \frac{d^{n}}{dx^{n}} \psi(x)",
    reference=reference,
    inputs=inputs,
    correctness=[
        {"shape": [7], "n": 1},
        {"shape": [2], "n": 1, "values": [1.0, 0.5]},
        {"shape": [2], "n": 2, "values": [1.0, 0.5]},
        {"shape": [2], "n": 3, "values": [1.0, 0.5]},
        {"shape": [2], "n": 4, "values": [1.0, 0.5]},
        {"shape": [2, 3, 5], "n": 0},
        {"shape": [1], "n": 2},
        {"shape": [97, 131], "n": 1, "outliers": 1e-2},
        {"shape": [97, 131], "n": 2, "outliers": 1e-2},
        {"shape": [1_000_003], "n": 3},
    ],
    timing=[{"shape": [1 << p], "n": 1} for p in range(12, 28)],
    bytes_moved=lambda shape, itemsize: 2 * prod(shape) * itemsize,
    flops=lambda shape: 40 * prod(shape),  # ten terms of the sum and as many of its tail
)
