"""Rows of `queries` as Plotly figures, ready for JSON. No database, no request.

Colours are the names of the style sheet's custom properties, `var(--good)`; charts.js puts in their values,
so that a figure follows the reader's colour scheme.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from evaluator.report import OUTCOMES, Outcome, Timing
from leaderboard.models import Summary
from leaderboard.queries import CategoryBoard, RunOutcomes, Standing, Wall
from leaderboard.stats import Rate

Figure = dict[str, Any]

MOST_BARS = 30
"""Methods that one chart shows; its table shows all."""


def correct_rates(ranked: Sequence[Standing]) -> Figure:
    """A dot and its 95% interval for each method, the best on top."""
    shown = list(reversed(ranked[:MOST_BARS]))
    rates = [standing.correct for standing in shown]
    return _figure(
        [_dots(rates)],
        height=90 + 34 * len(shown),
        xaxis={"title": {"text": "correct, % of all tasks"}, "rangemode": "tozero"},
        yaxis=_named(one.method.name for one in shown),
    )


def category_heat(board: CategoryBoard) -> Figure:
    """Methods down, categories across, the share of the category's tasks that is right as colour."""
    shown = list(reversed(board.rows[:MOST_BARS]))
    heat = {
        "type": "heatmap",
        "x": [category.name for category in board.categories],
        "y": list(range(len(shown))),
        "z": [[_percent(rate.share) for rate in row.rates] for row in shown],
        "customdata": [
            [f"{plain(row.standing.method.name)}: {rate.count} of {rate.of}" for rate in row.rates]
            for row in shown
        ],
        "hovertemplate": "<b>%{x}</b><br>%{customdata} correct<extra></extra>",
        "zmin": 0,
        "zmax": 100,
        "xgap": 2,
        "ygap": 2,
        "colorscale": [[0, "var(--heat-0)"], [0.5, "var(--heat-1)"], [1, "var(--heat-2)"]],
        # No colour bar: Plotly gives its parts style attributes, which the security policy forbids.
        "showscale": False,
        "text": [[_whole_percent(rate) for rate in row.rates] for row in shown],
        "texttemplate": "%{text}",
    }
    return _figure(
        [heat],
        height=170 + 30 * len(shown),
        xaxis={"tickangle": -45, "showgrid": False},
        yaxis=_named(row.standing.method.name for row in shown),
    )


_SEGMENTS = (
    ("correct", "var(--good)"),
    ("stopped at perf", "var(--step-3)"),
    ("stopped at exe", "var(--step-2)"),
    ("stopped at call", "var(--step-1)"),
    ("stopped at static", "var(--step-0)"),
    ("not judged", "var(--neutral)"),
)


def outcomes_by_stage(runs: Sequence[RunOutcomes]) -> Figure:
    """A bar for each run, its kernels stacked by the stage where they stopped."""
    shown = list(reversed(runs[:MOST_BARS]))
    bars = [
        {
            "type": "bar",
            "orientation": "h",
            "name": name,
            "x": [_in_segment(one, name) for one in shown],
            "y": list(range(len(shown))),
            "marker": {"color": colour, "line": {"color": "var(--surface)", "width": 1}},
            "hovertemplate": "%{x} " + name + "<extra></extra>",
        }
        for name, colour in _SEGMENTS
    ]
    return _figure(
        bars,
        height=150 + 44 * len(shown),
        barmode="stack",
        showlegend=True,
        xaxis={"title": {"text": "kernels handed in"}},
        yaxis=_named(f"round {one.run.submission.round}, {one.run.gpu.slug}" for one in shown),
    )


def segment_of(outcome: Outcome) -> str:
    """The part of a bar that the outcome counts in."""
    text = OUTCOMES[outcome]
    if outcome is Outcome.CORRECT:
        return "correct"
    return "not judged" if text.ours else f"stopped at {text.stage}"


def _in_segment(one: RunOutcomes, name: str) -> int:
    return sum(counted.count for counted in one.counts if segment_of(counted.outcome) == name)


def category_rates(summaries: Sequence[Summary]) -> Figure:
    """The share of each category's tasks that is right, with its 95% interval."""
    shown = list(reversed(summaries))
    rates = [Rate(summary.correct, summary.tasks) for summary in shown]
    return _figure(
        [_dots(rates)],
        height=90 + 26 * len(shown),
        xaxis={
            "title": {"text": "correct, % of the category's tasks"},
            "range": [-1, 101],
            "zeroline": False,
        },
        yaxis=_named(summary.category for summary in shown),
    )


def timing_curve(timings: Sequence[Timing]) -> Figure:
    """Time over bytes moved for the kernel and for eager PyTorch, both axes logarithmic."""
    ordered = sorted(timings, key=lambda timing: timing.bytes_moved)
    curves = [
        ("eager PyTorch", "var(--muted)", "eager", "dot"),
        ("this kernel", "var(--accent)", "kernel", "solid"),
    ]
    traces = [
        {
            "type": "scatter",
            "mode": "lines+markers",
            "name": name,
            "x": [timing.bytes_moved for timing in ordered],
            "y": [getattr(timing, f"{field}_ms") for timing in ordered],
            "error_y": _error_ms(ordered, field),
            "line": {"color": colour, "width": 2, "dash": dash},
            "marker": {"color": colour, "size": 6},
            "customdata": [_case(timing) for timing in ordered],
            "hovertemplate": "<b>%{y:.4g} ms</b> " + name + "<br>%{customdata}<extra></extra>",
        }
        for name, colour, field, dash in curves
    ]
    return _figure(
        traces,
        height=360,
        showlegend=True,
        xaxis={"title": {"text": "least bytes moved"}, "type": "log", "exponentformat": "SI", "dtick": 1},
        yaxis={"title": {"text": "milliseconds"}, "type": "log", "dtick": 1},
    )


