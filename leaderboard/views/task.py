"""The tasks of the benchmark, and one of them."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, render

from leaderboard import queries
from leaderboard.models import Task
from tasks.registry import all_tasks
from tasks.spec import TOLERANCES


def tasks(request: HttpRequest) -> HttpResponse:
    groups = queries.tasks_by_category()
    every = [row for _, rows in groups for row in rows]
    context = {
        "groups": groups,
        "tasks": len(every),
        "in_suite": sum(row.task.in_suite for row in every),
        "solved": sum(row.solved > 0 for row in every),
    }
    return render(request, "tasks.html", context)


def task(request: HttpRequest, name: str) -> HttpResponse:
    found = get_object_or_404(Task, name=name)
    definition = all_tasks().get(name)
    context = {
        "task": found,
        "definition": definition,
        "tolerance": definition and (definition.tolerance or TOLERANCES.get(definition.dtype)),
        "sizes": definition
        and [(case, definition.case_bytes(case), definition.case_flops(case)) for case in definition.timing],
        "solutions": queries.solutions(found),
        "outcomes": queries.outcomes_of_task(found),
    }
    return render(request, "task.html", context)
