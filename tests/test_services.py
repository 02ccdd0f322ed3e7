"""What is written, and what late, repeated, foreign and malformed messages leave as it was."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from copy import deepcopy
from datetime import timedelta
from math import inf, nan
from time import sleep
from types import SimpleNamespace
from typing import Any

import pytest
import redis
from django.conf import LazySettings, settings
from django.core.management import call_command
from django.db import IntegrityError, connection, transaction
from django.utils.timezone import now
from hypothesis import HealthCheck, given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

from evaluator.devices import DEVICES
from evaluator.report import Outcome, Report
from evaluator.upload import parse
from leaderboard import services
from leaderboard.models import Chunk, Gpu, Method, Result, Run, Submission, Summary, Task
from tasks import registry
from tasks.catalogue import CATALOGUE
from tests.factories import (
    ENVIRONMENT,
    GpuFactory,
    HostFactory,
    MethodFactory,
    ResultFactory,
    RunFactory,
    SubmissionFactory,
    TaskFactory,
    UserFactory,
    report,
    source_for,
    state,
)

pytestmark = pytest.mark.usefixtures("sent")

NAMES = sorted((name for names in CATALOGUE.values() for name in names), key=lambda name: name != "gelu")


@pytest.fixture(autouse=True)
def on_commit_at_once(monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest) -> None:
    """A test's own transaction never commits, so what waits for a commit is done at once."""
    if "transactional_db" not in request.fixturenames:
        monkeypatch.setattr("leaderboard.services.transaction.on_commit", lambda callback: callback())


@pytest.fixture
def gpu(db: None) -> Gpu:
    return GpuFactory()


@pytest.fixture
def in_suite(monkeypatch: pytest.MonkeyPatch) -> None:
    """All 176 tasks, as if each were built."""
    for name in NAMES:
        TaskFactory(name=name, version="0123456789ab")


@pytest.fixture
def slow_commit(monkeypatch: pytest.MonkeyPatch) -> None:
    """Who records at once with another is sure to overlap with it, unless they take turns."""
    go_on = services._go_on

    def slow(chunk: Chunk) -> None:
        go_on(chunk)
        if threading.current_thread() is not threading.main_thread():
            sleep(0.3)

    monkeypatch.setattr(services, "_go_on", slow)


def enqueued(gpu: Gpu, count: int) -> Run:
    return services.enqueue(SubmissionFactory(tasks=NAMES[:count]), gpu)


def at_work(gpu: Gpu, count: int) -> tuple[Run, Chunk]:
    """A run of which the first kernel is back, and its second chunk."""
    run = enqueued(gpu, count)
    first = run.chunks.get(number=0)
    assert services.record(first.pk, 1, report(first.tasks[0]).to_json())
    return run, run.chunks.get(number=1)


def expire(chunk: Chunk) -> None:
    Chunk.objects.filter(pk=chunk.pk).update(lease_until=now() - timedelta(seconds=1))


