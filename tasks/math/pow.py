"""Powers of a tensor's elements."""

from math import prod

from tasks.lazy import torch
from tasks.spec import Task


def reference(input, exponent):
    return torch.pow(input, exponent)


def inputs(make, shape, exponent=None, other=None, positive=False, outliers=0.0, values=None):
    x = make.values(values).reshape(shape) if values else make.normal(*shape, outliers=outliers)
    if other:
        return [x.abs() + 0.1, make.uniform(*other, low=-2.0, high=3.0)], {}
    return [x.abs() + 1e-3 if positive else x, exponent], {}


TASK = Task(
    name="pow",
    category="Math",
    signature="pow(input, exponent) -> Tensor",
    prompt=(
        "Return x to the power `exponent` for every element x of `input`, a float32 tensor of any shape. `exponent` is "
        "a Python number, or a float32 tensor whose shape broadcasts with the input's and which is used element by "
        "element. With a whole exponent negative elements have a power too; with another one it is NaN. The result "
        "has the broadcast shape."
    ),
    formula=r"y = x^{e}",
    reference=reference,
    inputs=inputs,
    correctness=[
        {"shape": [7], "exponent": 2.0},
        {"shape": [1], "exponent": 3.0},
        {"shape": [3], "other": [3]},
        {"shape": [3], "exponent": -0.5, "positive": True},
        {"shape": [4], "exponent": 0.5, "values": [-4.0, 0.0, 1.0, 9.0]},
        {"shape": [5, 7], "exponent": 3},
        {"shape": [5, 7], "other": [7]},
        {"shape": [97, 131], "exponent": 2.0, "outliers": 1e-2},
        {"shape": [97, 131], "exponent": -0.5, "positive": True, "outliers": 1e-2},
        {"shape": [33, 65], "other": [33, 65], "outliers": 1e-2},
        {"shape": [1_000_003], "exponent": -1.0, "positive": True},
    ],
    timing=[{"shape": [1 << p], "exponent": 2} for p in range(12, 28)],
    bytes_moved=lambda shape, itemsize, other=(): (
        (2 * prod(shape) + (prod(other) if other else 0)) * itemsize
    ),
    flops=lambda shape: prod(shape),  # a power counts as one operation
)
