"""Elements repeated side by side along a dimension, then log-softmax along it."""

from math import prod

from tasks.lazy import torch
from tasks.spec import Task


def reference(input, repeats, dim=None, dtype=None):
    repeated = torch.repeat_interleave(input, repeats, dim=dim)
    return torch.log_softmax(repeated, 0 if dim is None else dim, dtype=dtype)


def inputs(make, shape, repeats, outliers=0.0, **options):
    if dtype := options.get("dtype"):
        options["dtype"] = getattr(torch, dtype)
    if repeats == "each":
        length = prod(shape) if options.get("dim") is None else shape[options["dim"]]
        repeats = make.integers(length, low=1, high=4)
    return [make.normal(*shape, outliers=outliers), repeats], options


def _repeated(repeats):
    return 2 if repeats == "each" else repeats  # 1, 2 and 3 are equally likely


TASK = Task(
    name="fused_repeat_interleave_log_softmax",
    category="Fusion",
    signature="fused_repeat_interleave_log_softmax(input, repeats, dim=None, *, dtype=None) -> Tensor",
    prompt=(
        "Repeat the elements of `input`, a floating point tensor, along dimension `dim` and take the log-softmax of "
        "the result along the same dimension. `repeats` is a number (each element stands that many times side by "
        "side: a, a, b, b, …) or an int64 tensor with one count for each position along `dim`. With dim=None flatten "
        "the input first; the result has one dimension. With `dtype` cast to it before the log-softmax and return it; "
        "otherwise the dtype stays. log-softmax is x - m - log(sum(exp(x - m))) with m the slice's largest element."
    ),
    formula=r"y = \log\,\mathrm{softmax}(\mathrm{repeat}(x, r))",
    reference=reference,
    inputs=inputs,
    correctness=[
        {"shape": [3], "repeats": 2},
        {"shape": [1], "repeats": 1},
        {"shape": [2, 2], "repeats": 2, "dim": 1},
        {"shape": [3], "repeats": 3, "dtype": "float64"},
        {"shape": [5, 7], "repeats": 2, "dim": 0, "dtype": "float32"},
        {"shape": [4, 6], "repeats": 3},
        {"shape": [32, 128], "repeats": 2, "dim": 1, "dtype": "float32", "outliers": 1e-2},
        {"shape": [64], "repeats": "each", "dim": 0, "dtype": "float32"},
        {"shape": [33, 65], "repeats": 2, "dim": -1},
        {"shape": [100_003], "repeats": 2, "dim": 0, "outliers": 1e-3},
        {"shape": [6, 11], "repeats": "each", "dim": 1},
    ],
    timing=[{"shape": [1 << p], "repeats": 2, "dim": 0} for p in range(12, 24)],
    bytes_moved=lambda shape, repeats, itemsize: (1 + _repeated(repeats)) * prod(shape) * itemsize,
    # maximum, difference, exponential, sum, difference for each repeated element
    flops=lambda shape, repeats: 5 * _repeated(repeats) * prod(shape),
)
