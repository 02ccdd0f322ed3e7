"""Distances between vectors, normalised along a dimension."""

from math import prod

from tasks.lazy import torch
from tasks.spec import Task


def reference(x1, x2, p_distance=2.0, eps_distance=1e-6, keepdim=False, p_norm=2, dim_norm=1, eps_norm=1e-12):
    distance = torch.nn.functional.pairwise_distance(x1, x2, p=p_distance, eps=eps_distance, keepdim=keepdim)
    return torch.nn.functional.normalize(distance, p=p_norm, dim=dim_norm, eps=eps_norm)


def eps_after_the_norm(
    x1, x2, p_distance=2.0, eps_distance=1e-6, keepdim=False, p_norm=2, dim_norm=1, eps_norm=1e-12
):
    distance = torch.linalg.vector_norm(x1 - x2, ord=p_distance, dim=-1, keepdim=keepdim) + eps_distance
    return torch.nn.functional.normalize(distance, p=p_norm, dim=dim_norm, eps=eps_norm)


def inputs(make, shape, scale=1.0, outliers=0.0, **options):
    # Vectors of different lengths, so that their distances are not all alike.
    lengths = make.uniform(*shape[:-1], 1, low=0.1, high=1.0) * scale
    return [make.normal(*shape, outliers=outliers) * lengths, make.normal(*shape) * lengths], options


TASK = Task(
    name="normalize_pairwise_distance",
    category="Normalization",
    signature=(
        "normalize_pairwise_distance(x1, x2, p_distance=2.0, eps_distance=1e-6, keepdim=False, p_norm=2, "
        "dim_norm=1, eps_norm=1e-12) -> Tensor"
    ),
    prompt=(
        "`x1` and `x2` are float32 tensors of one shape, of two or more dimensions. First the distances of their "
        "vectors along the last dimension: d = (sum of |x1 - x2 + eps_distance|**p)**(1/p) with p = p_distance; the "
        "dimension disappears, or stays with size 1 with keepdim=True. Then normalise d along its dimension "
        "`dim_norm`: return d / max((sum of d**q)**(1/q), eps_norm) with q = p_norm."
    ),
    formula=r"y = \frac{d}{\max(\|d\|_q, \epsilon)},\quad d = \|x_1 - x_2 + \epsilon'\|_p",
    reference=reference,
    inputs=inputs,
    # The published reference adds eps_distance to the finished distance, while the text names PyTorch's function.
    variants={"eps_distance is added to the distance": eps_after_the_norm},
    correctness=[
        {"shape": [2, 2], "dim_norm": 0},
        {"shape": [1, 3], "dim_norm": 0, "scale": 1e-4, "eps_norm": 1e-2},
        {"shape": [2, 2], "p_distance": 1.0, "dim_norm": 0},
        {"shape": [3, 5, 7], "keepdim": True},
        {"shape": [3, 5, 7], "eps_distance": 0.25},
        {"shape": [4, 9, 6], "p_norm": 1, "p_distance": 3.0},
        {"shape": [16, 64, 32], "p_distance": 1.0, "dim_norm": 1, "outliers": 1e-3},
        {"shape": [16, 64, 32], "dim_norm": 1, "outliers": 1e-3},
        {"shape": [5, 33, 131], "dim_norm": 0},
        {"shape": [2, 257, 129]},
        {"shape": [32, 128, 64], "p_distance": 2.0, "dim_norm": 1},
    ],
    timing=[{"shape": [16, 1 << p, 128]} for p in range(4, 16)],
    bytes_moved=lambda shape, itemsize: (2 * prod(shape) + prod(shape[:-1])) * itemsize,
    flops=lambda shape: 4 * prod(shape) + 3 * prod(shape[:-1]),
)
