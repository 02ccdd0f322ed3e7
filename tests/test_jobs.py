"""The control worker's jobs by the names, queue and arguments that GPU workers use."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from celery import current_app
from django.conf import settings
from django.utils.timezone import now

from leaderboard import jobs, services
from leaderboard.models import Chunk, Gpu
from tests.factories import ENVIRONMENT, GpuFactory, SubmissionFactory, report, state

pytestmark = pytest.mark.usefixtures("sent")


@pytest.fixture
def chunk(db: None) -> Chunk:
    return services.enqueue(SubmissionFactory(tasks=["gelu"]), GpuFactory()).chunks.get()


def say(name: str, **arguments: Any) -> None:
    """As the control worker calls it for a message of that name."""
    current_app.tasks[f"leaderboard.{name}"](**arguments)


def test_the_names_of_the_protocol_are_served() -> None:
    served = {name for name in current_app.tasks if name.startswith("leaderboard.")}
    assert served == {
        "leaderboard.host_alive",
        "leaderboard.chunk_started",
        "leaderboard.chunk_alive",
        "leaderboard.kernel_reported",
        "leaderboard.chunk_finished",
        "leaderboard.chunk_failed",
        "leaderboard.sweep",
    }


def test_the_sweeper_is_on_the_beat() -> None:
    (entry,) = settings.CELERY_BEAT_SCHEDULE.values()
    assert entry["task"] == jobs.sweep.name
    assert entry["schedule"] <= 30
    assert settings.CELERY_TASK_DEFAULT_QUEUE == "control"


def test_a_chunk_from_start_to_finish(chunk: Chunk) -> None:
    say("host_alive", host="one", gpu="h200", environment=ENVIRONMENT)
    say("chunk_started", chunk=chunk.pk, attempt=1, host="one", environment=ENVIRONMENT)
    say("chunk_alive", chunk=chunk.pk, attempt=1, task="gelu")
    chunk.refresh_from_db()
    assert (chunk.state, chunk.host, chunk.current_task, chunk.run.status) == (
        "started",
        "one",
        "gelu",
        "running",
    )
    say("kernel_reported", chunk=chunk.pk, attempt=1, report=report("gelu", speedup=2.0).to_json())
    say("chunk_finished", chunk=chunk.pk, attempt=1)
    say("sweep")
    chunk.run.refresh_from_db()
    assert chunk.run.status == "finished"
    assert chunk.run.results.get().speedup == 2.0


def test_a_chunk_that_failed_is_swept_into_its_next_attempt(chunk: Chunk) -> None:
    say("chunk_failed", chunk=chunk.pk, attempt=1, reason="no sandbox")
    chunk.refresh_from_db()
    assert "no sandbox" in chunk.reason
    Chunk.objects.update(lease_until=now() - timedelta(seconds=1))
    say("sweep")
    chunk.refresh_from_db()
    assert (chunk.attempt, chunk.state, chunk.reason) == (2, "sent", "")


def test_every_message_a_second_time_changes_nothing(chunk: Chunk) -> None:
    messages: list[tuple[str, dict[str, Any]]] = [
        ("chunk_started", {"host": "one", "environment": ENVIRONMENT}),
        ("chunk_alive", {"task": "gelu"}),
        ("kernel_reported", {"report": report("gelu").to_json()}),
        ("chunk_finished", {}),
        ("chunk_failed", {"reason": "no sandbox"}),
    ]
    for name, arguments in messages[:4]:
        say(name, chunk=chunk.pk, attempt=1, **arguments)
    before = state()
    for name, arguments in [*messages, *reversed(messages)]:
        say(name, chunk=chunk.pk, attempt=1, **arguments)
        say(name, chunk=chunk.pk, attempt=2, **arguments)
        say(name, chunk=10**9, attempt=1, **arguments)
    say("sweep")
    assert state() == before


def test_messages_of_another_attempt_change_nothing(chunk: Chunk) -> None:
    before = state()
    for attempt in (0, 2, -1):
        say("chunk_started", chunk=chunk.pk, attempt=attempt, host="one", environment=ENVIRONMENT)
        say("chunk_alive", chunk=chunk.pk, attempt=attempt, task="gelu")
        say("kernel_reported", chunk=chunk.pk, attempt=attempt, report=report("gelu").to_json())
        say("chunk_finished", chunk=chunk.pk, attempt=attempt)
        say("chunk_failed", chunk=chunk.pk, attempt=attempt, reason="no sandbox")
    assert state() == before
    assert Gpu.objects.get().last_heard  # all the same, somebody is at work there


def test_reports_in_any_order_end_alike(db: None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("leaderboard.services.transaction.on_commit", lambda callback: callback())
    gpu, names = GpuFactory(), ["gelu", "gelu_bf16"]
    for order in (names, names[::-1]):
        run = services.enqueue(SubmissionFactory(tasks=names), gpu)
        first, second = run.chunks.order_by("number")
        assert [*first.tasks, *second.tasks] == names
        by_task = {first.tasks[0]: first, second.tasks[0]: second}
        for task in [*order, *order]:
            say("kernel_reported", chunk=by_task[task].pk, attempt=1, report=report(task).to_json())
        run.refresh_from_db()
        assert run.status == "finished"
        assert run.results.count() == 2
