"""Leaky ReLU: negative elements are scaled down."""

from math import prod

from tasks.lazy import torch
from tasks.spec import Task


def reference(input, negative_slope=0.01, inplace=False):
    return torch.nn.functional.leaky_relu(input, negative_slope=negative_slope, inplace=inplace)


def inputs(make, shape, outliers=0.0, values=None, **options):
    x = make.values(values).reshape(shape) if values else make.normal(*shape, outliers=outliers)
    return [x], options


TASK = Task(
    name="leaky_relu",
    category="Activation",
    signature="leaky_relu(input, negative_slope=0.01, inplace=False) -> Tensor",
    prompt=(
        "For every element x of `input`, a floating point tensor of any shape, return x where x > 0 and "
        "negative_slope * x elsewhere; shape and dtype stay. With inplace=True write the result into `input` and "
        "return `input` itself; otherwise `input` must stay as it is."
    ),
    formula=r"y = \max(x, 0) + s\,\min(x, 0)",
    reference=reference,
    inputs=inputs,
    mutates=(0,),
    correctness=[
        {"shape": [7]},
        {"shape": [1]},
        {"shape": [3, 5], "negative_slope": 0.1},
        {"shape": [6], "values": ["-inf", -1e10, -0.0, 0.0, 1e-10, "inf"]},
        {"shape": [97, 131], "outliers": 1e-2, "negative_slope": 0.2},
        {"shape": [1_000_003]},
        {"shape": [1024, 1024], "negative_slope": 0.1, "inplace": False, "outliers": 1e-3},
        {"shape": [33, 65], "inplace": True},
    ],
    timing=[{"shape": [1 << p], "negative_slope": 0.01, "inplace": False} for p in range(12, 28)],
    bytes_moved=lambda shape, itemsize: 2 * prod(shape) * itemsize,
    flops=lambda shape: 2 * prod(shape),  # a comparison and a product
)
