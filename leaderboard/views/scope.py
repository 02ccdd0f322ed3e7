"""Which GPU and suite version a page compares on, from its address."""

from __future__ import annotations

from django.http import Http404, HttpRequest

from leaderboard import queries


def scope_of(request: HttpRequest) -> queries.Scope | None:
    """The scope of ?gpu=…&suite=…; None on a site that has no GPUs yet."""
    asked = request.GET.get("gpu", ""), request.GET.get("suite", "")
    try:
        return queries.scope(*asked)
    except queries.NoSuchScope:
        if any(asked):
            raise Http404("no such GPU or suite version") from None
        return None
