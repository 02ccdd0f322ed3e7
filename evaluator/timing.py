"""Times of one call on a CUDA device: caches flushed, measured by events, as raw samples.

The child measures a kernel with this, the judge measures eager with it in its own process.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import dataclass
from statistics import median
from typing import Any

import torch

WARM_UP_S = 0.02
"""Calls are repeated at least this long before the first one counts: clocks rise, caches of code fill."""

MOST_REPETITIONS = 1_000
FEWEST_REPETITIONS = 5
"""Also of calls that take longer than the budget."""

MOST_FLUSHES = 32
"""Before one repetition. A call that takes the host longer than that many flushes is slow for its host side."""


@dataclass(frozen=True)
class Plan:
    """How one case is measured: how often, and how many flushes of the L2 cache go before each repetition."""

    repetitions: int
    flushes: int


class Stopwatch:
    """Times calls on the current CUDA device. The buffer that empties its L2 and the events are made once."""

    def __init__(self) -> None:
        properties = torch.cuda.get_device_properties(torch.cuda.current_device())
        l2_bytes = getattr(properties, "L2_cache_size", 0) or 64 << 20
        self._flush = torch.empty(2 * l2_bytes // 4, dtype=torch.int32, device="cuda")
        self._starts = [torch.cuda.Event(enable_timing=True) for _ in range(MOST_REPETITIONS)]
        self._ends = [torch.cuda.Event(enable_timing=True) for _ in range(MOST_REPETITIONS)]

    def plan(self, call: Callable[[], Any], budget_ms: float) -> Plan:
        """Runs `call` until it has settled; says how to measure it so that it takes about the budget."""
        host_ms: list[float] = []
        call_ms: list[float] = []
        started = time.perf_counter()
        while time.perf_counter() - started < WARM_UP_S or len(host_ms) < 3:
            before = time.perf_counter()
            call()
            launched = time.perf_counter()
            torch.cuda.synchronize()
            host_ms.append((launched - before) * 1e3)
            call_ms.append((time.perf_counter() - before) * 1e3)
        flush_ms = self.flush_ms()
        # The device must still be flushing when the launch of the call arrives: else the host's time is measured.
        flushes = min(MOST_FLUSHES, math.ceil(2 * median(host_ms[1:]) / flush_ms))
        fitting = int(budget_ms / (max(call_ms[-1] - host_ms[-1], 0.0) + flushes * flush_ms))
        return Plan(max(FEWEST_REPETITIONS, min(MOST_REPETITIONS, fitting)), max(1, flushes))

    def flush_ms(self) -> float:
        """Milliseconds of one flush."""
        start, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        start.record()
        for _ in range(20):
            self._flush.zero_()
        end.record()
        torch.cuda.synchronize()
        return float(start.elapsed_time(end)) / 20

    def measure(self, call: Callable[[], Any], plan: Plan) -> list[float]:
        """Milliseconds of each repetition, after its flushes. Ends when the device has finished all of them."""
        pairs = list(zip(self._starts, self._ends, strict=True))[: plan.repetitions]
        torch.cuda.synchronize()
        for start, end in pairs:
            for _ in range(plan.flushes):
                self._flush.zero_()
            start.record()
            call()
            end.record()
        torch.cuda.synchronize()
        return [start.elapsed_time(end) for start, end in pairs]