class TestSubmit:
    @pytest.fixture
    def method(self, db: None) -> Method:
        for name in ("gelu", "relu", "selu"):
            TaskFactory(name=name)
        return MethodFactory()

    @staticmethod
    def hand_in(method: Method, round: int | None, *tasks: str) -> Submission:
        lines = [json.dumps({"file": f"X/{task}.py", "predict": source_for(task)}) for task in tasks]
        data = "\n".join(lines).encode()
        return services.submit(method.owner, method, round, parse(data, "k.jsonl"), "k.jsonl", data)

    def test_stores_kernels_and_findings(self, method: Method) -> None:
        data = b"\n".join(
            [
                json.dumps({"file": "Activation/gelu.py", "predict": source_for("gelu")}).encode(),
                json.dumps({"file": "Activation/relu.py", "predict": "def relu(:\n"}).encode(),
                json.dumps({"file": "Activation/gelu.py", "predict": source_for("gelu")}).encode(),
                json.dumps({"file": "Activation/nothing_like_it.py", "predict": "x = 1"}).encode(),
                b"{broken",
            ]
        )
        found = services.submit(method.owner, method, None, parse(data, "k.jsonl"), "k.jsonl", data)
        assert sorted(found.kernels.values_list("task", flat=True)) == ["gelu", "relu"]
        assert [p["kind"] for p in found.findings["problems"]] == ["duplicate", "unknown", "unreadable"]
        assert list(found.findings["static"]) == ["relu"]
        assert found.findings["static"]["relu"]["outcome"] == "syntax_error"
        assert found.findings["static"]["relu"]["line"] == 1
        assert not found.runs.exists()

    def test_what_takes_long_to_check_is_left_to_the_worker(
        self, method: Method, gpu: Gpu, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(services, "CHECK_S", 0.0)
        data = json.dumps({"file": "relu.py", "predict": "def relu(:\n"}).encode()
        found = services.submit(method.owner, method, None, parse(data, "k.jsonl"), "k.jsonl", data)
        assert found.findings["static"] == {}
        run = services.enqueue(found, gpu)
        assert run.status == "queued" and run.chunks.get().tasks == ["relu"]

    def test_the_same_file_again_is_the_same_submission(self, method: Method) -> None:
        first = self.hand_in(method, None, "gelu")
        assert self.hand_in(method, None, "gelu") == first
        assert self.hand_in(method, first.round, "gelu") == first
        assert Submission.objects.count() == 1

    def test_another_file_for_the_same_round_is_refused_with_the_free_round(self, method: Method) -> None:
        self.hand_in(method, 3, "gelu")
        with pytest.raises(services.Refused, match=r"Round 3 of .* next free round is 4"):
            self.hand_in(method, 3, "relu")

    def test_rounds_count_up(self, method: Method) -> None:
        rounds = [self.hand_in(method, None, task).round for task in ("gelu", "relu", "selu")]
        assert rounds == [0, 1, 2]

    @pytest.mark.django_db(transaction=True)
    def test_eight_clicks_at_once_are_one_submission(self, transactional_db: None) -> None:
        TaskFactory(name="gelu")
        method = MethodFactory()

        def click(_: int) -> int:
            try:
                return self.hand_in(method, None, "gelu").pk
            finally:
                connection.close()

        with ThreadPoolExecutor(8) as clicks:
            assert len(set(clicks.map(click, range(8)))) == 1
        assert Submission.objects.get().kernels.count() == 1

    def test_a_method_name_belongs_to_its_owner(self, db: None) -> None:
        ada, bob = UserFactory(), UserFactory()
        mine = services.method_named(ada, "  My   model ", kind="agentic")
        assert (mine.name, mine.slug, mine.kind) == ("My model", "my-model", "agentic")
        assert services.method_named(ada, "my MODEL") == mine
        with pytest.raises(services.Refused, match="somebody else"):
            services.method_named(bob, "My model")

    def test_names_that_share_a_slug_get_one_each(self, db: None) -> None:
        ada = UserFactory()
        slugs = [services.method_named(ada, name).slug for name in ("a b", "a-b", "a_b!", "模型", "方法")]
        assert len(set(slugs)) == 5
        assert all(slugs)

    def test_only_a_draft_can_be_discarded(self, gpu: Gpu) -> None:
        draft, evaluated = SubmissionFactory(tasks=["gelu"]), SubmissionFactory(tasks=["gelu"])
        services.enqueue(evaluated, gpu)
        services.discard(draft)
        with pytest.raises(services.Refused):
            services.discard(evaluated)
        assert list(Submission.objects.all()) == [evaluated]


class TestEnqueue:
    def test_the_first_kernel_goes_ahead_alone(
        self, gpu: Gpu, in_suite: None, sent: list[SimpleNamespace]
    ) -> None:
        run = enqueued(gpu, 60)
        chunks = list(run.chunks.order_by("number"))
        assert [len(chunk.tasks) for chunk in chunks] == [1, 22, 22, 15]
        assert [chunk.state for chunk in chunks] == ["sent", "waiting", "waiting", "waiting"]
        assert sorted(task for chunk in chunks for task in chunk.tasks) == sorted(NAMES[:60])
        (message,) = sent
        assert (message.queue, message.run, message.chunk, message.attempt) == (
            "gpu.h200",
            run.pk,
            chunks[0].pk,
            1,
        )
        assert message.kernels == [[chunks[0].tasks[0], source_for(chunks[0].tasks[0])]]
        assert message.seed == run.seed

    def test_the_rest_is_sent_when_the_first_report_is_in(
        self, gpu: Gpu, in_suite: None, sent: list[SimpleNamespace]
    ) -> None:
        run, _ = at_work(gpu, 60)
        assert [len(message.kernels) for message in sent] == [1, 22, 22, 15]
        assert set(run.chunks.values_list("number", "state")) == {
            (0, "done"),
            (1, "sent"),
            (2, "sent"),
            (3, "sent"),
        }

    @pytest.mark.parametrize("outcome", [Outcome.EVALUATOR_ERROR, Outcome.WORKER_LOST])
    def test_a_gpu_that_is_broken_fails_one_kernel_and_ends_the_run(
        self, gpu: Gpu, in_suite: None, sent: list[SimpleNamespace], outcome: Outcome
    ) -> None:
        run = enqueued(gpu, 60)
        first = run.chunks.get(number=0)
        services.record(first.pk, 1, report(first.tasks[0], outcome).to_json())
        run.refresh_from_db()
        assert run.status == "failed"
        assert "first kernel" in run.reason and f"ended as {outcome}" in run.reason
        assert len(sent) == 1
        assert run.results.count() == 60
        assert run.results.filter(outcome="cancelled").count() == 59
        assert not run.summaries.exists()

    @pytest.mark.parametrize("outcome", [Outcome.COMPILE_FAILED, Outcome.NOT_SUPPORTED, Outcome.WRONG_VALUES])
    def test_a_first_kernel_that_fails_by_itself_does_not_stop_the_run(
        self, gpu: Gpu, in_suite: None, sent: list[SimpleNamespace], outcome: Outcome
    ) -> None:
        run = enqueued(gpu, 3)
        first = run.chunks.get(number=0)
        services.record(first.pk, 1, report(first.tasks[0], outcome).to_json())
        assert len(sent) == 2

    def test_kernels_that_need_no_worker_have_their_results_at_once(
        self, gpu: Gpu, sent: list[SimpleNamespace]
    ) -> None:
        TaskFactory(name="relu", version="")
        submission = SubmissionFactory(tasks=["gelu", "relu", "gelu_bf16"])
        submission.kernels.filter(task="gelu_bf16").update(source="def gelu_bf16(:\n")
        run = services.enqueue(submission, gpu)
        assert dict(run.results.values_list("task", "outcome")) == {
            "relu": "not_in_suite",
            "gelu_bf16": "syntax_error",
        }
        assert [message.kernels[0][0] for message in sent] == ["gelu"]
        assert Report.from_json(run.results.get(task="relu").report).failure

    def test_a_run_without_work_for_a_worker_ends_at_once(
        self, gpu: Gpu, sent: list[SimpleNamespace]
    ) -> None:
        TaskFactory(name="relu", version="")
        run = services.enqueue(SubmissionFactory(tasks=["relu"]), gpu)
        assert (run.status, sent) == ("finished", [])
        assert run.summaries.get(category="").handed_in == 1

    def test_a_second_click_is_the_same_run(self, gpu: Gpu, sent: list[SimpleNamespace]) -> None:
        submission = SubmissionFactory(tasks=["gelu"])
        run = services.enqueue(submission, gpu)
        assert services.enqueue(submission, gpu) == run
        assert services.rerun([submission], gpu) == [run]
        assert len(sent) == 1
        services.record(run.chunks.get().pk, 1, report("gelu").to_json())
        assert services.enqueue(submission, gpu) == run

    def test_a_finished_run_is_repeated_when_asked_for(self, gpu: Gpu) -> None:
        submission = SubmissionFactory(tasks=["gelu"])
        run = services.enqueue(submission, gpu)
        services.record(run.chunks.get().pk, 1, report("gelu").to_json())
        (again,) = services.rerun([submission], gpu)
        assert again != run
        assert again.seed != run.seed

    def test_a_cancelled_run_can_be_queued_again(self, gpu: Gpu) -> None:
        submission = SubmissionFactory(tasks=["gelu"])
        run = services.enqueue(submission, gpu)
        services.cancel(run, "Not now.")
        assert services.enqueue(submission, gpu) != run

    @pytest.mark.django_db(transaction=True)
    def test_eight_clicks_at_once_are_one_run(
        self, transactional_db: None, sent: list[SimpleNamespace]
    ) -> None:
        submission, gpu = SubmissionFactory(tasks=["gelu"]), GpuFactory()

        def click(_: int) -> int:
            try:
                return services.enqueue(submission, gpu).pk
            finally:
                connection.close()

        with ThreadPoolExecutor(8) as clicks:
            assert len(set(clicks.map(click, range(8)))) == 1
        assert len(sent) == 1

    @pytest.mark.django_db(transaction=True)
    def test_nothing_is_sent_before_the_commit(
        self, transactional_db: None, sent: list[SimpleNamespace]
    ) -> None:
        submission, gpu = SubmissionFactory(tasks=["gelu"]), GpuFactory()
        with transaction.atomic():
            services.enqueue(submission, gpu)
            assert sent == []
        assert len(sent) == 1

    def test_a_broker_that_is_away_loses_nothing(
        self, gpu: Gpu, monkeypatch: pytest.MonkeyPatch, sent: list[SimpleNamespace]
    ) -> None:
        from kombu.exceptions import OperationalError

        def send_task(*args: object, **kwargs: object) -> None:
            raise OperationalError("connection refused")

        with monkeypatch.context() as away:
            away.setattr("leaderboard.broker.current_app.send_task", send_task)
            run = services.enqueue(SubmissionFactory(tasks=["gelu"]), gpu)
        HostFactory(gpu=gpu)
        expire(run.chunks.get())
        services.sweep()
        assert [(message.chunk, message.attempt) for message in sent] == [(run.chunks.get().pk, 2)]


class TestRecord:
    def test_a_report_becomes_the_result(self, gpu: Gpu) -> None:
        run = enqueued(gpu, 1)
        (chunk,) = run.chunks.all()
        said = report(chunk.tasks[0], speedup=2.5)
        assert services.record(chunk.pk, 1, said.to_json())
        result = run.results.get()
        assert (result.stage, result.outcome, result.compiled, result.correct) == (
            "perf",
            "correct",
            True,
            True,
        )
        assert result.speedup == 2.5
        assert Report.from_json(result.report) == said

    def test_the_run_is_finished_with_its_last_report_and_has_its_summaries(self, gpu: Gpu) -> None:
        run = enqueued(gpu, 1)
        (chunk,) = run.chunks.all()
        services.record(chunk.pk, 1, report(chunk.tasks[0], speedup=2.5).to_json())
        run.refresh_from_db()
        assert run.status == "finished" and run.started and run.ended
        assert run.summaries.count() == 16
        assert run.chunks.get().state == "done"

    def test_the_status_and_the_summaries_are_stored_together_or_not_at_all(
        self, gpu: Gpu, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        run = enqueued(gpu, 1)
        monkeypatch.setattr("leaderboard.scores.summaries", lambda *_: 1 / 0)
        (chunk,) = run.chunks.all()
        with pytest.raises(ZeroDivisionError):
            services.record(chunk.pk, 1, report(chunk.tasks[0]).to_json())
        run.refresh_from_db()
        assert run.status == "queued"
        assert not run.results.exists()

    def test_a_repeated_report_changes_nothing(self, gpu: Gpu, in_suite: None) -> None:
        run, chunk = at_work(gpu, 5)
        task = chunk.tasks[1]
        assert services.record(chunk.pk, 1, report(task).to_json())
        before = state()
        assert not services.record(chunk.pk, 1, report(task).to_json())
        assert not services.record(chunk.pk, 1, report(task, Outcome.WRONG_VALUES).to_json())
        assert state()[2] == before[2]
        assert run.results.get(task=task).outcome == "correct"

    def test_a_report_of_an_earlier_or_later_attempt_changes_nothing(self, gpu: Gpu, in_suite: None) -> None:
        run, chunk = at_work(gpu, 5)
        services.chunk_started(chunk.pk, 1, "one", ENVIRONMENT)
        expire(chunk)
        services.sweep()
        before = state()
        assert run.chunks.get(number=1).attempt == 2
        for attempt in (0, 1, 3):
            assert not services.record(chunk.pk, attempt, report(chunk.tasks[0]).to_json())
        assert state() == before
        assert services.record(chunk.pk, 2, report(chunk.tasks[0]).to_json())

    def test_a_report_for_a_run_that_is_over_changes_nothing(self, gpu: Gpu, in_suite: None) -> None:
        run, chunk = at_work(gpu, 5)
        services.cancel(run, "Stopped.")
        before = state()
        assert not services.record(chunk.pk, 1, report(chunk.tasks[0]).to_json())
        services.chunk_started(chunk.pk, 1, "one", ENVIRONMENT)
        services.chunk_alive(chunk.pk, 1, chunk.tasks[0])
        services.chunk_finished(chunk.pk, 1)
        services.chunk_failed(chunk.pk, 1, "no sandbox")
        assert state() == before

    def test_a_chunk_that_was_never_sent_takes_no_report(self, gpu: Gpu, in_suite: None) -> None:
        waiting = enqueued(gpu, 5).chunks.get(number=1)
        assert not services.record(waiting.pk, 1, report(waiting.tasks[0]).to_json())
        assert not Result.objects.exists()

    def test_foreign_reports_change_nothing(self, gpu: Gpu, in_suite: None) -> None:
        run, chunk = at_work(gpu, 30)
        other_chunk = run.chunks.get(number=2)
        task, good = chunk.tasks[0], report(chunk.tasks[0]).to_json()
        before = state()[2]
        foreign = [
            report(other_chunk.tasks[0]).to_json(),  # another chunk's
            report(NAMES[-1]).to_json(),  # not handed in
            report("no_such_task").to_json(),
            report(task, device="a100").to_json(),
            good | {"source_sha256": "0" * 64},
        ]
        assert [services.record(chunk.pk, 1, data) for data in foreign] == [False] * 5
        assert not services.record(10**9, 1, good)
        assert state()[2] == before
        assert services.record(chunk.pk, 1, good)

    def test_the_interpreter_times_nothing(self, db: None) -> None:
        run = services.enqueue(SubmissionFactory(tasks=["gelu"]), GpuFactory(slug="cpu"))
        assert not services.record(
            run.chunks.get().pk, 1, report("gelu", device="cpu", speedup=3.0).to_json()
        )
        assert services.record(run.chunks.get().pk, 1, report("gelu", device="cpu").to_json())

    @pytest.mark.parametrize(
        "change",
        [
            {"stage": "compile"},
            {"outcome": "correct"},
            {"cases_passed": "3"},
            {"seconds": {"call": nan}},
            {"seconds": {"call": inf}},
            {"triton_kernels": ["a\0b"]},
            {"triton_kernels": ["a\ud800b"]},
            {"failure": {"outcome": "correct", "message": ""}},
            {"timings": [{"case": {}}]},
            {"task": None},
        ],
        ids=str,
    )
    def test_malformed_reports_change_nothing(self, gpu: Gpu, change: dict[str, Any]) -> None:
        run = enqueued(gpu, 1)
        (chunk,) = run.chunks.all()
        before = state()
        assert not services.record(chunk.pk, 1, report(chunk.tasks[0]).to_json() | change)
        assert state() == before
        assert services.record(chunk.pk, 1, report(chunk.tasks[0]).to_json())

    def test_text_that_only_looks_like_a_null_is_stored(self, gpu: Gpu) -> None:
        (chunk,) = enqueued(gpu, 1).chunks.all()
        assert services.record(
            chunk.pk, 1, report(chunk.tasks[0]).to_json() | {"log": "\\u0000 and \\\\u0000"}
        )
        assert Result.objects.get().report["log"] == "\\u0000 and \\\\u0000"

    @given(data=st.data())
    @hypothesis_settings(
        max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
    )
    def test_no_value_in_any_place_of_a_report_raises(self, gpu: Gpu, data: st.DataObject) -> None:
        (chunk,) = enqueued(gpu, 1).chunks.all()
        said = report(chunk.tasks[0], Outcome.WRONG_VALUES).to_json()
        json_value = st.recursive(
            st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
            lambda inner: (
                st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3)
            ),
            max_leaves=5,
        )
        place = data.draw(st.sampled_from(["", *said, *(f"failure.{name}" for name in said["failure"])]))
        value = data.draw(json_value)
        changed: Any = deepcopy(said)
        if place.startswith("failure."):
            changed["failure"][place.removeprefix("failure.")] = value
        elif place:
            changed[place] = value
        else:
            changed = value
        with transaction.atomic():
            stored = services.record(chunk.pk, 1, changed)
        assert Result.objects.filter(run=chunk.run).count() == stored

    def test_the_table_refuses_a_second_result(self, gpu: Gpu) -> None:
        result = ResultFactory(run__gpu=gpu)
        with pytest.raises(IntegrityError), transaction.atomic():
            ResultFactory(run=result.run, kernel=result.kernel)

    @pytest.mark.django_db(transaction=True)
    def test_the_same_report_from_four_threads_counts_once(
        self, transactional_db: None, slow_commit: None
    ) -> None:
        chunk = services.enqueue(SubmissionFactory(tasks=["gelu"]), GpuFactory()).chunks.get()

        def tell(_: int) -> bool:
            try:
                return services.record(chunk.pk, 1, report("gelu").to_json())
            finally:
                connection.close()

        with ThreadPoolExecutor(4) as threads:
            assert sorted(threads.map(tell, range(4))) == [False] * 3 + [True]
        assert chunk.run.summaries.count() == 16

    @pytest.mark.django_db(transaction=True)
    def test_of_two_last_reports_at_once_one_ends_the_run(
        self, transactional_db: None, in_suite: None, slow_commit: None
    ) -> None:
        run = services.enqueue(SubmissionFactory(tasks=NAMES[:24]), GpuFactory())
        first, second, third = run.chunks.order_by("number")
        said = [(first, task) for task in first.tasks] + [(second, task) for task in second.tasks[1:]]
        for chunk, task in said:
            services.record(chunk.pk, 1, report(task).to_json())

        def tell(chunk: Chunk) -> bool:
            try:
                return services.record(chunk.pk, 1, report(chunk.tasks[0]).to_json())
            finally:
                connection.close()

        with ThreadPoolExecutor(2) as threads:
            assert list(threads.map(tell, [second, third])) == [True, True]
        run.refresh_from_db()
        assert run.status == "finished"
        assert run.summaries.get(category="").correct == 24


class TestTheOrderOfMessages:
    def test_a_report_that_overtakes_the_start_starts_the_run(self, gpu: Gpu, in_suite: None) -> None:
        run, chunk = at_work(gpu, 5)
        services.record(chunk.pk, 1, report(chunk.tasks[0]).to_json())
        run.refresh_from_db()
        chunk.refresh_from_db()
        assert (run.status, chunk.state) == ("running", "started")
        services.chunk_started(chunk.pk, 1, "one", ENVIRONMENT)
        run.refresh_from_db()
        chunk.refresh_from_db()
        assert chunk.host == "one"
        assert run.environment == ENVIRONMENT

    def test_the_first_environment_of_a_run_stays(self, gpu: Gpu, in_suite: None) -> None:
        run, chunk = at_work(gpu, 5)
        services.chunk_started(chunk.pk, 1, "one", ENVIRONMENT)
        services.chunk_started(chunk.pk, 1, "two", ENVIRONMENT | {"torch": "1.0"})
        run.refresh_from_db()
        assert run.environment == ENVIRONMENT

    def test_an_environment_that_is_none_is_left_out(self, gpu: Gpu) -> None:
        run = enqueued(gpu, 1)
        services.chunk_started(run.chunks.get().pk, 1, "one", ["torch"])
        run.refresh_from_db()
        assert (run.status, run.environment) == ("running", {})

    def test_a_finish_that_overtakes_the_last_report_waits_for_it(
        self, gpu: Gpu, sent: list[SimpleNamespace]
    ) -> None:
        run = enqueued(gpu, 1)
        (chunk,) = run.chunks.all()
        services.chunk_finished(chunk.pk, 1)
        services.sweep()
        assert services.record(chunk.pk, 1, report(chunk.tasks[0]).to_json())
        assert len(sent) == 1

    def test_kernels_without_a_report_go_again_after_the_finish(
        self, gpu: Gpu, in_suite: None, sent: list[SimpleNamespace]
    ) -> None:
        _, chunk = at_work(gpu, 5)
        services.record(chunk.pk, 1, report(chunk.tasks[2]).to_json())
        services.chunk_finished(chunk.pk, 1)
        chunk.refresh_from_db()
        assert chunk.lease_until and chunk.lease_until <= now() + services.GRACE
        expire(chunk)
        services.sweep()
        assert sent[-1].attempt == 2
        assert [task for task, _ in sent[-1].kernels] == [t for n, t in enumerate(chunk.tasks) if n != 2]

    def test_a_worker_that_cannot_evaluate_says_why_in_the_end(self, gpu: Gpu, in_suite: None) -> None:
        run = enqueued(gpu, 4)
        (chunk,) = run.chunks.filter(number=0)
        for attempt in (1, 2, 3):
            services.chunk_failed(chunk.pk, attempt, "there is no sandbox here")
            expire(chunk)
            services.sweep()
        run.refresh_from_db()
        assert run.status == "failed"
        assert "there is no sandbox here" in run.reason
        assert run.results.get(task=chunk.tasks[0]).outcome == "evaluator_error"
        assert run.results.count() == 4

    def test_a_heartbeat_extends_the_lease_and_names_the_kernel(self, gpu: Gpu, in_suite: None) -> None:
        _, chunk = at_work(gpu, 5)
        services.chunk_started(chunk.pk, 1, "one", ENVIRONMENT)
        expire(chunk)
        services.chunk_alive(chunk.pk, 1, chunk.tasks[1])
        services.chunk_alive(chunk.pk, 1, "no_such_task")
        services.sweep()
        chunk.refresh_from_db()
        assert (chunk.attempt, chunk.current_task, chunk.host) == (1, chunk.tasks[1], "one")


class TestSweep:
    def test_nothing_that_is_on_time_is_touched(self, gpu: Gpu, in_suite: None) -> None:
        at_work(gpu, 5)
        before = state()
        services.sweep()
        assert state() == before

    def test_a_silent_worker_costs_the_next_attempt_only_what_it_did_not_report(
        self, gpu: Gpu, in_suite: None, sent: list[SimpleNamespace]
    ) -> None:
        _, chunk = at_work(gpu, 6)
        services.chunk_started(chunk.pk, 1, "one", ENVIRONMENT)
        services.record(chunk.pk, 1, report(chunk.tasks[0]).to_json())
        services.chunk_alive(chunk.pk, 1, chunk.tasks[1])
        expire(chunk)
        services.sweep()
        _, suspect, *others = chunk.tasks
        assert sent[-1].attempt == 2
        assert [task for task, _ in sent[-1].kernels] == [*others, suspect]  # the suspect goes last

    def test_after_three_attempts_the_kernels_are_lost_and_the_run_ends(
        self, gpu: Gpu, in_suite: None, sent: list[SimpleNamespace]
    ) -> None:
        run, chunk = at_work(gpu, 6)
        for attempt in (1, 2, 3):
            services.chunk_started(chunk.pk, attempt, "one", ENVIRONMENT)
            if attempt == 1:
                services.record(chunk.pk, attempt, report(chunk.tasks[0]).to_json())
            expire(chunk)
            services.sweep()
        run.refresh_from_db()
        assert run.status == "finished"
        assert run.results.filter(outcome="worker_lost").count() == 4
        assert run.results.filter(outcome="correct").count() == 2
        assert (
            "The worker one fell silent"
            in run.results.filter(outcome="worker_lost")[0].report["failure"]["message"]
        )
        assert [message.attempt for message in sent] == [1, 1, 2, 3]
        assert (run.summaries.get(category="").judged, run.summaries.get(category="").handed_in) == (2, 6)

    def test_a_lost_first_kernel_fails_the_run(self, gpu: Gpu, in_suite: None) -> None:
        run = enqueued(gpu, 4)
        for attempt in (1, 2, 3):
            services.chunk_started(run.chunks.get(number=0).pk, attempt, "one", ENVIRONMENT)
            expire(run.chunks.get(number=0))
            services.sweep()
        run.refresh_from_db()
        assert run.status == "failed"
        assert "fell silent" in run.reason
        assert run.results.count() == 4

    def test_a_message_that_nobody_took_is_sent_again(self, gpu: Gpu, sent: list[SimpleNamespace]) -> None:
        run = enqueued(gpu, 1)
        HostFactory(gpu=gpu)
        Gpu.objects.update(last_heard=now() - services.QUIET - timedelta(seconds=1))
        expire(run.chunks.get())
        services.sweep()
        assert [message.attempt for message in sent] == [1, 2]

    def test_a_run_behind_others_waits_its_turn(self, gpu: Gpu, sent: list[SimpleNamespace]) -> None:
        first, second = enqueued(gpu, 1), enqueued(gpu, 1)
        HostFactory(gpu=gpu)
        services.chunk_alive(first.chunks.get().pk, 1, "gelu")
        expire(second.chunks.get())
        services.sweep()
        chunk = second.chunks.get()
        assert (chunk.attempt, chunk.state) == (1, "sent")
        assert chunk.lease_until and chunk.lease_until > now()
        assert len(sent) == 2

    def test_a_worker_that_comes_up_is_given_time_to_take_what_waits(
        self, gpu: Gpu, sent: list[SimpleNamespace]
    ) -> None:
        run = enqueued(gpu, 1)
        services.host_alive("one", "h200", ENVIRONMENT)
        expire(run.chunks.get())
        services.sweep()
        assert len(sent) == 1

    def test_without_a_worker_a_run_waits_and_then_fails_with_the_reason(
        self, gpu: Gpu, settings: LazySettings
    ) -> None:
        settings.KBX_QUEUE_TIMEOUT = 7200
        run = enqueued(gpu, 1)
        expire(run.chunks.get())
        services.sweep()
        run.refresh_from_db()
        assert run.status == "queued"
        Chunk.objects.update(sent=now() - timedelta(seconds=7201))
        expire(run.chunks.get())
        services.sweep()
        run.refresh_from_db()
        assert run.status == "failed"
        assert run.reason == "No worker for NVIDIA H200 came up within 2 hours."
        assert run.results.get().outcome == "cancelled"

    def test_a_host_of_another_gpu_is_no_help(self, gpu: Gpu, settings: LazySettings) -> None:
        settings.KBX_QUEUE_TIMEOUT = 0
        HostFactory(gpu=GpuFactory(slug="a100"))
        HostFactory(gpu=gpu, last_seen=now() - timedelta(seconds=61))
        run = enqueued(gpu, 1)
        expire(run.chunks.get())
        services.sweep()
        run.refresh_from_db()
        assert run.status == "failed"

    def test_whatever_is_lost_every_run_ends(self, gpu: Gpu, in_suite: None) -> None:
        """No message arrives at all, though a host says that it lives: nothing hangs for ever."""
        run = enqueued(gpu, 30)
        for _ in range(3 * services.MAX_ATTEMPTS):
            HostFactory(name="one", gpu=gpu)
            Gpu.objects.update(last_heard=None)
            Chunk.objects.exclude(lease_until=None).update(lease_until=now() - timedelta(seconds=1))
            services.sweep()
        run.refresh_from_db()
        assert run.is_over
        assert run.results.count() == 30


class TestHosts:
    def test_a_host_is_kept_up_to_date(self, gpu: Gpu) -> None:
        services.host_alive("one", "h200", {})
        services.host_alive("one", "h200", ENVIRONMENT)
        (host,) = services.live_hosts(gpu)
        assert (host.name, host.environment) == ("one", ENVIRONMENT)

    def test_a_gpu_that_the_site_does_not_know_becomes_known(self, db: None) -> None:
        where = ENVIRONMENT | {"device": "rtx-9090", "device_name": "NVIDIA RTX 9090"}
        services.host_alive("one", "rtx-9090", where)
        found = Gpu.objects.get()
        assert (found.slug, found.name, found.timed) == ("rtx-9090", "NVIDIA RTX 9090", True)
        assert services.live_hosts(found).exists()

    def test_a_host_that_does_not_say_what_its_gpu_is_is_left_out(self, gpu: Gpu) -> None:
        for where in (ENVIRONMENT, {}, None, {"device": "abacus"}):
            services.host_alive("one", "abacus", where)
        for slug in ("A Slug", "../h200", "", "x" * 41):
            services.host_alive("one", slug, ENVIRONMENT | {"device": slug})
        assert list(Gpu.objects.all()) == [gpu]
        assert not services.live_hosts(gpu).exists()

    def test_a_host_that_fell_silent_is_not_alive(self, gpu: Gpu) -> None:
        HostFactory(gpu=gpu, last_seen=now() - timedelta(seconds=61))
        assert not services.live_hosts(gpu).exists()


class TestCancel:
    def test_the_rest_is_cancelled_and_workers_are_told(self, gpu: Gpu, in_suite: None) -> None:
        run, chunk = at_work(gpu, 30)
        services.record(chunk.pk, 1, report(chunk.tasks[0]).to_json())
        assert services.cancel(run, "Cancelled by ada.")
        run.refresh_from_db()
        assert (run.status, run.reason) == ("cancelled", "Cancelled by ada.")
        assert run.results.filter(outcome="correct").count() == 2
        assert run.results.filter(outcome="cancelled").count() == 28
        assert set(run.chunks.values_list("state", flat=True)) == {"done"}
        with redis.Redis.from_url(settings.REDIS_URL) as broker:
            assert broker.get(f"kbx:cancelled:{run.pk}") == b"1"
            assert 0 < broker.ttl(f"kbx:cancelled:{run.pk}") <= 24 * 60 * 60

    def test_a_run_that_is_over_cannot_be_cancelled(self, gpu: Gpu) -> None:
        run = RunFactory(gpu=gpu, status=Run.Status.FINISHED)
        assert not services.cancel(run, "Too late.")
        run.refresh_from_db()
        assert run.status == "finished"


class TestSummaries:
    def test_counts_are_over_all_tasks(self, gpu: Gpu, in_suite: None) -> None:
        names = ["gelu", "relu", "selu", "tanh", "conv2d", "sigmoid"]
        run = services.enqueue(SubmissionFactory(tasks=names), gpu)
        said = {
            "gelu": report("gelu", speedup=4.0),
            "relu": report("relu", speedup=1.0),
            "selu": report("selu", Outcome.WRONG_VALUES),
            "tanh": report("tanh", Outcome.TIMING_FAILED),
            "conv2d": report("conv2d", speedup=2.0),
            "sigmoid": report("sigmoid", Outcome.EVALUATOR_ERROR),
        }
        first = run.chunks.get(number=0).tasks[0]
        services.record(run.chunks.get(number=0).pk, 1, said.pop(first).to_json())
        for one in said.values():
            services.record(run.chunks.get(number=1).pk, 1, one.to_json())
        everything, activation = (run.summaries.get(category=category) for category in ("", "Activation"))
        assert (everything.tasks, everything.handed_in, everything.judged) == (176, 6, 5)
        assert (everything.compiled, everything.correct, everything.timed) == (5, 4, 3)
        assert everything.geometric_mean == pytest.approx(2.0)
        assert everything.arithmetic_mean == pytest.approx(7 / 3)
        assert (everything.fast_1, everything.fast_2) == (2, 1)
        assert (activation.tasks, activation.handed_in, activation.correct) == (10, 5, 3)
        assert (activation.geometric_mean, activation.fast_1) == (pytest.approx(2.0), 1)
        empty = run.summaries.get(category="Math")
        assert (empty.handed_in, empty.correct, empty.geometric_mean) == (0, 0, None)
        assert sum(run.summaries.exclude(category="").values_list("tasks", flat=True)) == 176

    def test_rescore_rebuilds_what_was_spoilt(self, gpu: Gpu) -> None:
        run = enqueued(gpu, 1)
        (chunk,) = run.chunks.all()
        services.record(chunk.pk, 1, report(chunk.tasks[0], speedup=3.0).to_json())
        before = list(run.summaries.order_by("category").values_list("category", "correct", "geometric_mean"))
        Result.objects.update(speedup=99.0, correct=False)
        Summary.objects.all().delete()
        call_command("rescore", verbosity=0)
        after = list(run.summaries.order_by("category").values_list("category", "correct", "geometric_mean"))
        assert after == before
        assert run.results.get().speedup == 3.0


class TestSyncTasks:
    def test_fills_all_tasks_and_gpus_twice_alike(
        self, db: None, django_assert_max_num_queries: Callable[..., Any]
    ) -> None:
        Task.objects.create(name="gelu", category="Old", version="stale")
        for _ in range(2):
            with django_assert_max_num_queries(6):
                call_command("sync_tasks", verbosity=0)
            assert Task.objects.count() == 176
            assert Task.objects.get(name="gelu").version == registry.task_version("gelu")
            assert Task.objects.get(name="gelu").category == "Activation"
            assert set(Gpu.objects.filter(timed=False).values_list("slug", "name")) == {
                ("cpu", "CPU (Triton interpreter)")
            }
            assert Gpu.objects.filter(slug="h200", timed=True).exists()
            assert Gpu.objects.count() == len(DEVICES) + 1
        unbuilt = set(NAMES) - set(registry.all_tasks())
        assert set(Task.objects.filter(version="").values_list("name", flat=True)) == unbuilt
