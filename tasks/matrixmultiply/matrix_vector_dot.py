"""A matrix-vector product added to a vector in place, and that vector's dot product."""

from tasks.lazy import torch
from tasks.spec import Task


def reference(A, x, y, alpha, beta):
    y.copy_(alpha * torch.mv(A, x) + beta * y)
    return torch.dot(y, x)


def y_stays(A, x, y, alpha, beta):
    return torch.dot(alpha * torch.mv(A, x) + beta * y, x)


def one_element(A, x, y, alpha, beta):
    return reference(A, x, y, alpha, beta).reshape(1)


def inputs(make, n, alpha, beta, dtype=None, outliers=0.0):
    # Means above zero keep the dot product well away from zero, sizes keep it within float16.
    A = make.normal(n, n, mean=1 / n, std=n**-0.5, dtype=dtype, outliers=outliers)
    x, y = (make.normal(n, mean=0.5, std=0.5, dtype=dtype) for _ in "xy")
    return [A, x, y, alpha, beta], {}


TASK = Task(
    name="matrix_vector_dot",
    category="MatrixMultiply",
    signature="matrix_vector_dot(A, x, y, alpha, beta) -> Tensor",
    prompt=(
        "Replace `y` in place by alpha * (A @ x) + beta * y, then return the dot product of the new y with x, a tensor "
        "without dimensions. `A` is (n, n), `x` and `y` are (n), all of one dtype, float32 or float16, which the "
        "result has; accumulate in float32. `alpha` and `beta` are Python numbers."
    ),
    formula=r"y \leftarrow \alpha A x + \beta y,\quad r = y \cdot x",
    reference=reference,
    inputs=inputs,
    dtype="float16",
    mutates=(2,),
    variants={
        # The published code binds y to a new tensor, while its text changes y in place.
        "y keeps its old values": y_stays,
        # The published tests look at the result as a Python number.
        "the result has one dimension of size 1": one_element,
    },
    correctness=[
        {"n": 2, "alpha": 1.0, "beta": 0.0, "dtype": "float32"},
        {"n": 1, "alpha": 1.0, "beta": 1.0, "dtype": "float32"},
        {"n": 2, "alpha": 0.5, "beta": 0.5, "dtype": "float32"},
        {"n": 3, "alpha": 2.0, "beta": 0.5, "dtype": "float32"},
        {"n": 64, "alpha": 1.0, "beta": 0.0, "dtype": "float32", "outliers": 1e-3},
        {"n": 128, "alpha": 0.5, "beta": 0.5, "dtype": "float32", "outliers": 1e-3},
        {"n": 131, "alpha": -1.5, "beta": 2.0, "dtype": "float32"},
        {"n": 256, "alpha": 1.0, "beta": 0.5},
        {"n": 1031, "alpha": 1.0, "beta": 0.5},
    ],
    # beta = 1 would let y grow with every timed call, out of float16
    timing=[{"n": 1 << p, "alpha": 1.0, "beta": 0.5} for p in range(6, 16)],
    bytes_moved=lambda n, itemsize: (n * n + 3 * n + 1) * itemsize,  # A, x, y read and written, one number
    flops=lambda n: 2 * n * n + 5 * n,
)
