"""A linear layer whose result goes through log-softmax."""

from math import prod

from tasks.lazy import torch
from tasks.spec import Task


def reference(input, weight, bias=None, dim=-1, dtype=None):
    return torch.log_softmax(torch.nn.functional.linear(input, weight, bias), dim, dtype=dtype)


def inputs(make, batch, features, out, bias=True, form="float32", outliers=0.0, **options):
    if dtype := options.get("dtype"):
        options["dtype"] = getattr(torch, dtype)
    x = make.normal(*batch, features, outliers=outliers, dtype=form)
    # Logits near 1 at every size: with larger ones a slice is a single peak.
    weight = make.normal(out, features, std=features**-0.5, dtype=form)
    return [x, weight, make.normal(out, dtype=form)] if bias else [x, weight], options


TASK = Task(
    name="fused_log_softmax_linear",
    category="Fusion",
    signature="fused_log_softmax_linear(input, weight, bias=None, dim=-1, dtype=None) -> Tensor",
    prompt=(
        "Linear layer and log-softmax: z = input @ weight.T + bias, where `input` is (*, in), `weight` (out, in) and "
        "`bias` (out) or None, all float32 or all float16; then z - m - log(sum(exp(z - m))) along dimension `dim` of "
        "z, with m the largest element of the slice. With `dtype` the log-softmax is taken and returned in that dtype; "
        "otherwise the inputs' dtype stays. Accumulate float16 products in float32."
    ),
    formula=r"y = \log\,\mathrm{softmax}(x W^\top + b)",
    reference=reference,
    inputs=inputs,
    correctness=[
        {"batch": [2], "features": 3, "out": 5},
        {"batch": [1], "features": 1, "out": 2},
        {"batch": [2], "features": 2, "out": 2, "bias": False},
        {"batch": [3], "features": 4, "out": 2, "dim": 0},
        {"batch": [5], "features": 7, "out": 9, "dtype": "float64"},
        {"batch": [32], "features": 128, "out": 256, "form": "float16", "dim": -1, "outliers": 1e-3},
        {"batch": [33], "features": 65, "out": 131, "outliers": 1e-2},
        {"batch": [2, 3], "features": 16, "out": 33},
        {"batch": [32], "features": 1024, "out": 1024, "outliers": 1e-3},
    ],
    timing=[{"batch": [32], "features": 1 << p, "out": 1 << p} for p in range(4, 15)],
    bytes_moved=lambda batch, features, out, itemsize, bias=True: (
        itemsize * (prod(batch) * (features + out) + out * features + bias * out)
    ),
    # products and sums; bias; maximum, difference, exponential, sum, difference of log-softmax
    flops=lambda batch, features, out: prod(batch) * out * (2 * features + 6),
)