def wall_funnel(wall: Wall) -> Figure:
    """How many kernels stand on each step of the quantization wall."""
    steps = list(reversed(wall.funnel))
    most = max((count for _, count in steps), default=0)
    bars = {
        "type": "bar",
        "orientation": "h",
        "x": [count for _, count in steps],
        "y": list(range(len(steps))),
        "text": [str(count) for _, count in steps],
        "textposition": "outside",
        "cliponaxis": False,
        "marker": {"color": ["var(--good)"] + ["var(--accent)"] * (len(steps) - 2) + ["var(--neutral)"]},
        "hoverinfo": "skip",
    }
    return _figure(
        [bars],
        height=90 + 34 * len(steps),
        xaxis={"title": {"text": "kernels"}, "range": [0, most * 1.08 or 1]},
        yaxis=_named(name for name, _ in steps),
    )


# Parts


def _figure(traces: list[dict[str, Any]], *, height: int, **layout: Any) -> Figure:
    from plotly import graph_objects  # here: it takes a tenth of a second, which only pages with charts pay

    axis: dict[str, Any] = {
        "gridcolor": "var(--line)",
        "zerolinecolor": "var(--line)",
        "linecolor": "var(--line)",
        "automargin": True,
        "fixedrange": True,
    }
    plain: dict[str, Any] = {
        "template": "none",
        "height": height,
        "margin": {"l": 8, "r": 16, "t": 16, "b": 8},
        "paper_bgcolor": "rgba(0,0,0,0)",
        "plot_bgcolor": "rgba(0,0,0,0)",
        "font": {"color": "var(--ink)", "size": 13},
        "hoverlabel": {
            "bgcolor": "var(--surface)",
            "bordercolor": "var(--line)",
            "font": {"color": "var(--ink)"},
        },
        "legend": {"orientation": "h", "x": 0, "y": 1.02, "yanchor": "bottom", "traceorder": "normal"},
        "showlegend": False,
        **layout,
    }
    for name in ("xaxis", "yaxis"):
        plain[name] = axis | plain.get(name, {})
        if "title" in plain[name]:
            plain[name]["title"] = plain[name]["title"] | {"font": {"size": 13, "color": "var(--muted)"}}
    figure: Figure = graph_objects.Figure(traces, plain).to_plotly_json()
    return figure


def _named(names: Iterable[str]) -> dict[str, Any]:
    """An axis of rows with names. By position: names may repeat, or look like numbers or dates."""
    texts = [plain(name) for name in names]
    return {
        "tickvals": list(range(len(texts))),
        "ticktext": texts,
        "range": [-0.6, len(texts) - 0.4],
        "showgrid": False,
        "zeroline": False,
        "ticklabelstandoff": 8,
    }


def plain(text: str, longest: int = 26) -> str:
    """`text` for a label: shortened, and without the tags that Plotly reads in labels."""
    short = text if len(text) <= longest else text[: longest - 1] + "…"
    return short.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def _dots(rates: Sequence[Rate]) -> dict[str, Any]:
    """A dot for each rate with its 95% interval, one above the other."""
    return {
        "type": "scatter",
        "mode": "markers",
        "x": [_percent(rate.share) for rate in rates],
        "y": list(range(len(rates))),
        "error_x": _interval(rates),
        "marker": {"size": 9, "color": "var(--accent)"},
        "cliponaxis": False,
        "customdata": [f"{rate.count} of {rate.of}, 95%: {_range(rate)}" for rate in rates],
        "hovertemplate": "<b>%{x:.1f}%</b> correct<br>%{customdata}<extra></extra>",
    }


def _interval(rates: Sequence[Rate]) -> dict[str, Any]:
    return {
        "type": "data",
        "symmetric": False,
        "array": [100 * (rate.high - (rate.share or 0)) for rate in rates],
        "arrayminus": [100 * ((rate.share or 0) - rate.low) for rate in rates],
        "color": "var(--muted)",
        "thickness": 1.5,
        "width": 4,
    }


def _error_ms(timings: Sequence[Timing], field: str) -> dict[str, Any]:
    middle = [getattr(timing, f"{field}_ms") for timing in timings]
    return {
        "type": "data",
        "symmetric": False,
        "array": [getattr(t, f"{field}_high_ms") - m for t, m in zip(timings, middle, strict=True)],
        "arrayminus": [m - getattr(t, f"{field}_low_ms") for t, m in zip(timings, middle, strict=True)],
        "thickness": 1,
        "width": 3,
    }


def _whole_percent(rate: Rate) -> str:
    return "" if not rate.count or rate.share is None else f"{100 * rate.share:.0f}%"


def _percent(share: float | None) -> float | None:
    return None if share is None else 100 * share


def _range(rate: Rate) -> str:
    return f"{100 * rate.low:.1f}–{100 * rate.high:.1f}%"


def _case(timing: Timing) -> str:
    return plain(", ".join(f"{name}={value}" for name, value in timing.case.items()), 80)
