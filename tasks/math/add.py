"""Sum of a tensor and a scaled tensor or number."""

from math import prod

from tasks.lazy import torch
from tasks.spec import Task


def reference(input, other, alpha=1):
    return torch.add(input, other, alpha=alpha)


def inputs(make, shape, other=None, outliers=0.0, **options):
    second = other if isinstance(other, float) else make.normal(*(other or shape))
    return [make.normal(*shape, outliers=outliers), second], options


def _second(shape, other):
    return 0 if isinstance(other, float) else prod(other or shape)


TASK = Task(
    name="add",
    category="Math",
    signature="add(input, other, *, alpha=1) -> Tensor",
    prompt=(
        "Return input + alpha * other, element by element. `input` is a floating point tensor of any shape, `other` "
        "a tensor of the same dtype whose shape broadcasts with it, or a Python number, and `alpha` a Python number. "
        "The result has the broadcast shape and the dtype of the input."
    ),
    formula=r"y = x + \alpha z",
    reference=reference,
    inputs=inputs,
    correctness=[
        {"shape": [7]},
        {"shape": [1]},
        {"shape": [3], "other": 2.0},
        {"shape": [3], "alpha": 0.5},
        {"shape": [3], "other": 2.0, "alpha": 0.5},
        {"shape": [97, 131], "alpha": -2, "outliers": 1e-2},
        {"shape": [1_000_003]},
        {"shape": [4, 5], "other": [5]},
    ],
    timing=[{"shape": [1 << p]} for p in range(12, 28)],
    bytes_moved=lambda shape, itemsize, other=None: (2 * prod(shape) + _second(shape, other)) * itemsize,
    flops=lambda shape: 2 * prod(shape),
)
