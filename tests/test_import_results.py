"""Runs that were made elsewhere: taken over whole, once, and only where they fit."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.test import Client

from evaluator.report import Outcome
from leaderboard import services
from leaderboard.models import Method, Run
from tests.factories import ENVIRONMENT, GpuFactory, TaskFactory, report, sha256, source_for

pytestmark = pytest.mark.django_db


@pytest.fixture
def results(tmp_path: Path) -> dict[str, Any]:
    """The content of a results file on two kernels."""
    GpuFactory(slug="h200")
    for name in ("gelu", "relu"):
        TaskFactory(name=name)
    reports = [report("gelu", speedup=2.0).to_json(), report("relu", Outcome.WRONG_VALUES).to_json()]
    for one in reports:
        one["source_sha256"] = sha256(source_for(one["task"]))
    return {
        "schema": 1,
        "environment": {**ENVIRONMENT, "device": "h200"},
        "seed": "5eed",
        "reports": reports,
        "problems": [],
    }


@pytest.fixture
def kernels(tmp_path: Path) -> Path:
    lines = [json.dumps({"file": f"{name}.py", "predict": source_for(name)}) for name in ("gelu", "relu")]
    path = tmp_path / "kernels.jsonl"
    path.write_text("\n".join(lines))
    return path


def take(tmp_path: Path, content: Any, **options: Any) -> None:
    path = tmp_path / "results.json.gz"
    path.write_bytes(gzip.compress(json.dumps(content).encode()))
    call_command("import_results", str(path), method="GEAK", verbosity=0, **options)


def test_a_run_is_taken_over_with_its_scores(
    tmp_path: Path, results: dict[str, Any], kernels: Path, client: Client
) -> None:
    take(tmp_path, results, kernels=kernels, base_model="m", kind="agentic")
    run = Run.objects.get()
    assert (run.status, run.seed, run.gpu.slug) == ("finished", "5eed", "h200")
    assert dict(run.results.values_list("task", "outcome")) == {"gelu": "correct", "relu": "wrong_values"}
    assert run.summaries.get(category="").geometric_mean == pytest.approx(2.0)
    assert run.submission.kernels.get(task="gelu").source == source_for("gelu")
    for url in (run, run.results.get(task="gelu"), run.submission.method):
        assert client.get(url.get_absolute_url()).status_code == 200
    assert "GEAK" in client.get("/?gpu=h200").content.decode()


def test_the_same_file_again_changes_nothing(tmp_path: Path, results: dict[str, Any]) -> None:
    take(tmp_path, results)
    take(tmp_path, results)
    assert (Run.objects.count(), Method.objects.count()) == (1, 1)


def test_without_sources_only_their_hashes_are_known(
    tmp_path: Path, results: dict[str, Any], client: Client
) -> None:
    take(tmp_path, results)
    run = Run.objects.get()
    page = client.get(run.results.get(task="gelu").get_absolute_url()).content.decode()
    assert "It is not published" in page
    assert sha256(source_for("gelu")) in page
    with pytest.raises(services.Refused, match="without the source of gelu"):
        services.rerun([run.submission], run.gpu)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"schema": 2}, "schema 1"),
        ({"environment": {**ENVIRONMENT, "device": "h200", "suite_version": "kbx-x"}}, "suite kbx-x"),
        ({"environment": {**ENVIRONMENT, "device": "toaster"}}, "another device"),
        ({"environment": {}}, "form of a results file"),
        ({"reports": [{"task": "gelu"}]}, "form of a results file"),
        ({"reports": 3}, "form of a results file"),
        ({"seed": "x" * 33}, "seed"),
    ],
)
def test_a_file_that_does_not_fit_is_refused(
    tmp_path: Path, results: dict[str, Any], change: dict[str, Any], words: str
) -> None:
    with pytest.raises(CommandError, match=words):
        take(tmp_path, results | change)
    assert not Run.objects.exists()


def test_two_reports_on_a_task_are_refused(tmp_path: Path, results: dict[str, Any]) -> None:
    with pytest.raises(CommandError, match="same task"):
        take(tmp_path, results | {"reports": results["reports"] * 2})


def test_another_source_than_was_evaluated_is_refused(
    tmp_path: Path, results: dict[str, Any], kernels: Path
) -> None:
    results["reports"][0]["source_sha256"] = "0" * 64
    with pytest.raises(CommandError, match="not the one that was evaluated"):
        take(tmp_path, results, kernels=kernels)


def test_a_round_that_holds_other_kernels_is_refused(tmp_path: Path, results: dict[str, Any]) -> None:
    take(tmp_path, results)
    results["reports"].pop()
    with pytest.raises(CommandError, match="holds other kernels"):
        take(tmp_path, results | {"seed": "another"})


@pytest.mark.parametrize("content", [b"", b"{", b"\xff", b"[]", b'"x"'])
def test_what_is_no_results_file_is_refused(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "results.json"
    path.write_bytes(content)
    with pytest.raises(CommandError):
        call_command("import_results", str(path), method="GEAK")


def test_a_file_that_is_not_there_is_refused(tmp_path: Path) -> None:
    with pytest.raises(CommandError, match="No such file"):
        call_command("import_results", str(tmp_path / "none.json"), method="GEAK")
