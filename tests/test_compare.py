"""The judge's comparison: what it accepts, what it refuses, and what it says."""

import math

import pytest
import torch

from evaluator.compare import (
    COMPARATORS,
    Answer,
    check,
    check_independent,
    describe,
    measures,
    paper_verdict,
)
from evaluator.report import CaseError, Failure, Outcome, Report, Stage
from tasks.spec import Task, Thresholds, Tolerance

torch.set_num_threads(1)

CASE = {"n": 1}


def task(reference, **fields):
    declared = {
        "name": "relu",
        "category": "Activation",
        "signature": "relu(input) -> Tensor",
        "prompt": "",
        "inputs": lambda make, n: ([make.normal(n)], {}),
        "correctness": [CASE],
        "timing": [CASE],
        "bytes_moved": lambda n: n,
        "flops": lambda n: n,
    }
    return Task(**{**declared, "reference": reference, **fields})


def outcome(failure: Failure | None) -> Outcome:
    return failure.outcome if failure else Outcome.CORRECT


def judge(reference, arguments, *outputs, structure="tensor", mutated=(), reading="", **fields):
    answer = Answer(tuple(outputs), mutated=mutated, structure=structure)
    return check(task(reference, **fields), CASE, (arguments, {}), answer, reading)


def normal(*shape, dtype=torch.float32, seed=0):
    return torch.randn(shape, generator=torch.Generator().manual_seed(seed), dtype=torch.float64).to(dtype)


# Structure, shape, dtype, in that order


def test_the_right_answer_is_accepted():
    x = normal(1000)
    assert judge(torch.relu, [x], torch.relu(x)) is None


def test_a_tuple_where_one_tensor_is_asked_for_is_a_wrong_structure():
    x = normal(3)
    failure = judge(torch.relu, [x], torch.relu(x), structure="tuple")
    assert outcome(failure) is Outcome.WRONG_STRUCTURE
    assert "a tuple of 1 tensor" in failure.message and "one tensor" in failure.message


@pytest.mark.parametrize(
    ("structure", "words"), [("none", "returned nothing"), ("a dict", "returned a dict")]
)
def test_a_result_without_tensors_is_a_wrong_structure(structure, words):
    failure = judge(torch.relu, [normal(3)], structure=structure)
    assert outcome(failure) is Outcome.WRONG_STRUCTURE
    assert words in failure.message


def test_too_few_outputs_are_a_wrong_structure():
    failure = judge(lambda x: (x, x + 1), [normal(3)], normal(3), structure="tuple")
    assert outcome(failure) is Outcome.WRONG_STRUCTURE


def test_shape_comes_before_dtype_and_dtype_before_values():
    x = normal(4)
    assert outcome(judge(torch.relu, [x], torch.zeros(2, 2).half())) is Outcome.WRONG_SHAPE
    failure = judge(torch.relu, [x], torch.full([4], math.nan).half())
    assert outcome(failure) is Outcome.WRONG_DTYPE
    assert (failure.case_error.dtype, failure.case_error.expected_dtype) == ("float16", "float32")


def test_the_shape_of_a_later_output_is_seen_before_the_values_of_an_earlier_one():
    failure = judge(lambda x: (x, x), [normal(3)], torch.zeros(3), torch.zeros(2), structure="tuple")
    assert outcome(failure) is Outcome.WRONG_SHAPE
    assert failure.case_error.output == "output 1"


def test_broadcasting_does_not_hide_a_wrong_shape():
    assert outcome(judge(torch.relu, [torch.ones(3, 4)], torch.ones(4))) is Outcome.WRONG_SHAPE


# Values


