"""From samples to numbers, and what is known of devices."""

import random
import subprocess
import sys

import pytest

from evaluator.devices import DEVICES, find, slug_of
from evaluator.performance import bandwidth_share, compute_share, median, median_interval, timing


def timed(kernel_ms, eager_ms, **fields):
    return timing(
        {"n": 4}, kernel_ms, eager_ms, **{"bytes_moved": 8, "flops": 4, "confirmed": True, **fields}
    )


def test_medians_are_taken_and_outliers_do_not_move_them():
    found = timed([1.0, 1.1, 1.2, 90.0, 1.15], [3.0, 3.0, 3.0])
    assert (found.kernel_ms, found.eager_ms, found.repetitions) == (1.15, 3.0, 5)
    assert found.speedup == pytest.approx(3.0 / 1.15)
    assert found.case == {"n": 4} and found.confirmed


def test_the_interval_of_a_hundred_samples_lies_between_the_40th_and_the_61st():
    samples = [float(i) for i in range(1, 101)]
    random.Random(1).shuffle(samples)
    assert median(samples) == 50.5
    assert median_interval(samples) == (40.0, 61.0)


@pytest.mark.parametrize("n", [1, 2, 5, 8])
def test_the_interval_of_few_samples_is_all_of_them(n):
    samples = [float(i) for i in range(n)]
    assert median_interval(samples) == (0.0, n - 1.0)


def test_the_interval_covers_the_true_median_95_times_of_100():
    rng = random.Random(7)
    covered = 0
    for _ in range(1000):
        low, high = median_interval([rng.expovariate(1.0) for _ in range(200)])
        covered += low <= 0.6931 <= high
    assert 935 <= covered <= 975


@pytest.mark.parametrize("samples", [[], [float("nan")], [1.0, float("inf")]])
def test_no_median_without_finite_samples(samples):
    with pytest.raises(ValueError, match="samples"):
        median(samples)


def test_a_time_of_zero_is_no_timing():
    with pytest.raises(ValueError, match="above zero"):
        timed([0.0], [1.0])


def test_shares_are_of_the_devices_peak():
    h200 = find("h200")
    found = timed([1.0], [1.0], bytes_moved=2_400_000_000, flops=494_500_000_000)
    assert bandwidth_share(found, h200) == pytest.approx(0.5)
    assert compute_share(found, h200, "float16") == pytest.approx(0.5)
    assert compute_share(found, h200, "float32") == pytest.approx(494.5 / 494)  # as tf32
    assert compute_share(found, h200, "int64") is None


# Devices


@pytest.mark.parametrize(
    ("name", "slug"),
    [
        ("NVIDIA H200", "h200"),
        ("NVIDIA GeForce RTX 4090", "rtx-4090"),
        ("NVIDIA GeForce RTX 5090", "rtx-5090"),
        ("NVIDIA A100-PCIE-40GB", "a100"),
        ("NVIDIA A100-SXM4-80GB", "a100-sxm4-80gb"),
        ("NVIDIA H100 80GB HBM3", "h100"),
        ("NVIDIA H100 PCIe", "h100-pcie"),
        ("NVIDIA H20", "h20"),
        ("NVIDIA L20", "l20"),
        (" nvidia b200 ", "b200"),
        ("AMD Instinct MI300X", "mi300x"),
        ("NVIDIA GeForce RTX 4090 Laptop GPU", "rtx-4090-laptop"),
        ("Ünknown", "nknown"),
        ("", "unknown"),
    ],
)
def test_a_reported_name_has_its_slug(name, slug):
    assert slug_of(name) == slug


def test_slugs_and_reported_names_are_unique():
    assert len({device.slug for device in DEVICES}) == len(DEVICES)
    reported = [name.casefold() for device in DEVICES for name in device.reported]
    assert len(set(reported)) == len(reported)


@pytest.mark.parametrize("device", DEVICES, ids=lambda device: device.slug)
def test_what_is_said_of_a_device_is_plausible(device):
    assert find(device.slug) is device
    assert 500 <= device.gbs <= 10_000 and 20 <= device.memory_gb <= 300 and 30 <= device.l2_mb <= 300
    assert device.tflops["float16"] == device.tflops["bfloat16"] < device.tflops["int8"]
    assert device.tflops["float32"] <= device.tflops["tf32"] <= device.tflops["float16"]
    assert device.source


def test_an_unknown_slug_has_no_device():
    assert find("cpu") is None


def test_numbers_of_a_run_need_no_torch():
    code = "import sys\nsys.modules['torch'] = None\nimport evaluator.performance, evaluator.devices"
    subprocess.run([sys.executable, "-c", code], check=True)
