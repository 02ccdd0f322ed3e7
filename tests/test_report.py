"""Reports: what they may say, and that they survive JSON."""

import json
import subprocess
import sys
from dataclasses import replace

import pytest

from evaluator.report import (
    MAX_TEXT,
    OUTCOMES,
    CaseError,
    Environment,
    Failure,
    Outcome,
    Report,
    ReportError,
    Stage,
    Timing,
    Verdict,
    bounded,
    visible,
)

TIMING = Timing(
    case={"n": 4096, "approximate": "tanh"},
    kernel_ms=0.5,
    kernel_low_ms=0.4,
    kernel_high_ms=0.6,
    eager_ms=1.0,
    eager_low_ms=0.9,
    eager_high_ms=1.1,
    repetitions=100,
    bytes_moved=1_000_000,
    flops=2_000_000,
    confirmed=True,
)

CASE_ERROR = CaseError(
    case={"n": [3, 5]},
    inputs="float32[3, 5]",
    output="output 0",
    dtype="float32",
    shape=(3, 5),
    expected_dtype="float32",
    expected_shape=(3, 5),
    wrong=1,
    elements=15,
    max_absolute=2.0,
    rtol=1e-5,
    atol=1e-5,
    worst=((0, 1),),
    got=("nan",),
    expected=(1.0,),
)

FAILURE = Failure(outcome=Outcome.NOT_FINITE, message="It holds NaN.", line=3, case_error=CASE_ERROR)

PASSED = Report(
    task="gelu",
    task_version="0123456789ab",
    device="h200",
    stage=Stage.PERF,
    cases_passed=6,
    cases_total=6,
    timings=(TIMING, replace(TIMING, case={"n": 8192}, kernel_ms=1.5, eager_ms=3.0)),
    triton_kernels=("_gelu",),
    seconds={"call": 1, "exe": 0.5},
    source_sha256="ab" * 32,
    paper=Verdict(cosine=0.999, relative_l1=0.01, rmse=0.1, held=True),
)

FAILED = replace(PASSED, stage=Stage.EXE, timings=(), failure=FAILURE)


@pytest.mark.parametrize("report", [PASSED, FAILED, replace(PASSED, paper=None)])
def test_a_report_comes_back_equal_from_json(report):
    assert Report.from_json(json.loads(json.dumps(report.to_json()))) == report


def test_an_environment_comes_back_equal_from_json():
    environment = Environment(
        device="cpu", device_name="CPU", python="3.11", torch="2.13", triton="3.9", suite_version="kbx-0"
    )
    assert Environment.from_json(json.loads(json.dumps(environment.to_json()))) == environment


def test_the_speedup_is_of_the_sums():
    assert PASSED.speedup == (1.0 + 3.0) / (0.5 + 1.5)
    assert replace(PASSED, timings=()).speedup is None


def test_bandwidth_and_arithmetic_are_in_their_units():
    assert TIMING.speedup == 2.0
    assert TIMING.gbs == pytest.approx(2.0)  # 10^6 bytes in 0.5 ms
    assert TIMING.tflops == pytest.approx(0.004)  # 2 * 10^6 operations in 0.5 ms


def test_what_a_stage_means():
    assert PASSED.passed and PASSED.correct and PASSED.compiled and PASSED.outcome is Outcome.CORRECT
    assert not FAILED.passed and not FAILED.correct and FAILED.compiled
    late = replace(FAILED, stage=Stage.PERF, failure=replace(FAILURE, outcome=Outcome.TIMING_FAILED))
    assert late.correct and not late.passed
    early = replace(FAILED, stage=Stage.CALL)
    assert not early.compiled and not early.correct


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({"failure": FAILURE, "stage": Stage.EXE}, "cannot carry timings"),
        ({"stage": Stage.CALL, "timings": ()}, "cannot pass at stage call"),
        ({"stage": Stage.STATIC, "timings": ()}, "cannot pass at stage static"),
    ],
)
def test_a_report_cannot_contradict_itself(fields, words):
    with pytest.raises(ReportError, match=words):
        replace(PASSED, **fields)


@pytest.mark.parametrize("field", ["kernel_ms", "eager_ms"])
@pytest.mark.parametrize("value", [0.0, -1.0, float("nan")])
def test_a_time_is_above_zero(field, value):
    with pytest.raises(ReportError, match="above zero"):
        replace(TIMING, **{field: value})


def test_a_failure_is_not_called_correct():
    with pytest.raises(ReportError, match="correct"):
        Failure(outcome=Outcome.CORRECT, message="")


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"surprise": 1}, "no field 'surprise'"),
        ({"task": 5}, "5 is not a str"),
        ({"stage": "late"}, "late"),
        ({"cases_passed": True}, "True is not a int"),
        ({"cases_passed": "6"}, "is not a int"),
        ({"sandboxed": 1}, "is not a bool"),
        ({"timings": [{"case": {}}]}, "Timing"),
        ({"failure": {"outcome": "correct", "message": ""}}, "correct"),
    ],
)
def test_json_of_another_form_is_refused(change, words):
    with pytest.raises(ReportError, match=words):
        Report.from_json({**PASSED.to_json(), **change})


def test_a_missing_field_is_refused():
    data = PASSED.to_json()
    del data["task"]
    with pytest.raises(ReportError, match="task"):
        Report.from_json(data)


def test_whole_numbers_are_read_where_a_float_is_meant():
    data = TIMING.to_json() | {"kernel_ms": 1}
    assert isinstance(Timing.from_json(data).kernel_ms, float)


def test_every_outcome_has_a_label_advice_and_a_stage():
    assert set(OUTCOMES) == set(Outcome)
    for text in OUTCOMES.values():
        assert 0 < len(text.label) < 40 and text.label == text.label.strip()
        assert text.advice.endswith(".")


def test_text_is_bounded_and_storable():
    assert bounded("short") == "short"
    assert bounded("a\0b\ud800") == "a␀b?"
    long = bounded("head" + "x" * 3 * MAX_TEXT + "tail")
    assert long.startswith("head") and long.endswith("tail") and "characters left out" in long
    assert MAX_TEXT - 60 < len(long) <= MAX_TEXT
    assert bounded(long) == long


def test_characters_that_hide_or_reorder_are_made_visible():
    assert bounded("gelu\u202eyp.") == "gelu[U+202E]yp."
    assert visible("a\u200bb\u061cc\u2066\ufeff") == "a[U+200B]b[U+061C]c[U+2066][U+FEFF]"
    assert visible("é ü → 中\n\t") == "é ü → 中\n\t"
    long = bounded("\u202e" * MAX_TEXT)
    assert len(long) <= MAX_TEXT and bounded(long) == long


def test_failures_and_logs_bound_what_a_kernel_says():
    shout = "x" * 10 * MAX_TEXT
    failure = Failure(outcome=Outcome.CALL_FAILED, message=shout, details=shout)
    assert len(failure.message) <= MAX_TEXT and len(failure.details) <= MAX_TEXT
    report = replace(FAILED, failure=failure, log=shout)
    assert len(report.log) <= MAX_TEXT
    assert Report.from_json(report.to_json()) == report


def test_reports_need_only_the_standard_library():
    code = (
        "import sys\nbefore = {m.partition('.')[0] for m in sys.modules}\nimport evaluator.report\n"
        "new = {m.partition('.')[0] for m in sys.modules} - before - sys.stdlib_module_names\n"
        "assert new == {'evaluator'}, new"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
