"""Bitwise AND of two tensors."""

from math import prod

from tasks.lazy import torch
from tasks.spec import Task


def reference(input, other):
    return torch.bitwise_and(input, other)


def inputs(make, shape, other=None, booleans=False, values=None):
    if values:
        return [make.values(part) for part in values], {}
    second = shape if other is None else other
    if booleans:
        return [make.boolean(*shape), make.boolean(*second)], {}
    return [make.integers(*size, low=-(2**31), high=2**31, dtype="int32") for size in (shape, second)], {}


def bytes_moved(shape, itemsize, other=None, booleans=False):
    """Both operands, which broadcast to the shape of the first, and the result."""
    return (2 * prod(shape) + prod(shape if other is None else other)) * (1 if booleans else itemsize)


TASK = Task(
    name="bitwise_and",
    category="Math",
    signature="bitwise_and(input, other) -> Tensor",
    prompt=(
        "Return the bitwise AND of `input` and `other`, element by element. Both are int32 tensors of any sign, or "
        "both are boolean, where the result is the logical AND; their shapes broadcast (one may have no dimensions). "
        "The result has the broadcast shape and the operands' dtype."
    ),
    formula=r"y = x \wedge z",
    reference=reference,
    inputs=inputs,
    dtype="int32",
    comparator="exact",
    oracle=False,
    correctness=[
        {"shape": [7]},
        {"shape": [1]},
        {"shape": [3], "booleans": True},
        {"shape": [2, 2], "other": [2]},
        {"shape": [3], "other": []},
        {"shape": [6], "values": [[-1, 0, 1, 2147483647, -2147483648, -2], [-2147483648, -1, -1, -2, -1, 3]]},
        {"shape": [97, 131]},
        {"shape": [1031], "booleans": True},
        {"shape": [1_000_003]},
    ],
    timing=[{"shape": [1 << p]} for p in range(12, 28)],
    bytes_moved=bytes_moved,
    flops=lambda shape: prod(shape),
)
