"""Product of a tensor and a tensor or number."""

from math import prod

from tasks.lazy import torch
from tasks.spec import Task


def reference(input, other):
    return torch.mul(input, other)


def inputs(make, shape, other=None, dtype=None, outliers=0.0):
    def drawn(*size):
        if dtype and "int" in dtype:
            return make.integers(*size, low=-9, high=10, dtype=dtype)
        return make.normal(*size, dtype=dtype, outliers=outliers)

    return [drawn(*shape), other if isinstance(other, float) else drawn(*(other or shape))], {}


def _second(shape, other):
    return 0 if isinstance(other, float) else prod(other or shape)


TASK = Task(
    name="mul",
    category="Math",
    signature="mul(input, other) -> Tensor",
    prompt=(
        "Return input * other, element by element. `input` is a tensor of float32, float16 or int64, `other` a tensor "
        "of the same dtype whose shape broadcasts with it (both may be stretched), or, with floating point input, a "
        "Python number. The result has the broadcast shape and the dtype of the input. The timed tensors are float16."
    ),
    formula=r"y = x z",
    reference=reference,
    inputs=inputs,
    dtype="float16",
    correctness=[
        {"shape": [7], "dtype": "float32"},
        {"shape": [1], "dtype": "float32"},
        {"shape": [3], "other": 2.5, "dtype": "float32"},
        {"shape": [1024], "dtype": "float32", "outliers": 1e-2},
        {"shape": [64, 65], "dtype": "float32", "outliers": 1e-2},
        {"shape": [97, 131]},
        {"shape": [1_000_003]},
        {"shape": [3], "other": [3, 1], "dtype": "int64"},
    ],
    timing=[{"shape": [1 << p]} for p in range(12, 28)],
    bytes_moved=lambda shape, itemsize, other=None: (2 * prod(shape) + _second(shape, other)) * itemsize,
    flops=lambda shape: prod(shape),
)
