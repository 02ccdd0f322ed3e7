"""Honest kernels, written by hand for the suite's tasks, must pass: where one does not, the ruler is wrong."""

from pathlib import Path

import pytest

from evaluator.pipeline import evaluate
from evaluator.report import Outcome
from tasks.registry import all_tasks

SOLUTIONS = {path.stem: path.read_text() for path in (Path(__file__).parent / "solutions").glob("*.py")}

SLOW = {
    "adaptive_avg_pool2d",
    "conv2d",
    "determinant_lu",
    "fused_add_mean",
    "fused_layer_norm_relu_linear",
    "fused_qr_solve",
    "fused_relu_conv2d",
    "fused_repeat_interleave_log_softmax",
    "invert_matrix_lu",
    "logspace",
    "matmul",
    "normalized_cosine_similarity",
    "std",
}
"""Those that keep the interpreter busy for longer than a few seconds."""


def test_every_solution_is_for_a_task_of_the_suite():
    assert set(SOLUTIONS) <= set(all_tasks())
    assert set(SOLUTIONS) >= SLOW


def test_quick_honest_kernels_pass_on_the_interpreter():
    assert _failures(set(SOLUTIONS) - SLOW, "cpu") == {}


def test_a_kernel_that_drops_the_same_elements_in_every_call_is_refused():
    source, drawn = SOLUTIONS["fused_hardshrink_dropout"], "int(torch.randint(2**31, (1,)))"
    assert drawn in source
    (report,) = evaluate({"fused_hardshrink_dropout": source.replace(drawn, "7")}, "cpu", seed="solutions")
    assert report.outcome is Outcome.WRONG_VALUES
    assert report.failure.message == "Two calls dropped the same elements."


@pytest.mark.slow
def test_slow_honest_kernels_pass_on_the_interpreter():
    assert _failures(SLOW, "cpu") == {}


@pytest.mark.gpu
def test_honest_kernels_pass_on_a_gpu():
    assert _failures(set(SOLUTIONS), "cuda:0") == {}


def _failures(names: set[str], device: str) -> dict[str, str]:
    """What the reports say against the kernels; that times could not be confirmed does not count here."""
    kernels = {name: SOLUTIONS[name] for name in sorted(names)}
    reports = list(evaluate(kernels, device, seed="solutions"))
    assert [report.task for report in reports] == list(kernels)
    assert all(report.triton_kernels for report in reports if report.passed)
    return {
        report.task: f"{report.outcome}: {report.failure.message}"
        for report in reports
        if report.failure and report.outcome is not Outcome.TIMING_NOT_CONFIRMED
    }
