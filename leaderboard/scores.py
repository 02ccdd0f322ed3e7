"""What the ranking needs of a run, from its results: see design.md section 5. No SQL."""

from __future__ import annotations

from collections.abc import Iterable
from statistics import fmean, geometric_mean

from evaluator.report import OUTCOMES, Outcome
from leaderboard.models import Result, Run, Summary
from tasks.catalogue import CATALOGUE


def summaries(run: Run, handed_in: Iterable[str], results: Iterable[Result]) -> list[Summary]:
    """One row for all categories and one for each, over all tasks of the benchmark: what was not handed in
    has not passed."""
    names, by_task = set(handed_in), {result.task_id: result for result in results}
    everything = {"": [task for tasks in CATALOGUE.values() for task in tasks], **CATALOGUE}
    return [
        _summary(
            run,
            category,
            tasks=len(tasks),
            handed_in=sum(task in names for task in tasks),
            results=[by_task[task] for task in tasks if task in by_task],
        )
        for category, tasks in everything.items()
    ]


def _summary(run: Run, category: str, *, tasks: int, handed_in: int, results: list[Result]) -> Summary:
    speedups = [result.speedup for result in results if result.speedup is not None]  # so it passed
    return Summary(
        run=run,
        category=category,
        tasks=tasks,
        handed_in=handed_in,
        judged=sum(not OUTCOMES[Outcome(result.outcome)].ours for result in results),
        compiled=sum(result.compiled for result in results),
        correct=sum(result.correct for result in results),
        timed=len(speedups),
        geometric_mean=geometric_mean(speedups) if speedups else None,
        arithmetic_mean=fmean(speedups) if speedups else None,
        fast_1=sum(speedup > 1 for speedup in speedups),
        fast_2=sum(speedup > 2 for speedup in speedups),
    )
