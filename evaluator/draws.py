"""Operators that draw at random: the draw taken out of the reference, and statistics of an answer's own draws.

Each question about an answer refuses a right one with a probability of about 1e-6: that of SIGMAS standard
deviations, shared among all the statistics that the question looks at.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import torch
from torch.overrides import TorchFunctionMode

SIGMAS = 5.0
"""How far a statistic of random draws may be from its expectation."""

_EXPONENT = -math.log(math.erfc(SIGMAS / math.sqrt(2)))
"""exp(-_EXPONENT) is the probability that goes with SIGMAS."""


# Taking the draw out of a reference


class FixedDropout(TorchFunctionMode):  # type: ignore[misc]
    """While it is entered, dropout keeps every element or none, and `p` is the probability that was asked for.

    `p` stays 0 where nothing is left to chance: p = 0, p = 1, or training=False.
    """

    def __init__(self, keep: bool) -> None:
        super().__init__()
        self._keep = keep
        self.p = 0.0

    def __torch_function__(
        self, func: Any, types: Any, args: tuple[Any, ...] = (), kwargs: Mapping[str, Any] | None = None
    ) -> Any:
        if func is torch.nn.functional.dropout:
            return self._dropout(*args, **(kwargs or {}))
        return func(*args, **(kwargs or {}))

    def _dropout(
        self, input: torch.Tensor, p: float = 0.5, training: bool = True, inplace: bool = False
    ) -> torch.Tensor:
        if not training or p in (0, 1):
            return torch.nn.functional.dropout(input, p, training, inplace)
        self.p = p
        return input / (1 - p) if self._keep else torch.zeros_like(input)


class FixedBinomial(TorchFunctionMode):  # type: ignore[misc]
    """While it is entered, binomial draws give their means, and `trials` and `probability` are what was asked for."""

    trials: torch.Tensor
    probability: torch.Tensor

    def __torch_function__(
        self, func: Any, types: Any, args: tuple[Any, ...] = (), kwargs: Mapping[str, Any] | None = None
    ) -> Any:
        if func is torch.binomial:
            self.trials, self.probability = (value.double() for value in args)
            return args[0] * args[1]
        return func(*args, **(kwargs or {}))


# Dropout


@dataclass(frozen=True)
class Mask:
    """Which elements an answer keeps, as far as its values tell: a kept zero looks like a dropped one."""

    kept: torch.Tensor
    told: torch.Tensor
    p: float


def not_dropped_by_chance(mask: Mask) -> str:
    """What gives a mask away as not drawn independently with probability `p`, or ""."""
    share = 1 - mask.p
    total, kept = int(mask.told.sum()), int((mask.kept & mask.told).sum())
    if _unlikely(mask.told.sum(), (mask.kept & mask.told).sum(), share):
        return f"it keeps {kept} of {total} elements ({kept / total:.1%}), and dropout keeps {share:.1%}"
    for place, hits, counts in _shares_of_slices(mask):
        if _unlikely(counts, hits, share):
            return f"the share of elements that it keeps is not {share:.1%} everywhere: it changes {place}"
    for place, lag, hits, counts in _agreements(mask):
        if _unlikely(counts, hits, _agreement(mask.p), tests=200):  # that many lags, at most
            return f"its mask has a pattern: elements {lag} apart {place} depend on each other"
    return ""


def same_mask(one: Mask, other: Mask) -> bool:
    """Whether two calls dropped the same elements, or otherwise did not draw independently."""
    told = one.told & other.told
    return _unlikely(told.sum(), ((one.kept == other.kept) & told).sum(), _agreement(one.p))


def _agreement(p: float) -> float:
    """How probable it is that two elements are both kept or both dropped."""
    return p**2 + (1 - p) ** 2


def _shares_of_slices(mask: Mask) -> Iterator[tuple[str, torch.Tensor, torch.Tensor]]:
    """Kept and told elements of each row, column, … and of 32 stretches of the memory."""
    kept, told = (mask.kept & mask.told), mask.told
    for axis in range(kept.dim() if kept.dim() > 1 else 0):
        others = [other for other in range(kept.dim()) if other != axis]
        yield f"along dimension {axis}", kept.sum(others), told.sum(others)
    length = kept.numel() // 32
    if length:
        stretches = (part.flatten()[: 32 * length].reshape(32, length).sum(1) for part in (kept, told))
        yield "in memory", *stretches


def _agreements(mask: Mask) -> Iterator[tuple[str, int, torch.Tensor, torch.Tensor]]:
    """How many pairs of elements that are some lag apart agree, of how many, in two sets of disjoint pairs."""
    flat = Mask(mask.kept.flatten(), mask.told.flatten(), mask.p)
    views = [("in memory", flat, 0)]
    if mask.kept.dim() > 1:
        views += [(f"along dimension {axis}", mask, axis) for axis in range(mask.kept.dim())]
    for place, view, axis in views:
        size = view.kept.shape[axis]
        others = [other for other in range(view.kept.dim()) if other != axis]
        for lag in _lags(size):
            first, second = (slice(0, size - lag), slice(lag, size))
            kept, told = view.kept.movedim(axis, 0), view.told.movedim(axis, 0)
            both = told[first] & told[second]
            agree = (kept[first] == kept[second]) & both
            # No element is in two pairs of one set, so that the pairs of a set are independent.
            odd = (torch.arange(size - lag, device=kept.device) // lag) % 2 == 1
            rows = [part.flatten(1).sum(1) if others else part for part in (agree, both)]
            sets = [torch.stack([row[odd].sum(), row[~odd].sum()]) for row in rows]
            yield place, lag, *sets


def _lags(size: int) -> list[int]:
    """Small distances, and those at which a mask repeats that was drawn once for every block."""
    lags = [*range(1, 9), *(1 << power for power in range(4, 24))]
    return [lag for lag in lags if lag < size]


def _unlikely(counts: torch.Tensor, hits: torch.Tensor, share: float, tests: int = 1) -> bool:
    """Whether so many hits of so many independent trials, each with probability `share`, do not happen.

    Chernoff's bound: a share s of n trials has probability exp(-n KL(s, share)) at most. Any number of counts.
    """
    n, s = counts.double(), hits.double() / counts.clamp(min=1)
    divergence = torch.xlogy(s, s / share) + torch.xlogy(1 - s, (1 - s) / (1 - share))
    return bool((n * divergence > _EXPONENT + math.log(2 * tests * max(1, n.numel()))).any())


# Binomial draws

_LEAST_VARIANCE = 0.5
"""Draws that vary less than that are hardly ever anything but one number: the statistics leave them out."""

_CLIP = 3.0
"""In products of draws, how many standard deviations one may be off: rare values would decide alone."""


def not_binomial(got: torch.Tensor, trials: torch.Tensor, probability: torch.Tensor) -> str:
    """What gives values away as not drawn with these parameters (float64, of the same shape), or ""."""
    got = got.double()
    if not bool(((got >= 0) & (got <= trials) & (got == got.round())).all()):  # NaN too
        return "its values are not all whole numbers from 0 to the number of trials"
    certain = (probability == 0) | (probability == 1)
    if bool((certain & (got != trials * probability)).any()):
        return "a value whose probability is 0 or 1 is not what is certain then"
    z, variance = _standardized(got, trials, probability)
    n = z.numel()
    # A draw is a sum of trials, none of which is off by more than 1.
    if abs(float(z.sum())) > _reach(n, _LEAST_VARIANCE**-0.5):
        return f"its values are {abs(float(z.sum())) / math.sqrt(n):.1f} standard deviations off in the mean"
    # The variance of z squared is 2 + (1 - 6 p (1 - p)) / variance, at most what is used here.
    spread = float((2 + 1 / variance).sum())
    if abs(float((z.square() - 1).sum())) > _reach(spread, _reach(1, _LEAST_VARIANCE**-0.5, tests=n) ** 2):
        return f"the variance of its values is {float(z.square().mean()):.3g} times that of binomial ones"
    for lag in _lags(n):
        odd = (torch.arange(n - lag, device=z.device) // lag) % 2 == 1
        products = z[:-lag].clamp(-_CLIP, _CLIP) * z[lag:].clamp(-_CLIP, _CLIP)
        for part in (products[odd], products[~odd]):
            if abs(float(part.sum())) > _reach(part.numel(), _CLIP**2, tests=200):
                return f"values {lag} apart depend on each other"
    return ""


def same_binomial(one: torch.Tensor, other: torch.Tensor, ones: FixedBinomial, others: FixedBinomial) -> bool:
    """Whether the draws of two calls, of one shape, depend on each other."""
    varies = _varies(ones.trials, ones.probability) & _varies(others.trials, others.probability)
    factors = [
        _standardized(got.to(varies.device).double(), fixed.trials, fixed.probability, varies)[0]
        for got, fixed in ((one, ones), (other, others))
    ]
    product = factors[0].clamp(-_CLIP, _CLIP) * factors[1].clamp(-_CLIP, _CLIP)
    return abs(float(product.sum())) > _reach(product.numel(), _CLIP**2)


def _standardized(
    got: torch.Tensor, trials: torch.Tensor, probability: torch.Tensor, which: torch.Tensor | None = None
) -> tuple[torch.Tensor, torch.Tensor]:
    """Those draws that vary, less their means and over their deviations, and their variances: one dimension."""
    which = _varies(trials, probability) if which is None else which
    variance = (trials * probability * (1 - probability))[which]
    return (got - trials * probability)[which] / variance.sqrt(), variance


def _varies(trials: torch.Tensor, probability: torch.Tensor) -> torch.Tensor:
    return trials * probability * (1 - probability) >= _LEAST_VARIANCE


def _reach(variance: float, most: float, tests: int = 1) -> float:
    """Bernstein's bound on a sum of independent values of mean 0, of this variance together, each at most `most`."""
    exponent = _EXPONENT + math.log(2 * max(1, tests))
    slope = exponent * most / 3
    return slope + math.sqrt(slope**2 + 2 * exponent * variance)
