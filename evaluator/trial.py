"""One kernel's trial: what the judge asks the child, and what it makes of the answers."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass, replace
from typing import Any, TypeGuard

import torch

from evaluator import compare, devices, environment, performance, quantization, wire
from evaluator.compare import Answer
from evaluator.draft import Draft, Failed
from evaluator.inputs import Maker, case_seed
from evaluator.report import CAUSES, CLAUSES, CaseError, Failure, Measure, Outcome, Stage, Timing, bounded
from evaluator.sandbox import Sandbox, Stopped
from evaluator.timing import MOST_FLUSHES, MOST_REPETITIONS, Plan, Stopwatch
from tasks.spec import Call, Case, Task

INTERPRETED_BYTES = 1_000_000
"""On `cpu` cases with larger inputs are left out: the interpreter takes milliseconds for each block."""

MOST_ANSWER_BYTES = 1 << 30
"""Of one answer. It protects the judge's memory; the outputs of no case come near."""

VERIFIED_BYTES = 256 << 20
"""Timing cases that move more than this are timed, but not verified: sending would take too long."""

TIMED_BYTES = 20e9
"""Timing cases with a larger footprint (four times what they move) are left out for all kernels."""


class Trial:
    """One kernel in its sandbox."""

    def __init__(
        self, task: Task, sandbox: Sandbox, draft: Draft, seed: str, cancelled: Callable[[], bool]
    ) -> None:
        self._task, self._sandbox, self._draft, self._seed = task, sandbox, draft, seed
        self._cancelled = cancelled
        self._limits = draft.settings.limits
        self._ends = time.monotonic() + self._limits.kernel_s

    def load(self) -> None:
        """Imports the source in the child."""
        self._ask("load", self._limits.load_s, None, task=self._task.name, source=self._draft.source)

    def run_all(self) -> Verdicts:
        """Every correctness case, the first again on other data, and probes. Raises Failed where a call does."""
        verdicts = Verdicts(self._task, self._draft)
        cases = list(enumerate(self._task.correctness))
        cases = [(number, case) for number, case in cases if self._fits(case)] or cases[:1]
        for number, case in cases:
            verdicts.add(number, case, *self._run(number, case, "first"))
        number, case = cases[0]
        verdicts.add(number, case, *self._run(number, case, "again"))
        for number, case in enumerate(quantization.probes(self._task), start=len(self._task.correctness)):
            verdicts.add(number, case, *self._run(number, case, "first"))
        return verdicts

    def require_triton(self) -> None:
        """Raises Failed where no call launched a Triton kernel."""
        if not self._draft.kernels:
            message = "The outputs are right, and no Triton kernel was launched in any call."
            raise Failed(Failure(outcome=Outcome.NO_TRITON_RAN, message=message))

    def measure_all(self) -> list[Measured]:
        """The kernel's samples for every timing case. Raises Failed where one fails."""
        self._draft.begin(Stage.PERF)
        return [
            self._measure(number, case)
            for number, case in enumerate(self._task.timing)
            if 4 * self._task.case_bytes(case) <= TIMED_BYTES
        ]

    def _fits(self, case: Case) -> bool:
        if self._draft.device != "cpu":
            return True
        size = sum(tensor.nbytes for tensor in wire.tensors(self._inputs(case, 0)))
        return bool(size <= INTERPRETED_BYTES)

    def _run(self, number: int, case: Case, turn: str) -> tuple[Call, Answer, bool]:
        seed = case_seed(self._seed, self._task.name, number, turn)
        left = self._ends - time.monotonic()
        try:
            message = self._ask("run", min(self._limits.case_s, left), (case, seed), MOST_ANSWER_BYTES)
        except Failed as failed:
            if failed.failure.outcome is Outcome.TIMED_OUT and left < self._limits.case_s:
                text = f"All calls together took longer than {self._limits.kernel_s:.3g} seconds."
                raise Failed(replace(failed.failure, message=text)) from None
            raise
        # Only now does the judge make its own inputs, and from them the expected values.
        return self._received(message, case, seed)

    def _measure(self, number: int, case: Case) -> Measured:
        where = f"timing case {dict(case)}"
        seed = case_seed(self._seed, self._task.name, number, "timing")
        budget = self._draft.settings.timing_ms
        try:
            # Compilation and warm-up see other data than the measured repetitions.
            prepared = self._ask("prepare", self._limits.timing_s, (case, seed ^ 1), budget_ms=budget)
            plan = _plan(prepared.header)
            started = time.perf_counter()
            message = self._ask("measure", self._limits.timing_s, (case, seed), **asdict(plan))
            wall_ms = (time.perf_counter() - started) * 1e3
            samples = _samples(message.header.get("samples"), plan.repetitions)
            if self._task.case_bytes(case) <= VERIFIED_BYTES:
                outputs = self._ask("outputs", self._limits.timing_s, (case, seed), MOST_ANSWER_BYTES)
                self._require_right(case, *self._received(outputs, case, seed))
        except Failed as failed:
            message_ = f"On the {where}: {failed.failure.message}"
            raise Failed(replace(failed.failure, outcome=Outcome.TIMING_FAILED, message=message_)) from None
        except wire.WireError as error:
            raise Failed(
                _failure(Outcome.TIMING_NOT_CONFIRMED, f"On the {where} it sent {error}.")
            ) from error
        self._require_possible(case, where, samples, wall_ms)
        return Measured(number, case, samples, plan, wall_ms)

    def _require_right(self, case: Case, call: Call, answer: Answer, changed: bool) -> None:
        if self._task.comparator == "quantized":
            failure = _check_quantized(quantization.Examination(self._task), case, call, answer)
        else:
            failure = compare.check(self._task, case, call, answer, self._draft.variant)
        if failure:
            raise Failed(failure)

    def _require_possible(self, case: Case, where: str, samples: list[float], wall_ms: float) -> None:
        """Times that add up to more than the judge waited, or that no device of this kind can reach."""
        if sum(samples) > wall_ms:
            message = (
                f"On the {where} the times add up to {sum(samples):.3f} ms, and all took {wall_ms:.3f} ms."
            )
            raise Failed(_failure(Outcome.TIMING_NOT_CONFIRMED, message))
        peak = _peak_gbs(self._draft.device)
        gbs = self._task.case_bytes(case) / performance.median(samples) / 1e6
        if peak and gbs > 1.05 * peak:
            message = f"On the {where} the time implies {gbs:.0f} GB/s, and the device can do {peak:.0f}."
            raise Failed(_failure(Outcome.TIMING_NOT_CONFIRMED, message))

    def _received(self, message: wire.Message, case: Case, seed: int) -> tuple[Call, Answer, bool]:
        """The judge's own inputs, the child's answer, and whether a wrong argument changed."""
        call = self._inputs(case, seed)
        header, device = message.header, self._draft.device
        try:
            descriptions = [*_items(header.get("outputs")), *_items(header.get("mutated"))]
            tensors = [
                wire.unpack(description, data, device)
                for description, data in zip(descriptions, message.buffers, strict=True)
            ]
        except (wire.WireError, ValueError) as error:
            raise Failed(
                _failure(Outcome.CRASHED, f"The process sent the judge {error}.", case, call)
            ) from error
        count = len(_items(header.get("outputs")))
        answer = Answer(tuple(tensors[:count]), tuple(tensors[count:]), str(header.get("structure"))[:100])
        for name in _items(header.get("kernels"))[:100]:
            self._draft.kernels[bounded(str(name), 200)] = None
        # A claim of the child. A lie gains nothing: the copy is its own.
        changed = "inputs" in header and header["inputs"] != wire.input_digests(call, self._task.mutates)
        return call, answer, changed

    def _inputs(self, case: Case, seed: int) -> Call:
        return quantization.make_call(self._task, case, Maker(seed, self._draft.device, self._task.dtype))

    def _ask(
        self,
        operation: str,
        seconds: float,
        about: tuple[Case, int] | None,
        max_bytes: int = wire.MAX_HEADER,
        **arguments: Any,
    ) -> wire.Message:
        """Has the child do something on a case; raises Failed, naming the case, where that ends badly."""
        named = {"case": dict(about[0]), "seed": about[1]} if about else {}
        try:
            message = self._sandbox.request(
                operation,
                seconds=max(seconds, 0.0),
                max_bytes=max_bytes,
                cancelled=self._cancelled,
                **named,
                **arguments,
            )
        except Stopped as stopped:
            failure = _failure(stopped.outcome, stopped.message)
        else:
            error = message.header.get("error")
            if error is None:
                return message
            failure = self._claimed(error)
            if over := self._sandbox.over_limit:
                failure = replace(failure, outcome=over[0], message=over[1])
        if about:
            failure = replace(failure, case_error=_case_error(about[0], self._inputs(*about)))
        raise Failed(failure)

    def _claimed(self, error: Any) -> Failure:
        """What the child says that the submission raised."""
        said = error if isinstance(error, dict) else {}
        outcome = str(said.get("outcome"))
        if outcome not in _CLAIMS or (outcome == Outcome.NOT_SUPPORTED and self._draft.device != "cpu"):
            return _failure(Outcome.CRASHED, "The process sent the judge an error that is none.")
        line = said.get("line")
        return Failure(
            outcome=Outcome(outcome),
            message=str(said.get("message"))[:1000],
            line=line if isinstance(line, int) and 0 < line < 1_000_000 else None,
            details=str(said.get("details")),
        )


