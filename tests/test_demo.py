"""The real runs that an empty site is filled with."""

from __future__ import annotations

import gzip
import json

import pytest
from django.core.management import call_command
from django.test import Client

from leaderboard.management.commands.load_demo import DEMO
from leaderboard.models import Run

pytestmark = pytest.mark.django_db


def test_an_empty_site_shows_real_runs_and_says_where_they_ran(client: Client) -> None:
    call_command("sync_tasks", verbosity=0)
    call_command("load_demo", verbosity=0)
    runs = Run.objects.filter(status="finished", gpu__slug="h200")
    assert runs.count() == len(json.loads((DEMO / "manifest.json").read_text()))
    for run in runs:
        assert run.environment["sandbox"].startswith("bubblewrap")
        assert run.summaries.get(category="").geometric_mean
    page = client.get("/").content.decode()
    assert "GEAK" in page and "NVIDIA H200" in page


def test_a_site_with_runs_is_left_alone() -> None:
    call_command("sync_tasks", verbosity=0)
    call_command("load_demo", verbosity=0)
    before = set(Run.objects.values_list("pk", flat=True))
    call_command("load_demo", verbosity=0)
    assert set(Run.objects.values_list("pk", flat=True)) == before


def test_no_line_of_a_submitters_source_is_in_it() -> None:
    for path in DEMO.glob("*.json.gz"):
        for report in json.loads(gzip.decompress(path.read_bytes()))["reports"]:
            assert not report["log"]
            failure = report["failure"] or {"details": "", "message": ""}
            assert not failure["details"]
            assert " = tl." not in failure["message"] and "^" not in failure["message"]
