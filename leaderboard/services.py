"""Everything that writes: submit, enqueue, record, cancel, run again, sweep. One transaction each.

The row of a run is the one lock of all that belongs to it: whoever changes its chunks or results takes it
first. The database is the truth; a message is a hint, so a late, repeated or foreign one changes nothing.
"""

from __future__ import annotations

import hashlib
import json
import logging
import re
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict
from datetime import datetime, timedelta
from functools import partial
from itertools import pairwise
from time import thread_time
from typing import Any, TypeVar

from django.conf import settings
from django.db import IntegrityError, transaction
from django.db.models import Max, Q, QuerySet
from django.utils.text import slugify
from django.utils.timezone import now

from evaluator import static_check
from evaluator.report import Environment, Failure, Outcome, Record, Report, ReportError, Stage
from evaluator.upload import Upload
from leaderboard import broker, scores
from leaderboard.models import Chunk, Gpu, Host, Kernel, Method, Result, Run, Submission, Summary, User
from leaderboard.results_file import ResultsFile
from tasks.registry import SUITE_VERSION

log = logging.getLogger(__name__)

R = TypeVar("R", bound=Record)

CHUNK_KERNELS = 22
MAX_ATTEMPTS = 3
LEASE = timedelta(seconds=60)  # a worker says every 15 s that it lives
CHECK_S = 10.0  # of processor time; 176 ordinary kernels take less than one, 176 hostile ones ten minutes
GRACE = timedelta(seconds=5)  # for the reports that a "finished" has overtaken
QUIET = timedelta(minutes=2)  # no word of a GPU's work for so long while a host lives: the message is lost

_OPEN = (Chunk.State.WAITING, Chunk.State.SENT, Chunk.State.STARTED)
_ACTIVE = (Run.Status.QUEUED, Run.Status.RUNNING)
_BROKEN = (Outcome.WORKER_LOST, Outcome.EVALUATOR_ERROR)  # they speak of the GPU, not of the kernel


class Refused(Exception):
    """What was asked for cannot be done; the message is a sentence for the person who asked."""


# Submissions


def method_named(owner: User, name: str, **fields: str) -> Method:
    """The owner's method of that name, made with `fields` if need be. Raises Refused if it is another's."""
    name = " ".join(name.split())
    method = Method.objects.filter(name__iexact=name).first() or _new_method(owner, name, fields)
    if method.owner_id != owner.pk:
        raise Refused(f"The name {name} is taken by a method of somebody else. Choose another one.")
    return method


def _new_method(owner: User, name: str, fields: Mapping[str, str]) -> Method:
    try:
        with transaction.atomic():
            return Method.objects.create(owner=owner, name=name, slug=free_slug(name), **fields)
    except IntegrityError:  # the other half of a double click was faster
        if method := Method.objects.filter(name=name).first():
            return method
        raise


def free_slug(name: str) -> str:
    """A slug for a method of that name which no other has."""
    stem = slugify(name)[:70] or "method"
    taken = set(Method.objects.filter(slug__startswith=stem).values_list("slug", flat=True))
    return next(s for n in range(1, len(taken) + 2) if (s := f"{stem}-{n}" if n > 1 else stem) not in taken)


def next_round(method: Method) -> int:
    """The first round number that the method has not handed in yet."""
    last = method.submissions.aggregate(last=Max("round"))["last"]
    return 0 if last is None else last + 1


