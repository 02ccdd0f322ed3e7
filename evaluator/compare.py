"""The judge's comparison: is an answer the operator's? Structure, shape, dtype, finite, value, in that order.

Runs only in the judge's process. Of the expected values no more than those at the few worst elements
leave this module, in a `CaseError`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import torch

from evaluator import draws
from evaluator.draws import SIGMAS
from evaluator.report import CaseError, Failure, Outcome, Verdict
from tasks.spec import TOLERANCES, Call, Case, ComparatorName, Task, Thresholds, Tolerance

EAGER_ALLOWANCE = 2.0
"""A kernel may be this many times as far from the exact result as the eager kernel is."""

LARGEST_ATOL = 0.01
"""The absolute tolerance is at most this share of the output's root mean square: zeros are no answer."""

WORST = 5
"""How many elements a report shows."""


@dataclass(frozen=True)
class Answer:
    """What one call of a submission gave back, as plain dense tensors."""

    outputs: tuple[torch.Tensor, ...]
    mutated: tuple[torch.Tensor, ...] = ()  # the arguments at `Task.mutates`, after the call
    structure: str = "tensor"  # "tensor", "tuple" (or list), "none", or in words what else it is


def check(task: Task, case: Case, call: Call, answer: Answer, reading: str = "") -> Failure | None:
    """None if `answer` is what the operator gives for `call`, else why not.

    The operator is `task.reference`, or the published reading `task.variants[reading]`. The tensors of `call`
    stay as they are. What the reference itself raises is raised here: it is no fault of the answer.
    """
    expected = _expected(task, call, reading)
    about = _About(task, case, call, reading)
    return (
        _wrong_structure(about, answer, expected)
        or _wrong_form(about, answer, expected)
        or COMPARATORS[task.comparator](about, answer, expected)
    )


def check_form(task: Task, case: Case, call: Call, answer: Answer) -> Failure | None:
    """None if `answer` has the structure, shapes and dtypes of the operator's result, and is finite where that is."""
    expected = _expected(task, call, "")
    about = _About(task, case, call)
    if failure := _wrong_structure(about, answer, expected) or _wrong_form(about, answer, expected):
        return failure
    failures = (_nonfinite_failure(about, got, wanted) for got, wanted in _pairs(answer, expected))
    return next((failure for failure in failures if failure), None)


def check_independent(
    task: Task, case: Case, first: tuple[Call, Answer], second: tuple[Call, Answer], reading: str = ""
) -> Failure | None:
    """None if two calls on one case drew their random numbers anew, as two calls must.

    Both answers have passed `check` by this reading. Tasks without random numbers have nothing to draw.
    """
    one, other = (_About(task, case, call, reading) for call, _ in (first, second))
    repeats = _REPEATS.get(task.comparator)
    if repeats and (message := repeats(one, first[1], other, second[1])):
        return other.failure(Outcome.WRONG_VALUES, message)
    return None


def paper_verdict(task: Task, pairs: Iterable[tuple[Call, Answer]]) -> Verdict | None:
    """The paper's measures of a quantization kernel, the worst over its calls.

    None where an answer cannot be measured: another number of outputs, another shape, NaN or infinity.
    """
    measured: list[Verdict] = []
    for call, answer in pairs:
        expected = _expected(task, call, "")
        if len(answer.outputs) != len(expected.outputs):
            return None
        for got, wanted in zip(answer.outputs, expected.outputs, strict=True):
            if got.shape != wanted.eager.shape or not bool(got.isfinite().all()):
                return None
            measured.append(measures(got, wanted.exact, _thresholds(task)))
    return _worst_verdict(measured) if measured else None


def measures(got: torch.Tensor, expected: torch.Tensor, thresholds: Thresholds) -> Verdict:
    """Cosine, relative L1 and RMSE of `got` against `expected` (same shape, finite), in float64."""
    got, expected = got.to(expected.device, torch.float64).flatten(), expected.double().flatten()
    error = got - expected
    norms = float(got.norm() * expected.norm())
    magnitude = float(expected.abs().sum())
    same = not bool(error.any())
    cosine = float(got @ expected) / norms if norms else float(same)
    relative_l1 = float(error.abs().sum()) / magnitude if magnitude else float(not same)
    rmse = float(error.square().mean().sqrt()) if error.numel() else 0.0
    held = (
        cosine >= thresholds.cosine
        and relative_l1 <= thresholds.relative_l1
        and rmse <= thresholds.rmse
    )  # fmt: skip
    return Verdict(cosine=cosine, relative_l1=relative_l1, rmse=rmse, held=held)


