"""Logarithm of the absolute value of the gamma function."""

from math import prod

from tasks.lazy import torch
from tasks.spec import Task


def reference(input):
    return torch.special.gammaln(input)


def gamma_of_absolute(input):
    return torch.special.gammaln(input.abs())


def inputs(make, shape, outliers=0.0, whole=False, values=None):
    if values:
        return [make.values(values).reshape(shape)], {}
    if whole:  # logarithms of factorials, among them the zeros at 1 and 2
        return [make.integers(*shape, low=1, high=1001).float()], {}
    return [make.normal(*shape, outliers=outliers).abs() + 0.1], {}


TASK = Task(
    name="gammaln",
    category="Math",
    signature="gammaln(input) -> Tensor",
    prompt=(
        "Return ln|Gamma(x)|, the natural logarithm of the absolute value of the gamma function, for every element x "
        "of `input`, a float32 tensor of any shape; shape and dtype stay. Elements are at least 0.1 or lie halfway "
        "between two negative integers. For positive x the gamma function satisfies Gamma(x + 1) = x Gamma(x) and, "
        "for large x, ln Gamma(x) = (x - 1/2) ln(x) - x + ln(2 pi)/2 + 1/(12x) - 1/(360x**3) + …; for negative x, "
        "Gamma(x) Gamma(1 - x) = pi / sin(pi x)."
    ),
    formula=r"y = \ln |\Gamma(x)|",
    reference=reference,
    inputs=inputs,
    # The published words ask for this one, its formula for the other: they differ where x is negative.
    variants={"ln Γ(|x|), the published formula": gamma_of_absolute},
    correctness=[
        {"shape": [7]},
        {"shape": [1]},
        {"shape": [2, 3, 5]},
        {"shape": [3], "values": [-2.5, -3.5, -4.5]},
        {"shape": [6], "values": [0.1, 0.5, 1.0, 1.5, 2.0, 1e4]},
        {"shape": [4099], "whole": True},
        {"shape": [97, 131], "outliers": 1e-2},
        {"shape": [1_000_003]},
    ],
    timing=[{"shape": [1 << p]} for p in range(12, 28)],
    bytes_moved=lambda shape, itemsize: 2 * prod(shape) * itemsize,
    flops=lambda shape: 30 * prod(shape),  # up to ten products, a logarithm and the series
)