_CLAIMS = {
    Outcome.NO_ENTRY,
    Outcome.IMPORT_FAILED,
    Outcome.COMPILE_FAILED,
    Outcome.CALL_FAILED,
    Outcome.OUT_OF_MEMORY,
    Outcome.CRASHED,
    Outcome.LIMIT_EXCEEDED,
    Outcome.NOT_SUPPORTED,
}
"""What a child may say of itself."""


class Verdicts:
    """All answers against each reading of the task: a whole kernel by one reading, not case by case."""

    def __init__(self, task: Task, draft: Draft) -> None:
        self._task, self._draft = task, draft
        self._failures: dict[str, list[tuple[int, Failure]]] = {
            reading: [] for reading in ("", *task.variants)
        }
        self._cases: dict[int, tuple[Call, Answer]] = {}
        self._quantized = task.comparator == "quantized"
        self._examination = quantization.Examination(task)
        self._published: list[tuple[Call, Answer]] = []  # what the paper's verdict is of: no probes

    def add(self, number: int, case: Case, call: Call, answer: Answer, changed: bool) -> None:
        for reading, failures in self._failures.items():
            if reading and failures:
                continue  # out already; only the operator's failures are counted to the end
            if self._quantized:
                failure = _check_quantized(self._examination, case, call, answer)
            else:
                failure = compare.check(self._task, case, call, answer, reading)
            if failure and failure.outcome is Outcome.WRONG_STRUCTURE and answer.structure.startswith("a "):
                failure = replace(failure, message=f"The call returned {answer.structure}, not tensors.")
            if failure is None and changed:
                message = "The call changed an argument that the operator leaves alone."
                failure = _failure(Outcome.INPUT_CHANGED, message, case, call)
            if failure is None and number in self._cases:
                earlier = self._cases[number]
                failure = compare.check_independent(self._task, case, earlier, (call, answer), reading)
            if failure:
                failures.append((number, failure))
        self._cases[number] = call, answer
        if self._quantized and "probe" not in case:
            self._published.append((call, answer))

    def require(self) -> None:
        """Notes the reading that held on every case in the draft; raises Failed where none did."""
        held = [reading for reading, failures in self._failures.items() if not failures]
        best = held[0] if held else ""
        failed = self._failures[best]
        self._draft.variant = best
        self._draft.cases = len(self._cases)
        self._draft.passed = len(self._cases) - len({number for number, _ in failed})
        if self._quantized:
            self._draft.paper = compare.paper_verdict(self._task, self._published)
            if all(failure.outcome in _MEASURED for _, failure in failed):
                self._draft.contract = self._examination.verdict()
        if failed:
            raise Failed(self._explained(failed[0][1]))

    def _explained(self, failure: Failure) -> Failure:
        """With the first clause that was broken, and the cause, where the contract was broken."""
        contract = self._draft.contract
        if failure.outcome is not Outcome.CONTRACT_BROKEN or contract is None or contract.broken is None:
            return failure
        cause = f" It looks like this: {CAUSES[contract.cause].label}." if contract.cause else ""
        return replace(failure, message=_broken(contract.broken) + cause)


