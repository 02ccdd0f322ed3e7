"""The tasks of the benchmark, one of them, their pack for methods, and their health."""

from __future__ import annotations

import hashlib
from functools import cache
from itertools import groupby

from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, render
from django.views.decorators.cache import cache_control
from django.views.decorators.http import condition, require_safe

from leaderboard import definitions, queries
from leaderboard.differences import differences, left_out
from leaderboard.models import Task
from tasks import pack as task_pack
from tasks.cases import LAUNCH_BYTES, LAUNCH_FLOPS, SORTS
from tasks.health import health_of
from tasks.registry import SUITE_VERSION, all_tasks
from tasks.spec import Task as Definition


def tasks(request: HttpRequest) -> HttpResponse:
    groups = queries.tasks_by_category()
    every = [row for _, rows in groups for row in rows]
    context = {
        "groups": groups,
        "tasks": len(every),
        "in_suite": sum(row.task.in_suite for row in every),
        "solved": sum(row.task.in_suite and row.solved > 0 for row in every),
        "suite_version": SUITE_VERSION,
        "pack_bytes": len(task_pack.pack()),
    }
    return render(request, "tasks.html", context)


def task(request: HttpRequest, name: str) -> HttpResponse:
    found = get_object_or_404(Task, name=name)
    definition = all_tasks().get(name)
    context = {
        "task": found,
        "definition": definition,
        "solutions": queries.solutions(found),
        "outcomes": queries.outcomes_of_task(found),
        **(_told(definition) if definition else {}),
    }
    return render(request, "task.html", context)


def _told(definition: Definition) -> dict[str, object]:
    health = health_of(definition.name)
    return {
        "formula": definitions.formula(definition),
        "compared": definitions.compared(definition),
        "mutated": definitions.mutated(definition),
        "readings": definitions.readings(definition),
        "differences": differences(definition.name),
        "case_groups": definitions.case_groups(definition),
        "sizes": definitions.sizes(definition),
        "left_out": left_out(definition.name),
        "health": health,
        "misses": definitions.misses(health) if health else [],
        "sources": [definitions.source_of(f) for f in (definition.reference, definition.inputs)],
    }


@require_safe
def health(request: HttpRequest) -> HttpResponse:
    """What the cases of each task try and catch."""
    rows = [definitions.health_row(task) for task in all_tasks().values()]
    measured = [row.health for row in rows if row.health]
    context = {
        "groups": [(name, list(group)) for name, group in groupby(rows, lambda row: row.task.category)],
        "sorts": SORTS,
        "misses": definitions.MISSES,
        "tasks": len(rows),
        "measured": len(measured),
        "caught": sum(health.caught for health in measured),
        "tried": sum(len(health.misses) for health in measured),
        "excused": sum(bool(miss.excuse) for health in measured for miss in health.misses.values()),
        "escaped": sum(len(health.escaped) for health in measured),
        "sizes": sum(len(row.task.timing) for row in rows),
        "bound_by_launch": sum(row.bound_by_launch for row in rows),
        "launch_bytes": LAUNCH_BYTES,
        "launch_flops": LAUNCH_FLOPS,
    }
    return render(request, "task_health.html", context)


@cache
def _pack_etag() -> str:
    return f'"{hashlib.sha256(task_pack.pack()).hexdigest()[:32]}"'


@require_safe
@cache_control(public=True, max_age=300)
@condition(etag_func=lambda request: _pack_etag())
def pack(request: HttpRequest) -> HttpResponse:
    """The task pack as a file. It changes with the code only."""
    disposition = f'attachment; filename="{task_pack.FILE_NAME}"'
    return HttpResponse(
        task_pack.pack(),
        content_type="application/jsonl",
        headers={"Content-Disposition": disposition},
    )