def test_wrong_values_name_the_worst_elements_and_no_others():
    x = torch.arange(100.0).reshape(10, 10)
    got = x.clone()
    got[3, 4], got[7, 8] = 30.0, 0.0
    failure = judge(torch.relu, [x], got)
    error = failure.case_error
    assert failure.outcome is Outcome.WRONG_VALUES
    assert failure.message == "Output 0: 2 of 100 elements further from the right value than the tolerance."
    assert (error.wrong, error.elements, error.max_absolute) == (2, 100, 78.0)
    assert (error.worst, error.got, error.expected) == (((7, 8), (3, 4)), (0.0, 30.0), (78.0, 34.0))
    assert error.max_relative == 1.0
    assert (error.case, error.inputs) == (CASE, "float32[10, 10]")


def test_at_most_five_elements_leave_the_judge():
    failure = judge(torch.relu, [torch.ones(100)], torch.zeros(100))
    assert len(failure.case_error.expected) == len(failure.case_error.worst) == 5


@pytest.mark.parametrize(
    "dtype", [torch.float64, torch.float32, torch.float16, torch.bfloat16, torch.complex64]
)
def test_rounding_is_accepted_and_one_wrong_element_is_not(dtype):
    x = torch.tensor([0.5, 1.0, 2.0], dtype=dtype)
    right = x.exp()
    assert judge(torch.exp, [x], right) is None
    wrong = right.clone()
    wrong[1] *= 1.05
    assert outcome(judge(torch.exp, [x], wrong)) is Outcome.WRONG_VALUES


@pytest.mark.parametrize(
    ("tolerance", "expected"),
    [
        (Tolerance(rtol=0.0, atol=0.09), Outcome.WRONG_VALUES),
        (Tolerance(rtol=0.0, atol=0.11), Outcome.CORRECT),
        (Tolerance(rtol=0.0009, atol=0.0), Outcome.WRONG_VALUES),
        (Tolerance(rtol=0.0011, atol=0.0), Outcome.CORRECT),
    ],
)
def test_the_tolerance_of_the_task_is_honoured_in_both_parts(tolerance, expected):
    x = torch.tensor([100.0])
    assert outcome(judge(torch.relu, [x], torch.tensor([100.1]), tolerance=tolerance)) is expected


def test_the_default_tolerance_is_that_of_the_dtype():
    assert outcome(judge(torch.relu, [torch.ones(1)], torch.tensor([1.0001]))) is Outcome.WRONG_VALUES
    half = torch.ones(1).half()
    assert judge(torch.relu, [half], torch.tensor([1.002]).half()) is None


def test_a_kernel_may_be_twice_as_far_off_as_eager_but_not_more():
    x = torch.full([64], 3.0)
    eager_error = 0.01

    def rough(x):
        return x if x.dtype == torch.float64 else x + eager_error

    assert judge(rough, [x], x - 1.9 * eager_error) is None
    assert outcome(judge(rough, [x], x - 2.1 * eager_error)) is Outcome.WRONG_VALUES


def test_an_eager_error_on_large_values_excuses_no_error_on_small_ones():
    x = torch.cat([torch.full([10], 1e6), torch.ones(1000)])

    def rough(x):
        return x if x.dtype == torch.float64 else torch.where(x > 10, x + 100, x)

    assert judge(rough, [x], torch.where(x > 10, x - 100, x)) is None
    assert outcome(judge(rough, [x], torch.where(x > 10, x, x + 1))) is Outcome.WRONG_VALUES


def test_an_eager_error_on_small_values_excuses_no_error_on_large_ones():
    x = torch.cat([torch.full([10], 1e6), torch.ones(1000)])

    def rough(x):
        return x if x.dtype == torch.float64 else torch.where(x > 10, x, x + 1)

    assert judge(rough, [x], torch.where(x > 10, x, x - 1)) is None
    assert outcome(judge(rough, [x], torch.where(x > 10, x + 50, x))) is Outcome.WRONG_VALUES


def test_expected_values_come_from_float64():
    x = normal(200_000)
    exact = x.double().sum().float()
    far = exact + 0.05
    assert judge(torch.sum, [x], exact) is None
    assert outcome(judge(torch.sum, [x], far)) is Outcome.WRONG_VALUES


