"""A linear layer with float16 activations and weights quantized to packed int4."""

from tasks.lazy import torch
from tasks.spec import Task, Thresholds


def reference(input, weight, bias=None):
    # In full precision: quantized results are measured against it.
    return torch.nn.functional.linear(input, weight, bias)


def inputs(make, batch, features, out, bias=False, outliers=0.0, zero_row=False, weight=None, scale=1.0):
    input = make.normal(batch, features, outliers=outliers).clamp(-10, 10)
    if weight is not None:
        weights = make.values(weight).reshape(out, features)
    else:
        weights = scale * make.normal(out, features, outliers=outliers).clamp(-10, 10)
    if zero_row:
        weights[0] = 0.0
    return [input, weights, make.normal(out) if bias else None], {}


TASK = Task(
    name="linear_w4a16",
    category="Quantization",
    signature="linear_w4a16(input, weight, bias=None) -> Tensor",
    prompt=(
        "Return input @ weight.T + bias with weights in int4, all within the call. `input` (B, in), `weight` (out, "
        "in), `in` even, and `bias` (out) or None are float16; the result (B, out) is float16. Activations stay "
        "float16. Quantize the weight symmetrically for each output channel (row): scale = max|w| / 7, q = round(w / "
        "scale) clamped to [-8, 7]; a row of zeros must not divide by zero. Pack two values into a byte, the first "
        "in the low nibble; unpack and multiply by the scale on the fly, accumulate in float32 (float16 is allowed), "
        "add the bias and round to float16 once. Scales for groups of at least 32 along the input features are "
        "allowed; unquantized weights, rotation and smoothing are not. A kernel is right if its relative error "
        "(Frobenius norm, against the full-precision result) is at most four times what independent rounding of "
        "every weight gives with one scale for each output channel, and if it really rounds: weights far below their "
        "scale become zero, all that round to one integer give the same result, and small output channels keep their "
        "digits beside large ones. Cosine (published threshold 0.9), relative L1 (0.1) and RMSE (0.15) are reported "
        "beside it."
    ),
    formula=r"Y = X\,(s\,Q_4(W))^\top + b",
    reference=reference,
    inputs=inputs,
    dtype="float16",
    comparator="quantized",
    thresholds=Thresholds(cosine=0.9, relative_l1=0.1, rmse=0.15),
    correctness=[
        {"batch": 1, "features": 4, "out": 1, "weight": [7.0, -8.0, 3.5, -3.5]},
        {"batch": 1, "features": 4, "out": 2, "weight": [100.0, 0.1, 0.1, 0.1, 0.1, 100.0, 0.1, 0.1]},
        {"batch": 2, "features": 4, "out": 3, "zero_row": True},
        {"batch": 1, "features": 4, "out": 1, "bias": True},
        {"batch": 16, "features": 256, "out": 128},
        {"batch": 8, "features": 128, "out": 64},
        {"batch": 16, "features": 256, "out": 128, "bias": True, "outliers": 0.01},
        {"batch": 7, "features": 130, "out": 33, "bias": True},
        {
            "batch": 4,
            "features": 64,
            "out": 16,
            "bias": True,
            "scale": 0.01,
        },  # the bias is most of the result
    ],
    timing=[
        {"batch": 1, "features": 4096, "out": 4096, "bias": True},
        {"batch": 8, "features": 4096, "out": 4096, "bias": True},
        {"batch": 32, "features": 4096, "out": 16384, "bias": True},
    ],
    # the weight comes as float16 and is read as such
    bytes_moved=lambda batch, features, out, itemsize, bias=False: (
        (batch * features + out * features + batch * out + out * bias) * itemsize
    ),
    flops=lambda batch, features, out: 2 * batch * features * out,
)
