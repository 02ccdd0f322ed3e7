"""A linear layer whose result goes through softplus."""

from tasks.lazy import torch
from tasks.spec import Task


def reference(input, weight, bias=None, beta=1, threshold=20):
    hidden = torch.nn.functional.linear(input, weight, bias)
    return torch.nn.functional.softplus(hidden, beta, threshold)


def threshold_without_beta(input, weight, bias=None, beta=1, threshold=20):
    hidden = torch.nn.functional.linear(input, weight, bias)
    return torch.where(hidden > threshold, hidden, torch.log(1 + torch.exp(beta * hidden)) / beta)


def inputs(make, rows, features, out, bias=True, scale=1.0, outliers=0.0, **options):
    x = make.normal(rows, features, std=scale, outliers=outliers)
    # Sums near `scale` at every size: softplus of large ones is zero or the identity.
    weight = make.normal(out, features, std=features**-0.5)
    return [x, weight, make.normal(out)] if bias else [x, weight], options


TASK = Task(
    name="fused_softplus_linear",
    category="Fusion",
    signature="fused_softplus_linear(input, weight, bias=None, beta=1, threshold=20) -> Tensor",
    prompt=(
        "Linear layer and softplus: z = input @ weight.T + bias, where `input` is float32 (batch, in), `weight` "
        "(out, in) and `bias` (out) or None; then log(1 + exp(beta * z)) / beta where beta * z <= threshold, and z "
        "itself above. `beta` and `threshold` are positive numbers. The result is (batch, out)."
    ),
    formula=r"y = \tfrac{1}{\beta}\ln(1 + e^{\beta z}),\quad z = x W^\top + b",
    reference=reference,
    inputs=inputs,
    # The published code compares z itself with the threshold.
    variants={"the threshold is for z and not for beta z": threshold_without_beta},
    correctness=[
        {"rows": 2, "features": 3, "out": 4},
        {"rows": 1, "features": 1, "out": 1},
        {"rows": 2, "features": 2, "out": 2, "beta": 2},
        {"rows": 3, "features": 4, "out": 5, "scale": 20.0, "threshold": 15},
        {"rows": 5, "features": 7, "out": 9, "bias": False},
        {"rows": 5, "features": 7, "out": 33, "beta": 3, "threshold": 2},
        {"rows": 64, "features": 128, "out": 256, "beta": 1, "threshold": 20, "outliers": 1e-3},
        {"rows": 33, "features": 65, "out": 131, "scale": 5.0, "outliers": 1e-2},
        {"rows": 4, "features": 1024, "out": 1024},
    ],
    timing=[{"rows": 1, "features": 1 << p, "out": 1 << p, "beta": 1, "threshold": 20} for p in range(4, 16)],
    bytes_moved=lambda rows, features, out, itemsize, bias=True: (
        (rows * (features + out) + out * features + bias * out) * itemsize
    ),
    # products and sums; bias; comparison, exponential, sum, logarithm
    flops=lambda rows, features, out: rows * out * (2 * features + 5),
)
