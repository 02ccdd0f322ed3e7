"""Which GPU and suite version a page compares on, from its address."""

from __future__ import annotations

from django.http import Http404, HttpRequest

from leaderboard import queries
from leaderboard.models import Gpu


def scope_of(request: HttpRequest) -> queries.Scope | None:
    """The scope of ?gpu=…&suite=…; None on a site that has no GPUs yet."""
    slug = request.GET.get("gpu", "")
    try:
        return queries.scope(slug, request.GET.get("suite", ""))
    except Gpu.DoesNotExist:
        if slug:
            raise Http404("no such GPU") from None
        return None
