"""The protocol: one report for every kernel, whatever happens, and a judge that imports none of them."""

from __future__ import annotations

import dataclasses
import json
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest
import torch

from evaluator import sandbox, trial, wire
from evaluator.compare import Answer
from evaluator.draft import Draft, Failed, Settings
from evaluator.inputs import Maker, case_seed
from evaluator.pipeline import evaluate
from evaluator.report import OUTCOMES, Outcome, Report, Stage
from evaluator.sandbox import Limits
from evaluator.timing import Plan
from evaluator.trial import Measured, Trial, Verdicts
from tasks.registry import all_tasks
from tasks.spec import Task

HERE = Path(__file__).parent
GELU = (HERE / "kernels" / "gelu.py").read_text()


def reports(kernels: Mapping[str, str], **options: Any) -> dict[str, Report]:
    return {report.task: report for report in evaluate(kernels, "cpu", seed="s", **options)}


def report_of(source: str, **options: Any) -> Report:
    return reports({"gelu": source}, **options)["gelu"]


@pytest.fixture
def unchecked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("evaluator.static_check.check", lambda source, task: None)


def test_every_kernel_gets_one_report_in_order() -> None:
    kernels = {"not_built_yet": GELU, "relu": "def relu(input:\n", "gelu": GELU, "sigmoid": "x = 1\n"}
    found = list(evaluate(kernels, "cpu", seed="s"))
    assert [(report.task, report.outcome) for report in found] == [
        ("not_built_yet", Outcome.NOT_IN_SUITE),
        ("relu", Outcome.SYNTAX_ERROR),
        ("gelu", Outcome.CORRECT),
        ("sigmoid", Outcome.NO_ENTRY),
    ]
    assert found[0].task_version == ""
    right = found[2]
    assert right.stage is Stage.EXE and right.compiled and right.correct and right.sandboxed
    assert right.cases_passed == right.cases_total >= 3
    assert right.triton_kernels == ("gelu_kernel",)
    assert right.timings == () and right.speedup is None
    assert Report.from_json(right.to_json()) == right


def test_wrong_values_name_the_case_and_keep_what_was_printed() -> None:
    wrong = GELU.replace("0.5 * x * (1 +", "0.6 * x * (1 +")
    report = report_of(wrong.replace("n = input", "print('hello')\n    n = input"))
    assert (report.outcome, report.stage) == (Outcome.WRONG_VALUES, Stage.EXE)
    assert report.failure is not None and report.failure.case_error is not None
    assert report.failure.case_error.wrong > 0
    assert 0 < report.cases_passed < report.cases_total  # tanh is still right
    assert report.log.startswith("hello\n")


def test_a_call_that_raises_on_a_later_case_fails_at_call_and_not_at_exe() -> None:
    wrong_then_raises = GELU.replace("0.5 * x", "0.6 * x").replace(
        "n = input.numel()", "n = input.numel()\n    assert approximate == 'none', 'only the exact form'"
    )
    report = report_of(wrong_then_raises)
    assert (report.outcome, report.stage) == (Outcome.CALL_FAILED, Stage.CALL)
    assert report.failure is not None and "only the exact form" in report.failure.message
    assert report.failure.line == GELU.splitlines().index("    n = input.numel()") + 2
    assert report.failure.case_error is not None and report.failure.case_error.case["approximate"] == "tanh"
    assert "evaluator" not in report.failure.details.partition("AssertionError")[0]


def test_slow_calls_are_bounded_together(unchecked: None) -> None:
    slow = GELU.replace("n = input.numel()", "n = input.numel()\n    __import__('time').sleep(1)")
    report = report_of(slow, settings=Settings(limits=Limits(case_s=20, kernel_s=2.5)))
    assert report.outcome is Outcome.TIMED_OUT and report.failure is not None
    assert report.failure.message == "All calls together took longer than 2.5 seconds."


def test_an_error_at_import_has_its_line(unchecked: None) -> None:
    report = report_of(f"import triton\n\nimport no_such_module\n{GELU}")
    assert (report.outcome, report.stage) == (Outcome.IMPORT_FAILED, Stage.CALL)
    assert report.failure is not None and report.failure.line == 3
    assert report.failure.message == "ModuleNotFoundError: No module named 'no_such_module'"


