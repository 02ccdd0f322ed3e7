"""A task's definition as a page tells it: cases, sizes, sources, and the comparison in words. No torch, no ORM."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from django.utils.safestring import SafeString
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from leaderboard import differences, highlight
from leaderboard.formula import mathml
from tasks import health
from tasks.cases import SORTS, bound_by_launch, sort_of
from tasks.health import Health, Miss
from tasks.spec import TOLERANCES, Case, Task

MISSES = {
    "zeros": gettext_lazy("zeros everywhere"),
    "ones": gettext_lazy("a constant"),
    "nan": gettext_lazy("NaN in one element"),
    "echo": gettext_lazy("an echo of the input"),
    "scaled": gettext_lazy("everything 1% too large"),
    "one_off": gettext_lazy("one element off"),
    "shifted": gettext_lazy("every element one place further"),
    "garbage": gettext_lazy("memory that nobody wrote to"),
}
"""The near misses of `evaluator.near_misses` as people say them."""


@dataclass(frozen=True)
class Size:
    """A timing case."""

    case: Case
    bytes_moved: int
    flops: int
    bound_by_launch: bool

    @property
    def intensity(self) -> float | None:
        """Floating point operations for each byte."""
        return self.flops / self.bytes_moved if self.bytes_moved else None


def sizes(task: Task) -> list[Size]:
    """The timing cases, in their order."""
    return [
        Size(case, task.case_bytes(case), task.case_flops(case), bound_by_launch(task, case))
        for case in task.timing
    ]


@dataclass(frozen=True)
class CaseGroup:
    """The correctness cases of one sort: their numbers, parameters and calls (empty where not measured)."""

    sort: str
    means: str
    cases: tuple[tuple[int, Case, str], ...]


def case_groups(task: Task) -> list[CaseGroup]:
    """The correctness cases by sort, numbered in the order in which they run."""
    found = health.health_of(task.name)
    calls = found.calls if found else ("",) * len(task.correctness)
    numbered = [
        (sort_of(task, case), (number, case, call))
        for number, (case, call) in enumerate(zip(task.correctness, calls, strict=True), 1)
    ]
    groups = (
        CaseGroup(sort, means, tuple(case for other, case in numbered if other == sort))
        for sort, means in SORTS.items()
    )
    return [group for group in groups if group.cases]


@dataclass(frozen=True)
class Reading:
    """A published reading of the operator that is accepted too."""

    name: str
    says: str  # its docstring
    source: SafeString


def readings(task: Task) -> list[Reading]:
    """In the order of the definition."""
    return [
        Reading(name, inspect.getdoc(function) or "", source_of(function))
        for name, function in task.variants.items()
    ]


def source_of(function: Callable[..., Any]) -> SafeString:
    """The text of a function of a task, coloured. The function is not called."""
    return highlight.coloured(inspect.getsource(function))


def formula(task: Task) -> SafeString | None:
    return mathml(task.formula) if task.formula else None


def mutated(task: Task) -> list[str]:
    """The names of the arguments that the operator changes."""
    names = list(inspect.signature(task.reference).parameters)
    return [names[position] for position in task.mutates]


def compared(task: Task) -> str:
    """What decides whether an output is right."""
    if task.comparator == "exact":
        return _("every element equals what PyTorch gives")
    if task.comparator == "uniform":
        return _(
            "the distribution, the range and the independence of the draws are tested, not single values"
        )
    if task.thresholds:
        bounds = task.thresholds
        return _(
            "it keeps the quantization contract: as accurate as its rounding permits, and really quantized; the "
            "published thresholds (cosine at least %(cosine)s, relative L1 at most %(l1)s, RMSE at most %(rmse)s "
            "against the full-precision result) are reported beside it"
        ) % {"cosine": bounds.cosine, "l1": bounds.relative_l1, "rmse": bounds.rmse}
    if task.comparator == "binomial":
        return _("the moments and the independence of the draws are tested, and that they are whole numbers")
    within = _within(task)
    if task.comparator == "invariants":
        return _("what the mathematics fixes about the outputs is %(within)s") % {"within": within}
    if task.comparator == "dropout":
        return _("for some mask that chance can have drawn every element is %(within)s") % {"within": within}
    return _("every element is %(within)s") % {"within": within}


def _within(task: Task) -> str:
    tolerance = task.tolerance or TOLERANCES.get(task.dtype)
    if tolerance is None:
        return _("equal to what PyTorch gives")
    limit = {"rtol": _short(tolerance.rtol), "atol": _short(tolerance.atol)}
    value = _("computed in double precision") if task.oracle else _("that PyTorch gives")
    # evaluator/compare.py has the exact rule.
    return _(
        "within %(atol)s + %(rtol)s × |value| of the value %(computed)s, or no further from it than twice as far "
        "as PyTorch's own kernel"
    ) % {**limit, "computed": value}


def _short(value: float) -> str:
    return f"{value:g}".replace("e-0", "e-")  # 1e-5


# What the cases catch


def misses(found: Health) -> list[tuple[str, Miss]]:
    """The near misses of a task in words, and how its cases took them."""
    return [(str(MISSES[name]), miss) for name, miss in found.misses.items()]


@dataclass(frozen=True)
class HealthRow:
    """What the cases of one task try and catch."""

    task: Task
    health: Health | None  # None where it was not measured since the task changed
    counts: tuple[int, ...]  # correctness cases by sort, in the order of SORTS
    bound_by_launch: int
    left_out: Sequence[str]

    @property
    def excuses(self) -> list[tuple[str, str]]:
        """The misses that need not be refused, and why."""
        return (
            [(says, miss.excuse) for says, miss in misses(self.health) if miss.excuse] if self.health else []
        )


def health_row(task: Task) -> HealthRow:
    sorts = [sort_of(task, case) for case in task.correctness]
    return HealthRow(
        task=task,
        health=health.health_of(task.name),
        counts=tuple(sorts.count(sort) for sort in SORTS),
        bound_by_launch=sum(bound_by_launch(task, case) for case in task.timing),
        left_out=differences.left_out(task.name),
    )