def submit(
    uploader: User, method: Method, round: int | None, upload: Upload, file_name: str, data: bytes
) -> Submission:
    """A submission with its kernels and what was found in the file. Without a round it becomes the next one.

    The same file again for the same method is the submission that it already is. Raises Refused where the
    round holds another file.
    """
    sha256, findings = hashlib.sha256(data).hexdigest(), _findings(upload)
    with transaction.atomic():
        Method.objects.select_for_update().get(pk=method.pk)  # so that two clicks at once take turns
        taken = method.submissions.all() if round is None else method.submissions.filter(round=round)
        if same := taken.filter(file_sha256=sha256).first():
            return same
        if round is None:
            round = next_round(method)
        elif other := taken.first():
            raise Refused(
                f"Round {round} of {method} was handed in on {other.created:%-d %B %Y} with another file "
                f"({other.file_name}). Its next free round is {next_round(method)}."
            )
        submission = Submission.objects.create(
            method=method,
            round=round,
            uploader=uploader,
            file_name=file_name[:200],
            file_sha256=sha256,
            findings=findings,
        )
        Kernel.objects.bulk_create(
            Kernel(submission=submission, task_id=task, source=source, sha256=_sha256(source))
            for task, source in upload.kernels.items()
        )
    return submission


def discard(submission: Submission) -> None:
    """Take back a submission that was never evaluated. Raises Refused once it has runs."""
    with transaction.atomic():
        locked = Submission.objects.select_for_update().get(pk=submission.pk)
        if locked.runs.exists():
            raise Refused("This submission has been evaluated and can no longer be discarded.")
        locked.delete()


def _findings(upload: Upload) -> dict[str, Any]:
    failures = _check(upload.kernels)
    return {
        "problems": [asdict(problem) for problem in upload.problems],
        "static": {
            task: {"outcome": failure.outcome, "message": failure.message, "line": failure.line}
            for task, failure in failures.items()
        },
    }


def _check(sources: Mapping[str, str]) -> dict[str, Failure]:
    """What the static check says against the kernels that it gets to in time; the worker checks all."""
    ends = thread_time() + CHECK_S
    failures: dict[str, Failure] = {}
    for task, source in sources.items():
        if thread_time() >= ends:
            break
        if failure := static_check.check(source, task):
            failures[task] = failure
    return failures


def _sha256(source: str) -> str:
    return hashlib.sha256(source.encode()).hexdigest()


# Runs


def enqueue(submission: Submission, gpu: Gpu, *, again: bool = False) -> Run:
    """Evaluate the submission on the GPU. One that is queued or running there is that run, and so is a
    finished one unless it shall be evaluated `again`.

    Kernels that no worker is needed for have their results at once. Raises Refused where a source is missing.
    """
    kernels = list(submission.kernels.select_related("task").order_by("task__category", "task"))
    if hidden := [kernel for kernel in kernels if not kernel.source]:
        raise Refused(
            f"{submission} was imported without the source of {hidden[0].task_id}, so it cannot be run here."
        )
    failures = _check({kernel.task_id: kernel.source for kernel in kernels if kernel.task.in_suite})
    known = {kernel: report for kernel in kernels if (report := _without_worker(kernel, gpu, failures))}
    with transaction.atomic():
        Submission.objects.select_for_update().get(pk=submission.pk)
        statuses = _ACTIVE if again else (*_ACTIVE, Run.Status.FINISHED)
        if run := submission.runs.filter(gpu=gpu, status__in=statuses).first():
            return run
        run = Run.objects.create(submission=submission, gpu=gpu, suite_version=SUITE_VERSION)
        Result.objects.bulk_create(_result(run, kernel, report) for kernel, report in known.items())
        left = [kernel.task_id for kernel in kernels if kernel not in known]
        chunks = Chunk.objects.bulk_create(
            Chunk(run=run, number=number, tasks=tasks) for number, tasks in enumerate(_chunks(left))
        )
        if chunks:
            _send(chunks[0])
        else:
            _end(run, Run.Status.FINISHED)
    return run


def rerun(submissions: Iterable[Submission], gpu: Gpu) -> list[Run]:
    """A new run of each submission on the GPU, or the one that is still queued or running there."""
    return [enqueue(submission, gpu, again=True) for submission in submissions]


