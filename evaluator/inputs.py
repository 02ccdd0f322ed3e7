"""The seeded tensor factory with which judge and child make the same inputs, each on its own side."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from typing import Any

import torch

OUTLIER_SCALE = 20.0  # the paper's outlier inputs: rare values twenty times as large


def case_seed(run_seed: str, *parts: str | int) -> int:
    """A 63-bit seed from the run's secret and what the inputs are for (task, case, call)."""
    text = "\0".join([run_seed, *map(str, parts)])
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:8], "big") >> 1


class Maker:
    """Implements `tasks.spec.Make` on one device. Same seed, device and calls: same tensors."""

    def __init__(self, seed: int, device: str, dtype: str) -> None:
        self._device = torch.device(device)
        self._dtype = dtype
        self._generator = torch.Generator(self._device).manual_seed(seed)

    def normal(
        self,
        *shape: int,
        mean: float = 0.0,
        std: float = 1.0,
        outliers: float = 0.0,
        dtype: str | None = None,
    ) -> torch.Tensor:
        values = self._randn(shape) * std + mean
        if outliers:
            values = torch.where(self._rand(shape) < outliers, values * OUTLIER_SCALE, values)
        return values.to(self._torch_dtype(dtype))

    def uniform(
        self, *shape: int, low: float = 0.0, high: float = 1.0, dtype: str | None = None
    ) -> torch.Tensor:
        return (self._rand(shape) * (high - low) + low).to(self._torch_dtype(dtype))

    def integers(self, *shape: int, low: int, high: int, dtype: str = "int64") -> torch.Tensor:
        return torch.randint(
            low, high, shape, generator=self._generator, device=self._device, dtype=self._torch_dtype(dtype)
        )

    def boolean(self, *shape: int, share: float = 0.5) -> torch.Tensor:
        return self._rand(shape) < share

    def permutation(self, n: int) -> torch.Tensor:
        return torch.randperm(n, generator=self._generator, device=self._device)

    def full(self, *shape: int, value: float, dtype: str | None = None) -> torch.Tensor:
        return torch.full(shape, value, device=self._device, dtype=self._torch_dtype(dtype))

    def values(self, values: Sequence[Any], dtype: str | None = None) -> torch.Tensor:
        return torch.tensor(_parsed(values), device=self._device, dtype=self._torch_dtype(dtype))

    def _torch_dtype(self, dtype: str | None) -> torch.dtype:
        found: torch.dtype = getattr(torch, dtype or self._dtype)
        return found

    def _randn(self, shape: tuple[int, ...]) -> torch.Tensor:
        return torch.randn(shape, generator=self._generator, device=self._device, dtype=self._drawn())

    def _rand(self, shape: tuple[int, ...]) -> torch.Tensor:
        return torch.rand(shape, generator=self._generator, device=self._device, dtype=self._drawn())

    def _drawn(self) -> torch.dtype:
        # Half types are drawn in float32 and rounded: their own draws have far fewer distinct values.
        return torch.float64 if self._dtype in ("float64", "complex128") else torch.float32


def _parsed(values: Any) -> Any:
    if isinstance(values, str):
        return float(values)
    return [_parsed(item) for item in values] if isinstance(values, list | tuple) else values