def test_without_an_oracle_eager_decides():
    def rounding(x):
        return x + 1 if x.dtype == torch.float64 else x

    x = normal(5)
    assert judge(rounding, [x], x, oracle=False) is None
    assert outcome(judge(rounding, [x], x + 1, oracle=False)) is Outcome.WRONG_VALUES


def test_a_reference_without_a_float64_form_falls_back_to_eager():
    def only_float32(x):
        if x.dtype != torch.float32:
            raise RuntimeError("not implemented for Double")
        return x * 2

    x = normal(5)
    assert judge(only_float32, [x], x * 2) is None
    assert outcome(judge(only_float32, [x], x * 3)) is Outcome.WRONG_VALUES


def test_what_the_reference_raises_is_not_the_answers_fault():
    with pytest.raises(RuntimeError):
        judge(torch.linalg.cholesky, [-torch.eye(2)], torch.eye(2))


@pytest.mark.parametrize("scale", [1e-6, 1e-12])
def test_zeros_are_no_answer_however_small_the_outputs_are(scale):
    x = normal(1000) * scale
    assert judge(torch.neg, [x], -x) is None
    assert outcome(judge(torch.neg, [x], torch.zeros(1000))) is Outcome.WRONG_VALUES


def test_noise_around_zero_is_judged_by_the_absolute_tolerance():
    # In float64 the difference is 1e-17 or so, in float32 1e-8: neither is a value to match.
    x = torch.full([100], 0.1)
    assert judge(lambda x: x * 3 - (x + x + x), [x], torch.full([100], 3e-8)) is None


# NaN and infinity


def test_nan_where_the_operator_is_finite_is_not_finite():
    x = normal(5)
    got = x.clone()
    got[2] = math.nan
    failure = judge(torch.neg, [x], got)
    assert outcome(failure) is Outcome.NOT_FINITE
    assert failure.case_error.worst[0] == (2,) and failure.case_error.got[0] == "nan"
    assert failure.case_error.max_absolute is None


def test_the_operators_own_nan_and_infinity_must_be_met():
    x = torch.tensor([-1.0, 0.0, 1.0])
    right = torch.tensor([math.nan, -math.inf, 0.0])
    assert judge(torch.log, [x], right) is None
    assert outcome(judge(torch.log, [x], torch.tensor([0.0, -math.inf, 0.0]))) is Outcome.WRONG_VALUES
    assert outcome(judge(torch.log, [x], torch.tensor([math.nan, math.inf, 0.0]))) is Outcome.WRONG_VALUES
    assert outcome(judge(torch.log, [x], torch.tensor([math.nan, -math.inf, math.nan]))) is Outcome.NOT_FINITE


def test_overflow_of_the_dtype_is_the_operators_own_infinity():
    x = torch.tensor([300.0, 2.0]).half()
    assert judge(torch.square, [x], torch.tensor([math.inf, 4.0]).half()) is None
    assert outcome(judge(torch.square, [x], torch.tensor([0.0, 4.0]).half())) is Outcome.WRONG_VALUES


def test_overflow_inside_eager_is_not_asked_for():
    # Eager computes infinity minus infinity; the right value is only too large for the dtype.
    x = torch.tensor([400.0, 2.0]).half()
    right = torch.tensor([math.inf, 2.0]).half()
    assert judge(lambda x: x * x - x * x / 2, [x], right) is None


# Unusual tensors


@pytest.mark.parametrize("shape", [(), (0,), (3, 0, 2), (1,)])
def test_tensors_of_no_dimension_and_of_no_element(shape):
    x = torch.ones(shape)
    assert judge(torch.neg, [x], -x) is None
    if x.numel():
        assert outcome(judge(torch.neg, [x], x)) is Outcome.WRONG_VALUES