def import_run(
    method: Method, round: int, results: ResultsFile, sources: Mapping[str, str], file_name: str
) -> Run:
    """A finished run from a results file, once. Sources that are not given stay unknown but for their hash.

    Raises Refused where the device is unknown, a source is not the one that was evaluated, or the round holds
    other kernels.
    """
    gpu = Gpu.objects.filter(slug=results.environment.device).first()
    if gpu is None:
        raise Refused(f"This site knows no GPU {results.environment.device!r}.")
    hashes = {report.task: report.source_sha256 for report in results.reports}
    for task, source in sources.items():
        if task in hashes and _sha256(source) != hashes[task]:
            raise Refused(f"The source given for {task} is not the one that was evaluated.")
    with transaction.atomic():
        Method.objects.select_for_update().get(pk=method.pk)
        submission = _imported_submission(method, round, hashes, sources, file_name)
        if run := submission.runs.filter(gpu=gpu, seed=results.seed).first():
            return run
        run = Run.objects.create(
            submission=submission,
            gpu=gpu,
            seed=results.seed,
            suite_version=results.environment.suite_version,
            environment=results.environment.to_json(),
            status=Run.Status.FINISHED,
            started=now(),
            ended=now(),
        )
        kernels = {kernel.task_id: kernel for kernel in submission.kernels.all()}
        Result.objects.bulk_create(_result(run, kernels[report.task], report) for report in results.reports)
        _summarise(run)
    return run


def _imported_submission(
    method: Method, round: int, hashes: Mapping[str, str], sources: Mapping[str, str], file_name: str
) -> Submission:
    whole = _sha256(json.dumps(sorted(hashes.items())))
    if submission := method.submissions.filter(round=round).first():
        if dict(submission.kernels.values_list("task", "sha256")) != dict(hashes):
            raise Refused(f"Round {round} of {method} holds other kernels than the results are on.")
        return submission
    submission = Submission.objects.create(
        method=method, round=round, file_name=file_name[:200], file_sha256=whole
    )
    Kernel.objects.bulk_create(
        Kernel(submission=submission, task_id=task, source=sources.get(task, ""), sha256=sha256)
        for task, sha256 in hashes.items()
    )
    return submission


def cancel(run: Run, reason: str) -> bool:
    """End the run now; what its worker still says does not count. False if it was over before."""
    with transaction.atomic():
        locked = _lock(run.pk)
        if locked is None or locked.is_over:
            return False
        _end(locked, Run.Status.CANCELLED, reason)
        return True


def rescore(run: Run) -> None:
    """Rebuild from the stored reports what the ranking needs of a run."""
    with transaction.atomic():
        locked = _lock(run.pk)
        if locked is None:
            return
        for result in locked.results.select_related("kernel"):
            _result(locked, result.kernel, Report.from_json(result.report), pk=result.pk).save(
                update_fields=["stage", "outcome", "compiled", "correct", "speedup", "task_version"]
            )
        if locked.status == Run.Status.FINISHED:
            _summarise(locked)


def _without_worker(kernel: Kernel, gpu: Gpu, failures: Mapping[str, Failure]) -> Report | None:
    if not kernel.task.in_suite:
        failure = Failure(
            outcome=Outcome.NOT_IN_SUITE,
            message=f"{kernel.task_id} is a task of the benchmark that this site does not run yet.",
        )
    elif kernel.task_id in failures:
        failure = failures[kernel.task_id]
    else:
        return None
    return _report(kernel, gpu, failure)


def _report(kernel: Kernel, gpu: Gpu, failure: Failure) -> Report:
    return Report(
        task=kernel.task_id,
        task_version=kernel.task.version,
        device=gpu.slug,
        stage=Stage.STATIC,
        failure=failure,
        source_sha256=kernel.sha256,
    )


def _chunks(tasks: list[str]) -> list[list[str]]:
    """The first kernel goes ahead alone: a broken GPU or environment shall fail one kernel and not 176."""
    bounds = [0, *range(1, len(tasks), CHUNK_KERNELS), len(tasks)]
    return [tasks[start:end] for start, end in pairwise(bounds) if start < end]


