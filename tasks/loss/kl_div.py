"""Kullback-Leibler divergence."""

from math import prod

from tasks.lazy import torch
from tasks.spec import Task


def reference(input, target, reduction="batchmean", log_target=False):
    return torch.nn.functional.kl_div(input, target, reduction=reduction, log_target=log_target)


def inputs(make, shape, outliers=0.0, zeros=False, **options):
    input = make.normal(*shape, outliers=outliers).log_softmax(-1)
    logits = make.normal(*shape)
    if options.get("log_target"):
        return [input, logits.log_softmax(-1)], options
    target = logits.softmax(-1)
    return [input, target * make.boolean(*shape) if zeros else target], options


TASK = Task(
    name="kl_div",
    category="Loss",
    signature="kl_div(input, target, reduction='batchmean', log_target=False) -> Tensor",
    prompt=(
        "Kullback-Leibler divergence. `input` holds log-probabilities, `target` probabilities t, or their logarithms "
        "with log_target=True; both float32 of one shape (N, …). For each element the divergence is "
        "t * (ln(t) - input), and 0 where t = 0. Return these elements in their shape with reduction='none'; their sum "
        "with 'sum'; or that divided by N with 'batchmean' (the default); the last two as a tensor without dimensions."
    ),
    formula=r"\ell = \frac{1}{N} \sum_i t_i\,(\ln t_i - x_i)",
    reference=reference,
    inputs=inputs,
    correctness=[
        {"shape": [4, 8], "reduction": "batchmean"},
        {"shape": [2, 5], "reduction": "batchmean", "log_target": True},
        {"shape": [2, 3], "reduction": "none"},
        {"shape": [16, 33], "reduction": "sum", "outliers": 1e-2},
        {"shape": [16, 32], "reduction": "none", "log_target": True},
        {"shape": [33, 65]},
        {"shape": [16, 32], "outliers": 1e-2},
        {"shape": [16, 32], "reduction": "none", "zeros": True},
    ],
    timing=[{"shape": [1 << p, 1024]} for p in range(8, 14)],
    bytes_moved=lambda shape, itemsize, reduction="batchmean": (
        (2 * prod(shape) + (prod(shape) if reduction == "none" else 1)) * itemsize
    ),
    flops=lambda shape: 4 * prod(shape),  # logarithm, difference, product, sum
)
