"""Binomial draws whose numbers of trials are the bitwise AND of two tensors."""

from math import prod

from tasks.lazy import torch
from tasks.spec import Task


def reference(input, other, total_count, probs=None, logits=None):
    return _draws(input & other, probs, logits)


def trials_from_total_count(input, other, total_count, probs=None, logits=None):
    return _draws(total_count, probs, logits)


def _draws(trials, probs, logits):
    probability = torch.sigmoid(logits) if probs is None else probs
    return torch.binomial(*torch.broadcast_tensors(trials.to(probability.dtype), probability))


def inputs(make, shape, high=256, logits=False, total=None, low=0.02, outliers=0.0):
    first, second = (make.integers(*shape, low=0, high=high, dtype="int32") for _ in range(2))
    count = make.full(value=total, dtype="int32") if total else make.full(*shape, value=10.0)
    if logits:
        return [first, second, count], {"logits": make.normal(*shape, outliers=outliers).clamp(-10.0, 10.0)}
    return [first, second, count], {"probs": make.uniform(*shape, low=low, high=1 - low)}


TASK = Task(
    name="bitwise_and_binomial",
    category="Math",
    signature="bitwise_and_binomial(input, other, total_count, probs=None, logits=None) -> Tensor",
    prompt=(
        "Draw, for each element, from the binomial distribution whose number of trials is the bitwise AND of `input` "
        "and `other`, two int32 tensors of one shape without negative numbers: how many of so many independent trials "
        "succeed. A trial succeeds with the probability in `probs`, float32 of the same shape, or with the sigmoid of "
        "`logits`, of which exactly one is given. `total_count`, a tensor of that shape or without dimensions, takes "
        "no part. The result has that shape and the dtype of `probs` or `logits`: whole numbers, independent of each "
        "other, drawn anew with every call. Any good generator will do: range, mean, variance and independence are "
        "checked, and not the numbers."
    ),
    formula=r"y \sim \mathrm{Binomial}(x \wedge z,\ p)",
    reference=reference,
    inputs=inputs,
    comparator="binomial",
    oracle=False,
    # The published code throws the AND away.
    variants={"total_count trials, the AND takes no part": trials_from_total_count},
    correctness=[
        {"shape": [256], "high": 64},
        {"shape": [1]},
        {"shape": [4], "logits": True},
        {"shape": [8, 33], "logits": True, "total": 5},
        {"shape": [4099], "high": 64},
        {"shape": [97, 131], "high": 64, "logits": True, "outliers": 1e-2},
        {"shape": [1_000_003]},
    ],
    timing=[{"shape": [1 << p], "high": 32, "total": 10, "low": 0.25} for p in range(12, 28)],
    # Two operands, the count, the probabilities, the result.
    bytes_moved=lambda shape, itemsize, total=None: (
        (4 * prod(shape) + (1 if total else prod(shape))) * itemsize
    ),
    flops=lambda shape, high=256: prod(shape) * high // 4,  # the mean number of trials: one comparison each
)
