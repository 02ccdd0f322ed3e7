"""Rows for tests, as small as they may be."""

from __future__ import annotations

import hashlib
from typing import Any

import factory
from django.utils.timezone import now
from factory.django import DjangoModelFactory

from evaluator.report import CaseError, Environment, Failure, Outcome, Report, Stage, Timing
from leaderboard.models import Chunk, Gpu, Host, Kernel, Method, Result, Run, Submission, Summary, Task, User
from tasks.registry import SUITE_VERSION, all_tasks, category_of, task_version


class UserFactory(DjangoModelFactory[User]):
    class Meta:
        model = User

    username = factory.Sequence("user{}".format)
    email = factory.LazyAttribute("{0.username}@example.org".format)


class TaskFactory(DjangoModelFactory[Task]):
    class Meta:
        model = Task
        django_get_or_create = ("name",)

    name = "gelu"
    category = factory.LazyAttribute(lambda task: category_of(task.name))
    version = factory.LazyAttribute(lambda task: task_version(task.name) if task.name in all_tasks() else "")


class GpuFactory(DjangoModelFactory[Gpu]):
    class Meta:
        model = Gpu
        django_get_or_create = ("slug",)

    slug = "h200"
    name = factory.LazyAttribute(lambda gpu: f"NVIDIA {gpu.slug.upper()}")
    timed = factory.LazyAttribute(lambda gpu: gpu.slug != "cpu")


class HostFactory(DjangoModelFactory[Host]):
    class Meta:
        model = Host
        django_get_or_create = ("name",)

    name = factory.Sequence("gpu-host-{}".format)
    gpu = factory.SubFactory(GpuFactory)
    last_seen = factory.LazyFunction(now)


class MethodFactory(DjangoModelFactory[Method]):
    class Meta:
        model = Method

    owner = factory.SubFactory(UserFactory)
    name = factory.Sequence("Method {}".format)
    slug = factory.Sequence("method-{}".format)


class SubmissionFactory(DjangoModelFactory[Submission]):
    """With a kernel for each of `tasks`."""

    class Meta:
        model = Submission
        skip_postgeneration_save = True

    method = factory.SubFactory(MethodFactory)
    uploader = factory.SelfAttribute("method.owner")
    round = factory.Sequence(lambda n: n % 1000)
    file_name = "kernels.jsonl"
    file_sha256 = factory.LazyAttribute(lambda submission: sha256(str(submission.round)))
    findings = factory.LazyFunction(lambda: {"problems": [], "static": {}})

    @factory.post_generation
    def tasks(submission: Submission, create: bool, names: tuple[str, ...] | None, **kwargs: object) -> None:
        for name in names or ():
            KernelFactory(submission=submission, task__name=name)


class KernelFactory(DjangoModelFactory[Kernel]):
    class Meta:
        model = Kernel

    submission = factory.SubFactory(SubmissionFactory)
    task = factory.SubFactory(TaskFactory)
    source = factory.LazyAttribute(lambda kernel: source_for(kernel.task.name))
    sha256 = factory.LazyAttribute(lambda kernel: sha256(kernel.source))


class RunFactory(DjangoModelFactory[Run]):
    """A run without chunks, as for a page; `services.enqueue` makes a whole one."""

    class Meta:
        model = Run

    submission = factory.SubFactory(SubmissionFactory)
    gpu = factory.SubFactory(GpuFactory)
    suite_version = SUITE_VERSION


class ResultFactory(DjangoModelFactory[Result]):
    """The result of `report`, and a kernel for it if the submission has none."""

    class Meta:
        model = Result

    class Params:
        report_ = factory.LazyFunction(lambda: report("gelu"))

    run = factory.SubFactory(RunFactory)
    task = factory.LazyAttribute(lambda result: TaskFactory(name=result.report_.task))
    kernel = factory.LazyAttribute(
        lambda result: (
            result.run.submission.kernels.filter(task=result.task).first()
            or KernelFactory(submission=result.run.submission, task=result.task)
        )
    )
    task_version = factory.LazyAttribute(lambda result: result.report_.task_version)
    stage = factory.LazyAttribute(lambda result: result.report_.stage)
    outcome = factory.LazyAttribute(lambda result: result.report_.outcome)
    compiled = factory.LazyAttribute(lambda result: result.report_.compiled)
    correct = factory.LazyAttribute(lambda result: result.report_.correct)
    speedup = factory.LazyAttribute(lambda result: result.report_.speedup)
    report = factory.LazyAttribute(lambda result: result.report_.to_json())


def report(
    task: str, outcome: Outcome = Outcome.CORRECT, *, device: str = "h200", speedup: float | None = None
) -> Report:
    """A report with that outcome; a correct one is timed if it has a speedup."""
    version = task_version(task) if task in all_tasks() else ""
    if outcome is Outcome.CORRECT:
        timings = () if speedup is None else (timing(speedup),)
        stage = Stage.EXE if speedup is None else Stage.PERF
        return Report(
            task=task,
            task_version=version,
            device=device,
            stage=stage,
            timings=timings,
            cases_passed=3,
            cases_total=3,
        )
    error = CaseError(case={"n": 8}, inputs="float32[8]", wrong=3, elements=8, max_absolute=0.5)
    failure = Failure(
        outcome=outcome,
        message=f"The kernel ended as {outcome}.",
        case_error=error if outcome is Outcome.WRONG_VALUES else None,
    )
    return Report(
        task=task,
        task_version=version,
        device=device,
        stage=_STAGES.get(outcome, Stage.CALL),
        failure=failure,
    )


_STAGES = {
    Outcome.SYNTAX_ERROR: Stage.STATIC,
    Outcome.NOT_IN_SUITE: Stage.STATIC,
    Outcome.WRONG_VALUES: Stage.EXE,
    Outcome.WRONG_SHAPE: Stage.EXE,
    Outcome.TIMING_FAILED: Stage.PERF,
}


def timing(speedup: float, kernel_ms: float = 1.0, n: int = 4096) -> Timing:
    return Timing(
        case={"n": n},
        kernel_ms=kernel_ms,
        kernel_low_ms=kernel_ms * 0.9,
        kernel_high_ms=kernel_ms * 1.1,
        eager_ms=kernel_ms * speedup,
        eager_low_ms=kernel_ms * speedup * 0.9,
        eager_high_ms=kernel_ms * speedup * 1.1,
        repetitions=100,
        bytes_moved=8 * n,
        flops=8 * n,
        confirmed=True,
    )


def source_for(task: str) -> str:
    """A source that the static check lets pass."""
    return f"""import triton
import triton.language as tl


@triton.jit
def _kernel(x, out, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out + offsets, tl.load(x + offsets, mask=offsets < n), mask=offsets < n)


def {task}(input, *rest, **options):
    out = input.new_empty(input.shape)
    _kernel[(1,)](input, out, input.numel(), BLOCK=1024)
    return out
"""


def sha256(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


ENVIRONMENT = Environment(
    device="h200",
    device_name="NVIDIA H200",
    python="3.12",
    torch="2.11",
    triton="3.6",
    suite_version=SUITE_VERSION,
    host="one",
).to_json()


def state() -> list[list[Any]]:
    """Everything that a message could change, except when it was heard."""
    runs = Run.objects.order_by("pk").values_list("status", "reason", "environment", "ended")
    chunks = Chunk.objects.order_by("pk").values_list(
        "state", "attempt", "host", "current_task", "tasks", "lease_until"
    )
    results = Result.objects.order_by("pk").values_list("run", "task", "outcome", "report")
    return [list(runs), list(chunks), list(results), list(Summary.objects.order_by("pk").values())]