def describe(call: Call) -> str:
    """The arguments of a call in words: "float32[3, 5], approximate='tanh'"."""
    arguments, keywords = call
    parts = [_describe(value) for value in arguments]
    return ", ".join(parts + [f"{name}={_describe(value)}" for name, value in keywords.items()])


# What is expected


@dataclass(frozen=True)
class _Value:
    """One expected tensor: what eager gives, and the same computed in float64 where that is possible."""

    name: str  # "output 0", "argument 2"
    eager: torch.Tensor
    exact: torch.Tensor


@dataclass(frozen=True)
class _Expected:
    structure: str  # "tensor", "tuple", or "none" where the operator only changes its arguments
    outputs: tuple[_Value, ...]
    mutated: tuple[_Value, ...]

    @property
    def values(self) -> tuple[_Value, ...]:
        return self.outputs + self.mutated


def _expected(task: Task, call: Call, reading: str) -> _Expected:
    reference = task.variants[reading] if reading else task.reference
    structure, outputs, mutated = _run(task, reference, _mapped(call, _clone))
    _, exact_outputs, exact_mutated = _exact(task, reference, call) or (structure, outputs, mutated)
    return _Expected(
        structure,
        tuple(_values("output", range(len(outputs)), outputs, exact_outputs)),
        tuple(_values("argument", task.mutates, mutated, exact_mutated)),
    )


_Result = tuple[str, list[torch.Tensor], list[torch.Tensor]]


def _exact(task: Task, reference: Callable[..., Any], call: Call) -> _Result | None:
    if not task.oracle:
        return None
    try:
        return _run(task, reference, _mapped(call, _upcast))
    except (RuntimeError, TypeError, ValueError):
        return None  # the reference has no float64 form for these arguments: eager's own values stand


def _run(task: Task, reference: Callable[..., Any], call: Call) -> _Result:
    arguments, keywords = call
    with torch.no_grad():
        result = reference(*arguments, **keywords)
    mutated = [arguments[position] for position in task.mutates]
    if result is None:
        return "none", [], mutated
    if isinstance(result, tuple | list):
        return "tuple", [torch.as_tensor(item) for item in result], mutated
    return "tensor", [torch.as_tensor(result)], mutated


def _values(
    kind: str, numbers: Iterable[int], eager: list[torch.Tensor], exact: list[torch.Tensor]
) -> Iterable[_Value]:
    alike = len(eager) == len(exact)
    for index, (number, value) in enumerate(zip(numbers, eager, strict=True)):
        other = exact[index] if alike else value
        usable = other.shape == value.shape and _inexact(value) and _inexact(other)
        yield _Value(f"{kind} {number}", value, other if usable else value)


def _mapped(value: Any, change: Callable[[Any], Any]) -> Any:
    if isinstance(value, tuple | list) and not isinstance(value, torch.Size):
        items = [_mapped(item, change) for item in value]
        return tuple(items) if isinstance(value, tuple) else items
    if isinstance(value, Mapping):
        return {key: _mapped(item, change) for key, item in value.items()}
    return change(value)


def _clone(value: Any) -> Any:
    if isinstance(value, torch.Tensor):
        return value.detach().clone()
    if isinstance(value, torch.Generator):
        return value.clone_state()
    return value


def _upcast(value: Any) -> Any:
    copy = _clone(value)
    return _wide(copy) if isinstance(copy, torch.Tensor) else copy


def _wide(value: torch.Tensor) -> torch.Tensor:
    """`value` in float64 or complex128 if it is floating or complex; anything else as it is."""
    if value.is_complex():
        return value.to(torch.complex128)
    return value.to(torch.float64) if value.is_floating_point() else value


def _inexact(value: torch.Tensor) -> bool:
    return bool(value.is_floating_point() or value.is_complex())