def test_a_wrong_scalar_has_an_empty_index():
    failure = judge(torch.sum, [torch.ones(4)], torch.tensor(3.0))
    assert failure.case_error.worst == ((),)
    assert (failure.case_error.got, failure.case_error.expected) == ((3.0,), (4.0,))


@pytest.mark.parametrize("dtype", [torch.int64, torch.int32, torch.int8, torch.uint8, torch.bool])
def test_integers_and_booleans_are_exact(dtype):
    x = torch.tensor([1, 0, 1]).to(dtype)
    assert judge(torch.clone, [x], x.clone()) is None
    failure = judge(torch.clone, [x], torch.tensor([1, 1, 1]).to(dtype))
    assert outcome(failure) is Outcome.WRONG_VALUES
    assert failure.message.endswith("1 of 3 elements not equal to the right value.")


def test_neighbouring_large_integers_differ():
    x = torch.tensor([2**62])
    assert outcome(judge(torch.clone, [x], x + 1)) is Outcome.WRONG_VALUES


def test_complex_values_are_compared_in_both_parts():
    x = torch.tensor([1 + 2j, 3 - 1j])
    assert judge(torch.conj_physical, [x], x.conj()) is None
    failure = judge(torch.conj_physical, [x], x)
    assert outcome(failure) is Outcome.WRONG_VALUES
    assert failure.case_error.expected[0] == "(1-2j)"


def test_a_strided_output_is_compared_by_its_values():
    x = normal(4, 6)
    assert judge(lambda x: x.t().contiguous(), [x], x.t()) is None


# What the call leaves behind


def test_the_callers_tensors_stay_as_they_are():
    x = normal(4)
    before = x.clone()
    judge(lambda x: x.mul_(2), [x], x * 2, mutates=(0,), mutated=(x * 2,))
    assert torch.equal(x, before)


def test_changed_arguments_are_compared_like_outputs():
    x, grad = normal(4), normal(4, seed=1)

    def step(x, grad):
        x.sub_(grad)

    fields = {"structure": "tensor", "mutates": (0,)}
    assert judge(step, [x, grad], x - grad, mutated=(x - grad,), **fields) is None
    failure = judge(step, [x, grad], x - grad, mutated=(x,), **fields)
    assert outcome(failure) is Outcome.WRONG_VALUES
    assert failure.case_error.output == "argument 0"


def test_an_operator_that_returns_nothing_leaves_the_result_free():
    x = normal(4)

    def in_place(x):
        x.neg_()

    for answer in (Answer((), (-x,), "tuple"), Answer((-x,), (-x,), "tensor")):
        assert check(task(in_place, mutates=(0,)), CASE, ([x], {}), answer) is None


def test_arguments_inside_lists_are_copied_too():
    x = normal(3)
    assert judge(lambda xs: torch.cat([x.neg_() for x in xs]), [[x, x + 1]], torch.cat([-x, -x - 1])) is None
    assert torch.equal(x, normal(3))


def test_a_generator_gives_each_run_of_the_reference_the_same_numbers():
    generator = torch.Generator().manual_seed(4)
    x = torch.ones(5)

    def noisy(x, generator):
        return x + torch.rand(5, generator=generator)

    right = noisy(x, torch.Generator().manual_seed(4))
    assert judge(noisy, [x, generator], right) is None
    assert torch.equal(noisy(x, generator), right)


# Readings


def test_a_published_reading_is_judged_by_its_own_reference():
    x = normal(5)
    fields = {"variants": {"without sqrt": torch.relu}}
    assert judge(torch.neg, [x], torch.relu(x), reading="without sqrt", **fields) is None
    assert outcome(judge(torch.neg, [x], torch.relu(x), **fields)) is Outcome.WRONG_VALUES


# Other comparators


def test_every_comparator_of_the_specification_has_its_function():
    from typing import get_args

    from tasks.spec import ComparatorName

    assert set(COMPARATORS) == set(get_args(ComparatorName))


