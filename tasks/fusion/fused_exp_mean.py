"""The mean of the exponential."""

from math import prod

from tasks.lazy import torch
from tasks.spec import Task


def reference(input, dim=None, keepdim=False, dtype=None):
    return torch.mean(torch.exp(input), dim=dim, keepdim=keepdim, dtype=dtype)


def dtype_has_no_effect(input, dim=None, keepdim=False, dtype=None):
    return torch.mean(torch.exp(input), dim=dim, keepdim=keepdim)


def inputs(make, shape, std=1.0, outliers=0.0, level=0.0, **options):
    if dtype := options.get("dtype"):
        options["dtype"] = getattr(torch, dtype)
    return [
        make.normal(*shape, std=std, outliers=outliers) + level * make.uniform(1, low=-1.0, high=1.0)
    ], options


def _means(shape, dim):
    return 1 if dim is None else prod(shape) // shape[dim]


TASK = Task(
    name="fused_exp_mean",
    category="Fusion",
    signature="fused_exp_mean(input, dim=None, keepdim=False, dtype=None) -> Tensor",
    prompt=(
        "Return the mean of exp(x) over dimension `dim` of `input`, float32 of any shape, or over all elements where "
        "dim is None (then a tensor without dimensions). With keepdim=True the reduced dimension (all dimensions, if "
        "dim is None) stays with size 1. `dtype`, if given, is the dtype in which the mean is taken and returned; "
        "otherwise the dtype stays."
    ),
    formula=r"y = \mathrm{mean}(e^x)",
    reference=reference,
    inputs=inputs,
    # The published code takes `dtype` and drops it.
    variants={"dtype has no effect": dtype_has_no_effect},
    correctness=[
        {"shape": [3]},
        {"shape": [1]},
        {"shape": [2, 2], "dim": 0},
        {"shape": [2, 2], "dim": 1, "keepdim": True},
        {"shape": [2, 2, 2]},
        {"shape": [256, 512], "keepdim": True, "std": 0.25, "outliers": 1e-3},
        {"shape": [256, 512], "dim": 0, "keepdim": True, "std": 0.25, "outliers": 1e-3},
        {"shape": [128, 513], "dim": 1, "keepdim": True, "std": 0.25, "outliers": 1e-2},
        {"shape": [33, 65], "dim": -1},
        {"shape": [33, 65], "dim": 1, "dtype": "float64"},
        {"shape": [3, 5, 7], "dim": 1},
        {"shape": [1_000_003], "level": 1.0},
    ],
    timing=[{"shape": [1 << p], "level": 1.0} for p in range(12, 30)],
    bytes_moved=lambda shape, itemsize, dim=None: (prod(shape) + _means(shape, dim)) * itemsize,
    flops=lambda shape: 2 * prod(shape),  # an exponential and a sum
)
