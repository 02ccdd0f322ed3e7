"""Product, softmax, product, residual sum and layer normalisation: a block in the manner of transformers."""

from math import prod

from tasks.lazy import torch
from tasks.spec import Task


def reference(input, weight1, weight2, residual, dropout_p=0.1, eps=1e-5):
    hidden = torch.softmax(input @ weight1, dim=-1)
    hidden = torch.nn.functional.dropout(hidden, p=dropout_p)
    total = hidden @ weight2 + residual
    return torch.nn.functional.layer_norm(total, total.shape[-1:], eps=eps)


def inputs(make, batch, width, hidden, outliers=0.0, **options):
    input = make.normal(*batch, width, outliers=outliers)
    # Scaled so that the softmax is neither flat nor a single one.
    weights = make.normal(width, hidden, std=width**-0.5), make.normal(hidden, width)
    return [input, *weights, make.normal(*batch, width)], {"dropout_p": 0.0, **options}


TASK = Task(
    name="fused_transformer_block",
    category="Fusion",
    signature="fused_transformer_block(input, weight1, weight2, residual, dropout_p=0.1, eps=1e-5) -> Tensor",
    prompt=(
        "Five steps on float32 tensors: z = input @ weight1, with `input` (*, D) and `weight1` (D, K); the softmax of "
        "z over its last dimension; dropout of its elements with probability `dropout_p`, the others divided by "
        "1 - dropout_p; the product with `weight2` (K, D), plus `residual` (*, D); and layer normalisation of that "
        "over the last dimension, (t - mean) / sqrt(variance + eps) with the biased variance and no learnable "
        "parameters. All calls have dropout_p=0, so that the result does not depend on chance."
    ),
    formula=r"Y = \mathrm{layernorm}(\mathrm{softmax}(X W_1)\, W_2 + R)",
    reference=reference,
    inputs=inputs,
    correctness=[
        {"batch": [2, 3], "width": 8, "hidden": 5},
        {"batch": [1, 1], "width": 7, "hidden": 3},
        {"batch": [1, 5], "width": 6, "hidden": 7, "eps": 1e-2},
        {"batch": [2, 16], "width": 64, "hidden": 128, "eps": 1e-5, "outliers": 1e-3},
        {"batch": [3, 33], "width": 65, "hidden": 127},
        {"batch": [8, 128], "width": 256, "hidden": 1024},
    ],
    timing=[{"batch": [8, 128], "width": 1 << p, "hidden": 4 << p} for p in range(8, 13)],
    bytes_moved=lambda batch, width, hidden, itemsize: (
        (3 * prod(batch) * width + 2 * width * hidden) * itemsize
    ),
    # two products, five operations a softmax element, seven for the sum and the normalisation
    flops=lambda batch, width, hidden: prod(batch) * (4 * width * hidden + 5 * hidden + 7 * width),
)
