"""The statistics behind the pages: pure functions of numbers."""

from __future__ import annotations

import math
import statistics
from collections.abc import Iterable
from dataclasses import dataclass

_Z95 = 1.959963984540054  # the normal distribution's 97.5% quantile


@dataclass(frozen=True)
class Rate:
    """A count of so many, with the 95% Wilson interval of the share that it estimates."""

    count: int
    of: int

    @property
    def share(self) -> float | None:
        """None where there is nothing to count."""
        return self.count / self.of if self.of else None

    @property
    def low(self) -> float:
        return wilson(self.count, self.of)[0]

    @property
    def high(self) -> float:
        return wilson(self.count, self.of)[1]


def wilson(count: int, of: int, z: float = _Z95) -> tuple[float, float]:
    """The Wilson score interval of a share of which `count` in `of` were seen: (0, 1) where nothing was."""
    if not 0 <= count <= of:
        raise ValueError(f"{count} of {of} is no share")
    if of == 0:
        return 0.0, 1.0
    share, square = count / of, z * z / of
    middle = (share + square / 2) / (1 + square)
    half = z / (1 + square) * math.sqrt(share * (1 - share) / of + square / of / 4)
    # At the ends the interval closes exactly; rounding must not open it again.
    return (0.0 if count == 0 else middle - half), (1.0 if count == of else middle + half)


def geometric_mean(values: Iterable[float | None]) -> float | None:
    """The geometric mean of the values that are there; None where none is."""
    present = [value for value in values if value is not None]
    return statistics.geometric_mean(present) if present else None