def test_exact_accepts_no_rounding():
    x = normal(5)
    assert judge(torch.clone, [x], x.clone(), comparator="exact") is None
    near = x.clone()
    near[0] = torch.nextafter(near[0], torch.tensor(9.0))
    assert outcome(judge(torch.clone, [x], near, comparator="exact")) is Outcome.WRONG_VALUES


def eigh_invariants(call, outputs):
    values, vectors = outputs
    return {
        "V diag(w) V^T": vectors @ torch.diag(values) @ vectors.T,
        "V^T V": vectors.T @ vectors,
    }


def symmetric(n):
    a = normal(n, n)
    return a + a.T


def test_eigenvectors_of_the_other_sign_are_right():
    a = symmetric(6)
    values, vectors = torch.linalg.eigh(a)
    fields = {"comparator": "invariants", "invariants": eigh_invariants, "structure": "tuple"}
    fields["tolerance"] = Tolerance(1e-4, 1e-4)
    reference = torch.linalg.eigh
    assert judge(lambda a: tuple(reference(a)), [a], values, -vectors, **fields) is None
    failure = judge(lambda a: tuple(reference(a)), [a], values, vectors * 1.01, **fields)
    assert outcome(failure) is Outcome.WRONG_VALUES
    assert failure.case_error.output == "V diag(w) V^T"
    failure = judge(lambda a: tuple(reference(a)), [a], values, vectors * math.nan, **fields)
    assert outcome(failure) is Outcome.NOT_FINITE


def draws(n, seed, dtype=torch.float32):
    return torch.rand(n, generator=torch.Generator().manual_seed(seed)).to(dtype)


def random(got, n=None):
    return judge(lambda n: torch.rand(n), [n or len(got)], got, comparator="uniform")


@pytest.mark.parametrize("seed", range(10))
@pytest.mark.parametrize("n", [1, 2, 10, 1000, 100_003])
def test_honest_uniform_draws_are_accepted(n, seed):
    assert random(draws(n, seed)) is None


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
def test_honest_half_precision_draws_are_accepted(dtype):
    got = torch.rand(100_000, generator=torch.Generator().manual_seed(3), dtype=dtype)
    assert judge(lambda n: torch.rand(n, dtype=dtype), [100_000], got, comparator="uniform") is None


@pytest.mark.parametrize(
    ("change", "named"),
    [
        (lambda x: x * 0 + 0.5, "variance"),
        (lambda x: torch.cat([x[1:], torch.ones(1)]), "not all in [0, 1)"),
        (lambda x: x - 0.5, "not all in [0, 1)"),
        (lambda x: torch.cat([x[1:], torch.full([1], math.nan)]), "not all in [0, 1)"),
        (lambda x: x.square(), "mean"),
        (lambda x: x / 2 + 0.25, "variance"),
        (lambda x: (x > 0.5).float() * 0.57735 + 0.211325, "distribution"),
        (lambda x: torch.arange(len(x)) / len(x), "depend on each other"),
        (lambda x: x.repeat_interleave(2), "depend on each other"),
        (lambda x: x.repeat(2), "only 65"),
    ],
)
def test_draws_that_are_not_uniform_are_refused_with_the_reason(change, named):
    failure = random(change(draws(64 * 1024, seed=5)))
    assert outcome(failure) is Outcome.WRONG_VALUES
    assert named in failure.message


def test_two_calls_must_draw_different_numbers():
    declared = task(lambda n: torch.rand(n), comparator="uniform")
    one, other = Answer((draws(10, 1),)), Answer((draws(10, 2),))
    first, second = ((([10], {}), answer) for answer in (one, other))
    assert check_independent(declared, CASE, first, second) is None
    assert outcome(check_independent(declared, CASE, first, first)) is Outcome.WRONG_VALUES


P = 0.3


def dropping(x, other=0.0, p=P, training=True):
    return torch.nn.functional.dropout(x, p, training) - other