# Structure, shape and dtype


@dataclass(frozen=True)
class _About:
    """What every failure says: the task, the case and the call that it is about."""

    task: Task
    case: Case
    call: Call
    reading: str = ""

    def failure(self, outcome: Outcome, message: str, output: str = "", **error: Any) -> Failure:
        case_error = CaseError(case=dict(self.case), inputs=describe(self.call), output=output, **error)
        text = f"{output}: {message}" if output else message
        return Failure(outcome=outcome, message=text[0].upper() + text[1:] + ".", case_error=case_error)


def _wrong_structure(about: _About, answer: Answer, expected: _Expected) -> Failure | None:
    wanted, got = (expected.structure, len(expected.outputs)), (answer.structure, len(answer.outputs))
    if len(answer.mutated) != len(expected.mutated):
        message = f"the call changes {len(expected.mutated)} arguments, {len(answer.mutated)} came back"
        return about.failure(Outcome.WRONG_STRUCTURE, message)
    if wanted[0] == "none" or wanted == got:
        return None
    message = f"the call returned {_structure(*got)}, and the operator returns {_structure(*wanted)}"
    return about.failure(Outcome.WRONG_STRUCTURE, message)


def _structure(structure: str, count: int) -> str:
    words = {
        "tensor": "one tensor",
        "tuple": f"a tuple of {count} tensor{'s' * (count != 1)}",
        "none": "nothing",
    }
    return words.get(structure, structure)


def _wrong_form(about: _About, answer: Answer, expected: _Expected) -> Failure | None:
    pairs = list(_pairs(answer, expected))
    for got, wanted in pairs:
        if got.shape != wanted.eager.shape:
            message = f"its shape is {list(got.shape)}, and the operator gives {list(wanted.eager.shape)}"
            return about.failure(Outcome.WRONG_SHAPE, message, wanted.name, **_form(got, wanted))
    for got, wanted in pairs:
        if got.dtype != wanted.eager.dtype:
            message = f"its dtype is {_name(got.dtype)}, and the operator gives {_name(wanted.eager.dtype)}"
            return about.failure(Outcome.WRONG_DTYPE, message, wanted.name, **_form(got, wanted))
    return None


def _pairs(answer: Answer, expected: _Expected) -> Iterable[tuple[torch.Tensor, _Value]]:
    # zip stops early only where the operator returns nothing and the call's result is free.
    outputs = answer.outputs[: len(expected.outputs)]
    return zip(outputs + answer.mutated, expected.values, strict=True)


def _form(got: torch.Tensor, wanted: _Value) -> dict[str, Any]:
    return {
        "dtype": _name(got.dtype),
        "shape": tuple(got.shape),
        "expected_dtype": _name(wanted.eager.dtype),
        "expected_shape": tuple(wanted.eager.shape),
        "elements": wanted.eager.numel(),
    }


def _name(dtype: torch.dtype) -> str:
    return str(dtype).removeprefix("torch.")


# Values, by comparator


def _close(about: _About, answer: Answer, expected: _Expected) -> Failure | None:
    return _all_close(about, _pairs(answer, expected))


def _all_close(about: _About, pairs: Iterable[tuple[torch.Tensor, _Value]]) -> Failure | None:
    for got, wanted in pairs:
        if failure := _far(about, got, wanted, _tolerance(about.task, wanted.eager.dtype)):
            return failure
    return None


def _equal(about: _About, answer: Answer, expected: _Expected) -> Failure | None:
    for got, wanted in _pairs(answer, expected):
        exactly = _Value(wanted.name, wanted.eager, wanted.eager)
        if failure := _far(about, got, exactly, Tolerance(rtol=0.0, atol=0.0)):
            return failure
    return None


