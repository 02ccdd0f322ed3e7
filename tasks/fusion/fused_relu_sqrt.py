"""The square root of the positive part."""

from math import prod

from tasks.lazy import torch
from tasks.spec import Task


def reference(input, inplace=False):
    if inplace:
        return torch.relu_(input).sqrt_()
    return torch.sqrt(torch.relu(input))


def only_relu_in_place(input, inplace=False):
    return torch.sqrt(torch.relu_(input) if inplace else torch.relu(input))


def inputs(make, shape, outliers=0.0, integers=False, values=None, **options):
    if integers:
        return [make.integers(*shape, low=-10, high=10)], options
    x = make.values(values).reshape(shape) if values else make.normal(*shape, outliers=outliers)
    return [x], options


TASK = Task(
    name="fused_relu_sqrt",
    category="Fusion",
    signature="fused_relu_sqrt(input, inplace=False) -> Tensor",
    prompt=(
        "Return sqrt(max(x, 0)) for every element x of `input`, a tensor of any shape, in a tensor of the same shape: "
        "float32 for float32 input and for integers, float64 for float64. With inplace=True, which is asked for only "
        "with floating point input, write the result into `input` and return `input`; otherwise it must stay as it is."
    ),
    formula=r"y = \sqrt{\max(x, 0)}",
    reference=reference,
    inputs=inputs,
    mutates=(0,),
    # The published code applies inplace to the ReLU alone, so that the input is left holding max(x, 0).
    variants={"the input is left holding max(x, 0)": only_relu_in_place},
    correctness=[
        {"shape": [7]},
        {"shape": [1]},
        {"shape": [3, 5], "integers": True},
        {"shape": [6], "values": ["-inf", -1.0, -0.0, 0.0, 1e-10, "inf"]},
        {"shape": [97, 131], "outliers": 1e-2},
        {"shape": [64, 65], "integers": True},
        {"shape": [1_000_003]},
        {"shape": [1024, 1024], "outliers": 1e-3},
        {"shape": [33, 65], "inplace": True},
    ],
    timing=[{"shape": [1 << p]} for p in range(12, 28)],
    bytes_moved=lambda shape, itemsize: 2 * prod(shape) * itemsize,
    flops=lambda shape: 2 * prod(shape),
)
