"""Negative log-likelihood loss."""

from tasks.lazy import torch
from tasks.spec import Task


def reference(input, target, weight=None, ignore_index=-100, reduction="mean"):
    return torch.nn.functional.nll_loss(input, target, weight, ignore_index=ignore_index, reduction=reduction)


def inputs(make, batch, classes, weighted=False, ignored=False, outliers=0.0, **options):
    input = make.normal(batch, classes, outliers=outliers).log_softmax(1)
    target = make.integers(batch, low=0, high=classes)
    if ignored:
        target[0] = options.get("ignore_index", -100)
    if weighted:
        options["weight"] = make.uniform(classes, low=0.1, high=1.1)
    return [input, target], options


TASK = Task(
    name="nll_loss",
    category="Loss",
    signature="nll_loss(input, target, weight=None, ignore_index=-100, reduction='mean') -> Tensor",
    prompt=(
        "Negative log-likelihood loss. `input` (N, C) holds float32 log-probabilities, `target` (N) int64 classes, "
        "`weight` (C) a factor for each class, or None for ones. The loss of sample i is -weight[target[i]] * "
        "input[i, target[i]], and 0 where target[i] equals ignore_index. Return the losses (N) with reduction='none', "
        "their sum with 'sum', or with 'mean' (the default) their sum divided by the sum of weight[target[i]] over the "
        "samples that are not ignored; the last two as a tensor without dimensions."
    ),
    formula=r"\ell = -\frac{\sum_i w_{t_i} x_{i, t_i}}{\sum_i w_{t_i}}",
    reference=reference,
    inputs=inputs,
    correctness=[
        {"batch": 4, "classes": 3},
        {"batch": 1, "classes": 2},
        {"batch": 4, "classes": 3, "weighted": True},
        {"batch": 4, "classes": 3, "ignored": True, "ignore_index": -100},
        {"batch": 32, "classes": 10, "weighted": True, "ignored": True},
        {"batch": 32, "classes": 10, "ignored": True, "ignore_index": 3},
        {"batch": 257, "classes": 101, "outliers": 1e-2},
        {"batch": 33, "classes": 7, "reduction": "sum", "weighted": True},
        {"batch": 33, "classes": 7, "reduction": "none", "ignored": True},
    ],
    timing=[{"batch": 1 << p, "classes": 1000, "reduction": "mean"} for p in range(8, 16)],
    # of each row one element is needed, and its class
    bytes_moved=lambda batch, itemsize, reduction="mean": (
        batch * (itemsize + 8) + (batch if reduction == "none" else 1) * itemsize
    ),
    flops=lambda batch: 2 * batch,
)