def _send(chunk: Chunk) -> None:
    chunk.state, chunk.sent, chunk.lease_until = Chunk.State.SENT, now(), now() + LEASE
    chunk.host = chunk.current_task = chunk.reason = ""
    chunk.save()
    transaction.on_commit(partial(broker.send_chunk, chunk.pk, chunk.attempt))


def _result(run: Run, kernel: Kernel, report: Report, **fields: Any) -> Result:
    return Result(
        run=run,
        kernel=kernel,
        task_id=kernel.task_id,
        task_version=report.task_version[:12],
        stage=report.stage,
        outcome=report.outcome,
        compiled=report.compiled,
        correct=report.correct,
        speedup=report.speedup,
        report=report.to_json(),
        **fields,
    )


def _lock(run_id: int) -> Run | None:
    return Run.objects.select_for_update(of=("self",)).select_related("gpu").filter(pk=run_id).first()


def _end(run: Run, status: Run.Status, reason: str = "") -> None:
    """The end of a run, whole: every kernel has a result and the summaries stand when the status says so."""
    run.chunks.exclude(state=Chunk.State.DONE).update(state=Chunk.State.DONE)
    run.status, run.reason, run.ended = status, reason[:300], now()
    run.save(update_fields=["status", "reason", "ended"])
    if status == Run.Status.FINISHED:
        _summarise(run)
    else:
        _settle(_without_result(run), run, Outcome.CANCELLED, reason)
        transaction.on_commit(partial(broker.announce_cancel, run.pk))


def _summarise(run: Run) -> None:
    handed_in = run.submission.kernels.values_list("task", flat=True)
    run.summaries.all().delete()
    Summary.objects.bulk_create(scores.summaries(run, handed_in, run.results.defer("report")))


def _without_result(run: Run, tasks: list[str] | None = None) -> list[Kernel]:
    kernels = run.submission.kernels.select_related("task").exclude(results__run=run)
    return list(kernels if tasks is None else kernels.filter(task__in=tasks))


def _settle(kernels: Iterable[Kernel], run: Run, outcome: Outcome, reason: str) -> None:
    failure = Failure(outcome=outcome, message=reason)
    Result.objects.bulk_create(_result(run, kernel, _report(kernel, run.gpu, failure)) for kernel in kernels)


# What workers say


def host_alive(name: str, gpu_slug: str, environment: Any) -> None:
    """A worker lives, idle or busy. One with a GPU that the site does not know yet makes it known."""
    where = _environment(environment)
    gpu = Gpu.objects.filter(slug=gpu_slug).first() or _new_gpu(gpu_slug, where)
    if gpu is None:
        log.warning("host %s serves the GPU %r and does not say what it is", name, gpu_slug)
        return
    if not live_hosts(gpu).filter(name=name).exists():
        _heard(gpu.pk)  # it has just come up and looks into its queue now
    Host.objects.update_or_create(
        name=name[:200], defaults={"gpu": gpu, "last_seen": now(), "environment": where}
    )


def _new_gpu(slug: str, environment: Mapping[str, Any]) -> Gpu | None:
    if not re.fullmatch(r"[a-z0-9-]{1,40}", slug) or environment.get("device") != slug:
        return None
    return Gpu.objects.get_or_create(slug=slug, defaults={"name": environment["device_name"][:80]})[0]


def chunk_started(chunk_id: int, attempt: int, host: str, environment: Any) -> None:
    """A worker has taken the chunk."""
    with _turn(chunk_id, attempt) as chunk:
        if chunk is None:
            return
        _keep(chunk, host=host[:200])
        if not chunk.run.environment:
            chunk.run.environment = _environment(environment)
            chunk.run.save(update_fields=["environment"])


def chunk_alive(chunk_id: int, attempt: int, task: str) -> None:
    """The worker is at the kernel for `task`, and the chunk's lease begins again."""
    with _turn(chunk_id, attempt) as chunk:
        if chunk:
            _keep(chunk, current_task=task if task in chunk.tasks else chunk.current_task)


