"""Averages over bins that divide an image into a given number of rows and columns."""

from math import prod

from tasks.lazy import torch
from tasks.spec import Task


def reference(input, output_size):
    return torch.nn.functional.adaptive_avg_pool2d(input, output_size)


def inputs(make, shape, size, outliers=0.0):
    return [make.normal(*shape, outliers=outliers), tuple(size) if isinstance(size, list) else size], {}


def _output(shape, size):
    rows, columns = size if isinstance(size, list) else (size, size)
    kept = [full if asked is None else asked for full, asked in zip(shape[-2:], (rows, columns), strict=True)]
    return prod(shape[:-2]) * prod(kept)


TASK = Task(
    name="adaptive_avg_pool2d",
    category="Pooling",
    signature="adaptive_avg_pool2d(input, output_size) -> Tensor",
    prompt=(
        "Average-pool the last two dimensions (H, W) of `input`, float32 of shape (N, C, H, W) or (C, H, W), to the "
        "size (R, S): element (i, j) of the result is the mean over rows floor(i H / R) up to but not including "
        "ceil((i + 1) H / R), and columns likewise with W and S; such bins may overlap and differ in size. "
        "`output_size` is a number (R = S) or a pair, in which None keeps the input's size. The leading dimensions "
        "and the dtype stay."
    ),
    formula=r"y_{ij} = \mathrm{mean}\{x_{pq} : \lfloor iH/R \rfloor \le p < \lceil (i+1)H/R \rceil, \ldots\}",
    reference=reference,
    inputs=inputs,
    correctness=[
        {"shape": [1, 2, 8, 9], "size": 5},
        {"shape": [1, 1, 1, 1], "size": 1},
        {"shape": [1, 64, 8, 9], "size": 5},
        {"shape": [1, 64, 8, 9], "size": [5, 7]},
        {"shape": [64, 8, 9], "size": 5},
        {"shape": [64, 8, 9], "size": [5, 7]},
        {"shape": [2, 3, 64, 64], "size": [32, 32], "outliers": 1e-2},
        {"shape": [2, 3, 33, 65], "size": 1},
        {"shape": [1, 3, 512, 513], "size": [256, 100], "outliers": 1e-3},
        {"shape": [2, 3, 10, 9], "size": [None, 7]},
        {"shape": [3, 5, 4], "size": [7, 4]},
    ],
    # The largest published size, 32768, does not fit the footprint that is timed.
    timing=[{"shape": [1, 3, 1 << p, 1 << p], "size": [1 << (p - 1)] * 2} for p in range(8, 15)],
    bytes_moved=lambda shape, size, itemsize: (prod(shape) + _output(shape, size)) * itemsize,
    flops=lambda shape, size: (
        prod(shape) + _output(shape, size)
    ),  # each element added once, one division a bin
)
