"""A batched matrix product, RMS normalisation, GELU, dropout."""

from math import prod

from tasks.lazy import torch
from tasks.spec import Task


def reference(input1, input2, normalized_shape, dropout_p=0.1, eps=1e-5, training=True, approximate="none"):
    normalized = torch.nn.functional.rms_norm(torch.bmm(input1, input2), (normalized_shape,), eps=eps)
    activated = torch.nn.functional.gelu(normalized, approximate=approximate)
    return torch.nn.functional.dropout(activated, dropout_p, training)


def inputs(make, left, columns, std=1.0, outliers=0.0, **options):
    first, second = make.normal(*left, std=std, outliers=outliers), make.normal(left[0], left[2], columns)
    return [first, second], {"normalized_shape": columns, **options}


def bytes_moved(left, columns, itemsize):
    """Both factors and the result."""
    return (prod(left) + left[0] * columns * (left[1] + left[2])) * itemsize


def flops(left, columns):
    """The product; square and sum, scaling, five for GELU, and scaling."""
    return left[0] * left[1] * columns * (2 * left[2] + 9)


TASK = Task(
    name="fused_bmm_rmsnorm_gelu_dropout",
    category="Fusion",
    signature=(
        "fused_bmm_rmsnorm_gelu_dropout(input1, input2, normalized_shape, dropout_p=0.1, eps=1e-5, training=True, "
        "approximate='none') -> Tensor"
    ),
    prompt=(
        "Four steps on float32 tensors, in this order. The batched product z = input1 @ input2 of `input1` (B, N, M) "
        "and `input2` (B, M, P). RMS normalisation over the last dimension: r = z / sqrt(mean(z**2) + eps); "
        "`normalized_shape` is the number P, and there is no weight. GELU: g = 0.5 * r * (1 + erf(r / sqrt(2))) with "
        "approximate='none', or 0.5 * r * (1 + tanh(sqrt(2/pi) * (r + 0.044715 * r**3))) with approximate='tanh'. "
        "Dropout with training=True: every element of g is zeroed with probability `dropout_p`, independently and anew "
        "with every call, and the "
        "others are multiplied by 1 / (1 - dropout_p); with training=False, or with dropout_p = 0, g stays. Full "
        "precision is needed: TF32 is not accurate enough."
    ),
    formula=r"y = \mathrm{dropout}_p(\mathrm{GELU}(\mathrm{rmsnorm}(AB)))",
    reference=reference,
    inputs=inputs,
    comparator="dropout",
    correctness=[
        {"left": [2, 8, 4], "columns": 8, "dropout_p": 0.5},
        {"left": [2, 3, 4], "columns": 5, "dropout_p": 0.0},
        {"left": [1, 1, 1], "columns": 1, "dropout_p": 0.0},
        {"left": [2, 3, 4], "columns": 5, "training": False},
        {"left": [2, 3, 4], "columns": 5, "training": False, "approximate": "tanh"},
        {"left": [2, 3, 4], "columns": 5, "training": False, "std": 0.1, "eps": 0.1},
        {"left": [4, 16, 32], "columns": 64, "dropout_p": 0.1, "training": False, "approximate": "tanh"},
        {"left": [4, 16, 32], "columns": 64, "dropout_p": 0.0, "outliers": 1e-3},
        {"left": [3, 33, 65], "columns": 47, "training": False, "outliers": 1e-3},
        {"left": [2, 3, 4], "columns": 5},
        {"left": [2, 3, 4], "columns": 5, "dropout_p": 0.2, "approximate": "tanh"},
        {"left": [4, 16, 32], "columns": 64, "dropout_p": 0.1, "training": True, "approximate": "tanh"},
        {"left": [3, 133, 65], "columns": 147, "dropout_p": 0.3},
        {"left": [4, 100, 257], "columns": 513, "training": False},
    ],
    timing=[
        {"left": [32, n, n], "columns": n, "dropout_p": 0.1, "training": True} for n in range(256, 2433, 128)
    ],
    bytes_moved=bytes_moved,
    flops=flops,
)
