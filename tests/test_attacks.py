"""Every file of tests/attacks gets the outcome that its header names, and the kernel beside it is not disturbed."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from evaluator import cgroups, pipeline
from evaluator.draft import Settings
from evaluator.report import Report
from evaluator.sandbox import GB, MB, Limits

HERE = Path(__file__).parent
HONEST = (HERE / "kernels" / "gelu.py").read_text()

SMALL = Settings(
    limits=Limits(
        load_s=20,
        case_s=20,
        kernel_s=60,
        memory_bytes=1 * GB,
        processes=64,
        file_bytes=8 * MB,
        tmp_bytes=16 * MB,
        log_bytes=1 * MB,
    )
)


# Only what never ends is worth a short wait: on a busy machine the others need their time to reach their limit.
IMPATIENT = replace(SMALL, limits=replace(SMALL.limits, load_s=8, case_s=8))


@dataclass(frozen=True)
class Attack:
    source: str
    outcome: str
    says: str
    line: int | None
    needs: str


def read(path: Path) -> Attack:
    source = path.read_text()
    header = dict(re.findall(r"^# (outcome|says|line|needs): (.+)$", source, re.MULTILINE))
    line = int(header["line"]) if "line" in header else None
    return Attack(source, header["outcome"], header["says"], line, header.get("needs", ""))


ATTACKS = sorted((HERE / "attacks").glob("*.py"))


def evaluate(source: str, settings: Settings) -> tuple[Report, Report]:
    kernels = {"gelu_bf16": f"{source}\n\ngelu_bf16 = gelu\n", "gelu": HONEST}
    attack, honest = pipeline.evaluate(kernels, "cpu", seed="attacks", settings=settings)
    return attack, honest


def no_cgroup() -> bool:
    group = cgroups.make(64, GB)
    if group:
        group.kill()
    return group is None


@pytest.mark.parametrize("path", ATTACKS, ids=[path.stem for path in ATTACKS])
def test_attack_gets_its_outcome_and_disturbs_nobody(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    attack = read(path)
    if attack.needs == "cgroup" and no_cgroup():
        pytest.skip("no cgroup can be made here: processes and their memory together are not limited")
    # The sandbox must hold by itself: the static check sees none of these.
    monkeypatch.setattr("evaluator.static_check.check", lambda source, task: None)

    report, honest = evaluate(attack.source, IMPATIENT if attack.outcome == "timed_out" else SMALL)

    assert report.failure is not None
    assert report.outcome == attack.outcome, report.failure
    assert attack.says in report.failure.message
    if attack.line is not None:
        assert report.failure.line == attack.line
    assert honest.passed, honest.failure


def test_there_are_attacks() -> None:
    assert len(ATTACKS) >= 20
