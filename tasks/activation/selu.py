"""SELU: scaled exponential linear unit."""

from math import prod

from tasks.lazy import torch
from tasks.spec import Task

ALPHA, SCALE = 1.6732632423543772848170429916717, 1.0507009873554804934193349852946


def reference(input, inplace=False):
    return torch.nn.functional.selu(input, inplace=inplace)


def minimum_with_input(input, inplace=False):
    return SCALE * (input.clamp(min=0) + torch.minimum(input, ALPHA * (torch.exp(input) - 1)))


def inputs(make, shape, outliers=0.0, values=None, **options):
    x = make.values(values).reshape(shape) if values else make.normal(*shape, outliers=outliers)
    return [x], options


TASK = Task(
    name="selu",
    category="Activation",
    signature="selu(input, inplace=False) -> Tensor",
    prompt=(
        "For every element x of `input`, a float32 tensor of any shape, return scale * (max(x, 0) + "
        "min(0, alpha * (exp(x) - 1))) with alpha = 1.6732632423543772848 and scale = 1.0507009873554804934; shape and "
        "dtype stay. With inplace=True write the result into `input` and return `input` itself; otherwise `input` must "
        "stay as it is."
    ),
    formula=r"y = s\,(\max(x, 0) + \min(0, \alpha (e^x - 1)))",
    reference=reference,
    inputs=inputs,
    mutates=(0,),
    # The published code takes the smaller of x and the exponential's branch, and is never in place.
    variants={"min(x, …) in place of min(0, …), never in place": minimum_with_input},
    correctness=[
        {"shape": [7]},
        {"shape": [1]},
        {"shape": [3, 5], "inplace": False},
        {"shape": [7], "values": [-3.0, -1.0, -1e-3, 0.0, 1e-3, 1.0, 3.0]},
        {"shape": [97, 131], "outliers": 1e-2},
        {"shape": [1_000_003]},
        {"shape": [512, 512], "outliers": 1e-3},
        {"shape": [33, 65], "inplace": True},
    ],
    timing=[{"shape": [1 << p]} for p in range(12, 28)],
    bytes_moved=lambda shape, itemsize: 2 * prod(shape) * itemsize,
    flops=lambda shape: 6 * prod(shape),  # an exponential counts as one operation
)
