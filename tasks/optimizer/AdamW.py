"""One step of the AdamW optimizer."""

from math import prod, sqrt

from tasks.lazy import torch
from tasks.spec import Task


def reference(
    param, grad, exp_avg, exp_avg_sq, step, lr=1e-3, beta1=0.9, beta2=0.999, eps=1e-8, weight_decay=0.01
):
    param.mul_(1 - lr * weight_decay)
    exp_avg.mul_(beta1).add_(grad, alpha=1 - beta1)
    exp_avg_sq.mul_(beta2).addcmul_(grad, grad, value=1 - beta2)
    scale = torch.sqrt(exp_avg_sq) / sqrt(1 - beta2**step) + eps
    param.addcdiv_(exp_avg, scale, value=-lr / (1 - beta1**step))
    return param, exp_avg, exp_avg_sq


def arguments_stay(param, grad, exp_avg, exp_avg_sq, step, **options):
    return reference(param.clone(), grad, exp_avg.clone(), exp_avg_sq.clone(), step, **options)


def without_correction(
    param, grad, exp_avg, exp_avg_sq, step, lr=1e-3, beta1=0.9, beta2=0.999, eps=1e-8, weight_decay=0.01
):
    decayed = param * (1 - lr * weight_decay)
    exp_avg.mul_(beta1).add_(grad, alpha=1 - beta1)
    exp_avg_sq.mul_(beta2).addcmul_(grad, grad, value=1 - beta2)
    param.copy_(decayed - lr * exp_avg / (torch.sqrt(exp_avg_sq) + eps))
    return param, exp_avg, exp_avg_sq


def inputs(make, shape, step, moments=1.0, outliers=0.0, **options):
    param, grad = make.normal(*shape), make.normal(*shape, outliers=outliers)
    first, second = 0.1 * moments * make.normal(*shape), 0.01 * moments * make.normal(*shape).abs()
    return [param, grad, first, second, step], options


TASK = Task(
    name="AdamW",
    category="Optimizer",
    entry="adamw_step",
    signature=(
        "adamw_step(param, grad, exp_avg, exp_avg_sq, step, lr=1e-3, beta1=0.9, beta2=0.999, eps=1e-8, "
        "weight_decay=0.01) -> (Tensor, Tensor, Tensor)"
    ),
    prompt=(
        "One step of AdamW on four float32 tensors of one shape; define the function `adamw_step`. In place and in "
        "this order: param = (1 - lr * weight_decay) * param; exp_avg = beta1 * exp_avg + (1 - beta1) * grad; "
        "exp_avg_sq = beta2 * exp_avg_sq + (1 - beta2) * grad**2; and with bias correction param = param - "
        "lr / (1 - beta1**step) * exp_avg / (sqrt(exp_avg_sq) / sqrt(1 - beta2**step) + eps). `step` is a Python "
        "integer from 1 on, `grad` stays as it is. Return the tuple (param, exp_avg, exp_avg_sq) of the tensors that "
        "were passed in."
    ),
    formula=r"\theta \leftarrow (1 - \eta\lambda)\theta - \eta\,\hat m / (\sqrt{\hat v} + \epsilon)",
    reference=reference,
    inputs=inputs,
    mutates=(0, 2, 3),
    variants={
        # The published code returns new tensors and leaves the old ones alone.
        "new tensors are returned, the arguments stay": arguments_stay,
        # The published formula has no bias correction, the published code has.
        "without bias correction, the published formula": without_correction,
    },
    correctness=[
        {"shape": [10, 5], "step": 1, "moments": 0.0},
        {"shape": [1], "step": 2},
        {"shape": [10, 5], "step": 1, "moments": 0.0, "weight_decay": 0.1},
        {"shape": [10, 5], "step": 100},
        {
            "shape": [33, 65],
            "step": 7,
            "lr": 0.01,
            "beta1": 0.8,
            "beta2": 0.95,
            "eps": 1e-3,
            "outliers": 1e-2,
        },
        {"shape": [257], "step": 10, "lr": 0.01, "weight_decay": 0.0},
        {"shape": [1_000_003], "step": 3, "weight_decay": 0.1},
    ],
    # The largest published sizes, 2**28, do not fit the footprint that is timed.
    timing=[{"shape": [1 << p], "step": 1, "moments": 0.0} for p in range(10, 28)],
    bytes_moved=lambda shape, itemsize: 7 * prod(shape) * itemsize,  # four read, three written
    flops=lambda shape: 13 * prod(shape),
)
