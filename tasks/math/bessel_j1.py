"""Bessel function of the first kind of order 1."""

from math import prod

from tasks.lazy import torch
from tasks.spec import Task


def reference(input):
    return torch.special.bessel_j1(input)


def inputs(make, shape, low=None, high=None, outliers=0.0, values=None):
    if values:
        return [make.values(values).reshape(shape)], {}
    if low is not None:
        return [make.uniform(*shape, low=low, high=high)], {}
    # Rare values of up to 40, as published.
    return [make.normal(*shape, outliers=outliers).clamp(-40.0, 40.0)], {}


TASK = Task(
    name="bessel_j1",
    category="Math",
    signature="bessel_j1(input) -> Tensor",
    prompt=(
        "Return the Bessel function of the first kind of order 1, J1(x), for every element x of `input`, a float32 "
        "tensor of any shape with values between -40 and 40; shape and dtype stay. J1 is odd. Its series is the sum "
        "over k of (-1)**k (x/2)**(2k+1) / (k! (k+1)!); for large x it approaches "
        "sqrt(2/(pi x)) (P(x) cos(x - 3 pi/4) - Q(x) sin(x - 3 pi/4)) with P and Q series in 1/x."
    ),
    formula=r"y = J_1(x) = \frac{1}{\pi} \int_0^\pi \cos(t - x \sin t)\, dt",
    reference=reference,
    inputs=inputs,
    correctness=[
        {"shape": [7]},
        {"shape": [1]},
        {"shape": [2, 3, 5]},
        {"shape": [8], "values": [0.0, 1.0, -1.0, 2.5, -5.0, 5.5, 10.0, -20.0]},
        {"shape": [97, 131], "outliers": 1e-2},
        {"shape": [10_007], "low": -40.0, "high": 40.0},
        {"shape": [1_000_003]},
    ],
    timing=[{"shape": [1 << p], "low": -10.0, "high": 10.0} for p in range(12, 28)],
    bytes_moved=lambda shape, itemsize: 2 * prod(shape) * itemsize,
    flops=lambda shape: 30 * prod(shape),  # the quotient of two polynomials, or two quotients and a sine
)
