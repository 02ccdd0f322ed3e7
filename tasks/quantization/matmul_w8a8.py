"""A matrix product of operands that are quantized to int8 when the call is made."""

from tasks.lazy import torch
from tasks.spec import Task, Thresholds


def reference(input, weight):
    return torch.matmul(input, weight)  # in full precision: quantized results are measured against it


def inputs(make, m, k, n, outliers=0.0, zero_column=False):
    input, weight = (make.normal(*shape, outliers=outliers).clamp(-10, 10) for shape in ((m, k), (k, n)))
    if zero_column:
        weight[:, 0] = 0.0
    return [input, weight], {}


TASK = Task(
    name="matmul_w8a8",
    category="Quantization",
    signature="matmul_w8a8(input, weight) -> Tensor",
    prompt=(
        "Multiply `input` (M, K) by `weight` (K, N), both float32, through int8, all within the call. Quantize the "
        "input symmetrically for each row and the weight symmetrically for each column: scale = max|x| / 127, q = "
        "round(x / scale) in [-127, 127]; a row or column of zeros must not divide by zero. Multiply the int8 values "
        "with int32 accumulation and return q_sum * row_scale * column_scale as float32 (M, N). Scales for groups of "
        "at least 32 along K are allowed; plain floating point products, rotation and smoothing are not. A kernel is "
        "right if its relative error (Frobenius norm, against the full-precision result) is at most four times what "
        "independent rounding of every element gives with one scale for the whole tensor, and if it really rounds: "
        "values far below their scale become zero, and all values that round to one integer give the same result. "
        "Cosine (published threshold 0.95), relative L1 (0.05) and RMSE (0.1) are reported beside it."
    ),
    formula=r"Y = s_X s_W\,(Q(X)\,Q(W))",
    reference=reference,
    inputs=inputs,
    comparator="quantized",
    thresholds=Thresholds(cosine=0.95, relative_l1=0.05, rmse=0.1),
    correctness=[
        {"m": 1, "k": 2, "n": 3, "zero_column": True},
        {"m": 1, "k": 1, "n": 1},
        {"m": 2, "k": 7, "n": 5},
        {"m": 32, "k": 256, "n": 128},
        {"m": 64, "k": 128, "n": 64},
        {"m": 32, "k": 256, "n": 128, "outliers": 0.01},
        {"m": 64, "k": 128, "n": 64, "outliers": 0.01},
        {"m": 33, "k": 97, "n": 65, "zero_column": True},
    ],
    timing=[{"m": 64 << p, "k": 128 << p, "n": 256 << p} for p in range(1, 5)],
    bytes_moved=lambda m, k, n, itemsize: (m * k + k * n + m * n) * itemsize,
    flops=lambda m, k, n: 2 * m * k * n,
)
