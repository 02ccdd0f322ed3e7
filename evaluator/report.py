"""What the evaluator says: reports of kernels, as data. Standard library only, so that the site can read it."""

from __future__ import annotations

import dataclasses
import re
import types
import typing
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Self

MAX_TEXT = 8_000
"""Most characters of any text that a kernel's own output can put into a report."""


class Stage(StrEnum):
    """The stages in their order. A report names the last one that the kernel reached."""

    STATIC = "static"
    CALL = "call"
    EXE = "exe"
    PERF = "perf"


class Outcome(StrEnum):
    """How it ended for one kernel. Each has a row in OUTCOMES."""

    CORRECT = "correct"
    # static
    SYNTAX_ERROR = "syntax_error"
    NO_ENTRY = "no_entry"
    NO_TRITON_KERNEL = "no_triton_kernel"
    FORBIDDEN = "forbidden"
    # call
    IMPORT_FAILED = "import_failed"
    COMPILE_FAILED = "compile_failed"
    CALL_FAILED = "call_failed"
    TIMED_OUT = "timed_out"
    OUT_OF_MEMORY = "out_of_memory"
    CRASHED = "crashed"
    LIMIT_EXCEEDED = "limit_exceeded"
    NOT_SUPPORTED = "not_supported"
    # exe
    WRONG_STRUCTURE = "wrong_structure"
    WRONG_SHAPE = "wrong_shape"
    WRONG_DTYPE = "wrong_dtype"
    NOT_FINITE = "not_finite"
    WRONG_VALUES = "wrong_values"
    CONTRACT_BROKEN = "contract_broken"
    INPUT_CHANGED = "input_changed"
    NO_TRITON_RAN = "no_triton_ran"
    # perf
    TIMING_FAILED = "timing_failed"
    TIMING_NOT_CONFIRMED = "timing_not_confirmed"
    # not the kernel's doing
    NOT_IN_SUITE = "not_in_suite"
    CANCELLED = "cancelled"
    WORKER_LOST = "worker_lost"
    EVALUATOR_ERROR = "evaluator_error"


@dataclass(frozen=True)
class OutcomeText:
    """An outcome in words: a label of two or three words, and what its owner can do next."""

    label: str
    advice: str
    stage: Stage  # where it happens
    ours: bool = False  # our fault or our limit: it says nothing against the kernel


_S, _C, _E, _P = Stage.STATIC, Stage.CALL, Stage.EXE, Stage.PERF