def _invariant(about: _About, answer: Answer, expected: _Expected) -> Failure | None:
    invariants = about.task.invariants
    assert invariants is not None, "the task declares them: see Task.__post_init__"
    for got, wanted in _pairs(answer, expected):
        if failure := _nonfinite_failure(about, got, wanted):
            return failure
    call = _mapped(about.call, _upcast)

    def of(outputs: Iterable[torch.Tensor]) -> Mapping[str, torch.Tensor]:
        return invariants(call, [_wide(output) for output in outputs])

    device = expected.values[0].eager.device
    found = of(got.to(device) for got in answer.outputs)
    eager, exact = of(v.eager for v in expected.outputs), of(v.exact for v in expected.outputs)
    tolerance = _tolerance(about.task, getattr(torch, about.task.dtype))
    for name, value in exact.items():
        if failure := _far(about, found[name], _Value(name, eager[name], value), tolerance):
            return failure
    return _all_close(about, zip(answer.mutated, expected.mutated, strict=True))


def _uniform(about: _About, answer: Answer, expected: _Expected) -> Failure | None:
    for got, wanted in _pairs(answer, expected):
        if message := _not_uniform(got):
            return about.failure(Outcome.WRONG_VALUES, message, wanted.name, **_form(got, wanted))
    return None


def _dropout(about: _About, answer: Answer, expected: _Expected) -> Failure | None:
    """The operator's values for some mask, element by element, and a mask that chance can have made."""
    with_all, with_none, p = _kept_and_dropped(about)
    if not p:  # nothing is left to chance in this call
        return _close(about, answer, with_all)
    for (got, kept), dropped in zip(_pairs(answer, with_all), with_none.values, strict=True):
        mask = _recovered(about, got, kept, dropped, p)
        eager = torch.where(mask.kept, kept.eager, dropped.eager)
        wanted = _Value(kept.name, eager, torch.where(mask.kept, kept.exact, dropped.exact))
        if failure := _far(about, got, wanted, _tolerance(about.task, eager.dtype)):
            return failure
        if message := draws.not_dropped_by_chance(mask):
            return about.failure(Outcome.WRONG_VALUES, message, kept.name, **_form(got, kept))
    return None


def _binomial(about: _About, answer: Answer, expected: _Expected) -> Failure | None:
    drawn = _parameters(about)
    for got, wanted in _pairs(answer, expected):
        got = got.to(wanted.eager.device)
        if message := draws.not_binomial(got, drawn.trials, drawn.probability):
            return about.failure(Outcome.WRONG_VALUES, message, wanted.name, **_form(got, wanted))
    return None


def _quantized(about: _About, answer: Answer, expected: _Expected) -> Failure | None:
    """By the paper's measures. A trial goes by the contract in `quantization.py` instead."""
    thresholds = _thresholds(about.task)
    for got, wanted in _pairs(answer, expected):
        if failure := _nonfinite_failure(about, got, wanted):
            return failure
        verdict = measures(got, wanted.exact, thresholds)
        if not verdict.held:
            difference = _difference(got, wanted, Tolerance(rtol=0.0, atol=0.0))
            message = "; ".join(_broken(verdict, thresholds))
            # No element is wrong by itself here: the worst ones are shown, none is counted.
            error = difference.summary() | _form(got, wanted) | {"wrong": 0, "rtol": None, "atol": None}
            return about.failure(Outcome.WRONG_VALUES, message, wanted.name, **error)
    return None


COMPARATORS: Mapping[ComparatorName, Callable[[_About, Answer, _Expected], Failure | None]] = {
    "close": _close,
    "exact": _equal,
    "invariants": _invariant,
    "uniform": _uniform,
    "dropout": _dropout,
    "binomial": _binomial,
    "quantized": _quantized,
}
"""One function for each comparator; each sees outputs whose structure, shape and dtype are right."""


def _tolerance(task: Task, dtype: torch.dtype) -> Tolerance:
    """The task's tolerance, else the dtype's; integers and booleans are exact."""
    if not (dtype.is_floating_point or dtype.is_complex):
        return Tolerance(rtol=0.0, atol=0.0)
    return task.tolerance or TOLERANCES[_name(dtype)]


# Elements


