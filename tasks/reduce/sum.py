"""Sum along dimensions."""

from math import prod

from tasks.lazy import torch
from tasks.spec import Task


def reference(input, dim, keepdim=False, dtype=None):
    return torch.sum(input, dim, keepdim, dtype=dtype)


def inputs(make, shape, integers=False, level=0.0, outliers=0.0, **options):
    if dtype := options.get("dtype"):
        options["dtype"] = getattr(torch, dtype)
    if isinstance(options["dim"], list):
        options["dim"] = tuple(options["dim"])
    if integers:
        return [make.integers(*shape, low=-100, high=100)], options
    x = make.normal(*shape, outliers=outliers)
    # A level that the seed decides keeps a long sum away from zero, and from a constant.
    return [x + make.uniform(1, low=0.5, high=2.0) if level else x], options


def _outputs(shape, dim):
    return prod(shape) // prod(shape[d] for d in (dim if isinstance(dim, list) else [dim]))


TASK = Task(
    name="sum",
    category="Reduce",
    signature="sum(input, dim, keepdim=False, dtype=None) -> Tensor",
    prompt=(
        "Return the sum of the elements of `input`, float32 or int64 of any shape, along dimension `dim`, a number or "
        "a tuple of numbers. With keepdim=True reduced dimensions stay with size 1; otherwise they disappear. If "
        "`dtype` is given, elements are converted to it before they are added, and the result has it; otherwise the "
        "dtype stays."
    ),
    formula=r"y = \sum_i x_i",
    reference=reference,
    inputs=inputs,
    correctness=[
        {"shape": [2, 3], "integers": True, "dim": 0},
        {"shape": [2, 3], "integers": True, "dim": 1, "keepdim": True},
        {"shape": [2, 2, 2], "integers": True, "dim": [0, 2]},
        {"shape": [2, 2], "dim": 1, "dtype": "float64"},
        {"shape": [1], "dim": 0},
        {"shape": [32, 16, 33], "dim": [1, 2], "outliers": 1e-3},
        {"shape": [33, 65], "dim": 0},
        {"shape": [5, 7, 9], "dim": 1, "outliers": 1e-2},
        {"shape": [100_003], "dim": 0, "level": 1.0},
        {"shape": [32, 64, 128], "dim": [1, 2]},
        {"shape": [17, 129], "dim": -1, "keepdim": True},
    ],
    timing=[
        {"shape": [1 << p], "dim": 0, "keepdim": False, "dtype": None, "level": 1.0} for p in range(12, 28)
    ],
    bytes_moved=lambda shape, dim, itemsize: (prod(shape) + _outputs(shape, dim)) * itemsize,
    flops=lambda shape: prod(shape),
)
