"""A matrix product added to a matrix."""

from math import prod

from tasks.lazy import torch
from tasks.spec import Task


def reference(input, mat1, mat2, beta=1, alpha=1):
    return torch.addmm(input, mat1, mat2, beta=beta, alpha=alpha)


def inputs(make, n, m, p, added=None, dtype=None, ignored=False, outliers=0.0, **options):
    shape = (n, p) if added is None else added
    if ignored:
        input = make.full(*shape, value=float("nan"), dtype=dtype)
    else:
        input = make.normal(*shape, dtype=dtype)
    mat1 = make.normal(n, m, dtype=dtype, outliers=outliers)
    return [input, mat1, make.normal(m, p, dtype=dtype)], options


TASK = Task(
    name="addmm",
    category="MatrixMultiply",
    signature="addmm(input, mat1, mat2, *, beta=1, alpha=1) -> Tensor",
    prompt=(
        "Return beta * input + alpha * (mat1 @ mat2), where `mat1` is (n, m), `mat2` is (m, p) and `input` is (n, p) "
        "or broadcasts to it; all of one dtype, float32 or float16, which the result (n, p) has. `beta` and `alpha` "
        "are Python numbers; with beta = 0 the input is ignored, even NaN and infinity. Accumulate in float32 and "
        "round once. float32 inputs need full precision: TF32 is not accurate enough. The timed products are float16."
    ),
    formula=r"Y = \beta X + \alpha A B",
    reference=reference,
    inputs=inputs,
    dtype="float16",
    correctness=[
        {"n": 2, "m": 2, "p": 2, "dtype": "float32"},
        {"n": 1, "m": 1, "p": 1, "dtype": "float32"},
        {"n": 2, "m": 3, "p": 2, "beta": 0.5, "alpha": 2.0, "dtype": "float32"},
        {"n": 2, "m": 2, "p": 3, "beta": 0.0, "dtype": "float32"},
        {"n": 5, "m": 7, "p": 3, "beta": 0.0, "dtype": "float32", "ignored": True},
        {"n": 5, "m": 7, "p": 3, "added": [3], "dtype": "float32"},
        {"n": 33, "m": 65, "p": 17, "beta": -1.5, "added": [33, 1], "dtype": "float32"},
        {"n": 64, "m": 128, "p": 32, "beta": 1, "alpha": 1, "dtype": "float32", "outliers": 1e-3},
        {"n": 64, "m": 128, "p": 32, "beta": 0.5, "alpha": 2.0, "dtype": "float32", "outliers": 1e-3},
        {"n": 65, "m": 97, "p": 33, "beta": 0.5, "alpha": 2.0},
        {"n": 256, "m": 256, "p": 256, "outliers": 1e-3},
        {"n": 1000, "m": 1023, "p": 257},
    ],
    timing=[{"n": n, "m": n, "p": n} for n in range(256, 4097, 128)],
    bytes_moved=lambda n, m, p, itemsize, added=None: (
        (n * m + m * p + n * p + (n * p if added is None else prod(added))) * itemsize
    ),
    flops=lambda n, m, p: n * p * (2 * m + 3),
)
