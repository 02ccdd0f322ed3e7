"""Error function."""

from math import prod

from tasks.lazy import torch
from tasks.spec import Task


def reference(input):
    return torch.erf(input)


def inputs(make, shape, outliers=0.0, values=None):
    x = make.values(values).reshape(shape) if values else make.normal(*shape, outliers=outliers)
    return [x], {}


TASK = Task(
    name="erf",
    category="Math",
    signature="erf(input) -> Tensor",
    prompt=(
        "Return the error function of every element of `input`, a floating point tensor of any shape; shape and "
        "dtype stay. erf(x) is 2/sqrt(pi) times the integral of exp(-t**2) from 0 to x; it saturates at -1 and 1."
    ),
    formula=r"y = \frac{2}{\sqrt\pi}\int_0^x e^{-t^2}\,dt",
    reference=reference,
    inputs=inputs,
    correctness=[
        {"shape": [7]},
        {"shape": [1]},
        {"shape": [2, 3, 5]},
        {"shape": [2, 4], "values": ["-inf", -10.0, -0.0, 0.0, 0.5, 10.0, "inf", "nan"]},
        {"shape": [97, 131], "outliers": 1e-2},
        {"shape": [1_000_003]},
        {"shape": [1024, 1024], "outliers": 1e-3},
    ],
    timing=[{"shape": [1 << p]} for p in range(12, 28)],
    bytes_moved=lambda shape, itemsize: 2 * prod(shape) * itemsize,
    flops=lambda shape: prod(shape),  # erf counts as one operation
)