def record(chunk_id: int, attempt: int, data: Any) -> bool:
    """Store the report of a kernel, once, if the chunk waits for it. Says whether it did."""
    try:
        report = _read(Report, data)
    except ReportError as error:
        log.warning("chunk %s: a report that cannot be used: %s", chunk_id, error)
        return False
    with _turn(chunk_id, attempt) as chunk:
        if chunk is None:
            return False
        _keep(chunk)
        waiting = {kernel.task_id: kernel for kernel in _without_result(chunk.run, chunk.tasks)}
        kernel = waiting.get(report.task)
        if kernel is None or not _is_about(report, kernel, chunk.run.gpu):
            log.info("%s: a report on %s that it does not wait for", chunk, report.task)
            return False
        _result(chunk.run, kernel, report).save()
        _go_on(chunk)
        return True


def chunk_finished(chunk_id: int, attempt: int) -> None:
    """The worker has sent its last report. Kernels without one go again, after a grace for late reports."""
    _leave(chunk_id, attempt, "The worker finished without a usable report on this kernel.")


def chunk_failed(chunk_id: int, attempt: int, reason: str) -> None:
    """The worker cannot evaluate at all, for the given reason."""
    _leave(chunk_id, attempt, f"The worker could not evaluate: {reason}")


def live_hosts(gpu: Gpu) -> QuerySet[Host]:
    """The hosts of the GPU that have said within a minute that they live."""
    return gpu.hosts.filter(alive())


def alive(path: str = "") -> Q:
    """The condition that a host has a live worker; `path` leads to it, as in "hosts__"."""
    return Q(**{f"{path}last_seen__gt": now() - LEASE})


@contextmanager
def _turn(chunk_id: int, attempt: int) -> Iterator[Chunk | None]:
    """A transaction with the chunk, its run locked, if it is being evaluated in that attempt."""
    found = Chunk.objects.filter(pk=chunk_id).values_list("run", "run__gpu").first()
    if found is None:
        log.warning("a message about chunk %s, which does not exist", chunk_id)
        yield None
        return
    run_id, gpu_id = found
    _heard(gpu_id)  # apart from the transaction, which would keep others of that GPU waiting for the row
    with transaction.atomic():
        run = _lock(run_id)
        at_work = Chunk.objects.filter(state__in=[Chunk.State.SENT, Chunk.State.STARTED])
        chunk = at_work.filter(pk=chunk_id, attempt=attempt).first()
        if run is None or chunk is None:
            log.debug("a message about attempt %s of chunk %s, which is over", attempt, chunk_id)
            yield None
            return
        chunk.run = run
        yield chunk


def _heard(gpu_id: int) -> None:
    Gpu.objects.filter(pk=gpu_id).update(last_heard=now())


def _keep(chunk: Chunk, **fields: str) -> None:
    """Any word from its worker starts a chunk and its run, in whatever order the words arrive."""
    for name, value in fields.items():
        setattr(chunk, name, value)
    chunk.state, chunk.lease_until = Chunk.State.STARTED, now() + LEASE
    chunk.save(update_fields=["state", "lease_until", *fields])
    if chunk.run.status == Run.Status.QUEUED:
        chunk.run.status, chunk.run.started = Run.Status.RUNNING, now()
        chunk.run.save(update_fields=["status", "started"])


def _go_on(chunk: Chunk) -> None:
    """After a chunk's last result: the rest of the run is sent, or the run is over."""
    run = chunk.run
    if _without_result(run, chunk.tasks):
        return
    chunk.state = Chunk.State.DONE
    chunk.save(update_fields=["state"])
    if chunk.number == 0:
        first = run.results.get(task=chunk.tasks[0])
        if first.outcome in _BROKEN:
            message = first.report["failure"]["message"]
            _end(run, Run.Status.FAILED, f"Its first kernel could not be evaluated. {message}")
            return
        for waiting in run.chunks.filter(state=Chunk.State.WAITING):
            _send(waiting)
    if not run.chunks.filter(state__in=_OPEN).exists():
        _end(run, Run.Status.FINISHED)