def bernoulli(*shape, p=P, seed=0):
    """Which elements are kept."""
    return torch.rand(shape, generator=torch.Generator().manual_seed(seed)) >= p


def dropped(got, x, *others, **fields):
    return judge(dropping, [x, *others], got, comparator="dropout", **fields)


@pytest.mark.parametrize("seed", range(10))
@pytest.mark.parametrize("shape", [(1,), (3, 4), (12, 8), (97, 131), (4, 33, 65)])
def test_any_mask_that_chance_can_draw_is_accepted(shape, seed):
    x, other = normal(*shape), normal(*shape, seed=1)
    got = x * bernoulli(*shape, seed=seed) / (1 - P)
    assert dropped(got, x) is None
    assert dropped(got - other, x, other) is None


@pytest.mark.parametrize("p", [0.1, 0.5, 0.9])
def test_masks_of_other_rates_are_accepted_where_they_are_asked_for(p):
    x = normal(200, 300)
    got = x * bernoulli(200, 300, p=p) / (1 - p)
    assert dropped(got, x, 0.0, p) is None
    assert "keeps" in dropped(x * bernoulli(200, 300, p=p + 0.02) / (1 - p), x, 0.0, p).message


def balanced(n):
    """A mask of the right rate, up to rounding."""
    return torch.randperm(n, generator=torch.Generator().manual_seed(0)) >= P * n


X = (128, 192)  # large enough for each fault to show, and no power of two


@pytest.mark.parametrize(
    ("keep", "named"),
    [
        (torch.zeros(X).bool(), "it keeps 0 of"),
        (torch.ones(X).bool(), "it keeps"),
        (bernoulli(*X, p=0.35), "it keeps"),
        (balanced(128)[:, None].expand(X), "it changes along dimension 0"),
        (balanced(192).expand(X), "it changes along dimension 1"),
        (bernoulli(64, 192).repeat(2, 1), "64 apart"),
        (bernoulli(64, 1, 192).expand(64, 2, 192).reshape(X), "1 apart along dimension 0"),
        (balanced(4096).repeat(6).reshape(X), "4096 apart in memory"),
        ((torch.arange(128 * 192) % 10 >= 3).reshape(X), "apart"),
        (torch.cat([bernoulli(64, 192, p=0.2), bernoulli(64, 192, p=0.4)]), "everywhere"),
    ],
)
def test_a_mask_that_no_chance_draws_is_refused_with_the_reason(keep, named):
    x = normal(*X)
    failure = dropped(x * keep / (1 - P), x)
    assert outcome(failure) is Outcome.WRONG_VALUES
    assert named in failure.message


def test_survivors_must_be_scaled_and_every_element_must_be_right():
    x, keep = normal(*X), bernoulli(*X)
    right = x * keep / (1 - P)
    off = right.clone()
    off[5, 7] += 0.1
    infinite = torch.where(torch.arange(192) == 3, math.inf, right)
    for wrong in (x * keep, right * 1.01, off, right + 0.01, infinite):
        assert "further from the right value" in dropped(wrong, x).message or wrong is infinite
        assert dropped(wrong, x) is not None
    assert outcome(dropped(right / 0, x)) is Outcome.NOT_FINITE


def test_elements_that_tell_nothing_of_the_mask_do_not_count():
    x = normal(*X).relu()  # half of it is zero, kept or not
    assert dropped(x * bernoulli(*X) / (1 - P), x) is None
    assert "it keeps" in dropped(x / (1 - P), x).message


def test_dropout_that_leaves_nothing_to_chance_is_compared_as_it_is():
    x = normal(*X)
    assert dropped(x, x, 0.0, P, False) is None
    assert dropped(x, x, 0.0, 0.0) is None
    assert dropped(x * bernoulli(*X) / (1 - P), x, 0.0, P, False) is not None


