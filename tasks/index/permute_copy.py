"""Dimensions in another order, in a new tensor."""

from math import prod

from tasks.lazy import torch
from tasks.spec import Task


def reference(input, dims):
    return torch.permute_copy(input, dims)


def inputs(make, shape, dims, integers=False, outliers=0.0):
    x = make.integers(*shape, low=-100, high=100) if integers else make.normal(*shape, outliers=outliers)
    return [x, dims], {}


TASK = Task(
    name="permute_copy",
    category="Index",
    signature="permute_copy(input, dims) -> Tensor",
    prompt=(
        "Return a new tensor with the dimensions of `input` in the order of the list `dims`, a permutation of "
        "0 … rank - 1: out has shape [input.shape[d] for d in dims], and out[i_0, …] is the element whose index "
        "along dimension dims[j] is i_j. `input` is contiguous, of any dtype and of one to four dimensions; dtype and "
        "values stay, and the result shares no memory with it."
    ),
    formula=r"y_{i_0 i_1 \ldots} = x_{\pi(i_0 i_1 \ldots)}",
    reference=reference,
    inputs=inputs,
    comparator="exact",
    oracle=False,
    correctness=[
        {"shape": [2, 2], "dims": [1, 0], "integers": True},
        {"shape": [2, 2, 2], "dims": [2, 0, 1], "integers": True},
        {"shape": [4], "dims": [0], "integers": True},
        {"shape": [2, 3, 4, 5], "dims": [3, 2, 1, 0]},
        {"shape": [1, 1], "dims": [1, 0]},
        {"shape": [4, 8, 16, 32], "dims": [3, 0, 2, 1], "outliers": 1e-3},
        {"shape": [7, 11, 13], "dims": [0, 2, 1]},
        {"shape": [33, 5, 7, 9], "dims": [2, 3, 0, 1]},
        {"shape": [257, 1031], "dims": [1, 0]},
    ],
    timing=[{"shape": [1 << p] * 4, "dims": [3, 2, 1, 0]} for p in range(3, 8)],
    bytes_moved=lambda shape, itemsize: 2 * prod(shape) * itemsize,
    flops=lambda: 0,
)
