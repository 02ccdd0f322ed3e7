"""What is said of the tasks' cases: measured here again for some, and kept apart from what has changed since."""

import json

import pytest
import torch

from evaluator import health
from evaluator.near_misses import MISSES
from leaderboard import definitions
from tasks import health as kept
from tasks.cases import SORTS, by_sort
from tasks.registry import all_tasks, task_version
from tests.test_pages import page, text

torch.set_num_threads(1)


@pytest.mark.parametrize("name", ["gelu", "SGD", "argmax", "svd"])
def test_what_is_kept_is_what_is_measured(name):
    found = kept.health_of(name)
    assert found, f"{name} has changed: run `make health`"
    assert health.measure(all_tasks()[name]) == found


def test_every_task_was_measured_as_it_is_and_nothing_escapes():
    stale = {name for name in all_tasks() if not kept.health_of(name)}
    assert not stale, "they have changed: run `make health` and commit tasks/health.json"
    assert kept.measured().keys() == all_tasks().keys()
    for name, found in kept.measured().items():
        assert found.escaped == [], name
        assert found.misses.keys() == MISSES.keys() == definitions.MISSES.keys()
        assert len(found.calls) == len(all_tasks()[name].correctness)


def test_a_task_without_cases_that_tell_lets_misses_escape():
    loose = all_tasks()["gelu"].derive("gelu", correctness=[{"shape": [0]}, {"shape": [0], "outliers": 0.1}])
    found = health.measure(loose)
    assert set(found.escaped) == set(found.misses)
    assert found.caught == 0
    assert found.options == {"approximate": ("'none'",)}


def test_lines_that_no_case_reaches_are_counted():
    def reference(input, approximate="none"):
        if approximate == "never":
            return input * 0
        return input

    found = health.measure(all_tasks()["gelu"].derive("gelu", reference=reference))
    assert (found.lines_run, found.lines) == (2, 3)


def test_a_changed_task_was_never_measured(monkeypatch):
    monkeypatch.setattr(kept, "task_version", lambda name: "changed")
    assert kept.health_of("gelu") is None
    assert kept.measured()["gelu"]


def test_the_command_measures_what_has_changed_and_keeps_the_rest(tmp_path, monkeypatch, capsys):
    file = tmp_path / "health.json"
    old = json.loads(kept.FILE.read_text())
    old["abs"]["version"] = "older"
    del old["add"]["misses"]["zeros"]
    old["gone"] = old["abs"]
    file.write_text(json.dumps(old))
    monkeypatch.setattr(kept, "FILE", file)
    monkeypatch.setattr(
        "evaluator.health.all_tasks", lambda: {n: all_tasks()[n] for n in ("abs", "add", "gelu")}
    )
    kept.measured.cache_clear()
    try:
        assert health.main([]) == 0
    finally:
        kept.measured.cache_clear()
    new = json.loads(file.read_text())
    assert new.keys() == {"abs", "add", "gelu"}
    assert new["abs"]["version"] == task_version("abs")
    assert new["gelu"] == old["gelu"]
    assert capsys.readouterr().out == "abs: 8 of 8 misses refused\nadd: 8 of 8 misses refused\n"


@pytest.mark.django_db
def test_the_page_shows_every_task(client, django_assert_num_queries):
    with django_assert_num_queries(0):
        seen = text(page(client, "/tasks/health/"))
    for task in all_tasks().values():
        assert task.name in seen
    cases = by_sort(all_tasks()["gelu"])
    numbers = " ".join(str(len(cases.get(sort, []))) for sort in SORTS)
    assert f"gelu {numbers} 8 of 8 approximate 2 1 of 1 7 of 16 nothing" in seen


@pytest.mark.django_db
def test_the_page_says_what_was_not_measured(client, monkeypatch):
    real = kept.health_of
    monkeypatch.setattr(kept, "health_of", lambda name: None if name == "gelu" else real(name))
    seen = text(page(client, "/tasks/health/"))
    assert "not measured since the task changed 7 of 16" in seen