OUTCOMES: Mapping[Outcome, OutcomeText] = {
    Outcome.CORRECT: OutcomeText("correct", "Every output was right on every case.", _P),
    Outcome.SYNTAX_ERROR: OutcomeText(
        "not valid Python", "Python cannot parse the source. Correct the line that is named and upload again.", _S
    ),
    Outcome.NO_ENTRY: OutcomeText(
        "entry not found", "Define the function that the task asks for at the top level of the file.", _S
    ),
    Outcome.NO_TRITON_KERNEL: OutcomeText(
        "no Triton kernel", "The source defines no @triton.jit function that the entry could launch. Write one.", _S
    ),
    Outcome.FORBIDDEN: OutcomeText(
        "not allowed", "The source uses something that a kernel has no need for. Remove the line that is named.", _S
    ),
    Outcome.IMPORT_FAILED: OutcomeText(
        "import failed", "The file raised an error while it was being imported, before any call. See the message.", _C
    ),
    Outcome.COMPILE_FAILED: OutcomeText(
        "does not compile", "Triton could not compile the kernel. The message names the line of the kernel.", _C
    ),
    Outcome.CALL_FAILED: OutcomeText(
        "raised an error", "The call raised an error on the case that is named. Run that case on your side.", _C
    ),
    Outcome.TIMED_OUT: OutcomeText(
        "took too long", "The kernel did not finish within the time limit. Look for a loop that never ends.", _C
    ),
    Outcome.OUT_OF_MEMORY: OutcomeText(
        "out of memory", "The kernel asked for more memory than a kernel may use. Allocate only what you return.", _C
    ),
    Outcome.CRASHED: OutcomeText(
        "crashed", "The process died without an answer. Look for reads and writes outside the tensors.", _C
    ),
    Outcome.LIMIT_EXCEEDED: OutcomeText(
        "limit exceeded", "The kernel went over a limit of the sandbox: processes, files or output. See the message.", _C
    ),
    Outcome.NOT_SUPPORTED: OutcomeText(
        "not supported by the interpreter",
        "The CPU interpreter cannot run this kernel; a GPU may. It says nothing about whether the kernel is right.",
        _C,
        ours=True,
    ),
    Outcome.WRONG_STRUCTURE: OutcomeText(
        "wrong result type", "Return tensors as the task says: as many, in the same order.", _E
    ),
    Outcome.WRONG_SHAPE: OutcomeText("wrong shape", "The output's shape differs from the operator's.", _E),
    Outcome.WRONG_DTYPE: OutcomeText("wrong dtype", "The output's dtype differs from the operator's.", _E),
    Outcome.NOT_FINITE: OutcomeText(
        "NaN or infinity", "The output holds NaN or infinity where the operator's value is finite.", _E
    ),
    Outcome.WRONG_VALUES: OutcomeText(
        "wrong values", "Some elements are further from the right value than the tolerance. See the failing case.", _E
    ),
    Outcome.CONTRACT_BROKEN: OutcomeText(
        "contract broken", "The result is not that of the quantization that the task asks for. See the clause and the cause.", _E
    ),
    Outcome.INPUT_CHANGED: OutcomeText(
        "changed its input", "The call changed an argument that the operator leaves alone. Work on a copy.", _E
    ),
    Outcome.NO_TRITON_RAN: OutcomeText(
        "no Triton kernel ran", "The outputs are right, but no Triton kernel was launched. Compute them in Triton.", _E
    ),
    Outcome.TIMING_FAILED: OutcomeText(
        "failed while timed", "The kernel is right but failed on a timing case; see which size and what happened.", _P
    ),
    Outcome.TIMING_NOT_CONFIRMED: OutcomeText(
        "timing not confirmed",
        "The times that were measured beside the kernel disagree with the judge's clock or with what the device "
        "can do. Wait for all work of a call before it returns.",
        _P,
    ),
    Outcome.NOT_IN_SUITE: OutcomeText(
        "not in the suite yet",
        "The benchmark has this task, this site does not run it yet. Nothing to do: it counts once it is built.",
        _S,
        ours=True,
    ),
    Outcome.CANCELLED: OutcomeText("cancelled", "The run was stopped before this kernel's turn. Start it again.", _S, ours=True),
    Outcome.WORKER_LOST: OutcomeText(
        "worker lost", "The machine that evaluated it went away three times. Start it again; it does not count.", _S, ours=True
    ),
    Outcome.EVALUATOR_ERROR: OutcomeText(
        "our error", "The evaluator itself failed here. It does not count against the kernel; we have the details.", _S, ours=True
    ),
}  # fmt: skip


class Clause(StrEnum):
    """The clauses of the quantization contract, in the order in which they are looked at."""

    ACCURACY = "accuracy"
    CHANNELS = "channels"
    ZERO = "zero"
    GRID = "grid"
    PLATEAU = "plateau"
    STEP = "step"


CLAUSES: Mapping[Clause, str] = {
    Clause.ACCURACY: "as accurate as rounding to these integers permits",
    Clause.CHANNELS: "small rows beside large ones keep their digits",
    Clause.ZERO: "values far below the scale become zero",
    Clause.GRID: "results lie on a grid of at most 255 steps",
    Clause.PLATEAU: "values around one integer give one result",
    Clause.STEP: "the next integer gives the next result",
}
"""What each clause asks for, in a few words."""


class Cause(StrEnum):
    """Known mistakes of quantized kernels. Each has a row in CAUSES."""

    FLOATING_POINT = "floating_point"
    FLOAT8 = "float8"
    ZEROED = "zeroed"
    EIGHT_BITS = "eight_bits"
    TRUNCATED = "truncated"
    ROUNDED_DOWN = "rounded_down"
    WRAPPED = "wrapped"
    OVERFLOWED = "overflowed"
    ONE_SCALE = "one_scale"
    SCALED_TWICE = "scaled_twice"
    SCALE_MISSING = "scale_missing"
    NIBBLES_SWAPPED = "nibbles_swapped"
    BIAS_SCALED = "bias_scaled"
    SOFTMAX_QUANTIZED = "softmax_quantized"
    INTEGER_STATISTICS = "integer_statistics"


