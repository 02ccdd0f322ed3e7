import json
import re
from pathlib import Path

import pytest

from evaluator.report import OUTCOMES, Outcome
from leaderboard import charts, queries
from leaderboard.models import Method, Run, Summary
from leaderboard.stats import Rate
from tests.factories import timing
from tests.site_data import HOSTILE

CSS = (Path(__file__).parent.parent / "static" / "site.css").read_text()


def standing(name: str = "Refiner", correct: int = 42, pk: int = 1) -> queries.Standing:
    return queries.Standing(
        rank=1,
        method=Method(pk=pk, name=name, slug="m"),
        run=Run(pk=pk),
        tasks=176,
        handed_in=176,
        timed=40,
        compiled=Rate(90, 176),
        correct=Rate(correct, 176),
        fast_1=Rate(20, 176),
        fast_2=Rate(3, 176),
        geometric_mean=1.2,
    )


def board(*rows: queries.CategoryRow) -> queries.CategoryBoard:
    return queries.CategoryBoard(
        (queries.Category("Math", 36, 8, 3), queries.Category("Loss", 6, 1, 0)), rows
    )


def every_figure() -> list[charts.Figure]:
    summary = Summary(category="Math", tasks=36, correct=9)
    empty_wall = queries.Wall((), ())
    return [
        charts.correct_rates([standing()]),
        charts.category_heat(board(queries.CategoryRow(standing(), (Rate(9, 36), Rate(0, 6))))),
        charts.category_rates([summary]),
        charts.timing_curve([timing(2.0)]),
        charts.wall_funnel(empty_wall),
    ]


def test_figures_are_json():
    for figure in every_figure():
        assert json.loads(json.dumps(figure, allow_nan=False))["data"]


def test_every_colour_is_a_property_of_the_style_sheet():
    named = set(
        re.findall(r"var\((--[\w-]+)\)", json.dumps(every_figure()) + Path(charts.__file__).read_text())
    )
    assert named
    assert {name for name in named if f"\n  {name}: " not in CSS} == set()


def test_both_colour_schemes_define_every_colour():
    light, dark = CSS.split("@media (prefers-color-scheme: dark)")[:2]
    colours = re.findall(r"\n  (--[\w-]+): #", light)
    assert colours
    assert [name for name in colours if f"    {name}: #" not in dark] == []


def test_the_best_method_is_on_top_with_its_interval():
    figure = charts.correct_rates([standing("first", 88), standing("second", 44)])
    (dots,) = figure["data"]
    assert figure["layout"]["yaxis"]["ticktext"] == ["second", "first"]
    assert dots["x"] == pytest.approx([25, 50])
    low, high = (100 * side for side in (Rate(88, 176).low, Rate(88, 176).high))
    assert dots["x"][1] - dots["error_x"]["arrayminus"][1] == pytest.approx(low)
    assert dots["x"][1] + dots["error_x"]["array"][1] == pytest.approx(high)


def test_a_hostile_name_is_text_in_a_label():
    figure = charts.correct_rates([standing("<a href='javascript:x'>y</a>&")])
    (label,) = figure["layout"]["yaxis"]["ticktext"]
    assert "<" not in label and label.startswith("&lt;a href=")
    heat = charts.category_heat(board(queries.CategoryRow(standing(HOSTILE), (Rate(1, 36), Rate(0, 6)))))
    assert "<script" not in json.dumps(heat["data"])


def test_methods_of_the_same_name_keep_rows_of_their_own():
    figure = charts.correct_rates([standing("same", 10), standing("same", 5)])
    assert len(set(figure["data"][0]["y"])) == 2


def test_a_chart_of_very_many_methods_stays_readable():
    figure = charts.correct_rates([standing(f"m{n}") for n in range(charts.MOST_BARS + 20)])
    assert len(figure["data"][0]["x"]) == charts.MOST_BARS


def test_every_outcome_has_a_segment_of_the_bar():
    names = {charts.segment_of(outcome) for outcome in Outcome}
    assert charts.segment_of(Outcome.CORRECT) == "correct"
    assert charts.segment_of(Outcome.WRONG_VALUES) == "stopped at exe"
    assert all(charts.segment_of(o) == "not judged" for o in Outcome if OUTCOMES[o].ours)
    assert names == {"correct", "not judged", *(f"stopped at {s}" for s in ("static", "call", "exe", "perf"))}


def test_the_timing_curve_goes_by_size_whatever_the_order():
    figure = charts.timing_curve([timing(2.0, 4.0, n=4000), timing(2.0, 1.0, n=10)])
    eager, kernel = figure["data"]
    assert kernel["x"] == [80, 32_000]
    assert kernel["y"] == [1.0, 4.0]
    assert eager["y"] == [2.0, 8.0]
    assert eager["error_y"]["array"] == pytest.approx([0.2, 0.8])
