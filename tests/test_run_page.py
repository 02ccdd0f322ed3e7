"""The page of a run while it goes on and afterwards."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from django.http import HttpResponse
from django.test import Client
from django.urls import reverse
from django.utils.timezone import now

from evaluator.report import Outcome
from leaderboard import services
from leaderboard.models import Gpu, Run, User
from leaderboard.progress import progress_of
from tests.factories import (
    GpuFactory,
    HostFactory,
    ResultFactory,
    RunFactory,
    SubmissionFactory,
    TaskFactory,
    UserFactory,
    report,
)

NAMES = ["gelu", "gelu_bf16", "relu", "conv2d", "matmul"]


@pytest.fixture
def gpu(db: None) -> Gpu:
    return GpuFactory()


@pytest.fixture
def run(gpu: Gpu) -> Run:
    for name in NAMES:
        TaskFactory(name=name, version="0123456789ab")
    return services.enqueue(SubmissionFactory(tasks=NAMES), gpu)


def text(response: HttpResponse) -> str:
    return re.sub(r"\s+", " ", response.content.decode())


def report_all(run: Run) -> None:
    for chunk in run.chunks.order_by("number"):
        for task in chunk.tasks:
            outcome = Outcome.WRONG_VALUES if task == "relu" else Outcome.CORRECT
            assert services.record(chunk.pk, 1, report(task, outcome).to_json())


def test_what_was_cancelled_is_not_evaluated(client: Client, run: Run) -> None:
    chunk = run.chunks.get(number=0)
    assert services.record(chunk.pk, 1, report(chunk.tasks[0]).to_json())
    assert services.cancel(run, "Cancelled by ada.")
    page = text(client.get(run.get_absolute_url()))
    assert "<dt>Evaluated</dt><dd>1 of 5</dd>" in page
    assert "4 cancelled" in page


def test_a_queued_run_without_a_worker_says_so(client: Client, run: Run) -> None:
    assert "No worker for NVIDIA H200 is online" in text(client.get(run.get_absolute_url()))
    HostFactory(gpu=run.gpu)
    page = text(client.get(run.get_absolute_url()))
    assert "No worker" not in page
    assert "next in line" in page


def test_a_queued_run_knows_its_place(client: Client, run: Run) -> None:
    HostFactory(gpu=run.gpu)
    later = services.enqueue(SubmissionFactory(tasks=["gelu"]), run.gpu)
    RunFactory(gpu=GpuFactory(slug="a100"))
    RunFactory(gpu=run.gpu, status=Run.Status.FINISHED)
    assert progress_of(run).ahead == 0
    assert "behind 1 other run on" in text(client.get(later.get_absolute_url()))


def test_a_running_run_shows_where_it_is(client: Client, run: Run) -> None:
    first, second = run.chunks.order_by("number")
    services.record(first.pk, 1, report(first.tasks[0], Outcome.COMPILE_FAILED).to_json())
    services.chunk_started(second.pk, 1, "gpu-host-7", {})
    services.chunk_alive(second.pk, 1, second.tasks[1])
    page = text(client.get(run.get_absolute_url()))
    assert "on gpu-host-7" in page
    assert "1 of 5" in page
    assert reverse("result", args=[run.pk, first.tasks[0]]) in page
    assert reverse("result", args=[run.pk, second.tasks[0]]) not in page
    tones = {tile.task: tile.tone for tile in progress_of(Run.objects.get()).tiles}
    assert tones[first.tasks[0]] == "bad"
    assert tones[second.tasks[1]] == "running"
    assert sorted(tones.values()) == ["bad", "running", "waiting", "waiting", "waiting"]


def test_a_poll_that_finds_nothing_new_leaves_the_page_alone(client: Client, run: Run) -> None:
    page = client.get(run.get_absolute_url()).content.decode()
    poll = re.search(r'hx-get="([^"]+)"', page)
    assert poll
    assert client.get(poll[1]).status_code == 204
    first = run.chunks.get(number=0)
    services.record(first.pk, 1, report(first.tasks[0]).to_json())
    response = client.get(poll[1])
    assert response.status_code == 200
    assert 'hx-trigger="every 2s"' in response.content.decode()
    assert "<html" not in response.content.decode()


def test_the_last_poll_ends_the_polling(client: Client, run: Run) -> None:
    report_all(run)
    response = client.get(reverse("run_progress", args=[run.pk]))
    assert response.status_code == 286
    assert "hx-get" not in response.content.decode()
    page = text(client.get(run.get_absolute_url()))
    assert "hx-get" not in page
    assert "finished" in page and "5 of 5" in page
    assert all(reverse("result", args=[run.pk, task]) in page for task in NAMES)


def test_a_finished_run_stays_finished_for_a_poller_that_has_seen_it(client: Client, run: Run) -> None:
    report_all(run)
    seen = progress_of(Run.objects.get()).version
    assert client.get(reverse("run_progress", args=[run.pk]), {"seen": seen}).status_code == 286


def test_a_failed_run_says_why(client: Client, run: Run) -> None:
    first = run.chunks.get(number=0)
    services.record(first.pk, 1, report(first.tasks[0], Outcome.EVALUATOR_ERROR).to_json())
    assert "Its first kernel could not be evaluated." in text(client.get(run.get_absolute_url()))


def test_polling_takes_as_many_queries_however_large_the_run(
    client: Client, run: Run, django_assert_num_queries: Callable[..., Any]
) -> None:
    small = RunFactory(gpu=run.gpu, started=now(), status=Run.Status.RUNNING)
    ResultFactory(run=small)
    first, second = run.chunks.order_by("number")
    services.record(first.pk, 1, report(first.tasks[0]).to_json())
    for task in second.tasks[:3]:
        services.record(second.pk, 1, report(task).to_json())
    for one in (small, run):
        with django_assert_num_queries(5):
            client.get(reverse("run_progress", args=[one.pk]))


def test_time_stops_with_the_run(run: Run) -> None:
    run.started, run.ended = now() - timedelta(hours=2), now() - timedelta(hours=1)
    assert progress_of(run).elapsed == timedelta(hours=1)


@pytest.mark.parametrize("who", ["owner", "staff"])
def test_owner_and_staff_cancel(client: Client, run: Run, who: str) -> None:
    user = run.submission.method.owner if who == "owner" else UserFactory(is_staff=True)
    assert isinstance(user, User)
    client.force_login(user)
    assert "Cancel the run" in text(client.get(run.get_absolute_url()))
    assert client.post(reverse("cancel_run", args=[run.pk])).status_code == 302
    page = text(client.get(run.get_absolute_url()))
    assert f"Cancelled by {user.username}." in page
    assert "Cancel the run" not in page
    assert run.results.filter(outcome="cancelled").count() == 5


def test_nobody_else_cancels(client: Client, run: Run) -> None:
    url = reverse("cancel_run", args=[run.pk])
    assert "Cancel the run" not in text(client.get(run.get_absolute_url()))
    assert client.post(url).status_code == 302  # to the sign-in
    client.force_login(UserFactory())
    assert client.post(url).status_code == 404
    assert client.get(url).status_code == 404
    client.force_login(UserFactory(is_staff=True))
    assert client.get(url)["Location"] == run.get_absolute_url()  # from signing in again
    run.refresh_from_db()
    assert run.status == "queued"


def test_an_unknown_run_is_not_found(client: Client, db: None) -> None:
    for name in ("run", "run_progress"):
        assert client.get(reverse(name, args=[404])).status_code == 404
