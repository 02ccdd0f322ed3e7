"""A site with something on every page: methods, rounds, GPUs, all kinds of outcomes. The same every time."""

from __future__ import annotations

import random
from collections.abc import Mapping

from django.core.management import call_command
from django.utils.text import slugify
from django.utils.timezone import now

from evaluator.report import (
    CaseError,
    Cause,
    Clause,
    Contract,
    Failure,
    Measure,
    Outcome,
    Report,
    Stage,
    Timing,
    Verdict,
)
from leaderboard import scores
from leaderboard.models import Gpu, Kernel, Method, Result, Run, Submission, Summary
from tasks.catalogue import CATALOGUE
from tests.factories import MethodFactory, RunFactory, SubmissionFactory, report, sha256, source_for

HOSTILE = "<script>alert('x')</script>\"&"
NAMES = [name for names in CATALOGUE.values() for name in names]

_METHODS = (
    ("Northwind", Method.Kind.SINGLE_PASS, "model-a", 0.45, 176, 1.3),
    ("Refiner", Method.Kind.AGENTIC, "model-b", 0.34, 176, 1.15),
    ("Small 8B", Method.Kind.SINGLE_PASS, "model-c-8b", 0.17, 176, 1.35),
    ("Tryagain", Method.Kind.ITERATIVE, "model-d", 0.11, 90, 0.8),
    ("Hand-written", Method.Kind.HUMAN, "", 0.95, 12, 2.4),
    ("A method with a long name that goes on and on to see how it wraps", Method.Kind.AGENTIC, "", 0.0, 40, 1),
)  # fmt: skip
_FAILURES = (
    Outcome.COMPILE_FAILED, Outcome.CALL_FAILED, Outcome.WRONG_VALUES, Outcome.WRONG_SHAPE,
    Outcome.NO_TRITON_KERNEL, Outcome.TIMED_OUT, Outcome.SYNTAX_ERROR,
)  # fmt: skip


def fill() -> dict[str, Run]:
    """Six methods, one of them with three rounds, on an H200, an A100 and the interpreter. Runs by name."""
    call_command("sync_tasks", verbosity=0)
    gpus = [Gpu.objects.get(slug="h200"), Gpu.objects.get(slug="cpu")]
    a100, _ = Gpu.objects.get_or_create(slug="a100", defaults={"name": "NVIDIA A100 80GB"})
    runs = {}
    for name, kind, base_model, skill, kernels, speed in _METHODS:
        method = MethodFactory(name=name, slug=slugify(name)[:40], kind=kind, base_model=base_model)
        for round in range(3 if name == "Refiner" else 1):
            chance = random.Random(f"{name} {round}")
            tasks = NAMES if kernels == 176 else sorted(chance.sample(NAMES, kernels))
            for gpu in [*gpus, *([a100] if name == "Northwind" else [])]:
                reports = {
                    task: random_report(task, gpu, chance, skill * (0.8 + round / 10), speed)
                    for task in tasks
                }
                runs[f"{name} {round} {gpu.slug}"] = finished_run(method, gpu, reports, round=round)
    return runs


def finished_run(
    method: Method, gpu: Gpu, reports: Mapping[str, Report], *, round: int = 0, suite_version: str = "kbx-0"
) -> Run:
    """The method's round with a kernel, and a result in the new run, for each of the reports."""
    submission = Submission.objects.filter(method=method, round=round).first() or SubmissionFactory(
        method=method, round=round
    )
    have = set(submission.kernels.values_list("task", flat=True))
    Kernel.objects.bulk_create(
        Kernel(submission=submission, task_id=task, source=source_for(task), sha256=sha256(task))
        for task in reports
        if task not in have
    )
    kernels = {kernel.task_id: kernel for kernel in submission.kernels.all()}
    run = RunFactory(
        submission=submission,
        gpu=gpu,
        status=Run.Status.FINISHED,
        suite_version=suite_version,
        environment=_environment(gpu),
        started=now(),
        ended=now(),
    )
    results = Result.objects.bulk_create(
        Result(
            run=run,
            kernel=kernels[task],
            task_id=task,
            task_version=one.task_version,
            stage=one.stage,
            outcome=one.outcome,
            compiled=one.compiled,
            correct=one.correct,
            speedup=one.speedup,
            report=one.to_json(),
        )
        for task, one in reports.items()
    )
    Summary.objects.bulk_create(scores.summaries(run, kernels, results))
    return run


