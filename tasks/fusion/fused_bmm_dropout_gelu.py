"""A batched matrix product, dropout, GELU."""

from math import prod

from tasks.lazy import torch
from tasks.spec import Task


def reference(input1, input2, p=0.5, training=True, inplace=False, approximate="none"):
    dropped = torch.nn.functional.dropout(torch.bmm(input1, input2), p, training, inplace)
    return torch.nn.functional.gelu(dropped, approximate=approximate)


def inputs(make, left, columns, dtype=None, outliers=0.0, **options):
    first = make.normal(*left, dtype=dtype, outliers=outliers)
    return [first, make.normal(left[0], left[2], columns, dtype=dtype)], options


TASK = Task(
    name="fused_bmm_dropout_gelu",
    category="Fusion",
    signature=(
        "fused_bmm_dropout_gelu(input1, input2, p=0.5, training=True, inplace=False, approximate='none') -> Tensor"
    ),
    prompt=(
        "Three steps, in this order. The batched product z = input1 @ input2 of `input1` (B, N, M) and `input2` (B, M, "
        "P), both float32 or both float16. Dropout with training=True: every element of z is zeroed with probability "
        "`p`, independently and anew with every call, and the others are multiplied by 1 / (1 - p); with "
        "training=False, or with p = 0, z stays. GELU of the result: 0.5 * z * (1 + erf(z / sqrt(2))) with "
        "approximate='none', or 0.5 * z * (1 + tanh(sqrt(2/pi) * (z + 0.044715 * z**3))) with approximate='tanh'. "
        "`inplace` concerns a temporary only: the arguments never change. float32 needs full precision: TF32 is not "
        "accurate enough."
    ),
    formula=r"y = \mathrm{GELU}(\mathrm{dropout}_p(AB))",
    reference=reference,
    inputs=inputs,
    comparator="dropout",
    correctness=[
        {"left": [2, 8, 4], "columns": 8},
        {"left": [2, 3, 4], "columns": 5, "p": 0.0},
        {"left": [1, 1, 1], "columns": 1, "p": 0.0},
        {"left": [2, 3, 4], "columns": 5, "p": 0.3, "training": False},
        {"left": [2, 3, 4], "columns": 5, "p": 0.0, "inplace": True},
        {"left": [2, 3, 4], "columns": 5, "p": 0.0, "approximate": "tanh"},
        {"left": [2, 32, 64], "columns": 48, "p": 0.0, "approximate": "tanh", "dtype": "float16"},
        {"left": [2, 33, 65], "columns": 47, "training": False, "dtype": "float16", "outliers": 1e-3},
        {"left": [3, 33, 65], "columns": 47, "training": False, "outliers": 1e-3},
        {"left": [2, 3, 4], "columns": 5},
        {"left": [2, 3, 4], "columns": 5, "inplace": True, "approximate": "tanh"},
        {"left": [2, 32, 64], "columns": 48, "p": 0.1, "approximate": "tanh", "dtype": "float16"},
        {"left": [3, 133, 65], "columns": 147, "p": 0.3},
        {"left": [4, 100, 257], "columns": 129, "training": False, "approximate": "tanh"},
    ],
    timing=[{"left": [32, n, n], "columns": n} for n in range(256, 2433, 128)],
    bytes_moved=lambda left, columns, itemsize: (
        (prod(left) + left[0] * columns * (left[1] + left[2])) * itemsize
    ),
    # the product, a scaling, and five for GELU
    flops=lambda left, columns: left[0] * left[1] * columns * (2 * left[2] + 6),
)
