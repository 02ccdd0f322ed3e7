"""Elements picked by a mask, a sum, and GELU."""

from math import prod

from tasks.lazy import torch
from tasks.spec import Task


def reference(input, mask, other, *, alpha=1, approximate="none"):
    total = torch.add(torch.masked_select(input, mask), other, alpha=alpha)
    return torch.nn.functional.gelu(total, approximate=approximate)


def inputs(make, shape, other=0.1, everything=False, outliers=0.0, **options):
    mask = (make.permutation(prod(shape)) < _picked(shape, everything)).reshape(shape)
    if other == "tensor":
        other = make.normal(_picked(shape, everything))
    return [make.normal(*shape, outliers=outliers), mask, other], options


def _picked(shape, everything):
    return prod(shape) if everything else (prod(shape) + 1) // 2  # how many, so that bytes are known


def bytes_moved(shape, itemsize, other=0.1, everything=False):
    """Input, mask (one byte an element), results, and `other` where it is a tensor."""
    results = _picked(shape, everything) * (2 if other == "tensor" else 1)
    return prod(shape) * (itemsize + 1) + results * itemsize


TASK = Task(
    name="fused_masked_select_add_gelu",
    category="Fusion",
    signature="fused_masked_select_add_gelu(input, mask, other, *, alpha=1, approximate='none') -> Tensor",
    prompt=(
        "Take the elements of `input`, float32 of any shape, where `mask`, a boolean tensor of the same shape, is "
        "True, in row-major order as a tensor of one dimension; add alpha * other, where `alpha` is a number and "
        "`other` a number or a tensor with one element for each picked one; return the GELU of the sums, with as many "
        "elements as the mask has True. With approximate='none' GELU is 0.5 * s * (1 + erf(s / sqrt(2))); with "
        "`approximate` = 'tanh' it is 0.5 * s * (1 + tanh(sqrt(2/pi) * (s + 0.044715 * s**3)))."
    ),
    formula=r"y = \mathrm{gelu}(x_{[m]} + \alpha z)",
    reference=reference,
    inputs=inputs,
    correctness=[
        {"shape": [4], "other": 1.0},
        {"shape": [1], "other": 0.5},
        {"shape": [4], "other": 2.0, "alpha": 0.5},
        {"shape": [7], "approximate": "tanh"},
        {"shape": [9], "other": "tensor", "alpha": -1.5},
        {"shape": [131], "everything": True},
        {"shape": [4096], "other": 0.1, "alpha": 0.5, "approximate": "tanh", "outliers": 1e-3},
        {"shape": [33, 65], "outliers": 1e-2},
        {"shape": [1_000_003], "other": 0.5},
    ],
    timing=[{"shape": [1 << p], "other": 0.5, "alpha": 1, "approximate": "none"} for p in range(12, 28)],
    bytes_moved=bytes_moved,
    # sum and product, five of GELU (erf counts as one)
    flops=lambda shape, everything=False: 7 * _picked(shape, everything),
)