@dataclass(frozen=True)
class CauseText:
    """A known mistake in words: a label, and what to do about it."""

    label: str
    explanation: str


CAUSES: Mapping[Cause, CauseText] = {
    Cause.FLOATING_POINT: CauseText(
        "not quantized",
        "The values go into the product as floating point numbers (float32, tf32, float16 or bfloat16). Divide them "
        "by a scale and round them to integers first.",
    ),
    Cause.FLOAT8: CauseText(
        "float8 in place of integers",
        "The values are rounded to float8, which keeps small numbers that integers of one scale turn into zero.",
    ),
    Cause.ZEROED: CauseText(
        "small values zeroed, the rest not rounded",
        "Values below half a step become zero, and all others stay floating point numbers. Round every value.",
    ),
    Cause.EIGHT_BITS: CauseText(
        "eight bits in place of four",
        "The weights are rounded to int8. The task asks for int4: scale = max / 7.",
    ),
    Cause.TRUNCATED: CauseText(
        "truncated in place of rounded",
        "The conversion to an integer cuts the fraction off, towards zero. Round first: a cast does not.",
    ),
    Cause.ROUNDED_DOWN: CauseText(
        "rounded down",
        "Every value goes to the integer below it, which shifts the result. Round to the nearest.",
    ),
    Cause.WRAPPED: CauseText(
        "wrapped around at 128",
        "The largest values become 128, which int8 does not hold, and turn into -128. Use max / 127 as the scale, or "
        "clamp before the conversion.",
    ),
    Cause.OVERFLOWED: CauseText(
        "the sum overflowed",
        "The products are summed in 8 or 16 bits, and the sum wraps around. Accumulate in int32.",
    ),
    Cause.ONE_SCALE: CauseText(
        "one scale for the whole tensor",
        "All rows share the scale of the largest one, so that small rows lose their digits. Take one scale for each row.",
    ),
    Cause.SCALED_TWICE: CauseText(
        "a scale applied twice", "The result is off by a scale: it was multiplied in once too often."
    ),
    Cause.SCALE_MISSING: CauseText(
        "a scale left out",
        "The result is off by a scale: integers were not scaled back. Multiply by both scales.",
    ),
    Cause.NIBBLES_SWAPPED: CauseText(
        "nibbles swapped",
        "The two int4 values of each byte come out in the wrong order. The first one is in the low nibble.",
    ),
    Cause.BIAS_SCALED: CauseText(
        "bias added before scaling back",
        "The bias was added to the sum of integers and scaled with it. Scale back first, then add the bias.",
    ),
    Cause.SOFTMAX_QUANTIZED: CauseText(
        "probabilities on a fixed grid",
        "The probabilities are rounded to multiples of 1/127, and small ones vanish. Leave them in float32, or give "
        "each row a scale of its own.",
    ),
    Cause.INTEGER_STATISTICS: CauseText(
        "mean and variance from integers",
        "Mean and variance are taken from a quantized input, which has too few digits. Take them in float32.",
    ),
}


@dataclass(frozen=True, kw_only=True)
class Record:
    """A value that goes to JSON and comes back equal."""

    def to_json(self) -> dict[str, Any]:
        """Plain dicts, lists, strings and numbers."""
        return dataclasses.asdict(self)

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Self:
        """The inverse of `to_json`. Raises ReportError where `data` is not of this form."""
        if not isinstance(data, Mapping):
            raise ReportError(f"{cls.__name__}: {data!r:.80} is not an object")
        hints = typing.get_type_hints(cls)
        if unknown := set(data) - set(hints):
            raise ReportError(f"{cls.__name__} has no field {sorted(unknown)[0]!r}")
        try:
            return cls(**{name: _read(hints[name], value) for name, value in data.items()})
        except (TypeError, ValueError) as error:
            raise ReportError(f"{cls.__name__}: {error}") from error


