"""Binary cross entropy of probabilities."""

from math import prod

from tasks.lazy import torch
from tasks.spec import Task


def reference(input, target, weight=None, reduction="mean"):
    return torch.nn.functional.binary_cross_entropy(input, target, weight=weight, reduction=reduction)


def inputs(make, shape, hard=False, weighted=False, spread=False, outliers=0.0, **options):
    logits = make.normal(*shape, outliers=outliers)
    if spread:
        logits = logits * make.uniform(1, low=0.5, high=2.0)
    input = logits.sigmoid().clamp(1e-6, 1 - 1e-6)
    target = make.boolean(*shape).float() if hard else make.uniform(*shape)
    if weighted:
        options["weight"] = make.uniform(*shape)
    return [input, target], options


def bytes_moved(shape, itemsize, weighted=False, reduction="mean"):
    """Probabilities, targets and weights, and the losses or their one sum."""
    return ((2 + weighted) * prod(shape) + (prod(shape) if reduction == "none" else 1)) * itemsize


TASK = Task(
    name="binary_cross_entropy",
    category="Loss",
    signature="binary_cross_entropy(input, target, weight=None, reduction='mean') -> Tensor",
    prompt=(
        "The loss of a probability x in `input` and y in `target` is -(y * log(x) + (1 - y) * log(1 - x)), times the "
        "element of `weight` where that is not None. All are float32 tensors of one shape; x lies between 1e-6 and "
        "1 - 1e-6, y in [0, 1]. Return the losses in that shape with reduction='none', their sum with 'sum', and their "
        "sum divided by their number (not by that of the weights) with 'mean' (the default); the last two as a tensor "
        "without dimensions."
    ),
    formula=r"\ell = -w\,(y \ln x + (1 - y) \ln(1 - x))",
    reference=reference,
    inputs=inputs,
    correctness=[
        {"shape": [8], "hard": True},
        {"shape": [1]},
        {"shape": [8], "hard": True, "weighted": True},
        {"shape": [4, 4], "reduction": "none"},
        {"shape": [7, 9], "reduction": "sum", "weighted": True},
        {"shape": [1024], "reduction": "mean", "outliers": 1e-3},
        {"shape": [64, 128], "weighted": True, "outliers": 1e-3},
        {"shape": [64, 129], "reduction": "none", "outliers": 1e-3},
        {"shape": [10_007], "hard": True},
        {"shape": [1_000_003]},
    ],
    timing=[{"shape": [1 << p], "hard": True, "spread": True, "reduction": "mean"} for p in range(12, 24)],
    bytes_moved=bytes_moved,
    flops=lambda shape: 8 * prod(shape),  # two logarithms, two differences, two products, two sums
)
