"""Attention whose matrix products take operands that are quantized to int8 when the call is made."""

from tasks.lazy import torch
from tasks.spec import Task, Thresholds


def reference(query, key, value):
    # In full precision: quantized results are measured against it.
    scores = query @ key.mT / query.shape[-1] ** 0.5
    return torch.softmax(scores, dim=-1) @ value


def inputs(make, batch, length, width, outliers=0.0, flat=False):
    query, key, value = (make.normal(batch, length, width, outliers=outliers).clamp(-10, 10) for _ in "qkv")
    if flat:
        query, key = query * 0, key * 0
    return [query, key, value], {}


TASK = Task(
    name="attention_w8a8",
    category="Quantization",
    signature="attention_w8a8(query, key, value) -> Tensor",
    prompt=(
        "Single-head attention softmax(Q K^T / sqrt(D)) V of three float32 tensors (B, S, D), without a mask, with "
        "int8 operands, all within the call. Quantize query, key and value symmetrically for each token (row of D "
        "elements): scale = max|x| / 127, q = round(x / scale) in [-127, 127]; rows of zeros must not divide by "
        "zero; 1/sqrt(D) may go into the query before it is quantized. Multiply query and key as int8 with int32 "
        "accumulation, dequantize with both scales, take the softmax over keys in float32, and multiply by the "
        "quantized value, dequantized on the fly; the probabilities may be quantized too, with a scale for each row. "
        "The result is float32 (B, S, D). Groups of at least 32 along D are allowed; plain floating point scores, "
        "rotation and smoothing are not. A kernel is right if its relative error (Frobenius norm, against the "
        "full-precision result) is at most four times what independent rounding of every element gives with one "
        "scale for the whole tensor, and if it really rounds: values far below their scale become zero, and all "
        "values that round to one integer give the same result. Cosine (published threshold 0.9), relative L1 (0.1) "
        "and RMSE (0.15) are reported beside it."
    ),
    formula=r"Y = \mathrm{softmax}\!\left(\frac{s_Q s_K\,Q_8 K_8^\top}{\sqrt{D}}\right) s_V V_8",
    reference=reference,
    inputs=inputs,
    comparator="quantized",
    thresholds=Thresholds(cosine=0.9, relative_l1=0.1, rmse=0.15),
    correctness=[
        {"batch": 1, "length": 1, "width": 8},
        {"batch": 1, "length": 3, "width": 4, "flat": True},
        {"batch": 1, "length": 16, "width": 32},
        {"batch": 2, "length": 64, "width": 32},
        {"batch": 1, "length": 32, "width": 16, "outliers": 0.01},
        {"batch": 2, "length": 64, "width": 32, "outliers": 0.01},
        {"batch": 1, "length": 77, "width": 64},
    ],
    timing=[
        {"batch": 2, "length": 512, "width": 64},
        {"batch": 2, "length": 1024, "width": 64},
        {"batch": 2, "length": 2048, "width": 64},
        {"batch": 1, "length": 4096, "width": 64},
    ],
    bytes_moved=lambda batch, length, width, itemsize: 4 * batch * length * width * itemsize,
    # two products of S x S x D, and five operations of the softmax for each score
    flops=lambda batch, length, width: batch * length * length * (4 * width + 5),
)
