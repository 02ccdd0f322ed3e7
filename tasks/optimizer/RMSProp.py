"""One step of the RMSProp optimizer."""

from math import prod

from tasks.lazy import torch
from tasks.spec import Task


def reference(param, grad, square_avg, lr=0.01, alpha=0.99, eps=1e-8, weight_decay=0.0):
    if weight_decay:
        grad = grad + weight_decay * param
    square_avg.mul_(alpha).addcmul_(grad, grad, value=1 - alpha)
    param.addcdiv_(grad, torch.sqrt(square_avg) + eps, value=-lr)
    return param, square_avg


def arguments_stay(param, grad, square_avg, **options):
    return reference(param.clone(), grad, square_avg.clone(), **options)


def inputs(make, shape, average=0.01, outliers=0.0, **options):
    param, grad = make.normal(*shape), make.normal(*shape, outliers=outliers)
    return [param, grad, average * make.uniform(*shape)], options


TASK = Task(
    name="RMSProp",
    category="Optimizer",
    entry="rmsprop_step",
    signature=(
        "rmsprop_step(param, grad, square_avg, lr=0.01, alpha=0.99, eps=1e-8, weight_decay=0.0) -> (Tensor, Tensor)"
    ),
    prompt=(
        "One step of RMSProp on three float32 tensors of one shape; define the function `rmsprop_step`. With "
        "g = grad + weight_decay * param (from the old param), replace in place square_avg by alpha * square_avg + "
        "(1 - alpha) * g**2, then param by param - lr * g / (sqrt(square_avg) + eps) with the new average. There is no "
        "momentum, and `grad` stays as it is. Return the tuple (param, square_avg) of the tensors that were passed in."
    ),
    formula=r"v \leftarrow \alpha v + (1 - \alpha) g^2,\ \theta \leftarrow \theta - \eta g / (\sqrt{v} + \epsilon)",
    reference=reference,
    inputs=inputs,
    mutates=(0, 2),
    # The published code returns new tensors and leaves the old ones alone.
    variants={"new tensors are returned, the arguments stay": arguments_stay},
    correctness=[
        {"shape": [128], "average": 0.0, "lr": 1e-2, "alpha": 0.99, "eps": 1e-8},
        {"shape": [1]},
        {"shape": [257], "lr": 1e-3, "alpha": 0.95, "eps": 1e-6, "weight_decay": 0.1},
        {"shape": [64], "lr": 5e-3, "alpha": 0.9, "eps": 1e-8},
        {"shape": [33, 65], "eps": 0.1, "weight_decay": 0.5, "outliers": 1e-2},
        {"shape": [1_000_003], "weight_decay": 0.01},
    ],
    # The largest published size, 2**28, does not fit the footprint that is timed.
    timing=[{"shape": [1 << p], "average": 0.0} for p in range(10, 28)],
    bytes_moved=lambda shape, itemsize: 5 * prod(shape) * itemsize,  # three read, two written
    flops=lambda shape: 9 * prod(shape),
)
