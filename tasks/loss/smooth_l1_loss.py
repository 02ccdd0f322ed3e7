"""Smooth L1 loss: quadratic for small differences, linear for large ones."""

from math import prod

from tasks.lazy import torch
from tasks.spec import Task


def reference(input, target, beta=1.0, reduction="mean"):
    return torch.nn.functional.smooth_l1_loss(input, target, beta=beta, reduction=reduction)


def inputs(make, shape, outliers=0.0, spread=False, **options):
    input, target = make.normal(*shape, outliers=outliers), make.normal(*shape)
    if spread:
        input = input * make.uniform(1, low=0.5, high=2.0)
    return [input, target], options


def bytes_moved(shape, itemsize, reduction="mean"):
    """Both tensors, and the losses or their one sum."""
    return (2 * prod(shape) + (prod(shape) if reduction == "none" else 1)) * itemsize


TASK = Task(
    name="smooth_l1_loss",
    category="Loss",
    signature="smooth_l1_loss(input, target, beta=1.0, reduction='mean') -> Tensor",
    prompt=(
        "With d = |input - target| for each pair of elements of two floating point tensors of one shape, the loss is "
        "0.5 * d**2 / beta where d < beta and d - 0.5 * beta elsewhere (beta > 0). Return the losses in that shape "
        "with reduction='none', their mean with 'mean' (the default) and their sum with 'sum', both as a tensor "
        "without dimensions. The dtype stays."
    ),
    formula=r"\ell = \begin{cases} d^2 / 2\beta & d < \beta \\ d - \beta / 2 & \text{otherwise} \end{cases}",
    reference=reference,
    inputs=inputs,
    correctness=[
        {"shape": [32]},
        {"shape": [1]},
        {"shape": [33], "beta": 0.5},
        {"shape": [4, 8], "reduction": "none"},
        {"shape": [7, 9], "reduction": "sum"},
        {"shape": [4099], "beta": 1.0, "reduction": "mean", "outliers": 1e-2},
        {"shape": [4096], "beta": 0.5, "reduction": "sum", "outliers": 1e-3},
        {"shape": [32, 128], "beta": 0.1, "reduction": "none", "outliers": 1e-3},
        {"shape": [1_000_003]},
    ],
    timing=[{"shape": [1 << p], "spread": True} for p in range(12, 25)],
    bytes_moved=bytes_moved,
    flops=lambda shape: 6 * prod(shape),  # difference, magnitude, comparison, two products, sum
)
