"""A batched matrix product of operands that are quantized to int8 when the call is made."""

from tasks.lazy import torch
from tasks.spec import Task, Thresholds


def reference(input, mat2):
    return torch.bmm(input, mat2)  # in full precision: quantized results are measured against it


def inputs(make, b, m, k, n, outliers=0.0, zero_batch=False, scales=(1.0, 1.0)):
    input, mat2 = (make.normal(*shape, outliers=outliers).clamp(-10, 10) for shape in ((b, m, k), (b, k, n)))
    if zero_batch:
        input[0] = 0.0
    return [input * scales[0], mat2 * scales[1]], {}


TASK = Task(
    name="bmm_w8a8",
    category="Quantization",
    signature="bmm_w8a8(input, mat2) -> Tensor",
    prompt=(
        "Multiply `input` (B, M, K) by `mat2` (B, K, N) batch by batch, both float32, through int8, all within the "
        "call. Quantize `input` symmetrically for each row and `mat2` symmetrically for each column of each batch: "
        "scale = max|x| / 127, q = round(x / scale) in [-127, 127]; rows and columns of zeros must not divide by "
        "zero. Multiply the int8 values with int32 accumulation and return q_sum * row_scale * column_scale as "
        "float32 (B, M, N). Scales for groups of at least 32 along K are allowed; plain floating point products, "
        "rotation and smoothing are not. A kernel is right if its relative error (Frobenius norm, against the "
        "full-precision result) is at most four times what independent rounding of every element gives with one "
        "scale for the whole tensor, and if it really rounds: values far below their scale become zero, and all "
        "values that round to one integer give the same result. Cosine (published threshold 0.95), relative L1 "
        "(0.05) and RMSE (0.1) are reported beside it."
    ),
    formula=r"Y_b = s_X s_M\,(Q(X_b)\,Q(M_b))",
    reference=reference,
    inputs=inputs,
    comparator="quantized",
    thresholds=Thresholds(cosine=0.95, relative_l1=0.05, rmse=0.1),
    correctness=[
        {"b": 3, "m": 4, "k": 8, "n": 4, "zero_batch": True},
        {"b": 1, "m": 1, "k": 1, "n": 1},
        {"b": 1, "m": 8, "k": 16, "n": 8},
        {"b": 2, "m": 1, "k": 32, "n": 1},
        {"b": 2, "m": 8, "k": 16, "n": 8, "scales": [50.0, 0.1]},
        {"b": 2, "m": 32, "k": 64, "n": 48},
        {"b": 1, "m": 16, "k": 32, "n": 16},
        {"b": 2, "m": 32, "k": 64, "n": 48, "outliers": 0.01},
        {"b": 3, "m": 33, "k": 65, "n": 47},
    ],
    timing=[{"b": 1 << p, "m": 32 << p, "k": 64 << p, "n": 128 << p} for p in range(1, 5)],
    bytes_moved=lambda b, m, k, n, itemsize: b * (m * k + k * n + m * n) * itemsize,
    flops=lambda b, m, k, n: 2 * b * m * k * n,
)
