"""Where a run takes place: the device, its driver, the versions that decide a result."""

from __future__ import annotations

import platform
import socket
from pathlib import Path

import torch
import triton

from evaluator import devices
from evaluator.report import Environment
from tasks.registry import SUITE_VERSION


def collect(device: str, sandbox: str) -> Environment:
    """The environment of a run on `device` ("cpu" or "cuda:0") in a sandbox as `sandbox.describe` puts it."""
    return Environment(
        device=slug(device),
        device_name=_device_name(device),
        python=platform.python_version(),
        torch=torch.__version__,
        triton=triton.__version__,
        suite_version=SUITE_VERSION,
        driver="" if device == "cpu" else _driver(),
        cuda="" if device == "cpu" else torch.version.cuda or "",
        commit=_commit(),
        host=socket.gethostname(),
        sandbox=sandbox,
    )


def slug(device: str) -> str:
    """The name under which results of `device` are ranked: "cpu", "h200", …"""
    return "cpu" if device == "cpu" else devices.slug_of(_device_name(device))


def problem(device: str) -> str:
    """Why nothing can run on `device`, as a sentence; "" if it can."""
    if device == "cpu":
        return ""
    kind, _, number = device.partition(":")
    if kind != "cuda" or not (number or "0").isdecimal():
        return f"There is no device {device!r}: say cpu or cuda:0."
    if not torch.cuda.is_available():
        return "This torch sees no CUDA GPU; say --device cpu for the Triton interpreter."
    if int(number or 0) >= torch.cuda.device_count():
        return f"There are {torch.cuda.device_count()} CUDA GPUs here, numbered from 0; there is no {device}."
    return ""


def _device_name(device: str) -> str:
    if device == "cpu":
        return "Triton interpreter"
    name: str = torch.cuda.get_device_name(torch.device(device))
    return name


def _driver() -> str:
    return _first_line(Path("/sys/module/nvidia/version"))


def _commit() -> str:
    """The commit of the checkout that this file lies in; "" where it is none."""
    git = Path(__file__).resolve().parent.parent / ".git"
    head = _first_line(git / "HEAD")
    if not head.startswith("ref: "):
        return head[:12]
    reference = head.removeprefix("ref: ")
    loose = _first_line(git / reference)
    packed = (line.split() for line in _lines(git / "packed-refs") if line.endswith(f" {reference}"))
    return (loose or next((commit for commit, _ in packed), ""))[:12]


def _first_line(file: Path) -> str:
    return next(iter(_lines(file)), "")


def _lines(file: Path) -> list[str]:
    try:
        return file.read_text().splitlines()
    except OSError:
        return []