def _far(about: _About, got: torch.Tensor, wanted: _Value, tolerance: Tolerance) -> Failure | None:
    """Why `got` is not `wanted`, element by element, or None."""
    difference = _difference(got, wanted, tolerance)
    if not difference.count:
        return None
    share = f"{difference.count} of {wanted.eager.numel()} element{'s' * (wanted.eager.numel() != 1)}"
    if difference.unexpected_nonfinite:
        outcome, message = Outcome.NOT_FINITE, _NONFINITE
    elif tolerance.rtol or tolerance.atol:
        outcome, message = Outcome.WRONG_VALUES, f"{share} further from the right value than the tolerance"
    else:
        outcome, message = Outcome.WRONG_VALUES, f"{share} not equal to the right value"
    return about.failure(outcome, message, wanted.name, **_form(got, wanted), **difference.summary())


_NONFINITE = "it holds NaN or infinity, and the operator's value is finite"


def _nonfinite_failure(about: _About, got: torch.Tensor, wanted: _Value) -> Failure | None:
    """For comparators that look at whole outputs and not at elements."""
    if bool(_nonfinite(got).any()) and not bool(_nonfinite(wanted.eager).any()):
        return about.failure(Outcome.NOT_FINITE, _NONFINITE, wanted.name, **_form(got, wanted))
    return None


@dataclass(frozen=True)
class _Difference:
    """Element by element: the distance from the exact value, and which elements are too far."""

    got: torch.Tensor
    exact: torch.Tensor
    error: torch.Tensor  # float64; infinite where one side is not finite and the other differs
    wrong: torch.Tensor  # bool
    unexpected_nonfinite: bool
    tolerance: Tolerance

    @property
    def count(self) -> int:
        return int(self.wrong.sum())

    def summary(self) -> dict[str, Any]:
        """The fields of a CaseError that tell how far the output is off."""
        magnitude = (self.exact if self.exact.is_complex() else self.exact.double()).abs()
        relative = torch.where(magnitude > 0, self.error / magnitude, 0.0)
        ranking = torch.where(self.wrong, self.error, -1.0).flatten()
        worst = ranking.topk(min(WORST, self.count)).indices
        places = [tuple(int(i) for i in torch.unravel_index(index, self.got.shape)) for index in worst]
        return {
            "wrong": self.count,
            "max_absolute": _largest(self.error),
            "max_relative": _largest(relative),
            "rtol": self.tolerance.rtol,
            "atol": self.tolerance.atol,
            "worst": tuple(places),
            "got": tuple(_shown(self.got[place]) for place in places),
            "expected": tuple(_shown(self.exact[place]) for place in places),
        }


def _difference(got: torch.Tensor, wanted: _Value, tolerance: Tolerance) -> _Difference:
    """Compares `got` (same shape and dtype as `wanted.eager`) with the exact values.

    An element holds if it is within atol + rtol * |exact|; or if it is no worse than EAGER_ALLOWANCE times
    eager's own worst element, in absolute terms and in units of the tolerance; or if it is the NaN or the
    infinity that the operator itself has there.
    """
    eager, exact = wanted.eager, wanted.exact
    got = got.to(eager.device)
    if not _inexact(eager):
        wrong = got != eager
        error = torch.where(wrong, (got.double() - eager.double()).abs(), 0.0)
        return _Difference(got, eager, error, wrong, False, tolerance)
    error, eager_error = _distance(got, exact), _distance(eager, exact)
    atol = _effective_atol(tolerance.atol, exact, eager_error)
    limit = atol + tolerance.rtol * _wide(exact).abs().nan_to_num(0.0, 0.0)
    noise = EAGER_ALLOWANCE * _maximum(eager_error)
    noise_in_limits = EAGER_ALLOWANCE * _maximum(eager_error / limit)
    held = (error <= limit) | ((error <= noise) & (error <= limit * noise_in_limits))
    # What float64 still holds may be infinite in the output's dtype.
    rounded = exact.to(eager.dtype)
    nonfinite = _nonfinite(got)
    held = torch.where(nonfinite, _same(got, rounded) | _same(got, eager), held)
    unexpected = bool((~held & nonfinite & ~_nonfinite(rounded)).any())
    return _Difference(got, exact, error, ~held, unexpected, Tolerance(tolerance.rtol, atol))


def _distance(value: torch.Tensor, exact: torch.Tensor) -> torch.Tensor:
    distance = (_wide(value) - _wide(exact)).abs()
    return torch.where(_same(value, exact), 0.0, distance.nan_to_num(math.inf, math.inf))


