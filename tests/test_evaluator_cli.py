"""`python -m evaluator run`: what it prints, what it writes, how it ends."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from evaluator import __main__ as cli
from evaluator.report import Environment, Outcome, Report
from evaluator.sandbox import SandboxError

HERE = Path(__file__).parent
GELU = (HERE / "kernels" / "gelu.py").read_text()


@pytest.fixture
def upload(tmp_path: Path) -> Path:
    lines = [
        json.dumps({"file": "Activation/gelu.py", "predict": GELU}),
        "not JSON",
        json.dumps({"file": "Activation/relu.py", "predict": "def relu(input:"}),
    ]
    file = tmp_path / "round.jsonl"
    file.write_text("\n".join(lines))
    return file


def run(file: Path, out: Path, *options: str) -> int:
    return cli.main(["run", str(file), "--device", "cpu", "--out", str(out), *options])


def test_a_file_ends_in_results_and_a_table(
    upload: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "results.json"
    assert run(upload, out, "--seed", "abc") == 0

    results = json.loads(out.read_text())
    assert (results["schema"], results["seed"]) == (1, "abc")
    assert Environment.from_json(results["environment"]).sandbox.startswith("bubblewrap")
    reports = [Report.from_json(report) for report in results["reports"]]
    assert [(r.task, r.outcome) for r in reports] == [
        ("gelu", Outcome.CORRECT),
        ("relu", Outcome.SYNTAX_ERROR),
    ]
    assert [problem["place"] for problem in results["problems"]] == ["line 2"]

    said = capsys.readouterr()
    assert "Found kernels for 2 tasks; 174 of the benchmark's tasks are missing." in said.out
    assert "line 2:" in said.out
    assert "2 kernels: 1 ran on every case, 1 are right." in said.out
    assert "1/2" in said.err and "gelu: correct" in said.err
    assert [path.name for path in tmp_path.iterdir() if path.name.startswith(".")] == []


def test_only_the_tasks_that_are_asked_for(upload: Path, tmp_path: Path) -> None:
    out = tmp_path / "results.json"
    assert run(upload, out, "--tasks", "relu") == 0
    assert [report["task"] for report in json.loads(out.read_text())["reports"]] == ["relu"]
    assert run(upload, out, "--tasks", "softmax") == cli.UNUSABLE


def test_an_interrupted_run_keeps_the_reports_so_far(
    upload: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def interrupted(kernels: dict[str, str], device: str, **_: Any) -> Iterator[Report]:
        from evaluator.pipeline import evaluate

        yield next(evaluate({"relu": ""}, device, seed="s"))
        raise KeyboardInterrupt

    monkeypatch.setattr(cli, "evaluate", interrupted)
    out = tmp_path / "results.json"
    assert run(upload, out) == cli.INTERRUPTED
    assert len(json.loads(out.read_text())["reports"]) == 1
    assert "holds 1 reports" in capsys.readouterr().err


def test_no_sandbox_must_be_asked_for_and_is_recorded(
    upload: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def none(device: str, *, isolated: bool) -> str:
        if isolated:
            raise SandboxError("bubblewrap is not installed. --no-sandbox")
        return "none"

    monkeypatch.setattr(cli.sandbox, "describe", none)
    out = tmp_path / "results.json"
    assert run(upload, out) == cli.CANNOT_RUN
    assert "bubblewrap is not installed" in capsys.readouterr().err
    assert not out.exists()

    assert run(upload, out, "--no-sandbox", "--tasks", "gelu") == 0
    results = json.loads(out.read_text())
    assert results["environment"]["sandbox"] == "none"
    assert results["reports"][0]["sandboxed"] is False


def test_a_file_or_a_device_that_cannot_be_used_ends_in_a_sentence(
    upload: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = str(tmp_path / "results.json")
    empty = tmp_path / "empty.jsonl"
    empty.touch()
    assert run(empty, Path(out)) == cli.UNUSABLE
    assert "The file is empty." in capsys.readouterr().err
    assert run(tmp_path / "missing.jsonl", Path(out)) == cli.UNUSABLE
    assert "No such file" in capsys.readouterr().err
    assert cli.main(["run", str(upload), "--device", "tpu", "--out", out]) == cli.CANNOT_RUN
    assert "no device 'tpu'" in capsys.readouterr().err


@pytest.mark.parametrize("out", ["no/such/results.json", "."], ids=["no folder", "a folder"])
def test_results_that_cannot_be_written_end_in_a_sentence(
    upload: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], out: str
) -> None:
    assert run(upload, tmp_path / out) == 2
    assert "cannot be written: " in capsys.readouterr().err
    assert not list(tmp_path.parent.glob(".*.*")) and not list(tmp_path.glob(".*"))


def test_what_strangers_wrote_does_not_steer_the_terminal(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "round.jsonl"
    failing = GELU.replace("def gelu(", "raise ValueError('\\x1b[2J\\u202e')\n\n\ndef gelu(")
    lines = [{"file": "\x1b]0;owned\x07.py", "predict": "x"}, {"file": "gelu.py", "predict": failing}]
    file.write_text("".join(json.dumps(line) + "\n" for line in lines))

    assert run(file, tmp_path / "results.json") == 0
    said = capsys.readouterr()
    assert "owned" in said.out and "ValueError" in said.err
    assert not set(said.out + said.err) & {"\x1b", "\x07", "\u202e"}
