"""Scaled dot-product attention, plain or causal."""

from math import prod

from tasks.lazy import torch
from tasks.spec import Task


def reference(q, k, v, causal=False, softmax_scale=None):
    attend = torch.nn.functional.scaled_dot_product_attention
    return attend(q, k, v, is_causal=causal, scale=softmax_scale)


def inputs(make, shape, dtype=None, outliers=0.0, **options):
    q, k = (make.normal(*shape, outliers=outliers, dtype=dtype) for _ in range(2))
    return [q, k, make.normal(*shape, dtype=dtype)], options


def flops(shape, causal=False):
    """For each pair of positions two products of D elements, and five for scale and softmax."""
    *batch, length, width = shape
    pairs = length * (length + 1) // 2 if causal else length * length
    return prod(batch) * pairs * (4 * width + 5)


TASK = Task(
    name="attention",
    category="Fusion",
    signature="attention(q, k, v, causal=False, softmax_scale=None) -> Tensor",
    prompt=(
        "Scaled dot-product attention. `q`, `k` and `v` are (B, H, S, D) of one dtype, float16 or float32: for each "
        "batch and head return softmax(q @ k.T * scale) @ v, where the softmax runs over the keys and scale is "
        "`softmax_scale`, or 1 / sqrt(D) if that is None. With causal=True position i sees the keys 0 to i only; the "
        "others count as minus infinity before the softmax. Compute scores and sums in float32 and cast the result, "
        "(B, H, S, D), to the inputs' dtype once at the end. float32 inputs need full precision: TF32 is not accurate "
        "enough. S is any number, D is 32 or 64. The timed calls are float32 and causal."
    ),
    formula=r"O = \mathrm{softmax}(s\,QK^\top + M)\,V",
    reference=reference,
    inputs=inputs,
    correctness=[
        {"shape": [1, 1, 16, 32]},
        {"shape": [1, 1, 1, 32]},
        {"shape": [1, 2, 64, 32], "softmax_scale": 0.125},
        {"shape": [1, 2, 64, 32], "causal": True},
        {"shape": [1, 2, 127, 64], "causal": True, "softmax_scale": 0.3},
        {"shape": [1, 2, 33, 64], "outliers": 1e-3},
        {"shape": [2, 4, 128, 64], "dtype": "float16"},
        {"shape": [2, 4, 127, 64], "dtype": "float16", "causal": True},
        {"shape": [2, 4, 64, 32], "dtype": "float16", "outliers": 1e-2},
        {"shape": [2, 4, 64, 32], "dtype": "float16", "outliers": 1e-2, "causal": True},
        {"shape": [2, 8, 500, 64], "causal": True},
    ],
    timing=[{"shape": [2, 8, 1 << p, 64], "causal": True} for p in range(6, 11)],
    bytes_moved=lambda shape, itemsize: 4 * prod(shape) * itemsize,
    flops=flops,
)
