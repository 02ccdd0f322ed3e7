"""Batch normalisation of each channel."""

from math import prod

from tasks.lazy import torch
from tasks.spec import Task


def reference(
    input, running_mean, running_var, weight=None, bias=None, training=False, momentum=0.1, eps=1e-5
):
    return torch.nn.functional.batch_norm(
        input, running_mean, running_var, weight, bias, training, momentum, eps
    )


def statistics_stay(
    input, running_mean, running_var, weight=None, bias=None, training=False, momentum=0.1, eps=1e-5
):
    mean, var = running_mean.clone(), running_var.clone()
    return torch.nn.functional.batch_norm(input, mean, var, weight, bias, training, momentum, eps)


def inputs(make, shape, affine=True, dtype=None, outliers=0.0, **options):
    channels = shape[1]
    x = make.normal(*shape, dtype=dtype, outliers=outliers)
    arguments = [x, make.normal(channels, dtype="float32")]
    arguments.append(make.uniform(channels, low=0.1, high=2.0, dtype="float32"))
    if affine:
        arguments += [make.normal(channels, dtype="float32"), make.normal(channels, dtype="float32")]
    return arguments, options


TASK = Task(
    name="batch_norm",
    category="Normalization",
    signature=(
        "batch_norm(input, running_mean, running_var, weight=None, bias=None, training=False, momentum=0.1, "
        "eps=1e-5) -> Tensor"
    ),
    prompt=(
        "Normalise every channel (dimension 1) of `input`, (N, C) or (N, C, …), float32 or float16: return "
        "(x - mean) / sqrt(var + eps) * weight + bias in the input's shape and dtype. `running_mean`, `running_var`, "
        "`weight` and `bias` are float32 (C); weight None means 1, bias None means 0. With training=False mean and var "
        "are running_mean and running_var, which stay. With training=True they are the channel's own mean and "
        "biased variance over all other dimensions (m elements, m > 1), and the running values change in place: "
        "running_mean to (1 - momentum) * running_mean + momentum * mean, running_var likewise with the unbiased "
        "variance, var * m / (m - 1). Compute in float32."
    ),
    formula=r"y = \frac{x - \mu_c}{\sqrt{\sigma_c^2 + \epsilon}}\, w_c + b_c",
    reference=reference,
    inputs=inputs,
    dtype="float16",
    mutates=(1, 2),
    # The published text does not speak of them, and no public test looks at them.
    variants={"the running statistics stay as they are": statistics_stay},
    correctness=[
        {"shape": [2, 3, 4, 4], "affine": False, "dtype": "float32"},
        {"shape": [1, 1, 1, 1], "dtype": "float32"},
        {"shape": [2, 3, 4, 4], "affine": False, "dtype": "float32", "training": True},
        {"shape": [2, 3, 4, 4], "dtype": "float32"},
        {
            "shape": [3, 5, 7, 9],
            "affine": False,
            "dtype": "float32",
            "training": True,
            "momentum": 0.2,
            "eps": 1e-3,
        },
        {"shape": [4, 8, 16, 16], "dtype": "float32", "training": True, "outliers": 1e-3},
        {"shape": [4, 8, 16, 16], "dtype": "float32", "training": False, "eps": 0.1, "outliers": 1e-3},
        {"shape": [33, 17], "dtype": "float32", "training": True},
        {"shape": [5, 33, 131]},
        {"shape": [4, 6, 33, 31], "training": True},
        {"shape": [8, 32, 64, 65]},
    ],
    timing=[
        {"shape": [32, 32, rows, 128], "training": False, "momentum": 0.1, "eps": 1e-5}
        for rows in range(640, 1537, 128)
    ],
    # the input in and out; in training it can be kept on the chip only where it is small, and counts once all the same
    bytes_moved=lambda shape, itemsize, affine=True, training=False: (
        2 * prod(shape) * itemsize + (2 + 2 * affine + 2 * training) * 4 * shape[1]
    ),
    flops=lambda shape, training=False: (9 if training else 4) * prod(shape),
)
