"""What a task is: everything about one operator that a kernel must implement, in one declaration."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Literal, Protocol

if TYPE_CHECKING:
    import torch

Case = Mapping[str, Any]
"""The parameters of one call, as JSON: `task.inputs(make, **case)` builds the call from them."""

Call = tuple[Sequence[Any], Mapping[str, Any]]
"""Positional and keyword arguments of one call."""

ComparatorName = Literal["close", "exact", "invariants", "uniform", "dropout", "binomial", "quantized"]
"""How outputs are judged; each is a function in `evaluator/compare.py`.

close       every element within the tolerance of the reference computed in float64 (`oracle`)
exact       every element equal (integers, booleans, copies)
invariants  what `Task.invariants` computes from the outputs is close: where mathematics leaves freedom
uniform     random draws: distribution, range and independence of two calls, not values
dropout     close, for some mask that chance can have drawn, where dropout has 0 < p < 1: its rate, independence
            of place and of the call. The reference calls torch.nn.functional.dropout once, and what follows
            works element by element
binomial    the reference's last step is torch.binomial: moments, independence, whole numbers, not values
quantized   the contract of docs/quantization.md decides; cosine, relative L1 and RMSE against the full-precision
            result, by `Task.thresholds`, are reported beside it as the paper's verdict
"""


class Make(Protocol):
    """A seeded tensor factory: same seed, device and sequence of calls, same tensors.

    `dtype` defaults to the task's dtype; it is a name as torch spells it ("float32", "int64", "bool").
    """

    def normal(
        self,
        *shape: int,
        mean: float = 0.0,
        std: float = 1.0,
        outliers: float = 0.0,
        dtype: str | None = None,
    ) -> torch.Tensor:
        """Normal values; a share `outliers` of them is 20 times as large."""

    def uniform(
        self, *shape: int, low: float = 0.0, high: float = 1.0, dtype: str | None = None
    ) -> torch.Tensor:
        """Uniform values in [low, high)."""

    def integers(self, *shape: int, low: int, high: int, dtype: str = "int64") -> torch.Tensor:
        """Uniform integers in [low, high)."""

    def boolean(self, *shape: int, share: float = 0.5) -> torch.Tensor:
        """Booleans of which about `share` are true."""

    def permutation(self, n: int) -> torch.Tensor:
        """A random permutation of 0 … n-1, int64."""

    def full(self, *shape: int, value: float, dtype: str | None = None) -> torch.Tensor:
        """One value everywhere."""

    def values(self, values: Sequence[Any], dtype: str | None = None) -> torch.Tensor:
        """Exactly these values (nested lists for more dimensions); "nan", "inf", "-inf" are understood."""


@dataclass(frozen=True)
class Tolerance:
    """|got - expected| <= atol + rtol * |expected|."""

    rtol: float
    atol: float


# arXiv 2605.04956, its table of tolerances; rtol = atol. Other dtypes (integers, booleans) are exact.
TOLERANCES: Mapping[str, Tolerance] = {
    "float64": Tolerance(1e-5, 1e-5),
    "float32": Tolerance(1e-5, 1e-5),
    "float16": Tolerance(5e-3, 5e-3),
    "bfloat16": Tolerance(5e-3, 5e-3),
    "complex64": Tolerance(1e-5, 1e-5),
    "complex128": Tolerance(1e-5, 1e-5),
}


@dataclass(frozen=True)
class Thresholds:
    """The paper's bounds for a quantized result against the full-precision one."""

    cosine: float  # at least
    relative_l1: float  # at most: sum|got - expected| / sum|expected|
    rmse: float  # at most, absolute


