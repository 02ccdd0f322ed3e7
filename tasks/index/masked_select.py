"""The elements that a mask picks, in one row."""

from math import prod

from tasks.lazy import torch
from tasks.spec import Task


def reference(input, mask):
    return torch.masked_select(input, mask)


def inputs(make, shape, mask=None, chosen=None, outliers=0.0):
    picked = mask or shape
    n = prod(picked)
    count = n // 2 if chosen is None else chosen
    return [make.normal(*shape, outliers=outliers), (make.permutation(n) < count).reshape(picked)], {}


TASK = Task(
    name="masked_select",
    category="Index",
    signature="masked_select(input, mask) -> Tensor",
    prompt=(
        "Return the elements of `input`, a float32 tensor, where `mask`, a boolean tensor whose shape is that of the "
        "input or broadcasts to it, is True: a new one-dimensional tensor that holds them in row-major order of the "
        "input. Its length is the number of True positions, which may be none or all of them."
    ),
    formula=r"y = (x_i : m_i)",
    reference=reference,
    inputs=inputs,
    comparator="exact",
    oracle=False,
    correctness=[
        {"shape": [16]},
        {"shape": [1], "chosen": 1},
        {"shape": [4, 5]},
        {"shape": [2, 3, 4], "mask": [1, 3, 1]},
        {"shape": [33], "chosen": 0},
        {"shape": [33], "chosen": 33},
        {"shape": [64, 128], "outliers": 1e-3},
        {"shape": [97, 131], "chosen": 100},
        {"shape": [7, 1031], "mask": [7, 1], "chosen": 4},
        {"shape": [100_003], "chosen": 90_001},
        {"shape": [1_000_003]},
    ],
    timing=[{"shape": [1 << p]} for p in range(12, 23)],
    # input and mask read, the chosen elements written; a mask of fewer elements picks each of its own often
    bytes_moved=lambda shape, itemsize, mask=None, chosen=None: (
        prod(shape) * itemsize
        + prod(mask or shape)
        + (prod(mask or shape) // 2 if chosen is None else chosen)
        * (prod(shape) // prod(mask or shape))
        * itemsize
    ),
    flops=lambda: 0,
)
