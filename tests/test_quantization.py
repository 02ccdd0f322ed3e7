"""The quantization contract: honest schemes hold it, known mistakes break it and are named."""

import math
from pathlib import Path

import pytest
import torch

from evaluator import quantization
from evaluator.inputs import Maker
from evaluator.pipeline import evaluate
from evaluator.report import CAUSES, CLAUSES, Cause, Clause, Outcome
from evaluator.schemes import HONEST, simulate
from tasks.registry import all_tasks
from tests.quantization_table import TASKS, contract, exact, honest, mistaken, noisy

SEEDS = (0, 1)
"""docs/quantization.md has the table for 200."""

OWN_MISTAKES = {
    "attention_w8a8": {Cause.SOFTMAX_QUANTIZED},
    "bmm_w8a8": {Cause.OVERFLOWED},
    "conv2d_w8a8": {Cause.OVERFLOWED, Cause.BIAS_SCALED},
    "layernorm_w8a8": {Cause.INTEGER_STATISTICS},
    "linear_w4a16": {Cause.EIGHT_BITS, Cause.NIBBLES_SWAPPED, Cause.ONE_SCALE, Cause.BIAS_SCALED},
    "matmul_w8a8": {Cause.OVERFLOWED},
}
"""Mistakes that only some tasks can make."""

HARMLESS = {("bmm_w8a8", Cause.OVERFLOWED), ("conv2d_w8a8", Cause.OVERFLOWED)}
"""With one scale for a tensor few of their short sums leave 16 bits: where none does, nothing is wrong."""


@pytest.fixture(autouse=True)
def one_thread():
    """Tensors are small here, and threads of several workers would wait for each other."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


tasks = pytest.mark.parametrize("task", TASKS.values(), ids=TASKS)


def test_every_quantization_task_has_a_contract_and_no_other_task_has_one():
    assert {name for name, task in all_tasks().items() if quantization.probes(task)} == set(TASKS)
    assert len(TASKS) == 6


@tasks
def test_honest_schemes_hold(task):
    kernels = honest(task)
    assert len(kernels) == len(HONEST) - 2 * (task.name == "linear_w4a16")
    broken = {
        (label, seed): verdict.broken
        for label, kernel in kernels.items()
        for seed in SEEDS
        if not (verdict := contract(task, kernel, seed)).held
    }
    assert broken == {}


@tasks
def test_full_precision_is_accurate_and_breaks_the_contract(task):
    for kernel in (exact(task), noisy(task)):
        verdict = contract(task, kernel, 3)
        assert not verdict.held
        zero = [measure for measure in verdict.measures if measure.clause is Clause.ZERO]
        assert zero and all(measure.value == pytest.approx(1, abs=0.05) for measure in zero)
    (accuracy,) = (m for m in contract(task, exact(task), 3).measures if m.clause is Clause.ACCURACY)
    assert accuracy.held


@tasks
def test_each_known_mistake_is_named(task):
    assert_named(task, {cause: (cause, kernel) for cause, kernel in mistaken(task)}.values())


@pytest.mark.slow
@tasks
def test_each_known_mistake_is_named_with_every_granularity(task):
    assert_named(task, mistaken(task))


def assert_named(task, kernels):
    assert {cause for cause, _ in kernels} >= OWN_MISTAKES[task.name] | {Cause.FLOATING_POINT, Cause.WRAPPED}
    for place, (cause, kernel) in enumerate(kernels):
        verdict = contract(task, kernel, 4)
        if verdict.held:
            assert (task.name, cause) in HARMLESS, f"mistake {place}: {cause} holds"
        else:
            assert verdict.cause is cause, f"mistake {place}: {cause} is named {verdict.cause}"


def test_every_cause_is_simulated_for_some_task():
    assert {cause for task in TASKS.values() for cause, _ in mistaken(task)} == set(Cause)


@tasks
def test_every_operand_is_probed_for_zeros_and_plateaus(task):
    operands = {operand.name for operand in quantization.rules(task).operands}
    for clause in (Clause.ZERO, Clause.PLATEAU):
        probed = {case["operand"] for case in quantization.probes(task) if case["probe"] == clause}
        assert probed == operands


@tasks
def test_one_operand_alone_left_in_floating_point_is_found(task):
    operands = quantization.rules(task).operands
    for left_out in operands:

        def kernel(call, left_out=left_out):
            return simulate(task, [operand for operand in operands if operand is not left_out], call)

        broken = contract(task, kernel, 5).broken
        assert (broken.clause, broken.operand) == (Clause.ZERO, left_out.name)


@tasks
def test_probes_are_small_finite_and_drawn_from_the_seed(task):
    for case in quantization.probes(task):

        def tensors(seed, case=case):
            arguments, _ = quantization.make_call(task, case, Maker(seed, "cpu", task.dtype))
            return [x for x in arguments if isinstance(x, torch.Tensor)]

        first, again, other = tensors(1), tensors(1), tensors(2)
        assert all(map(torch.equal, first, again)) and not all(map(torch.equal, first, other))
        assert all(x.isfinite().all() and x.is_contiguous() for x in first)
        assert {x.dtype for x in first} == {getattr(torch, task.dtype)}
        assert sum(x.nbytes for x in first) <= 1_000_000  # the interpreter runs them all


@pytest.mark.parametrize("name", ["matmul_w8a8", "bmm_w8a8", "conv2d_w8a8"])
def test_the_allowed_error_has_no_unit(name):
    """Operands a thousand times larger: the relative error and what is allowed stay the same."""
    task = TASKS[name]
    case = {k: v for k, v in task.correctness[-1].items() if k != "bias"}
    (left, right, *rest), keywords = task.inputs(Maker(6, "cpu", task.dtype), **case)

    def measured(factor):
        call = [left * factor, right, *rest], keywords
        return quantization.accuracy(
            task, call, simulate(task, quantization.rules(task).operands, call).float()
        )

    assert measured(1000).value == pytest.approx(measured(1).value, rel=1e-3)
    assert measured(1000).limit == pytest.approx(measured(1).limit, rel=1e-6)


def test_zeros_constants_and_echoes_break_it():
    task = TASKS["matmul_w8a8"]
    for kernel in (lambda call: exact(task)(call) * 0, lambda call: exact(task)(call) * 0 + 1):
        verdict = contract(task, kernel, 7)
        assert verdict.broken.clause is Clause.ACCURACY
        assert {Clause.STEP} <= {measure.clause for measure in verdict.measures if not measure.held}


def test_an_unknown_mistake_has_no_name():
    task = TASKS["matmul_w8a8"]
    verdict = contract(task, lambda call: exact(task)(call).flip(-1), 8)
    assert not verdict.held and verdict.cause is None


def test_measures_are_finite_where_nothing_is_right():
    task = TASKS["layernorm_w8a8"]
    verdict = contract(task, lambda call: exact(task)(call) + 1, 9)
    assert all(math.isfinite(measure.value) and math.isfinite(measure.limit) for measure in verdict.measures)


def test_clauses_and_causes_have_words():
    assert set(CLAUSES) == set(Clause) and set(CAUSES) == set(Cause)
    assert all(text.label and text.explanation.endswith(".") for text in CAUSES.values())


SOURCE = """
import torch
import triton
import triton.language as tl


