"""A method: its rounds, its runs, and one run's results by task."""

from __future__ import annotations

from dataclasses import dataclass

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, render

from evaluator.report import OUTCOMES, Outcome
from leaderboard import charts, queries, stats
from leaderboard.models import Method
from tasks.registry import categories


@dataclass(frozen=True)
class Filters:
    """What of a run's results is shown; values that mean nothing are left out."""

    outcome: str
    category: str
    search: str

    @classmethod
    def of(cls, request: HttpRequest) -> Filters:
        outcome, category = request.GET.get("outcome", ""), request.GET.get("category", "")
        return cls(
            outcome=outcome if outcome in set(Outcome) else "",
            category=category if category in categories() else "",
            search=request.GET.get("q", "").replace("\0", "").strip()[:100],
        )

    def __bool__(self) -> bool:
        return bool(self.outcome or self.category or self.search)


def method(request: HttpRequest, slug: str) -> HttpResponse:
    found = get_object_or_404(Method, slug=slug)
    rounds = queries.rounds(found)
    chosen = queries.chosen_run(rounds, _asked_run(request))
    if chosen is None and "run" in request.GET:
        raise Http404("the method has no such run")
    by_run = queries.outcomes_by_run(run for round in rounds for run in round.runs)
    context = {
        "method": found,
        # no form lets another scheme in, but the admin and imports are not forms
        "link": found.link if found.link.startswith(("https://", "http://")) else "",
        "rounds": rounds,
        "chosen": chosen,
        "stages_figure": charts.outcomes_by_stage(by_run) if by_run else None,
        "by_run": by_run,
        **(_run_context(request, chosen) if chosen else {}),
    }
    return render(request, "method.html", context)


def _run_context(request: HttpRequest, chosen: queries.MethodRun) -> dict[str, object]:
    filters = Filters.of(request)
    rates = queries.category_rates(chosen.run)
    results = queries.results_of_run(
        chosen.run, outcome=filters.outcome, category=filters.category, search=filters.search
    )
    return {
        "filters": filters,
        "rates": rates,
        "categories_figure": charts.category_rates(rates) if rates else None,
        "results": results,
        "geometric_mean": stats.geometric_mean(row.speedup for row in results),
        "timed": sum(row.speedup is not None for row in results),
        "outcomes": [(outcome.value, OUTCOMES[outcome].label) for outcome in Outcome],
        "categories": categories(),
    }


def _asked_run(request: HttpRequest) -> int | None:
    asked = request.GET.get("run", "")
    if not asked:
        return None
    if not asked.isascii() or not asked.isdecimal() or len(asked) > 18:
        raise Http404("no run has such a number")
    return int(asked)
