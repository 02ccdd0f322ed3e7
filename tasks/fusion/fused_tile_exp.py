"""The exponential of a tensor laid out several times like tiles."""

from math import prod

from tasks.lazy import torch
from tasks.spec import Task


def reference(input, dims):
    return torch.exp(torch.tile(input, dims))


def new_leading_dimensions(input, dims):
    return torch.exp(input).expand(*dims, *input.shape).contiguous()


def inputs(make, shape, dims, outliers=0.0):
    return [make.normal(*shape, outliers=outliers), tuple(dims)], {}


TASK = Task(
    name="fused_tile_exp",
    category="Fusion",
    signature="fused_tile_exp(input, dims) -> Tensor",
    prompt=(
        "Lay out `input`, float32, several times along its dimensions and return the exponential of every element. "
        "`dims` is a tuple of positive numbers, at most one for each dimension of the input, that belong to its last "
        "dimensions; the others are not repeated. Along a dimension of size n with r repetitions the result has size "
        "r * n, and out[…, i, …] = exp(input[…, i mod n, …])."
    ),
    formula=r"y_{i_1 i_2 \ldots} = e^{x_{i_1 \bmod n_1,\, i_2 \bmod n_2, \ldots}}",
    reference=reference,
    inputs=inputs,
    # The published code stacks the copies; its text repeats as above.
    variants={"copies along new leading dimensions": new_leading_dimensions},
    correctness=[
        {"shape": [3], "dims": [2]},
        {"shape": [1], "dims": [1]},
        {"shape": [2, 2], "dims": [2, 3]},
        {"shape": [256], "dims": [2], "outliers": 1e-3},
        {"shape": [32, 32], "dims": [2], "outliers": 1e-3},
        {"shape": [5, 7, 3], "dims": [3, 2]},
        {"shape": [1031], "dims": [5]},
        {"shape": [257, 1031], "dims": [2, 3]},
    ],
    timing=[{"shape": [1 << p], "dims": [2]} for p in range(12, 28)],
    bytes_moved=lambda shape, dims, itemsize: prod(shape) * (1 + prod(dims)) * itemsize,
    flops=lambda shape: prod(shape),  # one exponential serves all copies
)
