"""GELU of input + alpha * other."""

from math import prod

from tasks.lazy import torch
from tasks.spec import Task


def reference(input, other, alpha=1, approximate="none"):
    return torch.nn.functional.gelu(torch.add(input, other, alpha=alpha), approximate=approximate)


def inputs(make, shape, other=None, dtype=None, outliers=0.0, **options):
    first = make.normal(*shape, dtype=dtype, outliers=outliers)
    second = other if isinstance(other, float) else make.normal(*(other or shape), dtype=dtype)
    return [first, second], options


def bytes_moved(shape, itemsize, other=None):
    """Both inputs and the result, which has the first one's shape."""
    return (2 * prod(shape) + (0 if isinstance(other, float) else prod(other or shape))) * itemsize


TASK = Task(
    name="fused_add_gelu",
    category="Fusion",
    signature="fused_add_gelu(input, other, alpha=1, approximate='none') -> Tensor",
    prompt=(
        "Return GELU(input + alpha * other). `input` is a floating point tensor; `other` is a tensor of the same dtype "
        "whose shape broadcasts with it, or a number; `alpha` is a number. With s the sum, approximate='none' gives "
        "0.5 * s * (1 + erf(s / sqrt(2))) and approximate='tanh' gives "
        "0.5 * s * (1 + tanh(sqrt(2/pi) * (s + 0.044715 * s**3))). The dtype stays. The timed tensors are float16."
    ),
    formula=r"y = \mathrm{GELU}(x + \alpha z)",
    reference=reference,
    inputs=inputs,
    dtype="float16",
    correctness=[
        {"shape": [3], "dtype": "float32"},
        {"shape": [1], "dtype": "float32"},
        {"shape": [3], "dtype": "float32", "alpha": 2},
        {"shape": [3], "dtype": "float32", "approximate": "tanh"},
        {"shape": [3], "dtype": "float32", "other": 0.5},
        {"shape": [97, 131], "dtype": "float32", "alpha": 0.5, "approximate": "tanh", "outliers": 1e-2},
        {"shape": [97, 131], "dtype": "float32", "alpha": -1.5, "outliers": 1e-2},
        {"shape": [4099]},
        {"shape": [4099], "approximate": "tanh", "outliers": 1e-3},
        {"shape": [6, 20], "dtype": "float32", "other": [20]},
        {"shape": [512, 512], "dtype": "float32", "alpha": 0.5, "approximate": "tanh"},
        {"shape": [1_000_003]},
    ],
    timing=[{"shape": [1 << p], "alpha": 1, "approximate": "none"} for p in range(12, 28)],
    bytes_moved=bytes_moved,
    flops=lambda shape: 7 * prod(shape),  # a product, a sum, and five for GELU
)
