"""Matrix product of bfloat16 tensors."""

from tasks.matrixmultiply.matmul import TASK as MATMUL

TASK = MATMUL.derive(
    "matmul_bf16",
    signature="matmul_bf16(input, other) -> Tensor",
    prompt=(
        "Matrix product of two dense bfloat16 tensors `input` and `other`. Both 2-D: (m, k) @ (k, n). 1-D and 2-D: the "
        "vector is a row that is dropped from the result. Both 3-D: the product of each pair of matrices. Accumulate "
        "in float32 and round to bfloat16 once."
    ),
    dtype="bfloat16",
    correctness=[
        {"left": [5, 7], "right": [7, 3]},
        {"left": [64, 128], "right": [128, 256]},
        {"left": [4, 64, 128], "right": [4, 128, 64]},
        {"left": [128], "right": [128, 256]},
        {"left": [1, 1], "right": [1, 1]},
        {"left": [65, 97], "right": [97, 33], "outliers": 1e-2},
        {"left": [512, 1024], "right": [1024, 512]},
    ],
)
