"""Layer normalisation whose result is quantized to int8, row by row, and back."""

from tasks.lazy import torch
from tasks.spec import Task, Thresholds


def reference(input, normalized_shape, weight=None, bias=None, eps=1e-5):
    # In full precision: quantized results are measured against it.
    return torch.nn.functional.layer_norm(input, normalized_shape, weight, bias, eps)


def inputs(
    make,
    rows,
    width,
    affine=False,
    outliers=0.0,
    constant_row=False,
    extreme=False,
    mean=0.0,
    std=1.0,
    eps=1e-5,
):
    x = make.normal(rows, width, mean=mean, std=std, outliers=outliers).clamp(-10, 10)
    if constant_row:
        x[0] = 5.0
    weight = bias = None
    if affine:
        weight, bias = make.normal(width), make.normal(width)
    if extreme:
        weight, bias = make.values([100.0, 0.01, -100.0, 0.01]), make.values([50.0, -50.0, 0.0, 100.0])
    return [x, (width,), weight, bias], {"eps": eps}


TASK = Task(
    name="layernorm_w8a8",
    category="Quantization",
    signature="layernorm_w8a8(input, normalized_shape, weight=None, bias=None, eps=1e-5) -> Tensor",
    prompt=(
        "Layer normalisation of float32 `input` over its trailing dimensions `normalized_shape`, a tuple: y = (x - "
        "mean) / sqrt(variance + eps) with the biased variance, then y * weight + bias with tensors of that shape "
        "unless they are None; all this in float32. Then quantize each row of the result (the elements that were "
        "normalised together) symmetrically to int8, scale = max|y| / 127, q = round(y / scale) in [-127, 127], and "
        "return q * scale as float32; a row of zeros stays zero and must not divide by zero. Outputs of a row thus "
        "lie on a grid of at most 255 steps. A kernel is right if its relative error (Frobenius norm, against the "
        "full-precision result) is at most four times what independent rounding of every result gives with one scale "
        "for each row, and if it really rounds: results far below their scale become zero, and the others lie on the "
        "grid. Cosine (published threshold 0.95), relative L1 (0.05) and RMSE (0.1) are reported beside it."
    ),
    formula=r"Y = s\,Q\!\left(\frac{x - \mu}{\sqrt{\sigma^2 + \epsilon}}\,w + b\right)",
    reference=reference,
    inputs=inputs,
    comparator="quantized",
    thresholds=Thresholds(cosine=0.95, relative_l1=0.05, rmse=0.1),
    correctness=[
        {"rows": 3, "width": 16},
        {"rows": 2, "width": 8, "constant_row": True},
        {"rows": 2, "width": 4, "extreme": True},
        {"rows": 32, "width": 256},
        {"rows": 8, "width": 256, "mean": 5.0, "std": 0.1},  # in eight bits the deviation has no digits
        {"rows": 32, "width": 256, "affine": True},
        {"rows": 16, "width": 512, "affine": True, "outliers": 0.01},
        {"rows": 7, "width": 131, "eps": 1e-3},
        {"rows": 4, "width": 1},
    ],
    timing=[
        {"rows": 32, "width": 2048, "affine": True},
        {"rows": 64, "width": 4096, "affine": True},
        {"rows": 32, "width": 8192, "affine": True},
    ],
    bytes_moved=lambda rows, width, itemsize, affine=False: (
        (2 * rows * width + 2 * width * affine) * itemsize
    ),
    # mean, variance, scaling, affine; largest magnitude, division, rounding, product
    flops=lambda rows, width: 12 * rows * width,
)
