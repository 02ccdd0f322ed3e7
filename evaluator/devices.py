"""What known devices can do at most, by their vendors' data sheets. Standard library only: the site uses it too."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True)
class Device:
    """A device type. Rates are dense (no sparsity), at boost clocks; matrix units count where a dtype has them."""

    slug: str
    name: str  # as a person says it
    reported: tuple[str, ...]  # as the driver says it
    gbs: float  # memory bandwidth, 10^9 bytes a second
    tflops: Mapping[str, float]  # by dtype; "tf32" apart from "float32"; int8 in TOP/s
    l2_mb: float  # the last cache before memory
    memory_gb: float
    source: str

    def peak_tflops(self, dtype: str) -> float | None:
        """The most that arithmetic on tensors of `dtype` can reach: float32 may run as tf32 on matrix units."""
        rates = [
            self.tflops[key] for key in (dtype, "tf32" if dtype == "float32" else dtype) if key in self.tflops
        ]
        return max(rates, default=None)


def find(slug: str) -> Device | None:
    """The device with that slug, or None if its limits are not known."""
    return next((device for device in DEVICES if device.slug == slug), None)


def slug_of(name: str) -> str:
    """The slug for a name as torch or nvidia-smi reports it; an unknown device gets one made from its name."""
    plain = name.strip().casefold()
    for device in DEVICES:
        if plain in (reported.casefold() for reported in device.reported):
            return device.slug
    words = re.sub(r"\b(nvidia|geforce|amd|instinct|graphics|gpu)\b", " ", plain)
    return re.sub(r"[^a-z0-9]+", "-", words).strip("-") or "unknown"


DEVICES: tuple[Device, ...] = (
    Device(
        slug="rtx-4090",
        name="NVIDIA GeForce RTX 4090",
        reported=("NVIDIA GeForce RTX 4090",),
        gbs=1008,
        tflops={"float32": 82.6, "tf32": 82.6, "float16": 165.2, "bfloat16": 165.2, "int8": 660.6},
        l2_mb=72,
        memory_gb=24,
        source="NVIDIA Ada GPU architecture, white paper, appendix A (float16 with float32 accumulation)",
    ),
    Device(
        slug="rtx-5090",
        name="NVIDIA GeForce RTX 5090",
        reported=("NVIDIA GeForce RTX 5090",),
        gbs=1792,
        tflops={"float32": 104.8, "tf32": 104.8, "float16": 209.5, "bfloat16": 209.5, "int8": 838.0},
        l2_mb=96,
        memory_gb=32,
        source="NVIDIA RTX Blackwell GPU architecture, white paper (float16 with float32 accumulation)",
    ),
    Device(
        slug="a100",
        name="NVIDIA A100 PCIe 40 GB",
        reported=("NVIDIA A100-PCIE-40GB", "A100-PCIE-40GB"),
        gbs=1555,
        tflops={"float64": 19.5, "float32": 19.5, "tf32": 156, "float16": 312, "bfloat16": 312, "int8": 624},
        l2_mb=40,
        memory_gb=40,
        source="NVIDIA A100 Tensor Core GPU, data sheet",
    ),
    Device(
        slug="h800",
        name="NVIDIA H800 PCIe",
        reported=("NVIDIA H800 PCIe", "NVIDIA H800"),
        gbs=2039,
        tflops={"float64": 0.8, "float32": 51, "tf32": 378, "float16": 756, "bfloat16": 756, "int8": 1513},
        l2_mb=50,
        memory_gb=80,
        source="NVIDIA H800 Tensor Core GPU, data sheet (half of the rates with sparsity)",
    ),
    Device(
        slug="l20",
        name="NVIDIA L20",
        reported=("NVIDIA L20",),
        gbs=864,
        tflops={"float32": 59.8, "tf32": 59.8, "float16": 119.5, "bfloat16": 119.5, "int8": 239},
        l2_mb=96,
        memory_gb=48,
        source="NVIDIA L20, data sheet",
    ),
    Device(
        slug="h20",
        name="NVIDIA H20",
        reported=("NVIDIA H20",),
        gbs=4000,
        tflops={"float64": 1, "float32": 44, "tf32": 74, "float16": 148, "bfloat16": 148, "int8": 296},
        l2_mb=60,
        memory_gb=96,
        source="NVIDIA H20, data sheet",
    ),
    Device(
        slug="h100",
        name="NVIDIA H100 SXM",
        reported=("NVIDIA H100 80GB HBM3",),
        gbs=3350,
        tflops={"float64": 67, "float32": 67, "tf32": 494, "float16": 989, "bfloat16": 989, "int8": 1979},
        l2_mb=50,
        memory_gb=80,
        source="NVIDIA H100 Tensor Core GPU, data sheet (half of the rates with sparsity)",
    ),
    Device(
        slug="h200",
        name="NVIDIA H200",
        reported=("NVIDIA H200",),
        gbs=4800,
        tflops={"float64": 67, "float32": 67, "tf32": 494, "float16": 989, "bfloat16": 989, "int8": 1979},
        l2_mb=50,
        memory_gb=141,
        source="NVIDIA H200 Tensor Core GPU, data sheet (half of the rates with sparsity)",
    ),
    Device(
        slug="b200",
        name="NVIDIA B200",
        reported=("NVIDIA B200",),
        gbs=8000,
        tflops={"float64": 37, "float32": 75, "tf32": 1100, "float16": 2250, "bfloat16": 2250, "int8": 4500},
        l2_mb=126,
        memory_gb=180,
        source="NVIDIA HGX B200, data sheet (half of the rates with sparsity)",
    ),
    Device(
        slug="mi300x",
        name="AMD Instinct MI300X",
        reported=("AMD Instinct MI300X", "AMD Instinct MI300X OAM"),
        gbs=5300,
        tflops={
            "float64": 163.4,
            "float32": 163.4,
            "tf32": 653.7,
            "float16": 1307.4,
            "bfloat16": 1307.4,
            "int8": 2614.9,
        },
        l2_mb=256,
        memory_gb=192,
        source="AMD Instinct MI300X, data sheet (the last cache is its Infinity Cache)",
    ),
)
"""The devices of the published results and those of today's data centres."""
