"""The tasks of the benchmark, and one of them."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, render
from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from leaderboard import queries
from leaderboard.models import Task
from tasks.registry import all_tasks
from tasks.spec import TOLERANCES, ComparatorName, Tolerance
from tasks.spec import Task as Definition

_COMPARED: dict[ComparatorName, Promise] = {
    "close": _("every element is within the tolerance of the value computed in double precision"),
    "exact": _("every element is equal"),
    "invariants": _("what the mathematics fixes about the outputs is within the tolerance"),
    "uniform": _("distribution, range and independence of the draws, not their values"),
    "quantized": _("against the full-precision result, by the published thresholds"),
}


def tasks(request: HttpRequest) -> HttpResponse:
    groups = queries.tasks_by_category()
    every = [row for _, rows in groups for row in rows]
    context = {
        "groups": groups,
        "tasks": len(every),
        "in_suite": sum(row.task.in_suite for row in every),
        "solved": sum(row.task.in_suite and row.solved > 0 for row in every),
    }
    return render(request, "tasks.html", context)


def task(request: HttpRequest, name: str) -> HttpResponse:
    found = get_object_or_404(Task, name=name)
    definition = all_tasks().get(name)
    context = {
        "task": found,
        "definition": definition,
        "compared": definition and _COMPARED[definition.comparator],
        "tolerance": _tolerance(definition) if definition else None,
        "sizes": definition
        and [(case, definition.case_bytes(case), definition.case_flops(case)) for case in definition.timing],
        "solutions": queries.solutions(found),
        "outcomes": queries.outcomes_of_task(found),
    }
    return render(request, "task.html", context)


def _tolerance(definition: Definition) -> Tolerance | None:
    if definition.comparator not in ("close", "invariants"):
        return None
    return definition.tolerance or TOLERANCES.get(definition.dtype)
