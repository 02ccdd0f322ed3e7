"""The page of a run, live while it goes on."""

from __future__ import annotations

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.cache import never_cache

from leaderboard import services
from leaderboard.models import Run
from leaderboard.progress import progress_of
from leaderboard.views.submit import is_owner

_STOP_POLLING = 286  # htmx: swap this in and ask no more


def run(request: HttpRequest, pk: int) -> HttpResponse:
    found = _run(pk)
    context = {"progress": progress_of(found), "may_cancel": is_owner(request.user, found.submission)}
    return render(request, "run.html", context)


@never_cache
def run_progress(request: HttpRequest, pk: int) -> HttpResponse:
    """The moving part of the page; nothing (204: htmx leaves the page alone) while the asker has seen it."""
    found = _run(pk)
    progress = progress_of(found)
    if request.GET.get("seen") == progress.version and not found.is_over:
        return HttpResponse(status=204)
    context = {"progress": progress, "may_cancel": is_owner(request.user, found.submission)}
    status = _STOP_POLLING if found.is_over else 200
    return render(request, "_run_progress.html", context, status=status)


@login_required
def cancel_run(request: HttpRequest, pk: int) -> HttpResponse:
    found = _run(pk)
    if not is_owner(request.user, found.submission):
        raise Http404
    if request.method != "POST":  # from signing in again
        return redirect(found)
    if not services.cancel(found, f"Cancelled by {request.user}."):
        messages.info(request, "The run was over before it could be cancelled.")
    return redirect(found)


def _run(pk: int) -> Run:
    return get_object_or_404(Run.objects.select_related("submission__method", "gpu"), pk=pk)
