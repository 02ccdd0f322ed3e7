"""Mean along dimensions."""

from math import prod

from tasks.lazy import torch
from tasks.spec import Task


def reference(input, dim, keepdim=False, dtype=None):
    return torch.mean(input, dim, keepdim, dtype=dtype)


def inputs(make, shape, integers=False, level=0.0, outliers=0.0, **options):
    if dtype := options.get("dtype"):
        options["dtype"] = getattr(torch, dtype)
    if isinstance(options["dim"], list):
        options["dim"] = tuple(options["dim"])
    if integers:
        return [make.integers(*shape, low=-100, high=100, dtype="int32")], options
    x = make.normal(*shape, outliers=outliers)
    # A level that the seed decides keeps a long mean away from zero, and from a constant.
    return [x + make.uniform(1, low=0.5, high=2.0) if level else x], options


def _outputs(shape, dim):
    return prod(shape) // prod(shape[d] for d in (dim if isinstance(dim, list) else [dim]))


TASK = Task(
    name="mean",
    category="Reduce",
    signature="mean(input, dim, keepdim=False, dtype=None) -> Tensor",
    prompt=(
        "Return the mean of the elements of `input`, a float32 tensor of any shape (or int32, if `dtype` is given), "
        "along dimension `dim`, a number or a tuple of numbers. With keepdim=True reduced dimensions stay with size 1; "
        "otherwise they disappear. With `dtype`, elements are converted to it first, and the result has it; otherwise "
        "the dtype stays."
    ),
    formula=r"y = \frac{1}{n} \sum_i x_i",
    reference=reference,
    inputs=inputs,
    correctness=[
        {"shape": [2, 2], "dim": 0},
        {"shape": [1], "dim": 0},
        {"shape": [2, 2], "dim": 1, "keepdim": True},
        {"shape": [2, 2, 2], "dim": [0, 2]},
        {"shape": [2, 2], "dim": 0, "dtype": "float32", "integers": True},
        {"shape": [128, 255], "dim": 0, "outliers": 1e-3},
        {"shape": [127, 256], "dim": 1, "keepdim": True, "outliers": 1e-3},
        {"shape": [8, 16, 33], "dim": [0, 2]},
        {"shape": [100_003], "dim": 0, "level": 1.0},
        {"shape": [17, 9], "dim": -1},
    ],
    timing=[{"shape": [1 << p], "dim": 0, "level": 1.0} for p in range(12, 28)],
    bytes_moved=lambda shape, dim, itemsize: (prod(shape) + _outputs(shape, dim)) * itemsize,
    flops=lambda shape, dim: prod(shape) + _outputs(shape, dim),
)
