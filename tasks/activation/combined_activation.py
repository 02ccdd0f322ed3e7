"""The hyperbolic tangent of the sigmoid of a product of matrices, scaled and shifted."""

from math import prod

from tasks.lazy import torch
from tasks.spec import Task


def reference(input, weight1, weight2, bias):
    return torch.tanh(torch.sigmoid(input @ weight1)) * weight2 + bias


def inputs(make, shape, out, full=False, outliers=0.0):
    x = make.normal(*shape, outliers=outliers)
    # Sums near 1 at every size: of large ones the sigmoid is 0 or 1.
    weight = make.normal(shape[-1], out, std=shape[-1] ** -0.5)
    size = (*shape[:-1], out) if full else (out,)
    return [x, weight, make.normal(*size), make.normal(*size)], {}


def bytes_moved(shape, out, itemsize, full=False):
    """Input, weights, scale and shift, result."""
    rows, features = prod(shape[:-1]), shape[-1]
    return itemsize * (rows * (features + out) + features * out + 2 * out * (rows if full else 1))


TASK = Task(
    name="combined_activation",
    category="Activation",
    signature="combined_activation(input, weight1, weight2, bias) -> Tensor",
    prompt=(
        "Return tanh(sigmoid(input @ weight1)) * weight2 + bias. All are float32: `input` is (*, N, Din), mostly (N, "
        "Din), with any number of batch dimensions in front, `weight1` is (Din, Dout), and `weight2` and `bias` "
        "broadcast to the result's shape (*, N, Dout): they have that shape, or are (Dout)."
    ),
    formula=r"y = \tanh(\sigma(x W_1)) \odot w_2 + b",
    reference=reference,
    inputs=inputs,
    correctness=[
        {"shape": [2, 3], "out": 4, "full": True},
        {"shape": [1, 1], "out": 1},
        {"shape": [5, 3], "out": 7},
        {"shape": [2, 3, 5], "out": 6},
        {"shape": [33, 65], "out": 17, "full": True, "outliers": 1e-2},
        {"shape": [256, 128], "out": 192, "full": True, "outliers": 1e-3},
        {"shape": [512, 1024], "out": 320},
    ],
    timing=[{"shape": [1 << p, 1 << p], "out": 1 << p} for p in range(6, 12)],
    bytes_moved=bytes_moved,
    # products and sums; sigmoid, tangent, scale and shift
    flops=lambda shape, out: prod(shape[:-1]) * out * (2 * shape[-1] + 4),
)