def test_an_entry_that_vanishes_at_import_is_named(unchecked: None) -> None:
    report = report_of(f"{GELU}\ndel gelu\n")
    assert report.outcome is Outcome.NO_ENTRY
    assert report.failure is not None and report.failure.message == "The file defines no function 'gelu'."


def test_the_same_seed_gives_the_same_inputs_and_another_seed_others() -> None:
    def drawn(*parts: str | int) -> torch.Tensor:
        (tensor,), _ = _task().inputs(Maker(case_seed(*map(str, parts)), "cpu", "float32"), n=100)
        return tensor

    assert torch.equal(drawn("run", "gelu", 0, "first"), drawn("run", "gelu", 0, "first"))
    assert not torch.equal(drawn("run", "gelu", 0, "first"), drawn("run", "gelu", 0, "again"))
    assert not torch.equal(drawn("run", "gelu", 0, "first"), drawn("other", "gelu", 0, "first"))


def test_the_judge_never_imports_a_submission(unchecked: None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(sys.modules, "evaluator.child", raising=False)  # another test may have imported it
    mark = "kbx_mark_of_a_submission"
    marking = f"""
import builtins, os, sys, types
sys.modules[{mark!r}] = types.ModuleType({mark!r})
builtins.{mark} = True
print("marked in process", os.getpid(), os.getcwd())
"""
    report = report_of(marking + GELU)
    assert report.passed and "marked in process" in report.log, "it did run, elsewhere"
    import builtins

    assert mark not in sys.modules and not hasattr(builtins, mark)
    assert "kernel" not in sys.modules and "evaluator.child" not in sys.modules


def test_without_a_sandbox_the_report_says_so_and_the_judge_is_still_apart(unchecked: None) -> None:
    report = report_of(
        f"import os\nprint('in process', os.getpid())\n{GELU}", settings=Settings(isolated=False)
    )
    assert report.passed and not report.sandboxed
    assert f"in process {__import__('os').getpid()}\n" not in report.log and "in process" in report.log


def test_a_cancelled_run_still_reports_every_kernel() -> None:
    found = reports(
        {"gelu": GELU, "relu": "def relu(", "sigmoid": GELU + "\nsigmoid = gelu\n"}, cancelled=lambda: True
    )
    assert [report.outcome for report in found.values()] == [
        Outcome.CANCELLED,
        Outcome.SYNTAX_ERROR,
        Outcome.CANCELLED,
    ]


def test_where_no_sandbox_starts_it_is_not_held_against_the_kernel(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KBX_BWRAP", "/bin/false")
    sandbox._program.cache_clear()
    try:
        report = report_of(GELU)
    finally:
        sandbox._program.cache_clear()
    assert report.outcome is Outcome.EVALUATOR_ERROR
    assert report.failure is not None and "sandbox did not start" in report.failure.message


def test_a_fault_of_ours_is_our_error(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: Any) -> None:
        raise ZeroDivisionError("a bug in the comparison")

    monkeypatch.setattr("evaluator.compare.check", broken)
    report = report_of(GELU)
    assert report.outcome is Outcome.EVALUATOR_ERROR
    assert report.failure is not None and "a bug in the comparison" in report.failure.message


# Readings


def _task(**changes: Any) -> Task:
    return dataclasses.replace(
        all_tasks()["gelu"],
        reference=lambda x: x + 1,
        inputs=lambda make, n: ([make.normal(n)], {}),
        correctness=[{"n": 4}, {"n": 5}],
        variants={"published prompt": lambda x: x + 2, "published reference": lambda x: x + 3},
        **changes,
    )


def _verdict(task: Task, answers: list[Callable[[torch.Tensor], torch.Tensor]]) -> Draft:
    draft = Draft("gelu", "", "cpu", Settings())
    verdicts = Verdicts(task, draft)
    for number, answer in enumerate(answers):
        call = task.inputs(Maker(number, "cpu", "float32"), n=4)
        verdicts.add(number, {"n": 4}, call, Answer((answer(call[0][0]),)), changed=False)
    verdicts.require()
    return draft


def test_a_published_reading_passes_and_is_named() -> None:
    assert _verdict(_task(), [lambda x: x + 3] * 2).variant == "published reference"
    assert _verdict(_task(), [lambda x: x + 1] * 2).variant == ""


def test_readings_are_not_mixed_case_by_case() -> None:
    with pytest.raises(Failed) as failed:
        _verdict(_task(), [lambda x: x + 2, lambda x: x + 3])
    assert failed.value.failure.outcome is Outcome.WRONG_VALUES
    with pytest.raises(Failed):
        _verdict(_task(), [lambda x: x + 1, lambda x: x + 2])


# Timing, with a child that answers what a test wants


class FakeChild:
    over_limit = None

    def __init__(self, task: Task, **changes: Any) -> None:
        self._task, self._changes = task, changes

    def request(self, operation: str, **arguments: Any) -> wire.Message:
        if operation == "prepare":
            plan = {"repetitions": 5, "flushes": 1}
            return wire.Message(plan | self._changes.get("plan", {}))
        if operation == "measure":
            samples = [1e-6] * arguments["repetitions"]
            return wire.Message({"samples": self._changes.get("samples", samples)})
        call = self._task.inputs(Maker(arguments["seed"], "cpu", self._task.dtype), **arguments["case"])
        output = self._task.reference(*call[0], **call[1]) * self._changes.get("factor", 1)
        description, data = wire.pack(output)
        return wire.Message({"structure": "tensor", "outputs": [description]}, [bytearray(data)])


def measure(**changes: Any) -> list[Measured]:
    timing = [{"n": 1 << 10}, {"n": 1 << 12}]
    task = _task(timing=timing, bytes_moved=lambda n, itemsize: 2 * n * itemsize)
    child: Any = FakeChild(task, **changes)
    return Trial(task, child, Draft("gelu", "", "cpu", Settings()), "s", lambda: False).measure_all()


def test_an_honest_child_is_measured_on_every_timing_case() -> None:
    measured = measure()
    assert [one.case["n"] for one in measured] == [1 << 10, 1 << 12]
    assert all(len(one.samples) == 5 for one in measured)


@pytest.mark.parametrize(
    ("changes", "outcome", "says"),
    [
        ({"samples": [10_000.0] * 5}, Outcome.TIMING_NOT_CONFIRMED, "add up to"),
        ({"samples": [0.0] * 5}, Outcome.TIMING_NOT_CONFIRMED, "no times"),
        ({"samples": [float("nan")] * 5}, Outcome.TIMING_NOT_CONFIRMED, "no times"),
        ({"samples": [1e-3] * 4}, Outcome.TIMING_NOT_CONFIRMED, "no times"),
        ({"samples": [10**4000] * 5}, Outcome.TIMING_NOT_CONFIRMED, "no times"),
        ({"samples": "fast"}, Outcome.TIMING_NOT_CONFIRMED, "no times"),
        ({"plan": {"repetitions": 10**9}}, Outcome.TIMING_NOT_CONFIRMED, "On the timing case"),
        ({"plan": {"repetitions": True}}, Outcome.TIMING_NOT_CONFIRMED, "On the timing case"),
        ({"plan": {"flushes": 10**9}}, Outcome.TIMING_NOT_CONFIRMED, "On the timing case"),
        ({"plan": {"flushes": "many"}}, Outcome.TIMING_NOT_CONFIRMED, "On the timing case"),
        ({"factor": 2}, Outcome.TIMING_FAILED, "further from the right value"),
    ],
)
def test_times_that_cannot_be_are_not_confirmed(changes: dict[str, Any], outcome: Outcome, says: str) -> None:
    with pytest.raises(Failed) as failed:
        measure(**changes)
    assert failed.value.failure.outcome is outcome
    assert says in failed.value.failure.message and "n" in failed.value.failure.message


def test_a_time_faster_than_the_device_is_not_confirmed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(trial, "_peak_gbs", lambda device: 4800.0)
    moved = 2 * 4 * (1 << 10)
    possible = moved / (4800.0 * 1e6)
    measure_one = {"samples": [possible / 1.04] * 5}
    with pytest.raises(Failed, match="GB/s"):
        measure(**measure_one)  # the second case moves four times as much in that time
    with pytest.raises(Failed, match=r"'n': 1024.*GB/s"):
        measure(samples=[possible / 1.06] * 5)


def test_only_long_series_that_agree_with_the_clock_are_confirmed() -> None:
    def series(count: int, sample: float, wall: float) -> bool:
        return trial._confirmed(Measured(0, {}, [sample] * count, Plan(count, 2), wall), flush_ms=0.025)

    assert series(1000, 0.010, 1000 * 0.062)
    assert not series(1000, 0.010, 1000 * 0.070)
    assert not series(100, 0.010, 100 * 0.060)


# Answers that are none

TENSOR, DATA = wire.pack(torch.zeros(4))


@pytest.mark.parametrize(
    "header",
    [
        {"error": 3},
        {"error": {"outcome": ["correct"]}},
        {"error": {"outcome": "correct"}},
        {"error": {"outcome": "not_in_suite", "message": "do not count me"}},
        {"outputs": [TENSOR, TENSOR]},
        {"outputs": []},
        {"outputs": "many"},
        {"outputs": [{"dtype": "float32", "shape": [5]}]},
        {"outputs": [{"dtype": "float32", "shape": {}}]},
        {"mutated": [TENSOR]},
        {"outputs": [TENSOR], "structure": {"a": 1}},
        {"outputs": [TENSOR], "structure": "tensor", "inputs": 7},
        {"outputs": [TENSOR], "structure": "tensor", "kernels": [{}, 1, "a\ud800\0"]},
        {},
    ],
)
def test_any_answer_ends_in_a_failure_of_the_kernel(header: dict[str, Any]) -> None:
    class Liar:
        over_limit = None

        def request(self, operation: str, **_: Any) -> wire.Message:
            return wire.Message(dict(header), [bytearray(DATA)])

    liar: Any = Liar()
    draft = Draft("gelu", "", "cpu", Settings())
    with pytest.raises(Failed) as failed:
        Trial(_task(), liar, draft, "s", lambda: False).run_all().require()
    draft.failure = failed.value.failure
    assert not OUTCOMES[draft.failure.outcome].ours
    json.dumps(draft.report().to_json()).encode()


# The wire


@pytest.mark.parametrize(
    "tensor",
    [
        torch.randn(3, 5),
        torch.randn(3, 5).t(),
        torch.randn(4).bfloat16(),
        torch.tensor(3.5, dtype=torch.float16),
        torch.empty(0, 7),
        torch.tensor([True, False]),
        torch.randn(3, dtype=torch.complex64).conj(),
        torch.arange(5)[::2],
    ],
    ids=["plain", "transposed", "bf16", "scalar", "empty", "bool", "conjugate", "strided"],
)
def test_a_tensor_comes_back_equal(tensor: torch.Tensor) -> None:
    description, data = wire.pack(tensor)
    back = wire.unpack(description, bytearray(data), "cpu")
    assert back.dtype == tensor.dtype and back.shape == tensor.shape and torch.equal(back, tensor)
    assert wire.digest(back) == wire.digest(tensor)


@pytest.mark.parametrize(
    "description",
    [
        None,
        {},
        {"dtype": "load", "shape": [1]},
        {"dtype": "float32", "shape": [-1]},
        {"dtype": "float32", "shape": [True]},
        {"dtype": "float32", "shape": [2]},
        {"dtype": "float32", "shape": [1 << 62, 1 << 62]},
    ],
)
def test_a_description_that_does_not_fit_is_refused(description: Any) -> None:
    with pytest.raises(wire.WireError):
        wire.unpack(description, bytearray(4), "cpu")


@pytest.mark.parametrize("shape", [[0, 1 << 39, 1 << 39], [0] + [1] * 1000], ids=["sizes", "dimensions"])
def test_a_form_that_no_tensor_can_have_is_refused(shape: list[int]) -> None:
    with pytest.raises(wire.WireError):
        wire.unpack({"dtype": "float32", "shape": shape}, bytearray(), "cpu")


def test_messages_are_read_in_any_pieces_and_bounded_before_they_are_allocated() -> None:
    data = b"".join(wire.encode({"a": 1}, [b"xy", b"", b"z"]))
    position = 0

    def receive(size: int) -> bytearray:
        nonlocal position
        position += size
        return bytearray(data[position - size : position])

    message = wire.read(receive)
    assert message.header == {"a": 1} and message.buffers == [b"xy", b"", b"z"]

    reading = wire.parser(max_bytes=2)
    next(reading)
    reading.send(bytearray(data[:4]))
    with pytest.raises(wire.WireError, match="at most 2"):
        reading.send(bytearray(data[4 : 4 + int.from_bytes(data[:4], "big")]))
