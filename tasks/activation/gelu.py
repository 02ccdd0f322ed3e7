"""GELU: x times the standard normal CDF of x, exact or through tanh."""

from math import prod

from tasks.lazy import torch
from tasks.spec import Task


def reference(input, approximate="none"):
    return torch.nn.functional.gelu(input, approximate=approximate)


def inputs(make, shape, outliers=0.0, **options):
    return [make.normal(*shape, outliers=outliers)], options


TASK = Task(
    name="gelu",
    category="Activation",
    signature="gelu(input, approximate='none') -> Tensor",
    prompt=(
        "Apply the Gaussian error linear unit to every element of `input`, a floating point tensor of any shape, "
        "and return a new tensor of the same shape and dtype. With approximate='none' (the default) the result is "
        "x * Phi(x), where Phi is the standard normal cumulative distribution function, computed through erf: "
        "0.5 * x * (1 + erf(x / sqrt(2))). With approximate='tanh' it is "
        "0.5 * x * (1 + tanh(sqrt(2/pi) * (x + 0.044715 * x**3)))."
    ),
    formula=r"y = x\,\Phi(x)",
    reference=reference,
    inputs=inputs,
    correctness=[
        {"shape": [7]},
        {"shape": [1]},
        {"shape": [3, 5], "approximate": "tanh"},
        {"shape": [97, 131], "outliers": 1e-2},
        {"shape": [97, 131], "approximate": "tanh", "outliers": 1e-2},
        {"shape": [1_000_003]},
        {"shape": [1024, 1024], "approximate": "tanh", "outliers": 1e-3},
    ],
    timing=[{"shape": [1 << p]} for p in range(12, 28)],
    bytes_moved=lambda shape, itemsize: 2 * prod(shape) * itemsize,  # read once, written once
    flops=lambda shape: 5 * prod(shape),  # erf counts as one operation
)
