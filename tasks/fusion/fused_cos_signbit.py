"""Cosine, and whether it is negative."""

from math import pi, prod

from tasks.lazy import torch
from tasks.spec import Task


def reference(input):
    cosine = torch.cos(input)
    return cosine, torch.signbit(cosine)


def inputs(make, shape, turns=3):
    # Angles at least 0.07 from a zero of the cosine: there rounding alone would decide the sign.
    around = make.uniform(*shape, low=-1.5, high=1.5)
    return [around + pi * make.integers(*shape, low=-2 * turns, high=2 * turns + 1)], {}


TASK = Task(
    name="fused_cos_signbit",
    category="Fusion",
    signature="fused_cos_signbit(input) -> (Tensor, Tensor)",
    prompt=(
        "Return a tuple of two tensors of the shape of `input`, a floating point tensor of angles in radians: the "
        "cosine of every element in the same dtype, and a boolean tensor that is True where that cosine is negative "
        "(its sign bit is set)."
    ),
    formula=r"c = \cos x,\quad s = [\,c < 0\,]",
    reference=reference,
    inputs=inputs,
    correctness=[
        {"shape": [3]},
        {"shape": [1]},
        {"shape": [2, 3, 5]},
        {"shape": [4096]},
        {"shape": [97, 131], "turns": 20},
        {"shape": [1_000_003]},
    ],
    timing=[{"shape": [1 << p]} for p in range(12, 28)],
    bytes_moved=lambda shape, itemsize: prod(shape) * (2 * itemsize + 1),  # one byte a boolean
    flops=lambda shape: 2 * prod(shape),
)
