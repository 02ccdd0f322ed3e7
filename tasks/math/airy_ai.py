"""Airy function of the first kind."""

from math import prod

from tasks.lazy import torch
from tasks.spec import Task


def reference(input):
    return torch.special.airy_ai(input)


def inputs(make, shape, low=None, high=None, outliers=0.0, values=None):
    if values:
        return [make.values(values).reshape(shape)], {}
    if low is not None:
        return [make.uniform(*shape, low=low, high=high)], {}
    # Rare values of up to 30, as published: further out the phase of the oscillation is lost in float32.
    return [make.normal(*shape, outliers=outliers).clamp(-30.0, 30.0)], {}


TASK = Task(
    name="airy_ai",
    category="Math",
    signature="airy_ai(input) -> Tensor",
    prompt=(
        "Return the Airy function Ai(x) for every element x of `input`, a float32 tensor of any shape with values "
        "between -30 and 30; shape and dtype stay. Ai is the solution of y'' = x y that falls to zero for large x. "
        "Near zero it is c1 f(x) - c2 g(x) with c1 = 0.355028053887817, c2 = 0.258819403792807 and the series "
        "f = 1 + x**3/(2*3) + x**6/(2*3*5*6) + …, g = x + x**4/(3*4) + x**7/(3*4*6*7) + …; with z = 2/3 |x|**1.5 it "
        "approaches exp(-z) / (2 sqrt(pi) x**0.25) for large x, and sin(z + pi/4) / (sqrt(pi) |x|**0.25) for very "
        "negative x, each times a series in 1/z."
    ),
    formula=r"y = \mathrm{Ai}(x) = \frac{1}{\pi} \int_0^\infty \cos(t^3/3 + x t)\, dt",
    reference=reference,
    inputs=inputs,
    correctness=[
        {"shape": [7]},
        {"shape": [1]},
        {"shape": [2, 3, 5]},
        {"shape": [2, 4], "values": [0.0, 1.0, -1.0, 10.0, -10.0, 2.0, -2.0, 5.0]},
        {"shape": [97, 131], "outliers": 1e-2},
        {"shape": [10_007], "low": -30.0, "high": 5.0},
        {"shape": [1_000_003]},
    ],
    timing=[{"shape": [1 << p]} for p in range(12, 28)],
    bytes_moved=lambda shape, itemsize: 2 * prod(shape) * itemsize,
    flops=lambda shape: 50 * prod(shape),  # published; a dozen terms of two series or of two quotients
)
