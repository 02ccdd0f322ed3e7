"""A two-dimensional convolution of operands that are quantized to int8 when the call is made."""

from tasks.convolution.conv2d import bytes_moved, flops
from tasks.lazy import torch
from tasks.spec import Task, Thresholds


def reference(input, weight, bias=None, stride=1, padding=0):
    # In full precision: quantized results are measured against it.
    return torch.nn.functional.conv2d(input, weight, bias, stride, padding)


def inputs(make, x, w, bias=False, outliers=0.0, zero_channel=False, scale=1.0, **options):
    input, weight = (scale * make.normal(*shape, outliers=outliers).clamp(-10, 10) for shape in (x, w))
    if zero_channel:
        weight[0] = 0.0
    return [input, weight, make.normal(w[0]) if bias else None], options


TASK = Task(
    name="conv2d_w8a8",
    category="Quantization",
    signature="conv2d_w8a8(input, weight, bias=None, stride=1, padding=0) -> Tensor",
    prompt=(
        "Two-dimensional cross-correlation of `input` (N, C, H, W) with `weight` (O, C, kH, kW), both float32, "
        "through int8, all within the call. Quantize the input symmetrically with one scale (or one for each image), "
        "the weight symmetrically for each output channel: scale = max|x| / 127, q = round(x / scale) in [-127, "
        "127]; a channel of zeros must not divide by zero. Accumulate products of int8 values in int32, multiply by "
        "both scales, then add `bias` (O), unless it is None, in float32. `stride` and `padding` are numbers for "
        "both directions; outside the input are zeros; the result is float32 (N, O, H', W') with H' = floor((H + 2 "
        "padding - kH) / stride) + 1. Scales for groups of at least 32 products are allowed; plain floating point "
        "products, rotation and smoothing are not. A kernel is right if its relative error (Frobenius norm, against "
        "the full-precision result) is at most four times what independent rounding of every element gives with one "
        "scale for the whole tensor, and if it really rounds: values far below their scale become zero, and all "
        "values that round to one integer give the same result. Cosine (published threshold 0.95), relative L1 "
        "(0.05) and RMSE (0.1) are reported beside it."
    ),
    formula=r"Y = s_X s_W\,\mathrm{conv2d}(Q(X), Q(W)) + b",
    reference=reference,
    inputs=inputs,
    comparator="quantized",
    thresholds=Thresholds(cosine=0.95, relative_l1=0.05, rmse=0.1),
    correctness=[
        {"x": [1, 8, 4, 4], "w": [16, 8, 1, 1], "stride": 1, "padding": 0},
        {"x": [1, 3, 8, 8], "w": [4, 3, 3, 3], "stride": 2, "padding": 0},
        {"x": [1, 1, 5, 5], "w": [2, 1, 3, 3], "stride": 1, "padding": 1, "zero_channel": True},
        {"x": [1, 2, 4, 4], "w": [3, 2, 2, 2], "bias": True, "stride": 1, "padding": 0, "scale": 0.01},
        {"x": [2, 3, 16, 16], "w": [8, 3, 3, 3], "bias": True, "padding": 1},
        {"x": [1, 16, 8, 8], "w": [16, 16, 1, 1]},
        {"x": [2, 3, 16, 16], "w": [8, 3, 3, 3], "bias": True, "padding": 1, "outliers": 0.01},
        {"x": [1, 16, 8, 8], "w": [16, 16, 1, 1], "outliers": 0.01},
        {"x": [1, 5, 13, 11], "w": [7, 5, 3, 2], "bias": True, "stride": 2, "padding": 1},
    ],
    timing=[
        {"x": [1, 3, 224, 224], "w": [64, 3, 7, 7], "stride": 1, "padding": 1},
        {"x": [2, 64, 56, 56], "w": [128, 64, 3, 3], "stride": 1, "padding": 1},
        {"x": [4, 128, 28, 28], "w": [256, 128, 3, 3], "stride": 1, "padding": 1},
    ],
    bytes_moved=bytes_moved,
    flops=flops,
)
