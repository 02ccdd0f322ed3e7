"""A product, minus a multiple of another operand."""

from math import prod

from tasks.lazy import torch
from tasks.spec import Task


def reference(input, other_mul, other_sub, alpha=1):
    return torch.sub(input * other_mul, other_sub, alpha=alpha)


def inputs(make, shape, factor=None, subtrahend=None, outliers=0.0, **options):
    x = make.normal(*shape, outliers=outliers)
    other_mul = make.normal(*shape, outliers=outliers) if factor is None else factor
    other_sub = make.normal(*shape) if subtrahend is None else subtrahend
    return [x, other_mul, other_sub], options


TASK = Task(
    name="fused_mul_sub",
    category="Fusion",
    signature="fused_mul_sub(input, other_mul, other_sub, alpha=1) -> Tensor",
    prompt=(
        "Return input * other_mul - alpha * other_sub, element by element, in a new tensor. `input` is a floating "
        "point tensor of any shape; `other_mul` and `other_sub` are each a tensor of the same shape and dtype or a "
        "Python number; `alpha` is a Python number. Shape and dtype stay."
    ),
    formula=r"y = x\,m - \alpha s",
    reference=reference,
    inputs=inputs,
    correctness=[
        {"shape": [3]},
        {"shape": [1]},
        {"shape": [3], "factor": 2.0},
        {"shape": [3], "subtrahend": 0.5},
        {"shape": [2, 3, 5], "factor": -1.5, "subtrahend": 0.5, "alpha": 2},
        {"shape": [512, 512], "alpha": -0.5, "outliers": 1e-3},
        {"shape": [97, 131], "alpha": 0.3, "outliers": 1e-2},
        {"shape": [1_000_003]},
    ],
    timing=[{"shape": [1 << p]} for p in range(12, 28)],
    bytes_moved=lambda shape, itemsize, factor=None, subtrahend=None: (
        prod(shape) * itemsize * (2 + (factor is None) + (subtrahend is None))
    ),
    flops=lambda shape: 3 * prod(shape),
)
