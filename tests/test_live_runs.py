"""Runs through the real processes, without a browser: what a stop on either side leaves behind."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TYPE_CHECKING

import pytest

from leaderboard import services
from leaderboard.models import Gpu, Run
from tests.factories import KernelFactory, SubmissionFactory, source_for
from tests.test_end_to_end import RIGHT

if TYPE_CHECKING:
    from tests.conftest import LiveSite

ENDLESS = source_for("gelu") + "\n\nwhile True:\n    pass\n"


def evaluated(source: str) -> Run:
    submission = SubmissionFactory()
    KernelFactory(submission=submission, task__name="gelu", source=source)
    return services.enqueue(submission, Gpu.objects.get(slug="cpu"))


def wait_for(seconds: float, true: Callable[[], bool]) -> None:
    deadline = time.monotonic() + seconds
    while not true():
        assert time.monotonic() < deadline, "it did not come to pass"
        time.sleep(0.2)


def status_of(run: Run) -> str:
    run.refresh_from_db()
    return run.status


def test_a_cancel_reaches_the_worker_which_goes_on_with_the_next_run(live_site: LiveSite) -> None:
    endless = evaluated(ENDLESS)
    wait_for(60, lambda: endless.chunks.get().current_task == "gelu")
    assert services.cancel(endless, "Cancelled by ada.")
    after = evaluated(RIGHT)
    wait_for(30, lambda: status_of(after) == "finished")  # an endless import has longer than that
    assert after.results.get().outcome == "correct"
    assert status_of(endless) == "cancelled"
    assert endless.results.get().outcome == "cancelled"


@pytest.mark.slow
def test_a_worker_that_is_killed_loses_its_turn_and_nothing_else(live_site: LiveSite) -> None:
    run = evaluated(ENDLESS)
    wait_for(60, lambda: run.chunks.get().current_task == "gelu")
    live_site.stop_program("cpu")
    wait_for(120, lambda: run.chunks.get().attempt == 2)

    def finished() -> bool:
        live_site.supervisor.look()  # starts what has died again
        return status_of(run) == "finished"

    wait_for(120, finished)
    assert run.results.get().outcome == "timed_out"