def _effective_atol(atol: float, exact: torch.Tensor, eager_error: torch.Tensor) -> float:
    """`atol`, but small enough that zeros do not pass for outputs that are small and yet well determined."""
    scale = _root_mean_square(_wide(exact).abs())
    determined = _root_mean_square(eager_error) < scale / 2  # else the output is rounding noise around zero
    return min(atol, LARGEST_ATOL * scale) if determined else atol


def _root_mean_square(values: torch.Tensor) -> float:
    finite = values[values.isfinite()]
    return float(finite.square().mean().sqrt()) if finite.numel() else 0.0


def _maximum(values: torch.Tensor) -> float:
    finite = values[values.isfinite()]
    return float(finite.max()) if finite.numel() else 0.0


def _nonfinite(values: torch.Tensor) -> torch.Tensor:
    return ~values.isfinite()


def _same(one: torch.Tensor, other: torch.Tensor) -> torch.Tensor:
    """Equal, or NaN on both sides."""
    return (one == other) | (one.isnan() & other.isnan())


def _largest(values: torch.Tensor) -> float | None:
    return _number(float(values.max())) if values.numel() else None


def _number(value: float) -> float | None:
    # JSON has no infinity.
    return value if math.isfinite(value) else None


def _shown(value: torch.Tensor) -> float | str:
    number = value.item()
    if isinstance(number, bool | complex) or not math.isfinite(number):
        return str(number)
    return float(number)


# Random draws


def _kept_and_dropped(about: _About) -> tuple[_Expected, _Expected, float]:
    """What the operator gives if dropout keeps every element and if it keeps none, and its probability."""
    fixed = draws.FixedDropout(keep=True)
    with fixed:
        kept = _expected(about.task, about.call, about.reading)
    with draws.FixedDropout(keep=False):
        dropped = _expected(about.task, about.call, about.reading)
    return kept, dropped, fixed.p


def _recovered(about: _About, got: torch.Tensor, kept: _Value, dropped: _Value, p: float) -> draws.Mask:
    """The mask that an answer seems to have used: each element counts as what it is nearer to.

    It tells only where both values are further apart than rounding can carry an answer.
    """
    got = got.to(kept.eager.device)
    tolerance = _tolerance(about.task, kept.eager.dtype)
    magnitude = torch.maximum(_wide(kept.exact).abs(), _wide(dropped.exact).abs()).nan_to_num(0.0, 0.0)
    noise = EAGER_ALLOWANCE * _maximum(_distance(kept.eager, kept.exact))
    limit = (tolerance.atol + tolerance.rtol * magnitude).clamp(min=noise)
    return draws.Mask(
        kept=_distance(got, kept.exact) < _distance(got, dropped.exact),
        told=_distance(kept.exact, dropped.exact) > 4 * limit,
        p=p,
    )


def _parameters(about: _About) -> draws.FixedBinomial:
    """The operator's numbers of trials and probabilities for a call."""
    reference = about.task.variants[about.reading] if about.reading else about.task.reference
    fixed = draws.FixedBinomial()
    with fixed:
        _run(about.task, reference, _mapped(about.call, _clone))
    return fixed


def _same_numbers(one: _About, first: Answer, other: _About, second: Answer) -> str:
    for got, again in zip(first.outputs, second.outputs, strict=True):
        if got.numel() > 1 and torch.equal(got.cpu(), again.cpu()):
            return "two calls returned the same random numbers"
    return ""


def _same_mask(one: _About, first: Answer, other: _About, second: Answer) -> str:
    masks = []
    for about, answer in ((one, first), (other, second)):
        with_all, with_none, p = _kept_and_dropped(about)
        if not p:
            return ""
        (got, kept), *_ = _pairs(answer, with_all)
        masks.append(_recovered(about, got, kept, with_none.values[0], p))
    return "two calls dropped the same elements" if draws.same_mask(*masks) else ""


def _same_binomial(one: _About, first: Answer, other: _About, second: Answer) -> str:
    parameters = _parameters(one), _parameters(other)
    same = draws.same_binomial(first.outputs[0], second.outputs[0], *parameters)
    return "the random numbers of two calls depend on each other" if same else ""


