"""The Adam optimizer: made for a list of parameters, then asked for steps."""

from math import prod

from tasks.lazy import torch
from tasks.spec import Task


def use(entry, param, grads, parts=1, **options):
    """Makes an optimizer of `param`, cut into `parts`, and takes one step with each of the gradients."""
    slices = param.chunk(parts)
    params = [torch.nn.Parameter(part) for part in slices]  # they share memory with `param`
    optimizer = entry(params, **options)
    for grad in grads:
        for p, g in zip(params, grad.chunk(parts), strict=True):
            p.grad = g
        optimizer.step()
    for part, p in zip(slices, params, strict=True):
        if p.data_ptr() != part.data_ptr():  # a step may put another tensor in its place
            part.copy_(p.detach())
    return param


def reference(param, grads, parts=1, lr=1e-3, betas=(0.9, 0.999), eps=1e-8, weight_decay=0):
    options = {"lr": lr, "betas": betas, "eps": eps, "weight_decay": weight_decay}
    return use(torch.optim.Adam, param, grads, parts, **options)


def inputs(make, shape, steps=1, outliers=0.0, **options):
    if "betas" in options:
        options["betas"] = tuple(options["betas"])
    return [make.normal(*shape), make.normal(steps, *shape, outliers=outliers)], options


TASK = Task(
    name="Adam",
    category="Optimizer",
    signature="Adam(params, lr=1e-3, betas=(0.9, 0.999), eps=1e-8, weight_decay=0) -> Optimizer",
    prompt=(
        "The Adam optimizer: a class, or a function that returns an object, with a method `step()`. It is made with "
        "`params`, a list of float32 tensors of any shapes that require gradients, as torch.nn.Parameter. Each step "
        "reads the gradient g of every parameter p from its attribute `grad`, which stays as it is, and changes p in "
        "place. With t = 1 for the first step and m and v, one tensor each for a parameter, 0 before it: "
        "g = g + weight_decay * p; m = b1 * m + (1 - b1) * g; v = b2 * v + (1 - b2) * g**2; "
        "p = p - lr / (1 - b1**t) * m / (sqrt(v) / sqrt(1 - b2**t) + eps), where `betas` is the pair (b1, b2). The "
        "state is kept from one step to the next. By default lr is 1e-3, betas are 0.9 and 0.999, eps is 1e-8. What is "
        "timed is the making of an optimizer for one parameter and its first step."
    ),
    formula=r"\theta \leftarrow \theta - \eta\, \hat m / (\sqrt{\hat v} + \epsilon)",
    reference=reference,
    inputs=inputs,
    use=use,
    mutates=(0,),
    correctness=[
        {"shape": [2, 2]},
        {"shape": [1]},
        {"shape": [2, 2], "lr": 0.01},
        {"shape": [2, 2], "betas": [0.85, 0.95], "steps": 3},
        {"shape": [2, 2], "weight_decay": 0.01, "steps": 2},
        {"shape": [4, 33], "steps": 2, "parts": 4, "lr": 0.01},
        {"shape": [33, 65], "steps": 5, "lr": 0.05, "betas": [0.8, 0.9], "eps": 1e-3, "outliers": 1e-2},
        {"shape": [4096], "lr": 0.02, "weight_decay": 0.1, "steps": 10},
        {"shape": [1_000_003], "steps": 2},
    ],
    timing=[{"shape": [1 << p]} for p in range(12, 28)],
    # Parameter and gradient are read, parameter and both moments written.
    bytes_moved=lambda shape, itemsize, steps=1: (3 + 2 * steps) * prod(shape) * itemsize,
    flops=lambda shape, steps=1: 12 * steps * prod(shape),
)