def test_a_mask_is_sought_by_the_reading():
    x, other = normal(*X), normal(*X, seed=1)
    got = x * bernoulli(*X) / (1 - P)
    fields = {"variants": {"without other": lambda x, other: dropping(x)}}
    assert dropped(got, x, other, **fields) is not None
    assert dropped(got, x, other, reading="without other", **fields) is None


def test_every_call_must_draw_its_mask_anew():
    declared = task(dropping, comparator="dropout")

    def called(seed, mask):
        x = normal(8, 12, seed=seed)
        return ([x], {}), Answer((x * mask / (1 - P),))

    one, other = bernoulli(8, 12, seed=1), bernoulli(8, 12, seed=2)
    assert check_independent(declared, CASE, called(1, one), called(2, other)) is None
    failure = check_independent(declared, CASE, called(1, one), called(2, one))
    assert failure.message == "Two calls dropped the same elements."
    calm = task(lambda x: dropping(x, p=0.0), comparator="dropout")
    x = normal(8, 12)
    assert check_independent(calm, CASE, (([x], {}), Answer((x,))), (([x], {}), Answer((x,)))) is None


def binomial(trials, p, seed=0):
    return torch.binomial(trials, p, generator=torch.Generator().manual_seed(seed))


def parameters(n, seed=0):
    generator = torch.Generator().manual_seed(seed + 1000)
    trials = torch.randint(0, 20, (n,), generator=generator).float()
    return trials, torch.rand(n, generator=generator)


@pytest.mark.parametrize("seed", range(10))
@pytest.mark.parametrize("n", [1, 4, 100, 30_000])
def test_honest_binomial_draws_are_accepted(n, seed):
    trials, p = parameters(n, seed)
    assert judge(torch.binomial, [trials, p], binomial(trials, p, seed), comparator="binomial") is None


@pytest.mark.parametrize(
    ("wrong", "named"),
    [
        (lambda t, p: t * p, "whole numbers"),
        (lambda t, p: binomial(t, p) + 1, "whole numbers"),
        (lambda t, p: binomial(t, p) * math.nan, "whole numbers"),
        (lambda t, p: t * 0, "in the mean"),
        (lambda t, p: (t * p).round(), "variance"),
        (lambda t, p: binomial(t, p.mean().expand_as(p)), "variance"),
        (lambda t, p: binomial(t, p * 0.97), "in the mean"),
    ],
)
def test_draws_that_are_not_binomial_are_refused_with_the_reason(wrong, named):
    trials, p = parameters(30_000)
    failure = judge(torch.binomial, [trials, p], wrong(trials, p), comparator="binomial")
    assert outcome(failure) is Outcome.WRONG_VALUES
    assert named in failure.message


def test_binomial_draws_that_depend_on_their_neighbours_are_refused():
    trials, p = torch.full([32 * 1024], 10.0), torch.full([32 * 1024], 0.5)
    half = binomial(trials[:512], p[:512])
    blocks = torch.cat([half, 10 - half]).repeat(32)  # of the right mean
    failure = judge(torch.binomial, [trials, p], blocks, comparator="binomial")
    assert "apart depend on each other" in failure.message


def test_every_call_must_draw_its_binomial_values_anew():
    declared = task(torch.binomial, comparator="binomial")
    calls = [(parameters(200, seed), {}) for seed in (1, 2)]

    def answered(call, seed):
        uniform = torch.rand(200, generator=torch.Generator().manual_seed(seed)).double()
        steps = torch.arange(21.0).double()[:, None]
        trials, p = (value.double() for value in call[0])
        logs = (
            torch.lgamma(trials + 1) - torch.lgamma(steps + 1) - torch.lgamma((trials - steps).clamp(0) + 1)
        )
        mass = (logs + steps * p.log() + (trials - steps) * (1 - p).log()).exp() * (steps <= trials)
        return call, Answer(((mass.cumsum(0) < uniform).sum(0).float(),))  # the inverse of the distribution

    first = answered(calls[0], 5)
    assert check_independent(declared, CASE, first, answered(calls[1], 6)) is None
    failure = check_independent(declared, CASE, first, answered(calls[1], 5))
    assert "depend on each other" in failure.message


