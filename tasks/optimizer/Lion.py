"""One step of the Lion optimizer."""

from math import prod

from tasks.lazy import torch
from tasks.spec import Task


def reference(param, grad, exp_avg, lr=1e-4, beta1=0.9, beta2=0.99, weight_decay=0.0):
    update = torch.sign(exp_avg * beta1 + grad * (1 - beta1))
    param.mul_(1 - lr * weight_decay).sub_(update, alpha=lr)
    exp_avg.mul_(beta2).add_(grad, alpha=1 - beta2)
    return param, exp_avg


def arguments_stay(param, grad, exp_avg, **options):
    return reference(param.clone(), grad, exp_avg.clone(), **options)


def inputs(make, shape, momentum=0.0, rests=False, outliers=0.0, **options):
    param, grad = make.normal(*shape), make.normal(*shape, outliers=outliers)
    if rests:
        grad = grad * make.boolean(*shape)
    return [param, grad, momentum * make.normal(*shape)], options


TASK = Task(
    name="Lion",
    category="Optimizer",
    entry="lion_step",
    signature="lion_step(param, grad, exp_avg, lr=1e-4, beta1=0.9, beta2=0.99, weight_decay=0.0) -> (Tensor, Tensor)",
    prompt=(
        "One step of the Lion optimizer on three float32 tensors of one shape; define the function `lion_step`. "
        "With the old momentum: u = beta1 * exp_avg + (1 - beta1) * grad. Then, in place, param = (1 - lr * "
        "weight_decay) * param - lr * sign(u), where sign(0) = 0, and exp_avg = beta2 * exp_avg + (1 - beta2) * grad. "
        "`grad` stays as it is. Return the tuple (param, exp_avg) of the tensors that were passed in."
    ),
    formula=r"\theta \leftarrow (1 - \eta\lambda)\,\theta - \eta\,\mathrm{sign}(\beta_1 m + (1 - \beta_1) g)",
    reference=reference,
    inputs=inputs,
    mutates=(0, 2),
    # The published code returns new tensors and leaves the old ones alone.
    variants={"new tensors are returned, the arguments stay": arguments_stay},
    correctness=[
        {"shape": [128], "lr": 1e-3, "beta1": 0.9, "beta2": 0.99},
        {"shape": [1], "lr": 1e-2},
        {"shape": [257], "lr": 1e-2, "beta1": 0.95, "beta2": 0.98, "weight_decay": 0.1},
        {"shape": [64], "lr": 5e-4, "momentum": 0.1},
        {"shape": [33, 65], "lr": 1e-3, "momentum": 0.1, "weight_decay": 0.5, "outliers": 1e-2},
        {"shape": [1_000_003], "lr": 1e-2, "weight_decay": 0.1},
        {"shape": [101], "lr": 1e-2, "rests": True},
    ],
    # The largest published size, 2**28, does not fit the footprint that is timed.
    timing=[{"shape": [1 << p]} for p in range(10, 28)],
    bytes_moved=lambda shape, itemsize: 5 * prod(shape) * itemsize,  # three read, two written
    flops=lambda shape: 10 * prod(shape),  # three of the sums of products, sign counted as one
)
