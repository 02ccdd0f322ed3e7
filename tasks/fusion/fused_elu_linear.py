"""A linear layer and the exponential linear unit."""

from math import prod

from tasks.lazy import torch
from tasks.spec import Task


def reference(input, weight, bias=None, alpha=1.0, inplace=False):
    return torch.nn.functional.elu(torch.nn.functional.linear(input, weight, bias), alpha, inplace)


def inputs(make, batch, features, out, bias=True, dtype=None, outliers=0.0, **options):
    x = make.normal(*batch, features, dtype=dtype, outliers=outliers)
    # Weights small enough for a long row not to saturate the exponential.
    weight = make.normal(out, features, std=features**-0.5, dtype=dtype)
    return [x, weight, *([make.normal(out, dtype=dtype)] if bias else [])], options


TASK = Task(
    name="fused_elu_linear",
    category="Fusion",
    signature="fused_elu_linear(input, weight, bias=None, alpha=1.0, inplace=False) -> Tensor",
    prompt=(
        "Two steps on tensors of one dtype, float32 or float16. Linear: z = input @ weight.T + bias, where `input` is "
        "(*, in), `weight` (out, in) and `bias` (out) or None. ELU: z where z > 0, and alpha * (exp(z) - 1) elsewhere. "
        "`inplace` concerns a temporary only: the arguments never change. The dtype stays; accumulate in float32. "
        "float32 inputs, which are timed, need full precision: TF32 is not accurate enough."
    ),
    formula=r"y = \mathrm{ELU}_\alpha(x W^\top + b)",
    reference=reference,
    inputs=inputs,
    correctness=[
        {"batch": [2], "features": 2, "out": 2},
        {"batch": [1], "features": 1, "out": 1},
        {"batch": [2], "features": 2, "out": 2, "bias": False},
        {"batch": [2], "features": 2, "out": 2, "alpha": 0.5},
        {"batch": [2], "features": 2, "out": 2, "inplace": True},
        {"batch": [33], "features": 65, "out": 127, "alpha": 1.5, "outliers": 1e-2},
        {"batch": [64], "features": 128, "out": 256, "alpha": 0.5, "dtype": "float16"},
        {"batch": [33], "features": 65, "out": 127, "dtype": "float16", "outliers": 1e-2},
        {"batch": [2, 3], "features": 16, "out": 32},
        {"batch": [100], "features": 1031, "out": 257, "outliers": 1e-3},
    ],
    timing=[{"batch": [1024], "features": 1 << p, "out": 256} for p in range(8, 17)],
    bytes_moved=lambda batch, features, out, itemsize, bias=True: (
        itemsize * (prod(batch) * (features + out) + out * features + bias * out)
    ),
    # products and sums of the linear layer; bias, comparison, exponential, difference, product
    flops=lambda batch, features, out: prod(batch) * out * (2 * features + 5),
)
