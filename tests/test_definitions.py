"""What pages tell of the tasks' definitions, for every task that there is, without running any."""

import re
from typing import get_args
from xml.etree import ElementTree

import pytest

from leaderboard import definitions, differences
from leaderboard.formula import mathml
from tasks.cases import SORTS, bound_by_launch, by_sort, sort_of
from tasks.catalogue import CATALOGUE
from tasks.registry import all_tasks
from tasks.spec import ComparatorName, Task

TASKS = [pytest.param(task, id=task.name) for task in all_tasks().values()]
each_task = pytest.mark.parametrize("task", TASKS)
GELU = all_tasks()["gelu"]

MATHML_CORE = {
    "math", "mi", "mn", "mo", "mtext", "mspace", "mrow", "mfrac", "msqrt", "mroot", "mstyle", "msub", "msup",
    "msubsup", "munder", "mover", "munderover", "mtable", "mtr", "mtd",
}  # fmt: skip
CHILDREN = {"mfrac": 2, "msub": 2, "msup": 2, "munder": 2, "mover": 2, "msubsup": 3, "munderover": 3}


@each_task
def test_its_formula_is_mathml_that_browsers_know(task):
    html = mathml(task.formula)
    math = ElementTree.fromstring(html)
    assert {element.tag for element in math.iter()} <= MATHML_CORE
    assert "\\" not in html and " style=" not in html
    for element in math.iter():
        assert len(element) == CHILDREN.get(element.tag, len(element)), html
        assert not (element.tag in ("mi", "mn", "mo") and len(element)), html
    # no word is left in single letters
    assert not re.search(r'(<mi mathvariant="normal">[A-Za-z]</mi>){2}', html)


@pytest.mark.parametrize(
    ("latex", "shows"),
    [
        (r"\mathrm{conv2d}(x)", '<mi>conv2d</mi><mo stretchy="false">(</mo>'),
        (r"\mathrm{softmax}(x)", '<mi>softmax</mi><mo stretchy="false">(</mo>'),
        (r"\ln x", '<mi>ln</mi><mspace width="0.167em" /><mi>x</mi>'),
        (r"\min_i x_i", '<msub><mi>min</mi><mi>i</mi></msub><mspace width="0.167em" /><msub>'),
        (r"\sin^2 x", '<msup><mi>sin</mi><mn>2</mn></msup><mspace width="0.167em" /><mi>x</mi>'),
        (r"\frac{\ln}{x}", "<mfrac><mrow><mi>ln</mi></mrow><mrow><mi>x</mi></mrow></mfrac>"),
        (r"i \bmod n", "<mi>i</mi><mo>mod</mo><mi>n</mi>"),
        (r"a \mathrel{+}= b", "<mo>+</mo><mo>=</mo>"),
    ],
)
def test_functions_are_words_with_the_space_they_need(latex, shows):
    assert shows in mathml(latex)


def test_every_comparator_is_told_in_words_of_its_own():
    names = set(get_args(ComparatorName))
    told = {task.comparator: definitions.compared(task).split(" within ")[0] for task in all_tasks().values()}
    assert told.keys() == names
    assert len(set(told.values())) == len(names)


@each_task
def test_every_case_has_one_place_in_what_is_told(task):
    groups = definitions.case_groups(task)
    told = sorted((case for group in groups for case in group.cases), key=lambda case: case[0])
    assert [case for _, case, _ in told] == list(task.correctness)
    assert [group.sort for group in groups] == list(by_sort(task)) and set(by_sort(task)) <= set(SORTS)
    assert definitions.compared(task)
    assert all(len(reading.source) > 100 for reading in definitions.readings(task))
    assert "def " in re.sub("<[^>]*>", "", definitions.source_of(task.reference))


@pytest.mark.parametrize(
    ("case", "sort"),
    [
        ({"shape": [64]}, "standard"),
        ({"shape": [64, 128]}, "standard"),
        ({"shape": [0]}, "edge sizes"),
        ({"shape": [1]}, "edge sizes"),
        ({"shape": [64, 7]}, "edge sizes"),
        ({"shape": [64], "approximate": "tanh"}, "edge arguments"),
        ({"shape": [7], "approximate": "tanh"}, "edge arguments"),
        ({"shape": [64], "outliers": 0.1}, "outliers"),
        ({"shape": [64], "outliers": 0.0, "approximate": "tanh"}, "edge arguments"),
        ({"shape": [2], "values": ["nan", 1.0]}, "special values"),
    ],
)
def test_the_sort_of_a_case(case, sort):
    assert sort_of(GELU, case) == sort


def test_a_size_is_bound_by_the_launch_while_both_its_work_and_its_bytes_are_small():
    def bound(bytes_moved: int, flops: int) -> bool:
        return bound_by_launch(
            GELU.derive("gelu", bytes_moved=lambda: bytes_moved, flops=lambda: flops), {"shape": [1]}
        )

    assert bound(3_999_999, 49_999_999)
    assert not bound(4_000_000, 0)
    assert not bound(0, 50_000_000)


def test_the_intensity_of_a_size_is_its_work_for_each_byte():
    first = definitions.sizes(GELU)[0]
    assert (first.bytes_moved, first.flops, first.intensity) == (32_768, 20_480, 0.625)


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"comparator": "exact"}, "equals what PyTorch gives"),
        ({"oracle": False}, "of the value that PyTorch gives"),
        ({"dtype": "bfloat16"}, "within 0.005 + 0.005 ×"),
        ({"dtype": "int32"}, "equal to what PyTorch gives"),
        ({"comparator": "uniform"}, "independence of the draws"),
        ({"comparator": "binomial"}, "moments and the independence of the draws"),
        ({"comparator": "dropout"}, "for some mask that chance can have drawn every element is within 1e-5"),
    ],
)
def test_the_comparison_in_words(changes: dict[str, object], words: str):
    assert words in definitions.compared(Task(**{**vars(GELU), **changes}))


def test_thresholds_and_invariants_in_words():
    told = definitions.compared(all_tasks()["matmul_w8a8"])
    assert told.startswith("it keeps the quantization contract") and "RMSE at most 0.1 against" in told
    assert definitions.compared(all_tasks()["svd"]).startswith("what the mathematics fixes")


def test_differences_are_those_of_the_document():
    assert any("drawn" in text or "outliers" in text for text in differences.differences("gelu_bf16"))
    assert differences.left_out("Lion") == ["the size 2^28 is left out: 21 GB footprint."]
    assert differences.left_out("gelu") == []
    names = {name for group in CATALOGUE.values() for name in group}
    assert set(differences._by_task()) <= names
    assert not any("**" in text or "\n" in text for name in names for text in differences.differences(name))
