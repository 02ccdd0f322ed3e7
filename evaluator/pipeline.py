"""The protocol: source in, report out, for one kernel after the other. Runs in the judge's process."""

from __future__ import annotations

import traceback
from collections.abc import Callable, Iterator, Mapping

import torch

from evaluator import static_check
from evaluator.draft import PROTOCOL, Draft, Failed, Settings
from evaluator.report import Failure, Outcome, Report, Stage
from evaluator.sandbox import Cancelled, Sandboxes
from evaluator.trial import Trial, against_eager
from tasks.registry import all_tasks

Cancel = Callable[[], bool]


def evaluate(
    kernels: Mapping[str, str],
    device: str,
    *,
    seed: str,
    cancelled: Cancel = lambda: False,
    settings: Settings = PROTOCOL,
) -> Iterator[Report]:
    """Exactly one report for every kernel (source by task name), in order, whatever happens.

    `device` is "cpu" or "cuda:0". All inputs follow from `seed`. `cancelled` is asked a few times a second;
    once it is true the kernel at work is killed and the rest is reported as cancelled.
    """
    refused = {name: failure for name, source in kernels.items() if (failure := _refuse(name, source))}
    wanted = len(kernels) - len(refused)
    with Sandboxes(device, settings.limits, isolated=settings.isolated, wanted=wanted) as sandboxes:
        for name, source in kernels.items():
            draft = Draft(name, source, device, settings)
            if name in refused:
                draft.failure = refused[name]
            else:
                _judge(draft, sandboxes, seed, cancelled)
            yield draft.report()


def _refuse(name: str, source: str) -> Failure | None:
    """Why this kernel is not run at all."""
    if name not in all_tasks():
        return Failure(outcome=Outcome.NOT_IN_SUITE, message=f"The task {name} is not in the suite yet.")
    try:
        return static_check.check(source, name)
    except Exception as error:
        return _our_error(error)


def _judge(draft: Draft, sandboxes: Sandboxes, seed: str, cancelled: Cancel) -> None:
    """Call, exe, perf. Fills in the draft; raises nothing."""
    task = all_tasks()[draft.name]
    try:
        if cancelled():
            raise Cancelled
        with sandboxes.take(cancelled) as sandbox:
            draft.begin(Stage.CALL)
            trial = Trial(task, sandbox, draft, seed, cancelled)
            try:
                trial.load()
                verdict = trial.run_all()
                draft.begin(Stage.EXE)
                verdict.require()
                trial.require_triton()
                measured = trial.measure_all() if draft.timed else []
            finally:
                draft.log = sandbox.log
        if draft.timed:
            draft.timings = against_eager(
                task, draft.device, measured, seed, draft.settings.timing_ms, draft.variant
            )
    except Failed as failed:
        draft.failure = failed.failure
    except Cancelled:
        draft.cancel()
    except Exception as error:
        draft.failure = _our_error(error)


def _our_error(error: Exception) -> Failure:
    if isinstance(error, torch.OutOfMemoryError):
        torch.cuda.empty_cache()
        message = "Too little of the device's memory was left for the judge beside this kernel."
        return Failure(outcome=Outcome.OUT_OF_MEMORY, message=message)
    return Failure(
        outcome=Outcome.EVALUATOR_ERROR,
        message=f"The evaluator failed: {type(error).__name__}: {error}"[:1000],
        details="".join(traceback.format_exception(error)),
    )
