"""A batched matrix product, RMS normalisation, GELU, dropout, and a tensor subtracted from the result."""

from math import prod

from tasks.fusion import fused_bmm_rmsnorm_gelu_dropout as unsubtracted
from tasks.spec import Task


def reference(
    input1, input2, other, normalized_shape, dropout_p=0.5, training=True, approximate="none", eps=1e-5
):
    kept = unsubtracted.reference(
        input1, input2, normalized_shape, dropout_p, eps=eps, training=training, approximate=approximate
    )
    return kept - other


def other_is_not_subtracted(
    input1, input2, other, normalized_shape, dropout_p=0.5, training=True, approximate="none", eps=1e-5
):
    return unsubtracted.reference(
        input1, input2, normalized_shape, dropout_p, eps=eps, training=training, approximate=approximate
    )


def inputs(make, left, columns, other=None, std=1.0, outliers=0.0, **options):
    first, second = make.normal(*left, std=std, outliers=outliers), make.normal(left[0], left[2], columns)
    return [first, second, make.normal(*(other or [*left[:2], columns])), columns], options


def bytes_moved(left, columns, itemsize, other=None):
    """Both factors, the subtrahend and the result."""
    subtrahend = prod(other or [*left[:2], columns])
    return unsubtracted.bytes_moved(left, columns, itemsize) + subtrahend * itemsize


TASK = Task(
    name="fused_bmm_rmsnorm_gelu_dropout_sub",
    category="Fusion",
    signature=(
        "fused_bmm_rmsnorm_gelu_dropout_sub(input1, input2, other, normalized_shape, dropout_p=0.5, training=True, "
        "approximate='none', eps=1e-5) -> Tensor"
    ),
    prompt=(
        "Five steps on float32 tensors, in this order. The batched product z = input1 @ input2 of `input1` (B, N, M) "
        "and `input2` (B, M, P). RMS normalisation over the last dimension: r = z / sqrt(mean(z**2) + eps); "
        "`normalized_shape` is the number P, and there is no weight. GELU: g = 0.5 * r * (1 + erf(r / sqrt(2))) with "
        "approximate='none', or 0.5 * r * (1 + tanh(sqrt(2/pi) * (r + 0.044715 * r**3))) with approximate='tanh'. "
        "Dropout with training=True: every element of g is zeroed with probability `dropout_p`, independently and anew "
        "with every call, and the "
        "others are multiplied by 1 / (1 - dropout_p); with training=False, or with dropout_p = 0, g stays. Finally "
        "subtract `other`, whose shape broadcasts to (B, N, P). Full precision is needed: TF32 is not accurate enough."
    ),
    formula=r"y = \mathrm{dropout}_p(\mathrm{GELU}(\mathrm{rmsnorm}(AB))) - O",
    reference=reference,
    inputs=inputs,
    # The published code forgets the subtraction.
    variants={"other is not subtracted": other_is_not_subtracted},
    comparator="dropout",
    correctness=[
        {"left": [2, 8, 4], "columns": 8},
        {"left": [2, 3, 4], "columns": 5, "dropout_p": 0.0},
        {"left": [1, 1, 1], "columns": 1, "dropout_p": 0.0},
        {"left": [2, 3, 4], "columns": 5, "training": False},
        {"left": [2, 3, 4], "columns": 5, "training": False, "approximate": "tanh"},
        {"left": [2, 3, 4], "columns": 5, "training": False, "std": 0.1, "eps": 0.1},
        {"left": [2, 3, 4], "columns": 5, "training": False, "other": [5]},
        {"left": [4, 16, 32], "columns": 64, "dropout_p": 0.1, "training": False, "approximate": "tanh"},
        {"left": [4, 16, 32], "columns": 64, "dropout_p": 0.0, "outliers": 1e-3},
        {"left": [3, 33, 65], "columns": 47, "training": False, "outliers": 1e-3},
        {"left": [2, 3, 4], "columns": 5},
        {"left": [2, 3, 4], "columns": 5, "dropout_p": 0.3, "other": [5]},
        {"left": [4, 16, 32], "columns": 64, "dropout_p": 0.1, "training": True, "approximate": "tanh"},
        {"left": [3, 133, 65], "columns": 147, "dropout_p": 0.3},
        {"left": [4, 100, 257], "columns": 513, "training": False},
    ],
    timing=[{"left": [32, n, n], "columns": n} for n in range(256, 2433, 128)],
    bytes_moved=bytes_moved,
    flops=lambda left, columns: unsubtracted.flops(left, columns) + left[0] * left[1] * columns,
)
