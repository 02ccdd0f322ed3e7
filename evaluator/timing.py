"""Times of one call on a CUDA device: caches flushed, measured by events, as raw samples.

The child measures a kernel with this, the judge measures eager with it in its own process.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import torch

WARM_UP_S = 0.02
"""Calls are repeated at least this long before the first one counts: clocks rise, caches of code fill."""

MOST_REPETITIONS = 1_000
FEWEST_REPETITIONS = 5
"""Also of calls that take longer than the budget."""


class Stopwatch:
    """Times calls on the current CUDA device. The buffer that empties its L2 and the events are made once."""

    def __init__(self) -> None:
        properties = torch.cuda.get_device_properties(torch.cuda.current_device())
        l2_bytes = getattr(properties, "L2_cache_size", 0) or 64 << 20
        self._flush = torch.empty(2 * l2_bytes // 4, dtype=torch.int32, device="cuda")
        self._starts = [torch.cuda.Event(enable_timing=True) for _ in range(MOST_REPETITIONS)]
        self._ends = [torch.cuda.Event(enable_timing=True) for _ in range(MOST_REPETITIONS)]

    def warm_up(self, call: Callable[[], Any]) -> float:
        """Runs `call` until it has settled; the last call's milliseconds, launch included."""
        started = time.perf_counter()
        while True:
            before = time.perf_counter()
            call()
            torch.cuda.synchronize()
            now = time.perf_counter()
            if now - started > WARM_UP_S:
                return (now - before) * 1e3

    def repetitions(self, call_ms: float, budget_ms: float) -> int:
        """How often a call of about `call_ms` fits into the budget, the flush included."""
        fitting = int(budget_ms / (call_ms + self.flush_ms()))
        return max(FEWEST_REPETITIONS, min(MOST_REPETITIONS, fitting))

    def flush_ms(self) -> float:
        """Milliseconds of one flush."""
        start, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        start.record()
        for _ in range(20):
            self._flush.zero_()
        end.record()
        torch.cuda.synchronize()
        return float(start.elapsed_time(end)) / 20

    def measure(self, call: Callable[[], Any], repetitions: int) -> list[float]:
        """Milliseconds of each repetition, after a flush. Ends when the device has finished all of them."""
        pairs = list(zip(self._starts, self._ends, strict=True))[:repetitions]
        torch.cuda.synchronize()
        for start, end in pairs:
            self._flush.zero_()  # also keeps the device busy while the call is being launched
            start.record()
            call()
            end.record()
        torch.cuda.synchronize()
        return [start.elapsed_time(end) for start, end in pairs]