THRESHOLDS = Thresholds(cosine=0.99, relative_l1=0.05, rmse=0.1)
QUANTIZED = {"comparator": "quantized", "thresholds": THRESHOLDS}


def test_a_quantized_result_within_the_thresholds_is_accepted():
    x = normal(1000)
    assert judge(torch.relu, [x], torch.relu(x) + 0.01, **QUANTIZED) is None


@pytest.mark.parametrize(
    ("got", "named"),
    [
        (lambda x: -x, "cosine -1.000000"),
        (lambda x: x * 1.06, "relative L1 0.06, at most 0.05"),
        (lambda x: x + torch.eye(1, len(x))[0] * 4, "RMSE 0.1265, at most 0.1"),
    ],
)
def test_the_measure_that_broke_its_threshold_is_named(got, named):
    x = normal(1000) + 1
    failure = judge(torch.clone, [x], got(x), **QUANTIZED)
    assert outcome(failure) is Outcome.WRONG_VALUES
    assert named in failure.message


def test_a_quantized_result_that_is_not_finite_or_of_another_dtype_says_so():
    x = normal(10)
    assert outcome(judge(torch.clone, [x], x / 0, **QUANTIZED)) is Outcome.NOT_FINITE
    assert outcome(judge(torch.clone, [x], x.half(), **QUANTIZED)) is Outcome.WRONG_DTYPE


def test_measures_are_those_of_the_formulas():
    verdict = measures(torch.tensor([3.0, 4.0]), torch.tensor([4.0, 3.0]), THRESHOLDS)
    assert verdict.cosine == pytest.approx(24 / 25)
    assert verdict.relative_l1 == pytest.approx(2 / 7)
    assert verdict.rmse == pytest.approx(1.0)
    assert not verdict.held


def test_measures_of_zeros_are_finite():
    zeros = torch.zeros(3)
    assert measures(zeros, zeros, THRESHOLDS).held
    verdict = measures(torch.ones(3), zeros, THRESHOLDS)
    assert (verdict.cosine, verdict.relative_l1, verdict.held) == (0.0, 1.0, False)


def test_the_papers_verdict_is_the_worst_over_the_calls():
    declared = task(torch.clone, **QUANTIZED)
    x = normal(1000)
    near, far = Answer((x * 1.01,)), Answer((x * 1.2,))
    call = ([x], {})
    verdict = paper_verdict(declared, [(call, near), (call, far), (call, near)])
    assert verdict.relative_l1 == pytest.approx(0.2, rel=1e-3) and not verdict.held
    turned = paper_verdict(declared, [(call, near), (call, Answer((-x,)))])
    assert turned.cosine == pytest.approx(-1.0)
    assert paper_verdict(declared, [(call, near)]).held
    assert paper_verdict(declared, [(call, Answer((x[:5],)))]) is None
    assert paper_verdict(declared, [(call, Answer((x / 0,)))]) is None


# What is reported


def test_a_call_is_described_by_shapes_dtypes_and_keywords():
    call = ([torch.ones(3, 5), [torch.ones(2).int()], 0.5], {"approximate": "tanh", "dtype": torch.float16})
    assert describe(call) == "float32[3, 5], [int32[2]], 0.5, approximate='tanh', dtype=float16"


def test_a_failure_goes_to_json_and_back():
    import json

    x = normal(5)
    failure = judge(torch.log, [x.abs()], torch.full([5], math.nan))
    report = Report(task="log", task_version="1", device="cpu", stage=Stage.EXE, failure=failure)
    text = json.dumps(report.to_json(), allow_nan=False)
    assert Report.from_json(json.loads(text)) == report
    assert isinstance(report.failure.case_error, CaseError)
