"""One kernel in one run: what happened, with all the evidence."""

from __future__ import annotations

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render

from evaluator.report import CAUSES, CLAUSES, OUTCOMES
from leaderboard import charts, highlight, queries
from leaderboard.models import Result
from tasks.registry import all_tasks


def result(request: HttpRequest, pk: int, task: str) -> HttpResponse:
    try:
        page = queries.result_page(pk, task)
    except Result.DoesNotExist:
        raise Http404("no such result") from None
    report, failure = page.report, page.report.failure
    error = failure.case_error if failure else None
    contract = report.contract
    context = {
        "page": page,
        "report": report,
        "outcome": OUTCOMES[report.outcome],
        "failure": failure,
        "error": error,
        "worst": list(zip(error.worst, error.got, error.expected, strict=False)) if error else [],
        "measures": [(measure, CLAUSES[measure.clause]) for measure in contract.measures] if contract else [],
        "cause": CAUSES[contract.cause] if contract and contract.cause else None,
        "definition": all_tasks().get(task),
        "figure": charts.timing_curve(report.timings) if report.timings else None,
        "source": page.kernel.source
        and highlight.numbered(page.kernel.source, failure.line if failure else None),
    }
    return render(request, "result.html", context)
