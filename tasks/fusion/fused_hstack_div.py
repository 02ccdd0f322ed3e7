"""Tensors stacked side by side, divided."""

from math import prod

from tasks.lazy import torch
from tasks.spec import Task


def reference(tensors, divisor, *, rounding_mode=None):
    return torch.div(torch.hstack(tensors), divisor, rounding_mode=rounding_mode)


def inputs(make, shapes, divisor, integers=False, std=1.0, outliers=0.0, **options):
    if integers:
        tensors = [make.integers(*shape, low=-100, high=100) for shape in shapes]
    else:
        tensors = [make.normal(*shape, std=std, outliers=outliers) for shape in shapes]
    if isinstance(divisor, list):  # the shape of a tensor; powers of two, so that quotients are exact
        divisor = torch.exp2(make.integers(*divisor, low=-2, high=3).to(tensors[0].dtype))
    return [tensors, divisor], options


def bytes_moved(shapes, divisor, itemsize, integers=False):
    """Tensors, divisor and quotients."""
    stacked = sum(prod(shape) for shape in shapes)
    divisors = prod(divisor) if isinstance(divisor, list) else 0
    return stacked * (8 if integers else itemsize) + (divisors + stacked) * itemsize


TASK = Task(
    name="fused_hstack_div",
    category="Fusion",
    signature="fused_hstack_div(tensors, divisor, *, rounding_mode=None) -> Tensor",
    prompt=(
        "Stack a list of tensors side by side and divide the result. `tensors` are all float32 or all int64 and have "
        "the same number of dimensions; join them along dimension 1, or along dimension 0 if they have only one; the "
        "other sizes agree. `divisor` is a number, or a tensor whose shape broadcasts with the stacked one. "
        "`rounding_mode` is None (the quotient as it is; integers give float32), 'floor' (round down) or 'trunc' "
        "(round towards zero); the last two occur with float32 only, and the dtype stays."
    ),
    formula=r"y = [x_1, \ldots, x_n] / d",
    reference=reference,
    inputs=inputs,
    correctness=[
        {"shapes": [[2], [2]], "divisor": 2, "integers": True},
        {"shapes": [[1]], "divisor": 3.0},
        {"shapes": [[2], [2]], "divisor": 2, "rounding_mode": "floor", "std": 3.0},
        {"shapes": [[2], [2]], "divisor": 2, "rounding_mode": "trunc", "std": 3.0},
        {"shapes": [[33, 17], [33, 5], [33, 65]], "divisor": 3.0},
        {"shapes": [[33, 17], [33, 5]], "divisor": [33, 22]},
        {"shapes": [[33, 17], [33, 5]], "divisor": [22], "rounding_mode": "floor", "std": 9.0},
        {"shapes": [[128, 64], [128, 64]], "divisor": 2.0, "outliers": 1e-2},
        {"shapes": [[128, 64], [128, 64]], "divisor": 2.0, "rounding_mode": "floor", "outliers": 1e-2},
        {"shapes": [[100_003], [65_537]], "divisor": 2.0, "outliers": 1e-3},
    ],
    timing=[{"shapes": [[1 << p], [1 << p]], "divisor": 2.0} for p in range(12, 28)],
    bytes_moved=bytes_moved,
    flops=lambda shapes: sum(prod(shape) for shape in shapes),
)
