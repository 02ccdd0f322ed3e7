"""The halves of dimensions exchanged, as the inverse of fftshift."""

from math import prod

from tasks.lazy import torch
from tasks.spec import Task


def reference(input, dim=None):
    return torch.fft.ifftshift(input, dim)


def inputs(make, shape, integers=False, outliers=0.0, **options):
    if isinstance(options.get("dim"), list):
        options["dim"] = tuple(options["dim"])
    if integers:
        return [make.integers(*shape, low=-100, high=100)], options
    return [make.normal(*shape, outliers=outliers)], options


TASK = Task(
    name="ifftshift",
    category="Math",
    signature="ifftshift(input, dim=None) -> Tensor",
    prompt=(
        "Undo an fftshift: along each dimension in `dim` (a number, a tuple, or None for all dimensions) move every "
        "element of `input`, so that out[i] = input[(i + n // 2) mod n], where n is the size of the dimension. Sizes "
        "may be odd. `input` has any shape and dtype; the result is a new tensor of the same shape and dtype."
    ),
    formula=r"y_i = x_{(i + \lfloor n/2 \rfloor) \bmod n}",
    reference=reference,
    inputs=inputs,
    comparator="exact",
    oracle=False,
    correctness=[
        {"shape": [8], "integers": True},
        {"shape": [3, 3], "integers": True},
        {"shape": [3, 3], "dim": 0, "integers": True},
        {"shape": [2, 2, 2], "dim": [1, 2], "integers": True},
        {"shape": [64, 64], "outliers": 1e-3},
        {"shape": [65, 33], "dim": [0, 1]},
        {"shape": [7, 9], "dim": 0},
        {"shape": [10_007]},
    ],
    timing=[{"shape": [1 << p]} for p in range(12, 28)],
    bytes_moved=lambda shape, itemsize: 2 * prod(shape) * itemsize,
    flops=lambda: 0,
)
