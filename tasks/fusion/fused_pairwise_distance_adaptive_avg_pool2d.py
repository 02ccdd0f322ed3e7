"""Two images averaged over bins, and the distances between their rows."""

from math import prod

from tasks.lazy import torch
from tasks.spec import Task


def reference(x1, x2, output_size, p=2.0, eps=1e-6, keepdim=False):
    pool = torch.nn.functional.adaptive_avg_pool2d
    return torch.nn.functional.pairwise_distance(
        pool(x1, output_size), pool(x2, output_size), p, eps, keepdim
    )


def one_for_each_sample(x1, x2, output_size, p=2.0, eps=1e-6, keepdim=False):
    pool = torch.nn.functional.adaptive_avg_pool2d
    difference = pool(x1, output_size) - pool(x2, output_size)
    return torch.linalg.vector_norm(difference, p, dim=(1, 2, 3), keepdim=keepdim) + eps


def inputs(make, shape, size, outliers=0.0, **options):
    first, second = (make.normal(*shape, outliers=outliers) for _ in range(2))
    return [first, second, tuple(size) if isinstance(size, list) else size], options


def _rows_columns(size):
    return size if isinstance(size, list) else (size, size)


TASK = Task(
    name="fused_pairwise_distance_adaptive_avg_pool2d",
    category="Fusion",
    signature=(
        "fused_pairwise_distance_adaptive_avg_pool2d(x1, x2, output_size, p=2.0, eps=1e-6, keepdim=False) -> Tensor"
    ),
    prompt=(
        "Average-pool `x1` and `x2`, float32 of shape (N, C, H, W), to `output_size`, a number or a pair (R, S): "
        "element (i, j) is the mean over rows floor(i H / R) up to but not including ceil((i + 1) H / R), and columns "
        "likewise with W and S. Then return the p-norm distance of the two results along their last dimension: "
        "(sum over j of |a[…, j] - b[…, j] + eps|**p)**(1/p), where `eps` is added to each difference and `p` is a "
        "positive number. The result has shape (N, C, R), or (N, C, R, 1) with `keepdim`=True."
    ),
    formula=r"y_{nci} = \Big(\sum_j |a_{ncij} - b_{ncij} + \epsilon|^p\Big)^{1/p}",
    reference=reference,
    inputs=inputs,
    # The published code takes one norm over all but the first dimension; its text has the distance as above.
    variants={"one distance for each sample, (N) or (N, 1, 1, 1)": one_for_each_sample},
    correctness=[
        {"shape": [2, 3, 8, 8], "size": [4, 4]},
        {"shape": [1, 1, 2, 2], "size": 2},
        {"shape": [2, 3, 32, 32], "size": [8, 8], "p": 1.0},
        {"shape": [2, 3, 32, 32], "size": [8, 8], "keepdim": True},
        {"shape": [2, 3, 17, 23], "size": [5, 7], "eps": 1e-7},
        {"shape": [2, 3, 64, 64], "size": [16, 16], "outliers": 1e-3},
        {"shape": [4, 3, 64, 64], "size": [8, 8], "p": 2.0, "eps": 1e-6, "keepdim": True, "outliers": 1e-2},
        {"shape": [4, 8, 128, 130], "size": [64, 13]},
    ],
    # The two largest published sizes do not fit the footprint that is timed.
    timing=[{"shape": [16, 3, 1 << p, 1 << p], "size": [1 << (p - 1)] * 2} for p in range(4, 12)],
    bytes_moved=lambda shape, size, itemsize: (
        (2 * prod(shape) + shape[0] * shape[1] * _rows_columns(size)[0]) * itemsize
    ),
    # each element added once; a division for each of two bins, difference, eps, square, sum
    flops=lambda shape, size: 2 * prod(shape) + 6 * shape[0] * shape[1] * prod(_rows_columns(size)),
)
