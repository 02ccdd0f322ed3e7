"""The mean of input + alpha * other."""

from math import prod

from tasks.lazy import torch
from tasks.spec import Task


def reference(input, other, dim=None, alpha=1, keepdim=False, dtype=None):
    total = torch.add(input, other, alpha=alpha)
    return torch.mean(total, dim=dim, keepdim=keepdim, dtype=dtype)


def inputs(make, shape, other=None, outliers=0.0, level=0.0, **options):
    if dtype := options.get("dtype"):
        options["dtype"] = getattr(torch, dtype)
    first = make.normal(*shape, outliers=outliers) + level * make.uniform(1, low=0.5, high=2.0)
    second = other if isinstance(other, float) else make.normal(*(other or shape))
    return [first, second], options


def bytes_moved(shape, itemsize, other=None, dim=None):
    """Both tensors and the means."""
    second = 0 if isinstance(other, float) else prod(other or shape)
    return (prod(shape) + second + _means(shape, dim)) * itemsize


def flops(shape, dim=None):
    """A product and two sums an element, one division a mean."""
    return 3 * prod(shape) + _means(shape, dim)


def _means(shape, dim):
    return 1 if dim is None else prod(shape) // shape[dim]


TASK = Task(
    name="fused_add_mean",
    category="Fusion",
    signature="fused_add_mean(input, other, dim=None, alpha=1, keepdim=False, dtype=None) -> Tensor",
    prompt=(
        "Return the mean of input + alpha * other over dimension `dim`, or over all elements where dim is None (then "
        "a tensor without dimensions). `input` is a floating point tensor; `other` is a tensor whose shape broadcasts "
        "with it, or a number. With keepdim=True the reduced dimension (all dimensions, if dim is None) stays with "
        "size 1. `dtype`, if given, is the dtype in which the mean is taken and returned; otherwise the dtype stays."
    ),
    formula=r"y = \mathrm{mean}(x + \alpha z)",
    reference=reference,
    inputs=inputs,
    correctness=[
        {"shape": [3]},
        {"shape": [1]},
        {"shape": [3], "other": 0.5, "alpha": 2},
        {"shape": [2, 2], "dim": 0},
        {"shape": [2, 2], "dim": 1, "keepdim": True},
        {"shape": [128, 256], "dim": None, "alpha": 0.5, "keepdim": True, "outliers": 1e-3},
        {"shape": [128, 256], "dim": 0, "alpha": 0.5, "keepdim": True, "outliers": 1e-3},
        {"shape": [128, 256], "dim": 1, "alpha": 0.5, "keepdim": True},
        {"shape": [33, 65], "dim": -1, "alpha": -1.5},
        {"shape": [33, 65], "dim": 1, "dtype": "float64"},
        {"shape": [1_000_003], "level": 1.0},
        {"shape": [1024, 1025], "dim": 0},
        {"shape": [6, 20], "other": [20], "dim": 0},
        {"shape": [3, 5, 7], "dim": 1},
    ],
    timing=[{"shape": [1 << p], "dim": None, "level": 1.0} for p in range(12, 28)],
    bytes_moved=bytes_moved,
    flops=flops,
)
