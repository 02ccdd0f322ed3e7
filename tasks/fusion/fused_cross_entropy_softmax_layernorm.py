"""Cross entropy of logits, and their softmax after layer normalisation."""

from tasks.lazy import torch
from tasks.spec import Task


def reference(
    logits,
    targets,
    normalized_shape,
    weight=None,
    ignore_index=-100,
    reduction="mean",
    label_smoothing=0.0,
    eps=1e-5,
):
    loss = torch.nn.functional.cross_entropy(
        logits,
        targets,
        weight,
        ignore_index=ignore_index,
        reduction=reduction,
        label_smoothing=label_smoothing,
    )
    probabilities = torch.softmax(logits, dim=-1)
    return loss, torch.nn.functional.layer_norm(probabilities, (normalized_shape,), eps=eps)


def inputs(make, batch, classes, weighted=False, ignored=False, level=False, outliers=0.0, **options):
    logits = make.normal(batch, classes, outliers=outliers)
    if level:
        logits = logits * make.uniform(1, low=0.5, high=2.0)
    targets = make.integers(batch, low=0, high=classes)
    if ignored:
        targets[::3] = options.get("ignore_index", -100)
    if weighted:
        options["weight"] = make.uniform(classes, low=0.1, high=1.1)
    return [logits, targets, classes], options


TASK = Task(
    name="fused_cross_entropy_softmax_layernorm",
    category="Fusion",
    signature=(
        "fused_cross_entropy_softmax_layernorm(logits, targets, normalized_shape, weight=None, ignore_index=-100, "
        "reduction='mean', label_smoothing=0.0, eps=1e-5) -> (Tensor, Tensor)"
    ),
    prompt=(
        "Return a tuple of two tensors. `logits` is float32 (N, C) and `targets` int64 (N), classes from 0 to C - 1 or "
        "`ignore_index`. First the cross entropy: with l the log-softmax of a row (x - m - log(sum(exp(x - m))), m its "
        "largest element) the loss of the row is -weight[t] * l[t], where t is its target and `weight` (C) a factor "
        "for each class or None for ones; with label_smoothing = e above 0 it is (1 - e) times that, minus e / C times "
        "the sum of weight[c] * l[c] over all classes. Where the target equals ignore_index the loss is 0. The losses "
        "(N) are wanted with reduction='none', their sum with 'sum', or with 'mean' (the default) their sum divided by "
        "the sum of weight[t] over the rows that are not ignored. Second, (N, C): the softmax p of each row after "
        "layer normalisation, (p - mean(p)) / sqrt(variance(p) + eps), with the biased variance (divided by C) and "
        "nothing learnable; `normalized_shape` is the number C."
    ),
    formula=r"p = \mathrm{softmax}(z),\quad \ell = -\log p_t,\quad o = \mathrm{layernorm}(p)",
    reference=reference,
    inputs=inputs,
    correctness=[
        {"batch": 2, "classes": 3},
        {"batch": 1, "classes": 2},
        {"batch": 2, "classes": 3, "weighted": True},
        {"batch": 4, "classes": 3, "ignored": True, "ignore_index": -100},
        {"batch": 2, "classes": 3, "label_smoothing": 0.1},
        {"batch": 32, "classes": 10, "ignored": True, "ignore_index": 3, "eps": 1e-3},
        {"batch": 33, "classes": 7, "reduction": "none"},
        {"batch": 33, "classes": 7, "reduction": "sum", "weighted": True},
        {"batch": 32, "classes": 128, "label_smoothing": 0.1, "outliers": 1e-2},
        {"batch": 63, "classes": 1000, "outliers": 1e-3},
        {"batch": 512, "classes": 1031},
    ],
    timing=[{"batch": 1 << p, "classes": 1024, "level": True} for p in range(8, 20)],
    bytes_moved=lambda batch, classes, itemsize, weighted=False, reduction="mean": (
        batch * 8
        + (2 * batch * classes + classes * weighted + (batch if reduction == "none" else 1)) * itemsize
    ),
    # maximum, difference, exponential, sum, division; mean, three for the variance, difference, scaling
    flops=lambda batch, classes: 11 * batch * classes,
)
