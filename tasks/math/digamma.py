"""Digamma: the derivative of the logarithm of the gamma function."""

from math import prod

from tasks.lazy import torch
from tasks.spec import Task


def reference(input):
    return torch.digamma(input)


def inputs(make, shape, outliers=0.0, values=None):
    if values:
        return [make.values(values).reshape(shape)], {}
    return [make.normal(*shape, outliers=outliers).abs() + 0.1], {}


TASK = Task(
    name="digamma",
    category="Math",
    signature="digamma(input) -> Tensor",
    prompt=(
        "Return the digamma function psi(x), the derivative of ln(Gamma(x)), for every element x of `input`, a "
        "floating point tensor of any shape with values of at least 0.1; shape and dtype stay. psi(x) = "
        "psi(x + 1) - 1 / x moves small arguments up; for large x psi(x) = ln(x) - 1/(2x) - 1/(12x**2) + "
        "1/(120x**4) - 1/(252x**6) + …"
    ),
    formula=r"y = \psi(x) = \frac{d}{dx} \ln \Gamma(x)",
    reference=reference,
    inputs=inputs,
    correctness=[
        {"shape": [7]},
        {"shape": [1]},
        {"shape": [2, 3, 5]},
        {"shape": [2, 3], "values": [0.1, 0.5, 1.0, 1.5, 10.0, 1000.0]},
        {"shape": [97, 131], "outliers": 1e-2},
        {"shape": [1_000_003]},
    ],
    timing=[{"shape": [1 << p]} for p in range(12, 28)],
    bytes_moved=lambda shape, itemsize: 2 * prod(shape) * itemsize,
    flops=lambda shape: 30 * prod(shape),  # up to ten quotients and differences, and the series
)
