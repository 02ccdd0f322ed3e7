"""Batch normalisation and the hard sigmoid."""

from math import prod

from tasks.lazy import torch
from tasks.spec import Task


def reference(
    x,
    running_mean,
    running_var,
    weight=None,
    bias=None,
    training=False,
    momentum=0.1,
    eps=1e-5,
    inplace=False,
):
    normalized = torch.nn.functional.batch_norm(
        x, running_mean, running_var, weight, bias, training, momentum, eps
    )
    return torch.nn.functional.hardsigmoid(normalized, inplace=inplace)


def inputs(make, shape, affine=False, fresh=False, outliers=0.0, **options):
    x, channels = make.normal(*shape, outliers=outliers), shape[1]
    if fresh:
        statistics = [make.full(channels, value=0.0), make.full(channels, value=1.0)]
    else:
        statistics = [make.normal(channels), make.uniform(channels, low=0.5, high=2.0)]
    parameters = [make.normal(channels), make.normal(channels)] if affine else []
    return [x, *statistics, *parameters], options


IMAGES = [
    *([8, 8], [11, 12], [16, 16], [22, 24], [32, 32], [45, 46], [64, 64], [90, 92]),
    *([128, 128], [181, 182], [256, 256], [362, 363], [512, 512], [724, 725], [1024, 1024], [1448, 1449]),
]

TASK = Task(
    name="fused_hardsigmoid_batch_norm",
    category="Fusion",
    signature=(
        "fused_hardsigmoid_batch_norm(x, running_mean, running_var, weight=None, bias=None, training=False, "
        "momentum=0.1, eps=1e-5, inplace=False) -> Tensor"
    ),
    prompt=(
        "Batch normalisation of `x`, float32 (N, C, H, W), for each channel c, n = (x - mean[c]) / sqrt(variance[c] + "
        "eps) * weight[c] + bias[c], and then the hard sigmoid of every element: min(max(n + 3, 0), 6) / 6. `weight` "
        "and `bias` are (C), or both None for ones and zeros. With training=False mean and variance are "
        "`running_mean` and `running_var` (C), which stay. With training=True they are those of x over N, H and W, the "
        "variance biased (divided by the number of elements), and the running values change in place: running = (1 - "
        "momentum) * running + momentum * new, where the new variance is the unbiased one (divided by the number less "
        "1). `inplace` concerns a temporary only: x never changes."
    ),
    formula=r"y = \mathrm{hardsigmoid}\left(\frac{x - \mu}{\sqrt{\sigma^2 + \epsilon}}\, w + b\right)",
    reference=reference,
    inputs=inputs,
    mutates=(1, 2),
    correctness=[
        {"shape": [2, 3, 5, 5]},
        {"shape": [1, 1, 1, 1]},
        {"shape": [2, 3, 5, 5], "affine": True},
        {"shape": [2, 3, 5, 5], "training": True},
        {"shape": [2, 3, 5, 5], "inplace": True, "eps": 0.1},
        {"shape": [10, 3, 32, 32], "fresh": True, "training": True},
        {"shape": [3, 5, 17, 13], "affine": True, "training": True, "momentum": 0.3, "outliers": 1e-2},
        {"shape": [16, 32, 16, 16], "affine": True, "fresh": True, "outliers": 1e-3},
        {"shape": [16, 32, 16, 16], "affine": True, "fresh": True, "training": True, "outliers": 1e-3},
        {"shape": [4, 7, 129, 255], "affine": True},
    ],
    timing=[{"shape": [1, 64, *image], "affine": True, "training": False} for image in IMAGES],
    # input and result; statistics, weight and bias
    bytes_moved=lambda shape, itemsize, affine=False, training=False: (
        (2 * prod(shape) + (2 + 2 * affine + 2 * training) * shape[1]) * itemsize
    ),
    # difference, scaling, weight, bias; a sum, two comparisons, a division
    flops=lambda shape: 8 * prod(shape),
)
