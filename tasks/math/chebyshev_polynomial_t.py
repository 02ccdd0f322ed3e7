"""Chebyshev polynomial of the first kind."""

from math import prod

from tasks.lazy import torch
from tasks.spec import Task


def reference(input, n):
    return torch.special.chebyshev_polynomial_t(input, n)


def inputs(make, shape, n, normal=False, outliers=0.0, values=None):
    if values:
        return [make.values(values).reshape(shape), n], {}
    if normal:
        return [make.normal(*shape, outliers=outliers), n], {}
    return [make.uniform(*shape, low=-1.0, high=1.0), n], {}


TASK = Task(
    name="chebyshev_polynomial_t",
    category="Math",
    signature="chebyshev_polynomial_t(input, n) -> Tensor",
    prompt=(
        "Return the Chebyshev polynomial of the first kind T_n(x) for every element x of `input`, a float32 tensor of "
        "any shape; shape and dtype stay. The degree `n` is a Python integer from 0 on. T_0(x) = 1, T_1(x) = x and "
        "T_{k+1}(x) = 2 x T_k(x) - T_{k-1}(x); where |x| <= 1 this equals cos(n arccos(x))."
    ),
    formula=r"y = T_n(x),\quad T_{k+1}(x) = 2 x T_k(x) - T_{k-1}(x)",
    reference=reference,
    inputs=inputs,
    correctness=[
        {"shape": [7], "n": 3},
        {"shape": [1], "n": 2},
        {"shape": [3], "n": 0},
        {"shape": [3], "n": 1},
        {"shape": [5], "n": 5, "values": [-1.0, -0.5, 0.0, 0.5, 1.0]},
        {"shape": [5], "n": 10, "values": [-1.0, -0.5, 0.0, 0.5, 1.0]},
        {"shape": [97, 131], "n": 10},
        {"shape": [64, 65], "n": 3, "normal": True, "outliers": 1e-2},
        {"shape": [33, 65], "n": 6, "normal": True},
        {"shape": [2, 3, 5], "n": 5},
        {"shape": [1_000_003], "n": 5},
    ],
    timing=[{"shape": [1 << p], "n": 3} for p in range(12, 28)],
    bytes_moved=lambda shape, itemsize: 2 * prod(shape) * itemsize,
    flops=lambda shape, n: prod(shape) * max(1, 3 * (n - 1)),  # two products and a difference a step
)
