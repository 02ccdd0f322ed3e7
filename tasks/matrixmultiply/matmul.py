"""Matrix product by the shapes' ranks."""

from math import prod

from tasks.lazy import torch
from tasks.spec import Task


def reference(input, other):
    return torch.matmul(input, other)


def inputs(make, left, right, dtype=None, transposed=False, outliers=0.0):
    input = make.normal(*left, dtype=dtype, outliers=outliers)
    if transposed:
        right = [*right[:-2], right[-1], right[-2]]
    other = make.normal(*right, dtype=dtype)
    return [input, other.mT if transposed else other], {}


def _columns(right):
    return 1 if len(right) == 1 else right[-1]


def _rows(left):
    return 1 if len(left) == 1 else left[-2]


def _batch(left, right):
    return max(prod(left[:-2]), prod(right[:-2]))


TASK = Task(
    name="matmul",
    category="MatrixMultiply",
    signature="matmul(input, other) -> Tensor",
    prompt=(
        "Matrix product of two dense tensors `input` and `other` of one dtype, float32 or float16, by their ranks. "
        "Both 2-D: the matrix product (m, k) @ (k, n). Both 1-D: the dot product, a tensor without dimensions. 1-D and "
        "2-D: the vector is a row that is dropped from the result; 2-D and 1-D: it is a column that is dropped. "
        "Otherwise a batched product of the last two dimensions, where the leading ones broadcast. The result has the "
        "dtype of the inputs; accumulate in float32. float32 inputs need full precision: TF32 is not accurate enough. "
        "`other` may be a transposed view, so use its strides. The timed products are float16."
    ),
    formula=r"C = AB",
    reference=reference,
    inputs=inputs,
    dtype="float16",
    correctness=[
        {"left": [2, 2], "right": [2, 2], "dtype": "float32"},
        {"left": [2], "right": [2, 2], "dtype": "float32"},
        {"left": [2, 2], "right": [2], "dtype": "float32"},
        {"left": [2, 2, 2], "right": [2, 2, 2], "dtype": "float32"},
        {"left": [1, 1], "right": [1, 1], "dtype": "float32"},
        {"left": [5, 7], "right": [7, 3], "dtype": "float32"},
        {"left": [64, 128], "right": [128, 32], "dtype": "float32", "outliers": 1e-3},
        {"left": [64, 128], "right": [128, 32]},
        {"left": [65, 97], "right": [97, 33]},
        {"left": [256, 256], "right": [256, 256], "outliers": 1e-3},
        {"left": [1000, 1023], "right": [1023, 257]},
        {"left": [17], "right": [17], "dtype": "float32"},
        {"left": [33, 65], "right": [65, 17], "dtype": "float32", "transposed": True},
        {"left": [3, 5, 7], "right": [7, 4], "dtype": "float32"},
    ],
    timing=[{"left": [n, n], "right": [n, n]} for n in range(256, 4097, 128)],
    bytes_moved=lambda left, right, itemsize: (
        (prod(left) + prod(right) + _batch(left, right) * _rows(left) * _columns(right)) * itemsize
    ),
    flops=lambda left, right: 2 * _batch(left, right) * _rows(left) * left[-1] * _columns(right),
)
