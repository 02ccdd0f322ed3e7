"""The leaderboard: every method's best run on one GPU."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render

from leaderboard import charts, queries
from leaderboard.views.scope import scope_of


def leaderboard(request: HttpRequest) -> HttpResponse:
    scope = scope_of(request)
    ranked = queries.standings(scope) if scope else []
    context = {
        "scope": scope,
        "ranked": ranked,
        "any_outdated": any(standing.outdated for standing in ranked),
        "freshness": queries.freshness(ranked),
        "figure": charts.correct_rates(ranked) if ranked else None,
        "most_bars": charts.MOST_BARS,
    }
    return render(request, "leaderboard.html", context)