@dataclass(frozen=True, kw_only=True)
class Task:
    """One kernel task.

    name           file stem and identity, e.g. "gelu"
    category       one of the 15, e.g. "Activation"
    signature      how the entry is called, as a method is told: "gelu(input, approximate='none') -> Tensor"
    prompt         what the operator does, in words that suffice to write the kernel
    formula        the same in LaTeX, one line
    reference      the operator in PyTorch: `reference(*args, **kwargs)`, a tensor or a tuple of tensors
    inputs         `inputs(make, **case)` -> (args, kwargs), drawn from the seeded factory on its device
    correctness    cases on which every output must be right; the first is the cheapest
    timing         cases that are timed, largest last; inputs on which the operator does real work
    bytes_moved    least bytes between device memory and chip: inputs read once, outputs written once;
                   called with those case parameters that it names, and `itemsize`
    flops          floating point operations, called like `bytes_moved`
    dtype          what `make` gives unless asked otherwise; decides `itemsize` and the tolerance
    entry          the function that a submission defines (default: the name)
    aliases        other names under which uploads may hand the task in
    comparator     see ComparatorName
    tolerance      overrides the dtype's
    thresholds     for the comparator "quantized"
    invariants     for the comparator "invariants": (call, outputs) -> named tensors that must be close
    oracle         compute the expected values in float64 by upcasting floating inputs (False where the
                   reference has no float64 form or rounding to the dtype is part of the operator)
    mutates        positions of arguments that the operator changes; they are compared like outputs
    use            for an entry that makes an object: `use(entry, *args, **kwargs)` makes and uses it and gives
                   the outputs (default: what the entry returns for the arguments)
    variants       named published readings of the operator that are accepted too (whole outputs by one)
    """

    name: str
    category: str
    signature: str
    prompt: str
    reference: Callable[..., Any]
    inputs: Callable[..., Call]
    correctness: Sequence[Case]
    timing: Sequence[Case]
    bytes_moved: Callable[..., int]
    flops: Callable[..., int]
    formula: str = ""
    dtype: str = "float32"
    entry: str = ""
    aliases: tuple[str, ...] = ()
    comparator: ComparatorName = "close"
    tolerance: Tolerance | None = None
    thresholds: Thresholds | None = None
    invariants: Callable[[Call, Sequence[torch.Tensor]], Mapping[str, torch.Tensor]] | None = None
    oracle: bool = True
    mutates: tuple[int, ...] = ()
    use: Callable[..., Any] | None = None
    variants: Mapping[str, Callable[..., Any]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if not self.correctness:
            raise ValueError(f"task {self.name}: it needs at least one correctness case")
        if (self.comparator == "quantized") != (self.thresholds is not None):
            raise ValueError(
                f"task {self.name}: thresholds belong to the comparator 'quantized' and only there"
            )
        if (self.comparator == "invariants") != (self.invariants is not None):
            raise ValueError(
                f"task {self.name}: invariants belong to the comparator 'invariants' and only there"
            )
        if not self.entry:
            object.__setattr__(self, "entry", self.name)

    @property
    def file(self) -> str:
        """The name under which a submission hands in this task's kernel."""
        return f"{self.category}/{self.name}.py"

    @property
    def entries(self) -> tuple[str, ...]:
        """The function names that are accepted, in order of preference."""
        older = self.name.removeprefix(
            "fused_"
        )  # TritonBench-T asks for relu_sqrt where we say fused_relu_sqrt
        return tuple(dict.fromkeys((self.entry, self.name, *self.aliases, older, "kernel_function")))

    @property
    def itemsize(self) -> int:
        """Bytes of one element of `dtype`."""
        return ITEMSIZES[self.dtype]

    def case_bytes(self, case: Case) -> int:
        """Least bytes that `case` must move."""
        return int(_call_with(self.bytes_moved, case, self.itemsize))

    def case_flops(self, case: Case) -> int:
        """Floating point operations of `case`."""
        return int(_call_with(self.flops, case, self.itemsize))

    def derive(self, name: str, **changes: Any) -> Task:
        """The same operator under another name with some fields replaced, as for another dtype."""
        return replace(self, **{"name": name, "entry": "", "aliases": (), **changes})


ITEMSIZES: Mapping[str, int] = {
    "float64": 8, "float32": 4, "float16": 2, "bfloat16": 2, "complex64": 8, "complex128": 16,
    "int64": 8, "int32": 4, "int16": 2, "int8": 1, "uint8": 1, "bool": 1,
}  # fmt: skip


def _call_with(function: Callable[..., int], case: Case, itemsize: int) -> int:
    known = {**case, "itemsize": itemsize}
    names = inspect.signature(function).parameters
    # a parameter that the case leaves out takes the function's own default
    return function(**{name: known[name] for name in names if name in known})
