"""Batch normalisation and the sigmoid."""

from math import prod

from tasks.lazy import torch
from tasks.spec import Task


def reference(
    input, running_mean, running_var, weight=None, bias=None, training=False, momentum=0.1, eps=1e-5
):
    return torch.sigmoid(
        torch.nn.functional.batch_norm(
            input, running_mean, running_var, weight, bias, training, momentum, eps
        )
    )


def inputs(make, shape, affine=True, outliers=0.0, **options):
    channels = shape[1]
    x = make.normal(*shape, outliers=outliers)
    tensors = [x, make.normal(channels, std=0.5), make.uniform(channels, low=0.5, high=2.0)]
    return tensors + [make.normal(channels) for _ in range(2 * affine)], options


def bytes_moved(shape, itemsize, affine=True, training=False):
    """Input and result, the parameters of each channel, and in training the new statistics."""
    return (2 * prod(shape) + shape[1] * (2 + 2 * affine + 2 * training)) * itemsize


TASK = Task(
    name="fused_sigmoid_batch_norm",
    category="Fusion",
    signature=(
        "fused_sigmoid_batch_norm(input, running_mean, running_var, weight=None, bias=None, training=False, "
        "momentum=0.1, eps=1e-5) -> Tensor"
    ),
    prompt=(
        "Normalise each channel c (dimension 1) of `input`, float32 of shape (N, C) or (N, C, L): z = (x - mean) / "
        "sqrt(var + eps) * weight + bias, where `weight` and `bias` are (C), or None for 1 and 0; return the sigmoid "
        "1 / (1 + exp(-z)) of every element. With `training`=False mean and var are `running_mean` and `running_var`, "
        "both (C). With training=True they are the mean and the biased variance of the channel over all other "
        "dimensions, and the running ones are updated in place: new = (1 - momentum) * old + momentum * batch, with "
        "`momentum` a number and the unbiased variance (divided by one less) for running_var. `eps` is a number."
    ),
    formula=r"y = \sigma\!\left(\frac{x - \mu}{\sqrt{v + \epsilon}}\,\gamma + \beta\right)",
    reference=reference,
    inputs=inputs,
    mutates=(1, 2),
    correctness=[
        {"shape": [10, 5], "affine": False},
        {"shape": [1, 1]},
        {"shape": [10, 5], "training": True},
        {"shape": [10, 5], "momentum": 0.2, "eps": 1e-3},
        {"shape": [7, 9], "training": True, "momentum": 0.3, "eps": 0.1, "affine": False},
        {"shape": [64, 128], "outliers": 1e-3},
        {"shape": [64, 128], "training": True, "outliers": 1e-3},
        {"shape": [5, 7, 33], "training": True, "outliers": 1e-2},
        {"shape": [4, 3, 17]},
        {"shape": [33, 10_007]},
    ],
    timing=[{"shape": [32, 1 << p], "training": False} for p in range(7, 23)],
    bytes_moved=bytes_moved,
    # difference, scaling, shift; exponential, sum, division
    flops=lambda shape, training=False: (6 + 4 * training) * prod(shape),
)