_REPEATS: Mapping[ComparatorName, Callable[[_About, Answer, _About, Answer], str]] = {
    "uniform": _same_numbers,
    "dropout": _same_mask,
    "binomial": _same_binomial,
}
"""What gives two calls away as not having drawn anew, or "", for each comparator of random draws."""


def _not_uniform(got: torch.Tensor) -> str:
    """What gives the values away as not drawn uniformly from [0, 1), or ""."""
    values = got.detach().double().flatten()
    n = values.numel()
    if not n:
        return ""
    if not bool(((values >= 0) & (values < 1)).all()):  # NaN too
        return f"its values are not all in [0, 1): they reach from {values.min():g} to {values.max():g}"
    step = torch.finfo(got.dtype).eps  # values of few bits sit on a coarse grid
    mean, slack = float(values.mean()), SIGMAS / math.sqrt(n)
    if abs(mean - 1 / 2) > slack * math.sqrt(1 / 12) + step:
        return f"its mean is {mean:.4g}, and that of uniform values is 0.5"
    variance = float((values - 1 / 2).square().mean())
    if abs(variance - 1 / 12) > slack * math.sqrt(1 / 180) + step:
        return f"its variance is {variance:.4g}, and that of uniform values is 0.08333"
    steps = torch.arange(n + 1, dtype=torch.float64, device=values.device) / n
    ordered = values.sort().values
    distance = float(torch.maximum((ordered - steps[:-1]).abs(), (steps[1:] - ordered).abs()).max())
    # Kolmogorov's bound for the same probability as SIGMAS standard deviations: 2 exp(-2 x^2) = erfc(5/√2)
    if distance > math.sqrt(-math.log(math.erfc(SIGMAS / math.sqrt(2)) / 2) / 2 / n) + step:
        return f"its distribution is {distance:.4g} from the uniform one (Kolmogorov and Smirnov)"
    if n > 2 and abs(float(((values[1:] - 1 / 2) * (values[:-1] - 1 / 2)).mean()) * 12) > slack + step:
        return "neighbouring values depend on each other"
    return _repeats(ordered, bits=-math.log2(step))


def _repeats(ordered: torch.Tensor, bits: float) -> str:
    """Blocks that draw the same numbers: fewer different values than draws with `bits` random bits give."""
    n, distinct = ordered.numel(), int((ordered.diff() > 0).sum()) + 1
    likely = 2**bits * -math.expm1(-n / 2**bits)
    if distinct < likely - SIGMAS * math.sqrt(n) - n / 10:
        return f"only {distinct} of its {n} values are different"
    return ""


# Quantization


def _thresholds(task: Task) -> Thresholds:
    if task.thresholds is None:
        raise ValueError(f"task {task.name} has no thresholds: its comparator is {task.comparator!r}")
    return task.thresholds


def _worst_verdict(verdicts: Sequence[Verdict]) -> Verdict:
    return Verdict(
        cosine=min(v.cosine for v in verdicts),
        relative_l1=max(v.relative_l1 for v in verdicts),
        rmse=max(v.rmse for v in verdicts),
        held=all(v.held for v in verdicts),
    )


def _broken(verdict: Verdict, thresholds: Thresholds) -> Iterable[str]:
    if verdict.cosine < thresholds.cosine:
        yield f"cosine {verdict.cosine:.6f}, at least {thresholds.cosine:g} is asked for"
    if verdict.relative_l1 > thresholds.relative_l1:
        yield f"relative L1 {verdict.relative_l1:.4g}, at most {thresholds.relative_l1:g} is asked for"
    if verdict.rmse > thresholds.rmse:
        yield f"RMSE {verdict.rmse:.4g}, at most {thresholds.rmse:g} is asked for"


def _describe(value: Any) -> str:
    if isinstance(value, torch.Tensor):
        return f"{_name(value.dtype)}{list(value.shape)}"
    if isinstance(value, tuple | list):
        items = ", ".join(_describe(item) for item in value)
        return f"({items})" if isinstance(value, tuple) else f"[{items}]"
    return _name(value) if isinstance(value, torch.dtype) else repr(value)
