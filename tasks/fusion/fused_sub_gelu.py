"""GELU of a difference."""

from math import pi, prod, sqrt

from tasks.lazy import torch
from tasks.spec import Task


def reference(input, other, alpha=1, approximate="none"):
    return torch.nn.functional.gelu(torch.sub(input, other, alpha=alpha), approximate=approximate)


def without_one(input, other, alpha=1, approximate="none"):
    x = torch.sub(input, other, alpha=alpha)
    if approximate == "tanh":
        return 0.5 * x * (1 + torch.tanh(sqrt(2 / pi) * (x + 0.044715 * x**3)))
    return 0.5 * x * torch.erf(x / sqrt(2))


def inputs(make, shape, number=None, outliers=0.0, **options):
    x = make.normal(*shape, outliers=outliers)
    return [x, make.normal(*shape) if number is None else number], options


TASK = Task(
    name="fused_sub_gelu",
    category="Fusion",
    signature="fused_sub_gelu(input, other, alpha=1, approximate='none') -> Tensor",
    prompt=(
        "Return the GELU of s = input - alpha * other, element by element. `input` is a floating point tensor of any "
        "shape, `other` a tensor of the same shape and dtype or a Python number, `alpha` a Python number; shape and "
        "dtype stay. With approximate='none' GELU is s * Phi(s) = 0.5 * s * (1 + erf(s / sqrt(2))); with "
        "`approximate` = 'tanh' it is 0.5 * s * (1 + tanh(sqrt(2/pi) * (s + 0.044715 * s**3)))."
    ),
    formula=r"y = s\,\Phi(s),\quad s = x - \alpha z",
    reference=reference,
    inputs=inputs,
    # The published code leaves the 1 out of 1 + erf.
    variants={"0.5 s erf(s / sqrt(2)), without the 1 +": without_one},
    correctness=[
        {"shape": [3]},
        {"shape": [1]},
        {"shape": [3], "alpha": 0.5},
        {"shape": [3, 5], "approximate": "tanh"},
        {"shape": [7], "number": 0.5},
        {"shape": [4096], "alpha": 0.5, "approximate": "tanh", "outliers": 1e-3},
        {"shape": [97, 131], "alpha": -1.5, "outliers": 1e-2},
        {"shape": [1_000_003]},
    ],
    timing=[{"shape": [1 << p], "alpha": 1, "approximate": "none"} for p in range(12, 26)],
    bytes_moved=lambda shape, itemsize, number=None: prod(shape) * itemsize * (3 if number is None else 2),
    flops=lambda shape: 7 * prod(shape),  # product and difference, five of GELU (erf counts as one)
)
