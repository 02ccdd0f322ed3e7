"""A linear layer whose result goes through the hyperbolic tangent."""

from math import prod

from tasks.lazy import torch
from tasks.spec import Task


def reference(input, weight, bias=None):
    return torch.tanh(torch.nn.functional.linear(input, weight, bias))


def inputs(make, batch, features, out, bias=True, form="float32", outliers=0.0):
    x = make.normal(*batch, features, outliers=outliers, dtype=form)
    # Sums near 1 at every size: the tangent of large ones is a sign.
    weight = make.normal(out, features, std=features**-0.5, dtype=form)
    return [x, weight, make.normal(out, dtype=form)] if bias else [x, weight], {}


TASK = Task(
    name="fused_tanh_linear",
    category="Fusion",
    signature="fused_tanh_linear(input, weight, bias=None) -> Tensor",
    prompt=(
        "Return tanh(input @ weight.T + bias), where `input` is (*, in), `weight` (out, in) and `bias` (out) or None, "
        "all float32 or all float16, which the result (*, out) is too. Accumulate in float32."
    ),
    formula=r"y = \tanh(x W^\top + b)",
    reference=reference,
    inputs=inputs,
    correctness=[
        {"batch": [5], "features": 3, "out": 4},
        {"batch": [1], "features": 1, "out": 1},
        {"batch": [5], "features": 3, "out": 4, "bias": False},
        {"batch": [2], "features": 3, "out": 2},
        {"batch": [64], "features": 128, "out": 256, "form": "float16", "outliers": 1e-3},
        {"batch": [33], "features": 65, "out": 131, "outliers": 1e-2},
        {"batch": [2, 3], "features": 16, "out": 33},
        {"batch": [128], "features": 1024, "out": 256, "outliers": 1e-3},
    ],
    timing=[{"batch": [1 << (p - 3)], "features": 1 << p, "out": 1 << (p - 2)} for p in range(5, 16)],
    bytes_moved=lambda batch, features, out, itemsize, bias=True: (
        itemsize * (prod(batch) * (features + out) + out * features + bias * out)
    ),
    # products and sums; bias and tangent
    flops=lambda batch, features, out: prod(batch) * out * (2 * features + 2),
)
