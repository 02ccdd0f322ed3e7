"""Cosine similarity of vectors that were normalised in the p-norm."""

from math import prod

from tasks.lazy import torch
from tasks.spec import Task


def reference(x1, x2, dim=1, eps_similarity=1e-8, p_norm=2, eps_norm=1e-12):
    normalize, cosine = torch.nn.functional.normalize, torch.nn.functional.cosine_similarity
    first, second = (normalize(x, p=p_norm, dim=dim, eps=eps_norm) for x in (x1, x2))
    return cosine(first, second, dim=dim, eps=eps_similarity)


def inputs(make, shape, other=None, scale=1.0, outliers=0.0, **options):
    x1 = make.normal(*shape, std=scale, outliers=outliers)
    x2 = make.normal(*(other or shape), std=scale)
    return [x1, x2 if other else x1 + x2], options  # related, so that the similarities are not all near zero


TASK = Task(
    name="normalized_cosine_similarity",
    category="Normalization",
    signature=(
        "normalized_cosine_similarity(x1, x2, dim=1, eps_similarity=1e-8, p_norm=2, eps_norm=1e-12) -> Tensor"
    ),
    prompt=(
        "For the vectors along dimension `dim` of two float32 tensors whose shapes broadcast: first normalise each, "
        "u = x1 / max(‖x1‖_p, eps_norm) and v = x2 / max(‖x2‖_p, eps_norm), where ‖·‖_p = (sum of |element|**p)**(1/p) "
        "and p is `p_norm`; then return the sum of u * v along `dim`, divided by max(‖u‖_2, eps_similarity) * "
        "max(‖v‖_2, eps_similarity). The dimension disappears from the result."
    ),
    formula=r"s = \frac{u \cdot v}{\max(\|u\|_2, \epsilon)\,\max(\|v\|_2, \epsilon)}",
    reference=reference,
    inputs=inputs,
    correctness=[
        {"shape": [2, 2]},
        {"shape": [1, 3]},
        {"shape": [5, 3], "dim": 0},
        {"shape": [7, 9], "p_norm": 1},
        {"shape": [4, 8], "scale": 1e-10, "eps_norm": 1e-9},
        {"shape": [6, 64], "p_norm": 1, "eps_similarity": 0.5},
        {"shape": [256, 128], "dim": 1, "outliers": 1e-3},
        {"shape": [128, 256], "dim": 1, "p_norm": 1, "outliers": 1e-3},
        {"shape": [33, 1031], "dim": 1},
        {"shape": [512, 1024], "dim": 1},
        {"shape": [6, 20], "other": [1, 20]},
    ],
    timing=[{"shape": [1 << p, 1024], "dim": 1} for p in range(6, 16)],
    bytes_moved=lambda shape, itemsize, other=None, dim=1: (
        (prod(shape) + prod(other or shape) + prod(shape) // shape[dim]) * itemsize
    ),
    # two norms and a scaling of each vector, and their product: two operations an element each
    flops=lambda shape: 12 * prod(shape),
)
