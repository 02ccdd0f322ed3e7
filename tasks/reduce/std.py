"""Standard deviation."""

from math import prod

from tasks.lazy import torch
from tasks.spec import Task


def reference(input, dim=None, correction=1, keepdim=False):
    return torch.std(input, dim=dim, correction=correction, keepdim=keepdim)


def inputs(make, shape, mean=0.0, outliers=0.0, spread=False, **options):
    x = make.normal(*shape, mean=mean, outliers=outliers)
    if isinstance(options.get("dim"), list):
        options["dim"] = tuple(options["dim"])
    # A spread that the seed decides: the answer is no constant.
    return [x * make.uniform(1, low=0.5, high=2.0) if spread else x], options


def _outputs(shape, dim):
    if dim is None:
        return 1
    return prod(shape) // prod(shape[d] for d in (dim if isinstance(dim, list) else [dim]))


TASK = Task(
    name="std",
    category="Reduce",
    signature="std(input, dim=None, correction=1, keepdim=False) -> Tensor",
    prompt=(
        "Return the standard deviation of the elements of `input`, float32 of any shape, along dimension `dim` (a "
        "number, a tuple, or None for all elements): sqrt(sum((x - mean)**2) / (N - correction)), where N elements are "
        "reduced to one and N > correction. With keepdim=True reduced dimensions stay with size 1; otherwise they "
        "disappear. The mean may be large beside the deviation: do not subtract large squares."
    ),
    formula=r"\sigma = \sqrt{\frac{1}{N - c}\sum_i (x_i - \bar x)^2}",
    reference=reference,
    inputs=inputs,
    correctness=[
        {"shape": [5]},
        {"shape": [2]},
        {"shape": [2, 3], "dim": 0},
        {"shape": [2, 3], "dim": 1, "keepdim": True},
        {"shape": [5], "correction": 0},
        {"shape": [4099], "outliers": 1e-2},
        {"shape": [128, 256], "dim": 0, "outliers": 1e-3},
        {"shape": [128, 256], "dim": 1, "keepdim": True},
        {"shape": [129, 255], "dim": 1, "correction": 0, "mean": 3.0},
        {"shape": [1_000_003], "spread": True, "mean": 1.0},
        {"shape": [5, 7, 9], "dim": [0, 2]},
    ],
    timing=[
        {"shape": [1 << p], "dim": None, "correction": 1, "keepdim": False, "spread": True}
        for p in range(12, 28)
    ],
    bytes_moved=lambda shape, itemsize, dim=None: (prod(shape) + _outputs(shape, dim)) * itemsize,
    flops=lambda shape: 4 * prod(shape),  # sum; difference, square, sum
)
