"""Cross entropy of logits."""

from tasks.lazy import torch
from tasks.spec import Task


def reference(input, target, weight=None, ignore_index=-100, reduction="mean", label_smoothing=0.0):
    return torch.nn.functional.cross_entropy(
        input,
        target,
        weight,
        ignore_index=ignore_index,
        reduction=reduction,
        label_smoothing=label_smoothing,
    )


def inputs(make, batch, classes, weighted=False, ignored=False, level=False, outliers=0.0, **options):
    logits = make.normal(batch, classes, outliers=outliers)
    if level:
        logits = logits * make.uniform(1, low=0.5, high=3.0)
    target = make.integers(batch, low=0, high=classes)
    if ignored:
        target[::3] = options.get("ignore_index", -100)
    if weighted:
        options["weight"] = make.uniform(classes, low=0.1, high=1.1)
    return [logits, target], options


TASK = Task(
    name="fused_cross_entropy_log_softmax",
    category="Fusion",
    signature=(
        "fused_cross_entropy_log_softmax(input, target, dim=1, weight=None, ignore_index=-100, reduction='mean', "
        "label_smoothing=0.0) -> Tensor"
    ),
    prompt=(
        "Cross entropy of logits. `input` is float32 (N, C) and `target` int64 (N), classes from 0 to C - 1 or "
        "`ignore_index`. With l the log-softmax of a row (x - m - log(sum(exp(x - m))), m its largest element) the "
        "loss of the row is -weight[t] * l[t], where t is its target and `weight` (C) a factor for each class or None "
        "for ones; with label_smoothing = e above 0 it is (1 - e) times that, minus e / C times the sum of weight[c] * "
        "l[c] over all classes. Where the target equals ignore_index the loss is 0. Return the losses (N) with "
        "reduction='none', their sum with 'sum', or with 'mean' (the default) their sum divided by the sum of "
        "weight[t] over the rows that are not ignored; the last two without dimensions. `dim` is always 1."
    ),
    formula=r"\ell = -\frac{\sum_i w_{t_i} \log\mathrm{softmax}(x_i)_{t_i}}{\sum_i w_{t_i}}",
    reference=reference,
    inputs=inputs,
    correctness=[
        {"batch": 2, "classes": 3},
        {"batch": 1, "classes": 2},
        {"batch": 2, "classes": 3, "label_smoothing": 0.1},
        {"batch": 4, "classes": 3, "weighted": True},
        {"batch": 4, "classes": 3, "reduction": "sum"},
        {"batch": 33, "classes": 7, "reduction": "none", "weighted": True},
        {"batch": 32, "classes": 10, "ignored": True},
        {"batch": 32, "classes": 10, "ignored": True, "ignore_index": 3},
        {"batch": 64, "classes": 100, "label_smoothing": 0.1, "outliers": 1e-2},
        {"batch": 257, "classes": 101, "reduction": "none", "outliers": 1e-3},
        {"batch": 4099, "classes": 128},
    ],
    timing=[{"batch": 1 << p, "classes": 128, "level": True} for p in range(12, 24)],
    bytes_moved=lambda batch, classes, itemsize, weighted=False, reduction="mean": (
        batch * 8 + (batch * classes + classes * weighted + (batch if reduction == "none" else 1)) * itemsize
    ),
    flops=lambda batch, classes: 4 * batch * classes,  # maximum, difference, exponential, sum
)