def _leave(chunk_id: int, attempt: int, reason: str) -> None:
    with _turn(chunk_id, attempt) as chunk:
        if chunk:
            _keep(chunk, reason=reason[:300])
            chunk.lease_until = now() + GRACE
            chunk.save(update_fields=["lease_until"])


def _read(kind: type[R], data: Any) -> R:
    """`data` as a record. Raises ReportError also for what PostgreSQL cannot store."""
    try:
        text = json.dumps(data, allow_nan=False, ensure_ascii=False)
        text.encode()
    except ValueError as error:  # NaN, infinity, half a surrogate pair
        raise ReportError(str(error)) from error
    if re.search(r"(?<!\\)(\\\\)*\\u0000", text):
        raise ReportError("it holds a null character")
    return kind.from_json(data)


def _is_about(report: Report, kernel: Kernel, gpu: Gpu) -> bool:
    return (
        report.device == gpu.slug
        and report.source_sha256 in ("", kernel.sha256)
        and (gpu.timed or not report.timings)
    )


def _environment(data: Any) -> dict[str, Any]:
    try:
        return _read(Environment, data).to_json()
    except ReportError as error:
        log.warning("an environment that cannot be used: %s", error)
        return {}


# Deadlines


def sweep() -> None:
    """Every state that is not final has a deadline: look after the chunks that are past theirs."""
    overdue = Chunk.objects.filter(state__in=_OPEN, lease_until__lt=now())
    for chunk_id, run_id in overdue.order_by("lease_until").values_list("pk", "run"):
        with transaction.atomic():
            run = _lock(run_id)
            chunk = overdue.filter(pk=chunk_id, lease_until__lt=now()).first()
            if run and chunk:  # or else somebody was faster
                chunk.run = run
                _look_after(chunk)


def _look_after(chunk: Chunk) -> None:
    if chunk.state == Chunk.State.STARTED:
        _try_again(chunk)
    elif live_hosts(chunk.run.gpu).exists():
        last_heard = chunk.run.gpu.last_heard
        if last_heard is None or last_heard < now() - QUIET:
            chunk.reason = "No worker took it, although one was there."
            _try_again(chunk)
        else:
            _wait_on(chunk)
    elif _sent(chunk) < now() - timedelta(seconds=settings.KBX_QUEUE_TIMEOUT):
        hours = settings.KBX_QUEUE_TIMEOUT / 3600
        _end(chunk.run, Run.Status.FAILED, f"No worker for {chunk.run.gpu} came up within {hours:g} hours.")
    else:
        _wait_on(chunk)


def _sent(chunk: Chunk) -> datetime:
    assert chunk.sent  # set together with the lease
    return chunk.sent


def _wait_on(chunk: Chunk) -> None:
    chunk.lease_until = now() + LEASE
    chunk.save(update_fields=["lease_until"])


def _try_again(chunk: Chunk) -> None:
    """The next attempt, for the kernels that have no result; after the last one they get their outcome."""
    if chunk.attempt < MAX_ATTEMPTS:
        chunk.attempt += 1
        # The kernel at which the worker fell silent goes last: it shall not take the others with it again.
        chunk.tasks.sort(key=lambda task: task == chunk.current_task)
        _send(chunk)
        return
    where = f"The worker {chunk.host}" if chunk.host else "The worker"
    outcome = Outcome.EVALUATOR_ERROR if chunk.reason else Outcome.WORKER_LOST
    reason = chunk.reason or f"{where} fell silent, in the last of {MAX_ATTEMPTS} attempts."
    _settle(_without_result(chunk.run, chunk.tasks), chunk.run, outcome, reason)
    _go_on(chunk)
