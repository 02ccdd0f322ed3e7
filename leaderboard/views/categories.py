"""Methods against categories."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render

from leaderboard import charts, queries
from leaderboard.views.scope import scope_of


def categories(request: HttpRequest) -> HttpResponse:
    scope = scope_of(request)
    board = queries.category_board(scope) if scope else None
    context = {
        "scope": scope,
        "board": board,
        "figure": charts.category_heat(board) if board and board.rows else None,
        "most_bars": charts.MOST_BARS,
    }
    return render(request, "categories.html", context)
