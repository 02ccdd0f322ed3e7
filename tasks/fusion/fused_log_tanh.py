"""The hyperbolic tangent of the logarithm."""

from math import prod

from tasks.lazy import torch
from tasks.spec import Task


def reference(input):
    return torch.tanh(torch.log(input))


def inputs(make, shape, outliers=0.0, values=None):
    if values:
        return [make.values(values).reshape(shape)], {}
    return [make.normal(*shape, outliers=outliers).abs() + 0.1], {}


TASK = Task(
    name="fused_log_tanh",
    category="Fusion",
    signature="fused_log_tanh(input) -> Tensor",
    prompt=(
        "Return tanh(ln(x)) for every element x of `input`, a floating point tensor of any shape; shape and dtype "
        "stay. All elements are positive; nothing is asked for others. Mathematically the result is "
        "(x**2 - 1) / (x**2 + 1)."
    ),
    formula=r"y = \tanh(\ln x)",
    reference=reference,
    inputs=inputs,
    correctness=[
        {"shape": [7]},
        {"shape": [1]},
        {"shape": [2, 4], "values": [0.001, 0.01, 0.1, 0.5, 1.0, 2.0, 100.0, 1e6]},
        {"shape": [3, 5]},
        {"shape": [4096], "outliers": 1e-3},
        {"shape": [97, 131], "outliers": 1e-2},
        {"shape": [1_000_003]},
    ],
    timing=[{"shape": [1 << p]} for p in range(12, 28)],
    bytes_moved=lambda shape, itemsize: 2 * prod(shape) * itemsize,
    flops=lambda shape: 2 * prod(shape),
)
