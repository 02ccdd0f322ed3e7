"""Log-odds: the inverse of the sigmoid."""

from math import prod

from tasks.lazy import torch
from tasks.spec import Task


def reference(input, eps=None):
    return torch.logit(input, eps)


def inputs(make, shape, outliers=0.0, values=None, **options):
    if values:
        return [make.values(values).reshape(shape)], options
    return [make.normal(*shape, outliers=outliers).sigmoid().clamp(1e-4, 1 - 1e-4)], options


TASK = Task(
    name="logit",
    category="Math",
    signature="logit(input, eps=None) -> Tensor",
    prompt=(
        "Return ln(x / (1 - x)) for every element x of `input`, a floating point tensor of any shape; shape and dtype "
        "stay. If `eps` is given (at most 0.5), clamp x to [eps, 1 - eps] first. Without it 0 gives -inf, 1 gives inf, "
        "and elements outside [0, 1] give NaN."
    ),
    formula=r"y = \ln\frac{x}{1 - x}",
    reference=reference,
    inputs=inputs,
    correctness=[
        {"shape": [3]},
        {"shape": [1]},
        {"shape": [3], "values": [0.0, 0.5, 1.0], "eps": 1e-6},
        {"shape": [5], "values": [-0.5, 0.0, 0.25, 1.0, 1.5]},
        {"shape": [2, 3, 5], "eps": 0.25},
        {"shape": [97, 131], "eps": 1e-6, "outliers": 1e-2},
        {"shape": [1_000_003]},
    ],
    timing=[{"shape": [1 << p]} for p in range(12, 28)],
    bytes_moved=lambda shape, itemsize: 2 * prod(shape) * itemsize,
    flops=lambda shape: 3 * prod(shape),  # difference, quotient, logarithm
)