_MEASURED = (Outcome.CONTRACT_BROKEN, Outcome.INPUT_CHANGED)
"""Answers with other faults have no measures, and what has not all of them no verdict."""


def _check_quantized(
    examination: quantization.Examination, case: Case, call: Call, answer: Answer
) -> Failure | None:
    """The right form, and the contract. The paper's thresholds are reported, and decide nothing."""
    if failure := compare.check_form(examination.task, case, call, answer):
        return failure
    broken = examination.add(case, call, answer.outputs[0])
    return _failure(Outcome.CONTRACT_BROKEN, _broken(broken), case, call) if broken else None


def _broken(measure: Measure) -> str:
    where = f" ({measure.operand})" if measure.operand else ""
    return (
        f"The contract's clause {measure.clause.value}{where} is broken: {CLAUSES[measure.clause]}. "
        f"Measured {measure.value:.4g}, at most {measure.limit:.4g}."
    )


# Performance


@dataclass(frozen=True)
class Measured:
    """The raw samples of one timing case, in milliseconds, and how long the judge waited for all of them."""

    number: int
    case: Case
    samples: list[float]
    plan: Plan
    wall_ms: float


def against_eager(
    task: Task, device: str, measured: list[Measured], seed: str, timing_ms: float, variant: str
) -> tuple[Timing, ...]:
    """Eager on every measured case. The submission's process is gone by now: it cannot slow eager down.

    Where the outputs match a published reading, that one is timed: both sides do the same work.
    """
    eagerly = task.variants[variant] if variant else task.reference
    timings = []
    with torch.cuda.device(torch.device(device)), torch.no_grad():
        stopwatch = Stopwatch()
        flush_ms = stopwatch.flush_ms()
        for one in measured:
            arguments, keywords = task.inputs(
                Maker(case_seed(seed, task.name, one.number, "eager"), device, task.dtype), **one.case
            )

            def call(arguments: Any = arguments, keywords: Any = keywords) -> Any:
                return eagerly(*arguments, **keywords)

            eager = stopwatch.measure(call, stopwatch.plan(call, timing_ms))
            timings.append(
                performance.timing(
                    one.case,
                    one.samples,
                    eager,
                    bytes_moved=task.case_bytes(one.case),
                    flops=task.case_flops(one.case),
                    confirmed=_confirmed(one, flush_ms),
                )
            )
            del arguments, keywords, call
        torch.cuda.empty_cache()  # the next child needs the room
    return tuple(timings)


