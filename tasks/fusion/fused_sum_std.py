"""The standard deviation of sums along a dimension."""

from math import prod

from tasks.lazy import torch
from tasks.spec import Task


def reference(input, dim=None, keepdim=False, dtype=None, correction=1):
    sums = torch.sum(input, dim=dim, keepdim=keepdim, dtype=dtype)
    return torch.std(sums, correction=correction)


def dimensions_stay(input, dim=None, keepdim=False, dtype=None, correction=1):
    sums = torch.sum(input, dim=dim, keepdim=keepdim, dtype=dtype)
    return torch.std(sums, dim=None, correction=correction, keepdim=keepdim)


def inputs(make, shape, spread=False, outliers=0.0, **options):
    if dtype := options.get("dtype"):
        options["dtype"] = getattr(torch, dtype)
    x = make.normal(*shape, outliers=outliers)
    # A spread that the seed decides: the answer is no constant.
    return [x * make.uniform(1, low=0.5, high=2.0) if spread else x], options


TASK = Task(
    name="fused_sum_std",
    category="Fusion",
    signature="fused_sum_std(input, dim=None, keepdim=False, dtype=None, correction=1) -> Tensor",
    prompt=(
        "Sum `input`, a float32 tensor, along dimension `dim`, which is always given (elements are converted to "
        "`dtype` first, if it is given), and return the standard deviation of all the sums, a tensor without "
        "dimensions: sqrt(sum((s - mean)**2) / (n - correction)) over the n > correction sums. `keepdim` concerns the "
        "sums and has no effect on the result."
    ),
    formula=r"\sigma = \mathrm{std}_j\Big(\sum_i x_{ij}\Big)",
    reference=reference,
    inputs=inputs,
    # The published code hands keepdim to both steps, the published reference to the first alone.
    variants={"keepdim=True also keeps dimensions of size 1": dimensions_stay},
    correctness=[
        {"shape": [2, 2], "dim": 0},
        {"shape": [3, 1], "dim": 1},
        {"shape": [2, 3], "dim": 1},
        {"shape": [5, 4], "dim": 0, "keepdim": True},
        {"shape": [7, 9], "dim": 1, "correction": 0},
        {"shape": [7, 9], "dim": 0, "dtype": "float64"},
        {"shape": [128, 256], "dim": 0, "keepdim": False, "correction": 1, "outliers": 1e-3},
        {"shape": [129, 255], "dim": 1, "outliers": 1e-3},
        {"shape": [1024, 1025], "dim": 1},
    ],
    # The published sizes as matrices: a single sum has no deviation.
    timing=[{"shape": [1 << (p - p // 2), 1 << (p // 2)], "dim": 1, "spread": True} for p in range(12, 25)],
    bytes_moved=lambda shape, itemsize: (prod(shape) + 1) * itemsize,
    flops=lambda shape, dim: prod(shape) + 4 * prod(shape) // shape[dim],
)
