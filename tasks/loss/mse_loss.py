"""Mean squared error."""

from math import prod

from tasks.lazy import torch
from tasks.spec import Task


def reference(input, target, reduction="mean"):
    return torch.nn.functional.mse_loss(input, target, reduction=reduction)


def inputs(make, shape, outliers=0.0, spread=False, **options):
    input, target = make.normal(*shape, outliers=outliers), make.normal(*shape)
    # A spread that the seed decides: the loss is no constant.
    return [input * make.uniform(1, low=0.5, high=2.0) if spread else input, target], options


TASK = Task(
    name="mse_loss",
    category="Loss",
    signature="mse_loss(input, target, reduction='mean') -> Tensor",
    prompt=(
        "Return the squared differences (input - target)**2 of two floating point tensors of one shape: in that shape "
        "with reduction='none', their mean with 'mean' (the default) or their sum with 'sum', both as a tensor "
        "without dimensions. The dtype stays."
    ),
    formula=r"\ell = \frac{1}{n} \sum_i (x_i - y_i)^2",
    reference=reference,
    inputs=inputs,
    correctness=[
        {"shape": [10]},
        {"shape": [1]},
        {"shape": [3, 3], "reduction": "none"},
        {"shape": [2, 3, 8, 8]},
        {"shape": [128, 255], "reduction": "mean", "outliers": 1e-3},
        {"shape": [128, 255], "reduction": "sum", "outliers": 1e-3},
        {"shape": [1_000_003]},
    ],
    timing=[{"shape": [1 << p], "spread": True} for p in range(12, 24)],
    bytes_moved=lambda shape, itemsize, reduction="mean": (
        (2 * prod(shape) + (prod(shape) if reduction == "none" else 1)) * itemsize
    ),
    flops=lambda shape: 3 * prod(shape),
)