def random_report(task: str, gpu: Gpu, chance: random.Random, skill: float, speed: float) -> Report:
    if task in CATALOGUE["Quantization"]:
        return wall_report(task, gpu.slug)
    if chance.random() < skill:
        if not gpu.timed:
            return report(task, device=gpu.slug)
        return timed_report(task, speed * chance.lognormvariate(0, 0.4), gpu.slug)
    return report(task, chance.choice(_FAILURES), device=gpu.slug)


def timed_report(task: str, speedup: float, device: str = "h200") -> Report:
    timings = tuple(_timing(1 << power, speedup) for power in range(12, 28, 3))
    plain = report(task, device=device)
    return Report(
        task=task,
        task_version=plain.task_version,
        device=device,
        stage=Stage.PERF,
        cases_passed=6,
        cases_total=6,
        timings=timings,
        triton_kernels=("_kernel",),
        log="autotuning _kernel\n",
        seconds={"static": 0.01, "call": 6.2, "exe": 1.8, "perf": 9.4},
    )


def wall_report(task: str, device: str = "h200") -> Report:
    """Compiles, is accurate enough, misses the published RMSE, and truncates."""
    error = CaseError(
        case={"m": 512, "k": 2048},
        inputs="float32[512, 2048], float32[2048, 512]",
        output="output 0",
        dtype="float32",
        shape=(512, 512),
        expected_dtype="float32",
        expected_shape=(512, 512),
        wrong=1,
        elements=262_144,
        max_absolute=1.9,
        max_relative=0.4,
        worst=((3, 7), (511, 0)),
        got=(1.25, "nan"),
        expected=(-0.65, 12.5),
    )
    return Report(
        task=task,
        task_version=report(task).task_version,
        device=device,
        stage=Stage.EXE,
        cases_passed=2,
        cases_total=5,
        paper=Verdict(cosine=0.99983, relative_l1=0.0213, rmse=0.497, held=False),
        contract=contract(plateau=1.22, cause=Cause.TRUNCATED),
        failure=Failure(
            outcome=Outcome.CONTRACT_BROKEN,
            message="The contract's clause plateau (input) is broken. Measured 1.22, at most 0.3.",
            line=8,
            case_error=error,
        ),
    )


def contract(
    *, accuracy: float = 0.011, zero: float = 0.0, plateau: float = 0.0, cause: Cause | None = None
) -> Contract:
    return Contract(
        measures=(
            Measure(clause=Clause.ACCURACY, value=accuracy, limit=0.043),
            Measure(clause=Clause.ZERO, operand="input", value=zero, limit=0.3),
            Measure(clause=Clause.PLATEAU, operand="input", value=plateau, limit=0.3),
            Measure(clause=Clause.STEP, operand="input", value=0.008, limit=0.5),
        ),
        cause=cause,
    )


def hostile_report(task: str) -> Report:
    """Every text in it that a kernel can choose tries to be a script."""
    error = CaseError(
        case={"n": HOSTILE},
        inputs=HOSTILE,
        output=HOSTILE,
        dtype=HOSTILE,
        worst=((1,),),
        got=(HOSTILE,),
        expected=(1.0,),
    )
    return Report(
        task=task,
        task_version=report(task).task_version,
        device="h200",
        stage=Stage.CALL,
        failure=Failure(
            outcome=Outcome.CALL_FAILED, message=HOSTILE, details=HOSTILE, line=1, case_error=error
        ),
        triton_kernels=(HOSTILE,),
        variant=HOSTILE,
        log=HOSTILE,
    )


def _timing(n: int, speedup: float) -> Timing:
    kernel_ms = 0.004 + n * 8 / 4e9
    return Timing(
        case={"n": n},
        kernel_ms=kernel_ms,
        kernel_low_ms=kernel_ms * 0.98,
        kernel_high_ms=kernel_ms * 1.03,
        eager_ms=kernel_ms * speedup,
        eager_low_ms=kernel_ms * speedup * 0.98,
        eager_high_ms=kernel_ms * speedup * 1.03,
        repetitions=200,
        bytes_moved=8 * n,
        flops=8 * n,
        confirmed=n > 10_000,
    )


def _environment(gpu: Gpu) -> dict[str, str]:
    return {
        "device": gpu.slug,
        "device_name": gpu.name,
        "python": "3.12.3",
        "torch": "2.11.0",
        "triton": "3.6.0",
        "suite_version": "kbx-0",
        "sandbox": "bubblewrap 0.11.0",
        **({"driver": "570.86", "cuda": "12.8"} if gpu.timed else {}),
    }