class ReportError(ValueError):
    """A report that contradicts itself or is not of the documented form."""


@dataclass(frozen=True, kw_only=True)
class CaseError(Record):
    """How far an output is from the right one, on the first case that failed."""

    case: dict[str, Any]  # the case's parameters
    inputs: str  # shapes and dtypes of the arguments, as text
    output: str = ""  # which output or argument, e.g. "output 0"
    dtype: str = ""
    shape: tuple[int, ...] = ()
    expected_dtype: str = ""
    expected_shape: tuple[int, ...] = ()
    wrong: int = 0  # elements beyond the tolerance
    elements: int = 0
    max_absolute: float | None = None
    max_relative: float | None = None
    rtol: float | None = None
    atol: float | None = None
    worst: tuple[tuple[int, ...], ...] = ()  # indices of the largest differences
    got: tuple[float | str, ...] = ()  # values there; "nan", "inf", "-inf" as text
    expected: tuple[float | str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Failure(Record):
    """Why a kernel did not pass."""

    outcome: Outcome
    message: str  # one sentence, plain text, bounded
    line: int | None = None  # of the submitted source, where known
    details: str = ""  # traceback or compiler output, bounded
    case_error: CaseError | None = None

    def __post_init__(self) -> None:
        if self.outcome is Outcome.CORRECT:
            raise ReportError("a failure cannot have the outcome 'correct'")
        for name in ("message", "details"):
            object.__setattr__(self, name, bounded(getattr(self, name)))


@dataclass(frozen=True, kw_only=True)
class Timing(Record):
    """One timing case. Medians with the 95% interval of the median, in milliseconds."""

    case: dict[str, Any]
    kernel_ms: float
    kernel_low_ms: float
    kernel_high_ms: float
    eager_ms: float
    eager_low_ms: float
    eager_high_ms: float
    repetitions: int
    bytes_moved: int
    flops: int
    confirmed: bool  # by the judge's wall clock; False: it could not tell

    def __post_init__(self) -> None:
        if not (self.kernel_ms > 0 and self.eager_ms > 0):
            raise ReportError("a time must be above zero")

    @property
    def speedup(self) -> float:
        """How many times as fast as eager."""
        return self.eager_ms / self.kernel_ms

    @property
    def gbs(self) -> float:
        """Achieved bandwidth in GB/s (10^9 bytes a second)."""
        return self.bytes_moved / self.kernel_ms / 1e6

    @property
    def tflops(self) -> float:
        """Achieved arithmetic in TFLOP/s."""
        return self.flops / self.kernel_ms / 1e9


@dataclass(frozen=True, kw_only=True)
class Verdict(Record):
    """The paper's quantization verdict: measures against the full-precision result, worst over the cases."""

    cosine: float
    relative_l1: float
    rmse: float
    held: bool


@dataclass(frozen=True, kw_only=True)
class Measure(Record):
    """What was measured for one clause of the contract; for several cases the one closest to the limit."""

    clause: Clause
    operand: str = ""  # the probed one
    value: float  # a share of what full precision gives, or a relative error: never of a unit
    limit: float  # at most

    @property
    def held(self) -> bool:
        return self.value <= self.limit


@dataclass(frozen=True, kw_only=True)
class Contract(Record):
    """The quantization contract's verdict: is the kernel accurate, and is it really quantized?"""

    measures: tuple[Measure, ...]
    cause: Cause | None = None  # the known mistake that gives the same output, where one does

    def __post_init__(self) -> None:
        if not self.measures:
            raise ReportError("a contract of which nothing was measured has no verdict")
        if self.held and self.cause:
            raise ReportError("a contract that was held has no cause")

    @property
    def broken(self) -> Measure | None:
        """The first clause that was broken."""
        return next((measure for measure in self.measures if not measure.held), None)

    @property
    def held(self) -> bool:
        return self.broken is None


@dataclass(frozen=True, kw_only=True)
class Report(Record):
    """What happened to one kernel on one device."""

    task: str
    task_version: str
    device: str  # "cpu" or the GPU's slug
    stage: Stage  # the last stage reached
    failure: Failure | None = None
    cases_passed: int = 0
    cases_total: int = 0
    timings: tuple[Timing, ...] = ()
    triton_kernels: tuple[str, ...] = ()  # names of the Triton kernels that were launched
    variant: str = ""  # the published reading that the outputs match, where it is not the operator itself
    paper: Verdict | None = None  # quantization tasks: both verdicts
    contract: Contract | None = None
    log: str = ""  # what the kernel printed, bounded
    seconds: dict[str, float] = dataclasses.field(default_factory=dict)  # by stage
    source_sha256: str = ""
    sandboxed: bool = True

    def __post_init__(self) -> None:
        if self.timings and not self.passed:
            raise ReportError(f"{self.task}: a report that did not pass cannot carry timings")
        if self.passed and self.stage not in (Stage.EXE, Stage.PERF):
            raise ReportError(f"{self.task}: a report cannot pass at stage {self.stage}")
        object.__setattr__(self, "log", bounded(self.log))

    @property
    def passed(self) -> bool:
        """Right on every case, and nothing wrong with its timing where it was timed."""
        return self.failure is None

    @property
    def outcome(self) -> Outcome:
        """The outcome as one word."""
        return Outcome.CORRECT if self.failure is None else self.failure.outcome

    @property
    def compiled(self) -> bool:
        """It reached *exe*: it compiled and ran on every correctness case."""
        return self.stage in (Stage.EXE, Stage.PERF)

    @property
    def correct(self) -> bool:
        """It reached *perf* or passed: every output was right (its timing may still have failed)."""
        return self.passed or self.stage is Stage.PERF

    @property
    def speedup(self) -> float | None:
        """Sum of eager times over sum of kernel times, matched case by case; None where nothing was timed."""
        if not self.timings:
            return None
        return sum(t.eager_ms for t in self.timings) / sum(t.kernel_ms for t in self.timings)


@dataclass(frozen=True, kw_only=True)
class Environment(Record):
    """Where a run took place."""

    device: str  # slug
    device_name: str
    python: str
    torch: str
    triton: str
    suite_version: str
    driver: str = ""
    cuda: str = ""
    commit: str = ""
    host: str = ""
    sandbox: str = ""  # "bubblewrap 0.11.0", or "none" after --no-sandbox


def bounded(text: str, limit: int = MAX_TEXT) -> str:
    """`text` as storable text of at most `limit` characters: head and tail kept, the middle left out visibly."""
    text = visible(text.replace("\0", "\N{SYMBOL FOR NULL}").encode("utf-8", "replace").decode())
    if len(text) <= limit:
        return text
    kept = limit - 60  # room for the line between
    head, tail = kept * 3 // 4, kept // 4
    return f"{text[:head]}\n… {len(text) - head - tail} characters left out …\n{text[-tail:]}"


_HIDDEN = re.compile("[\u061c\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff]")


def visible(text: str, form: str = "[{}]") -> str:
    """`text` with its characters that reorder or hide what is shown, by which it could look other than it is,
    as their code points in `form`."""
    return _HIDDEN.sub(lambda match: form.format(f"U+{ord(match[0]):04X}"), text)


def _read(hint: Any, value: Any) -> Any:
    """`value` from JSON as the annotated type `hint`."""
    origin, arguments = typing.get_origin(hint), typing.get_args(hint)
    if origin in (types.UnionType, typing.Union):
        if value is None and type(None) in arguments:
            return None
        options = [option for option in arguments if option is not type(None)]
        return _read(options[0], value) if len(options) == 1 else value
    if origin is tuple:
        return tuple(_read(arguments[0], item) for item in value)
    if origin is dict or hint is Any:
        return value
    if isinstance(hint, type) and issubclass(hint, Record):
        return hint.from_json(value)
    if isinstance(hint, type) and issubclass(hint, StrEnum):
        return hint(value)
    if hint is float and isinstance(value, int) and not isinstance(value, bool):
        return float(value)
    if not isinstance(value, hint) or (isinstance(value, bool) and hint is not bool):
        raise ValueError(f"{value!r:.80} is not a {getattr(hint, '__name__', hint)}")
    return value
