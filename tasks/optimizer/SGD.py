"""One step of stochastic gradient descent with momentum."""

from math import prod

from tasks.spec import Task


def reference(
    param, grad, momentum_buffer, lr=0.1, momentum=0.9, weight_decay=0.0, dampening=0.0, nesterov=False
):
    if weight_decay:
        grad = grad + weight_decay * param
    if not momentum:
        param.sub_(grad, alpha=lr)
        return None  # what is returned here differs between the published texts: only `param` is looked at
    momentum_buffer.mul_(momentum).add_(grad, alpha=1 - dampening)
    param.sub_(grad + momentum * momentum_buffer if nesterov else momentum_buffer, alpha=lr)
    return param, momentum_buffer


def inputs(make, shape, buffer=1.0, outliers=0.0, **options):
    param, grad = make.normal(*shape), make.normal(*shape, outliers=outliers)
    return [param, grad, buffer * make.normal(*shape)], options


TASK = Task(
    name="SGD",
    category="Optimizer",
    entry="sgd_step",
    signature=(
        "sgd_step(param, grad, momentum_buffer=None, lr=0.1, momentum=0.9, weight_decay=0.0, dampening=0.0, "
        "nesterov=False) -> (Tensor, Tensor)"
    ),
    prompt=(
        "One step of stochastic gradient descent on float32 tensors of one shape; define the function `sgd_step`. "
        "Let g = grad + weight_decay * param. If momentum > 0: replace momentum_buffer in place by momentum * "
        "momentum_buffer + (1 - dampening) * g, and let the direction d be g + momentum * momentum_buffer with "
        "nesterov=True and momentum_buffer otherwise. If momentum = 0 then d = g, and momentum_buffer stays as it is. "
        "Replace param in place by param - lr * d; `grad` never changes. Return the tuple (param, momentum_buffer) of "
        "the tensors that were passed in; with momentum = 0 what is returned does not matter."
    ),
    formula=r"b \leftarrow \mu b + (1 - \tau) g,\quad \theta \leftarrow \theta - \eta\, b",
    reference=reference,
    inputs=inputs,
    mutates=(0, 2),
    correctness=[
        {"shape": [256], "buffer": 0.0},
        {"shape": [1]},
        {"shape": [129], "momentum": 0.0},
        {"shape": [129], "momentum": 0.0, "weight_decay": 0.01},
        {"shape": [256], "nesterov": True},
        {"shape": [129], "dampening": 0.3},
        {"shape": [513], "lr": 0.05, "weight_decay": 0.01, "nesterov": True, "outliers": 1e-2},
        {"shape": [33, 65], "lr": 0.02, "momentum": 0.5, "weight_decay": 0.1, "dampening": 0.5},
        {"shape": [1_000_003], "weight_decay": 0.01},
    ],
    # The largest published size, 2**28, does not fit the footprint that is timed.
    timing=[{"shape": [1 << p], "buffer": 0.0} for p in range(10, 28)],
    bytes_moved=lambda shape, itemsize: 5 * prod(shape) * itemsize,  # three read, two written
    flops=lambda shape: 5 * prod(shape),  # two sums of products, and a product with 1 - dampening
)
