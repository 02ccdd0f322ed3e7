"""Position of the largest element."""

from math import prod

from tasks.lazy import torch
from tasks.spec import Task


def reference(input, dim, keepdim=False):
    return torch.argmax(input, dim, keepdim)


def inputs(make, shape, integers=False, dtype=None, peak=False, outliers=0.0, **options):
    if integers:
        return [make.permutation(prod(shape)).reshape(shape)], options  # no two are equal
    x = make.normal(*shape, dtype=dtype, outliers=outliers)
    if peak:  # float16 has few values, so that the largest of many would be there more than once
        x[make.integers(1, low=0, high=shape[0])] = 1000.0
    return [x], options


def _outputs(shape, dim):
    return 1 if dim is None else prod(shape) // shape[dim]


TASK = Task(
    name="argmax",
    category="Reduce",
    signature="argmax(input, dim, keepdim=False) -> Tensor",
    prompt=(
        "Return, as int64, the position of the largest element along dimension `dim` of `input`, a tensor of any "
        "shape, of float32, float16 or int64; with dim=None the position in the flattened tensor. The dimension "
        "disappears, or stays with size 1 with keepdim=True. No slice holds its largest value twice, and none holds "
        "NaN. The timed tensors are float16."
    ),
    formula=r"y = \mathrm{argmax}_i\, x_i",
    reference=reference,
    inputs=inputs,
    dtype="float16",
    comparator="exact",
    oracle=False,
    correctness=[
        {"shape": [2, 3], "integers": True, "dim": 0},
        {"shape": [2, 3], "integers": True, "dim": 1},
        {"shape": [2, 2, 3], "integers": True, "dim": 2},
        {"shape": [2, 2, 3], "integers": True, "dim": 1, "keepdim": True},
        {"shape": [1], "dtype": "float32", "dim": 0},
        {"shape": [128, 256], "dtype": "float32", "dim": 0, "outliers": 1e-3},
        {"shape": [128, 256], "dtype": "float32", "dim": 1, "outliers": 1e-3},
        {"shape": [8, 16, 32], "dtype": "float32", "dim": 2},
        {"shape": [8, 16, 33], "dtype": "float32", "dim": 1, "keepdim": True},
        {"shape": [10_007], "peak": True, "dim": 0, "keepdim": False},
        {"shape": [1_000_003], "peak": True, "dim": 0, "keepdim": False},
        {"shape": [7, 9, 11], "dtype": "float32", "dim": -1},
        {"shape": [33, 65], "dtype": "float32", "dim": None},
    ],
    timing=[{"shape": [1 << p], "peak": True, "dim": 0, "keepdim": False} for p in range(12, 30)],
    bytes_moved=lambda shape, itemsize, dim=None: prod(shape) * itemsize + 8 * _outputs(shape, dim),
    flops=lambda shape: prod(shape),  # one comparison an element
)