def _confirmed(measured: Measured, flush_ms: float) -> bool:
    """Whether the judge's own clock, less the flushes, agrees with the samples; only long series can tell."""
    repetitions = len(measured.samples)
    mean = sum(measured.samples) / repetitions
    seen = measured.wall_ms / repetitions - measured.plan.flushes * flush_ms
    return repetitions >= 200 and abs(seen - mean) <= max(0.003, 0.05 * mean)


def _peak_gbs(device: str) -> float | None:
    known = devices.find(environment.slug(device))
    return known.gbs if known else None


# Small things


def _failure(outcome: Outcome, message: str, case: Case | None = None, call: Call | None = None) -> Failure:
    case_error = _case_error(case, call) if case is not None and call is not None else None
    return Failure(outcome=outcome, message=message, case_error=case_error)


def _case_error(case: Case, call: Call) -> CaseError:
    return CaseError(case=dict(case), inputs=compare.describe(call))


def _items(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


def _plan(header: dict[str, Any]) -> Plan:
    """How the child would measure, within what the judge allows."""
    repetitions, flushes = header.get("repetitions"), header.get("flushes")
    if not _is_whole(repetitions, MOST_REPETITIONS) or not _is_whole(flushes, MOST_FLUSHES):
        raise wire.WireError("no plan of a measurement")
    return Plan(repetitions, flushes)


def _is_whole(value: Any, most: int) -> TypeGuard[int]:
    return isinstance(value, int) and not isinstance(value, bool) and 1 <= value <= most


def _samples(value: Any, repetitions: int) -> list[float]:
    samples = [sample for sample in _items(value) if isinstance(sample, float)]
    if len(samples) != repetitions or not all(sample > 0 and math.isfinite(sample) for sample in samples):
        raise wire.WireError("samples that are no times")
    return samples
