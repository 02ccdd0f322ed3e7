"""Rows of two matrices normalised, and the distances between them."""

from tasks.lazy import torch
from tasks.spec import Task


def reference(x1, x2, p_norm=2.0, eps_norm=1e-12, eps_distance=1e-6, keepdim=False):
    first, second = _normalized(x1, x2, p_norm, eps_norm)
    return torch.nn.functional.pairwise_distance(first, second, p_norm, eps_distance, keepdim)


def euclidean(x1, x2, p_norm=2.0, eps_norm=1e-12, eps_distance=1e-6, keepdim=False):
    first, second = _normalized(x1, x2, p_norm, eps_norm)
    return torch.nn.functional.pairwise_distance(first, second, 2.0, eps_distance, keepdim)


def all_pairs(x1, x2, p_norm=2.0, eps_norm=1e-12, eps_distance=1e-6, keepdim=False):
    first, second = _normalized(x1, x2, p_norm, eps_norm)
    distances = torch.cdist(first, second, p_norm, compute_mode="donot_use_mm_for_euclid_dist")
    distances = distances.clamp(min=eps_distance)
    return distances.unsqueeze(-1) if keepdim else distances


def _normalized(x1, x2, p_norm, eps_norm):
    return [torch.nn.functional.normalize(x, p_norm, dim=-1, eps=eps_norm) for x in (x1, x2)]


def inputs(make, rows, width, scale=1.0, outliers=0.0, **options):
    return [make.normal(rows, width, std=scale, outliers=outliers) for _ in range(2)], options


TASK = Task(
    name="fused_pairwise_distance_normalize",
    category="Fusion",
    signature=(
        "fused_pairwise_distance_normalize(x1, x2, p_norm=2.0, eps_norm=1e-12, eps_distance=1e-6, keepdim=False) "
        "-> Tensor"
    ),
    prompt=(
        "For float32 `x1` and `x2` of shape (N, D) normalise every row, a = x1 / max(‖x1‖_p, eps_norm) and "
        "b = x2 / max(‖x2‖_p, eps_norm), where ‖·‖_p = (sum of |element|**p)**(1/p) and p is `p_norm`, a positive "
        "number; `eps_norm` keeps it from dividing by zero. Then return the distance of each row of a from the row of "
        "b at the same place: ‖a - b + eps_distance‖_p, with `eps_distance` added to each difference. The result has "
        "shape (N), or (N, 1) with `keepdim`=True."
    ),
    formula=r"y_i = \|a_i - b_i + \epsilon\|_p,\quad a_i = x_i / \max(\|x_i\|_p, \epsilon_n)",
    reference=reference,
    inputs=inputs,
    variants={
        # The published code compares every row with every row; its text does so row by row.
        "all pairs of rows, (N, N) or (N, N, 1)": all_pairs,
        # The published text has p_norm for the normalisation alone.
        "Euclidean distance whatever p_norm": euclidean,
    },
    correctness=[
        {"rows": 2, "width": 2},
        {"rows": 1, "width": 3},
        {"rows": 5, "width": 7, "p_norm": 1.0},
        {"rows": 4, "width": 8, "scale": 1e-10, "eps_norm": 1e-9},
        {"rows": 4, "width": 8, "keepdim": True},
        {"rows": 32, "width": 128, "eps_distance": 1e-7, "outliers": 1e-3},
        {"rows": 32, "width": 128, "p_norm": 2.0, "keepdim": True, "outliers": 1e-2},
        {"rows": 33, "width": 131},
        {"rows": 257, "width": 1031},
    ],
    timing=[{"rows": 1 << p, "width": 128} for p in range(6, 14)],
    bytes_moved=lambda rows, width, itemsize: (2 * rows * width + rows) * itemsize,
    # square, sum and division for both rows; difference, eps, square, sum
    flops=lambda rows, width: 10 * rows * width,
)
