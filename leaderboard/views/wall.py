"""The quantization wall: six tasks, and how far up each method came."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render

from leaderboard import charts, queries
from leaderboard.views.scope import scope_of
from tasks.registry import all_tasks


def wall(request: HttpRequest) -> HttpResponse:
    scope = scope_of(request)
    found = queries.wall(scope) if scope else None
    context = {
        "scope": scope,
        "wall": found,
        "tasks": [(task, all_tasks().get(task.name)) for task in found.tasks] if found else [],
        "figure": charts.wall_funnel(found) if found and found.rows else None,
    }
    return render(request, "wall.html", context)
