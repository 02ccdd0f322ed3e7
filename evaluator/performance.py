"""Samples into numbers: medians and their spread, shares of what a device can do. Pure; standard library only."""

from __future__ import annotations

import math
import statistics
from collections.abc import Sequence

from evaluator.devices import Device
from evaluator.report import Timing
from tasks.spec import Case

_Z = 1.96  # 95% of a normal distribution


def timing(
    case: Case,
    kernel_ms: Sequence[float],
    eager_ms: Sequence[float],
    *,
    bytes_moved: int,
    flops: int,
    confirmed: bool,
) -> Timing:
    """The Timing of one case from raw samples in milliseconds."""
    kernel_low, kernel_high = median_interval(kernel_ms)
    eager_low, eager_high = median_interval(eager_ms)
    return Timing(
        case=dict(case),
        kernel_ms=median(kernel_ms),
        kernel_low_ms=kernel_low,
        kernel_high_ms=kernel_high,
        eager_ms=median(eager_ms),
        eager_low_ms=eager_low,
        eager_high_ms=eager_high,
        repetitions=len(kernel_ms),
        bytes_moved=bytes_moved,
        flops=flops,
        confirmed=confirmed,
    )


def median(samples: Sequence[float]) -> float:
    """The middle of the samples. Raises ValueError where there is none, or one that is not finite."""
    if not samples or not all(map(math.isfinite, samples)):
        raise ValueError("a median needs samples, all of them finite")
    return statistics.median(samples)


def median_interval(samples: Sequence[float]) -> tuple[float, float]:
    """The 95% interval of the median by order statistics, which asks nothing of the distribution.

    Ranks n/2 ∓ 1.96 √n/2, from the normal form of the binomial distribution; of fewer than nine samples all.
    """
    ordered = sorted(samples)
    below = max(0, math.floor(len(ordered) / 2 - _Z * math.sqrt(len(ordered)) / 2) - 1)
    return ordered[below], ordered[len(ordered) - 1 - below]


def bandwidth_share(timing: Timing, device: Device) -> float:
    """Achieved bandwidth over the device's peak; above 1 something is wrong with the time or the bytes."""
    return timing.gbs / device.gbs


def compute_share(timing: Timing, device: Device, dtype: str) -> float | None:
    """Achieved arithmetic over the device's peak for the dtype, or None where the peak is not known."""
    peak = device.peak_tflops(dtype)
    return timing.tflops / peak if peak else None
