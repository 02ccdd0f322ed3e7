"""GELU: x times the standard normal CDF of x, exact or through tanh."""

from tasks.lazy import torch
from tasks.spec import Task


def reference(input, approximate="none"):
    return torch.nn.functional.gelu(input, approximate=approximate)


def inputs(make, n, approximate="none", outliers=0.0):
    return [make.normal(*([n] if isinstance(n, int) else n), outliers=outliers)], {"approximate": approximate}


TASK = Task(
    name="gelu",
    category="Activation",
    signature="gelu(input, approximate='none') -> Tensor",
    prompt=(
        "Apply the Gaussian error linear unit to every element of `input`, a floating point tensor of any shape, "
        "and return a new tensor of the same shape and dtype. With approximate='none' (the default) the result is "
        "x * Phi(x), where Phi is the standard normal cumulative distribution function, computed through erf. With "
        "approximate='tanh' it is 0.5 * x * (1 + tanh(sqrt(2/pi) * (x + 0.044715 * x**3)))."
    ),
    formula=r"y = x\,\Phi(x)",
    reference=reference,
    inputs=inputs,
    correctness=[
        {"n": 7},
        {"n": 1},
        {"n": [3, 5], "approximate": "tanh"},
        {"n": 1_000_003},
        {"n": [1024, 1024], "approximate": "tanh", "outliers": 1e-3},
        {"n": 4096, "outliers": 1e-2},
    ],
    timing=[{"n": 1 << p} for p in range(12, 28)],
    bytes_moved=lambda n, itemsize: 2 * n * itemsize,  # read once, written once
    flops=lambda n: 8 * n,
)
