"""Cross entropy of classes and logits."""

from math import prod

from tasks.lazy import torch
from tasks.spec import Task


def reference(input, target, weight=None, ignore_index=-100, reduction="mean"):
    return torch.nn.functional.cross_entropy(
        input, target, weight=weight, ignore_index=ignore_index, reduction=reduction
    )


def inputs(make, shape, weighted=False, ignored=False, spread=False, outliers=0.0, **options):
    input = make.normal(*shape, outliers=outliers)
    if spread:
        input = input * make.uniform(1, low=0.5, high=2.0)
    batch, classes, *places = shape
    target = make.integers(batch, *places, low=0, high=classes)
    if ignored:
        target[0] = options.get("ignore_index", -100)
    if weighted:
        options["weight"] = make.uniform(classes, low=0.1, high=1.1)
    return [input, target], options


def bytes_moved(shape, itemsize, weighted=False, reduction="mean"):
    """Logits, classes and weights, and the losses or their one sum."""
    samples = prod(shape) // shape[1]
    results = samples if reduction == "none" else 1
    return (prod(shape) + weighted * shape[1] + results) * itemsize + 8 * samples


TASK = Task(
    name="cross_entropy",
    category="Loss",
    signature="cross_entropy(input, target, weight=None, ignore_index=-100, reduction='mean') -> Tensor",
    prompt=(
        "Cross entropy loss. `input` holds float32 logits, (N, C) or (N, C, H, W), `target` int64 classes, (N) or "
        "(N, H, W), `weight` (C) a factor for each class, or None for ones. With t the class of a sample and x its C "
        "logits, the loss is weight[t] * (log(sum of exp(x)) - x[t]), and 0 where t equals ignore_index. Logits may be "
        "large: subtract their maximum before exp. Return the losses in the shape of target with reduction='none', "
        "their sum with 'sum', or with 'mean' (the default) their sum divided by the sum of weight[t] over the samples "
        "that are not ignored; the last two as a tensor without dimensions."
    ),
    formula=r"\ell = \frac{\sum_i w_{t_i} \left(\ln \sum_c e^{x_{ic}} - x_{i t_i}\right)}{\sum_i w_{t_i}}",
    reference=reference,
    inputs=inputs,
    correctness=[
        {"shape": [4, 3]},
        {"shape": [1, 2]},
        {"shape": [4, 3], "ignored": True, "ignore_index": -100},
        {"shape": [2, 3, 4, 4]},
        {"shape": [5, 3], "weighted": True, "ignored": True},
        {"shape": [32, 10], "outliers": 1e-2},
        {"shape": [32, 10], "ignored": True, "ignore_index": 3, "outliers": 1e-2},
        {"shape": [2, 10, 8, 8], "outliers": 1e-2},
        {"shape": [2, 7, 5, 3], "weighted": True, "ignored": True, "reduction": "none"},
        {"shape": [33, 7], "reduction": "sum", "weighted": True},
        {"shape": [33, 101], "reduction": "none", "ignored": True},
        {"shape": [257, 1031]},
    ],
    timing=[{"shape": [1 << p, 1000], "reduction": "mean", "spread": True} for p in range(8, 16)],
    bytes_moved=bytes_moved,
    flops=lambda shape: 4 * prod(shape),  # maximum, difference, exponential, sum
)