@triton.jit
def _copy(x_ptr, y_ptr, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(y_ptr + at, tl.load(x_ptr + at, mask=at < n), mask=at < n)


def _rows(x, dim):
    scale = x.abs().amax(dim, keepdim=True) / 127
    scale = torch.where(scale > 0, scale, 1.0)
    return ROUNDED(x / scale) * scale


def matmul_w8a8(input, weight):
    result = _rows(input, 1) @ _rows(weight, 0)
    copied = torch.empty_like(result)
    _copy[(triton.cdiv(result.numel(), 1024),)](result, copied, result.numel(), BLOCK=1024)
    return copied
"""


def judged(rounded: str):
    (report,) = evaluate({"matmul_w8a8": SOURCE.replace("ROUNDED", rounded)}, "cpu", seed="contract")
    return report


def test_the_contract_decides_and_the_papers_verdict_stands_beside_it():
    right = judged("torch.round")
    assert right.passed and right.contract.held and not right.paper.held


@pytest.mark.parametrize(
    ("rounded", "clause", "cause"),
    [("(lambda x: x)", Clause.ZERO, Cause.FLOATING_POINT), ("torch.trunc", Clause.PLATEAU, Cause.TRUNCATED)],
)
def test_a_kernel_that_breaks_the_contract_hears_the_clause_and_the_cause(rounded, clause, cause):
    report = judged(rounded)
    assert report.outcome is Outcome.CONTRACT_BROKEN
    assert clause in {measure.clause for measure in report.contract.measures if not measure.held}
    assert report.contract.cause is cause
    assert (
        CLAUSES[report.contract.broken.clause] in report.failure.message
        and CAUSES[cause].label in report.failure.message
    )
    assert report.failure.case_error.inputs
    assert report.paper.held == (rounded == "(lambda x: x)")


SOLUTIONS = Path(__file__).parent / "solutions"
MADE = [
    ("matmul_w8a8", "tl.floor(x / scale + 0.5)", "x / scale", Cause.TRUNCATED),
    ("matmul_w8a8", "x / scale + 0.5", "x / scale", Cause.ROUNDED_DOWN),
    ("matmul_w8a8", "largest / 127.0", "largest / 128.0", Cause.WRAPPED),
    ("matmul_w8a8", "* b_scale[None, :]", "* b_scale[None, :] * a_scale[:, None]", Cause.SCALED_TWICE),
    ("matmul_w8a8", "* b_scale[None, :]", "", Cause.SCALE_MISSING),
    ("matmul_w8a8", "total.to(tl.float32)", "total.to(tl.int8).to(tl.float32)", Cause.OVERFLOWED),
    ("linear_w4a16", "tl.dot(even, low, ", "tl.dot(odd, low, ", Cause.NIBBLES_SWAPPED),
    ("linear_w4a16", "out = total * scale[None, :]", "out = total", Cause.SCALE_MISSING),
    ("conv2d_w8a8", "* w_scale[None, :]", "", Cause.SCALE_MISSING),
    ("layernorm_w8a8", "tl.floor(y / scale + 0.5)", "y / scale", Cause.TRUNCATED),
    ("attention_w8a8", "tl.floor(x / scale + 0.5)", "x / scale", Cause.TRUNCATED),
]
ALSO = {
    Cause.WRAPPED: [(", 127.0)", ", 128.0)"), ("q.to(tl.int8)", "q.to(tl.int32).to(tl.int8)")],
    Cause.NIBBLES_SWAPPED: [("tl.dot(odd, high, ", "tl.dot(even, high, ")],
}
"""What else must change for the mistake to be one."""


@pytest.mark.slow
@pytest.mark.parametrize(("name", "right", "wrong", "cause"), MADE, ids=lambda value: str(value)[:20])
def test_a_mistake_made_in_a_right_triton_kernel_is_named(name, right, wrong, cause):
    source = (SOLUTIONS / f"{name}.py").read_text()
    for old, new in [(right, wrong), *ALSO.get(cause, [])]:
        assert old in source
        source = source.replace(old, new)
    (report,) = evaluate({name: source}, "cpu", seed="mistakes")
    assert report.outcome is Outcome.CONTRACT_BROKEN, report.failure
    assert report.contract.cause is cause
