"""Batch normalisation by channel."""

from math import prod

from tasks.lazy import torch
from tasks.spec import Task


def reference(
    input, running_mean, running_var, weight=None, bias=None, training=False, momentum=0.1, eps=1e-5
):
    return torch.nn.functional.batch_norm(
        input, running_mean, running_var, weight, bias, training=training, momentum=momentum, eps=eps
    )


def inputs(make, shape, affine=False, dtype=None, outliers=0.0, **options):
    channels = shape[1]
    mean, variance = (
        make.normal(channels, dtype="float32"),
        make.normal(channels, dtype="float32").abs() + 0.1,
    )
    tensors = [make.normal(*shape, dtype=dtype, outliers=outliers), mean, variance]
    if affine:
        tensors += [make.normal(channels, dtype="float32"), make.normal(channels, dtype="float32")]
    return tensors, options


TASK = Task(
    name="batch_norm",
    category="Normalization",
    signature=(
        "batch_norm(input, running_mean, running_var, weight=None, bias=None, training=False, momentum=0.1, eps=1e-5) "
        "-> Tensor"
    ),
    prompt=(
        "Normalise `input` (N, C, …), float32 or float16, channel by channel: (x - mean) / sqrt(variance + eps) * "
        "weight + bias. `running_mean`, `running_var`, and `weight` and `bias` unless they are None (then 1 and 0), "
        "are float32 (C). With training=False mean and variance are the running ones, which stay as they are. With "
        "training=True they are those of the channel's elements in the batch (variance divided by their number m), and "
        "the running ones are replaced in place: running = (1 - momentum) * running + momentum * new, where the new "
        "variance is divided by m - 1. Compute in float32; shape and dtype stay. The timed inputs are float16."
    ),
    formula=r"y = \frac{x - \mu_c}{\sqrt{\sigma_c^2 + \epsilon}}\,w_c + b_c",
    reference=reference,
    inputs=inputs,
    dtype="float16",
    mutates=(1, 2),
    correctness=[
        {"shape": [2, 3, 4, 4], "dtype": "float32"},
        {"shape": [1, 1, 1, 1], "dtype": "float32"},
        {"shape": [2, 3, 4, 4], "dtype": "float32", "training": True},
        {"shape": [2, 3, 4, 4], "dtype": "float32", "affine": True},
        {"shape": [2, 3, 5, 7], "dtype": "float32", "training": True, "momentum": 0.2, "eps": 1e-3},
        {"shape": [4, 8, 16, 16], "dtype": "float32", "affine": True, "training": True, "outliers": 1e-2},
        {"shape": [3, 5, 17, 13], "affine": True},
        {"shape": [5, 7, 33], "dtype": "float32", "affine": True},
        {"shape": [8, 32, 64, 65], "affine": True},
    ],
    timing=[
        {"shape": [32, 32, height, 128], "affine": True, "training": False, "momentum": 0.1, "eps": 1e-5}
        for height in range(640, 1537, 128)
    ],
    bytes_moved=lambda shape, itemsize, affine=False: (
        2 * prod(shape) * itemsize + (4 if affine else 2) * shape[1] * 4
    ),
    flops=lambda shape: 4 * prod(shape),
)
