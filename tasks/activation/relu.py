"""ReLU: negative elements become zero."""

from math import prod

from tasks.lazy import torch
from tasks.spec import Task


def reference(input, inplace=False):
    return torch.nn.functional.relu(input, inplace=inplace)


def inputs(make, shape, outliers=0.0, values=None, **options):
    x = make.values(values).reshape(shape) if values else make.normal(*shape, outliers=outliers)
    return [x], options


TASK = Task(
    name="relu",
    category="Activation",
    signature="relu(input, inplace=False) -> Tensor",
    prompt=(
        "Return max(x, 0) for every element x of `input`, a tensor of any shape; shape and dtype stay. With "
        "inplace=True write the result into `input` and return `input` itself; otherwise `input` must stay as it is."
    ),
    formula=r"y = \max(x, 0)",
    reference=reference,
    inputs=inputs,
    mutates=(0,),
    correctness=[
        {"shape": [7]},
        {"shape": [1]},
        {"shape": [2, 3, 5], "inplace": False},
        {"shape": [6], "values": ["-inf", -1e-30, -0.0, 0.0, 1e-30, "inf"]},
        {"shape": [97, 131], "outliers": 1e-2},
        {"shape": [1_000_003]},
        {"shape": [1024, 1024], "outliers": 1e-3},
        {"shape": [33, 65], "inplace": True},
    ],
    timing=[{"shape": [1 << p], "inplace": False} for p in range(12, 28)],
    bytes_moved=lambda shape, itemsize: 2 * prod(shape) * itemsize,
    flops=lambda shape: prod(shape),
)
