"""The quantization contract: is a kernel as accurate as integers permit, and is it really quantized?

`probes` names the extra calls, `make_call` makes their inputs, `Examination` collects answers and gives the
verdict. docs/quantization.md derives the probes and the bound.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

import torch

from evaluator.report import Cause, Clause, Contract, Measure
from evaluator.schemes import Operand, mistakes, simulate, wide
from tasks.spec import Call, Case, Make, Task

ALLOWED_DEVIATIONS = 4.0
"""The error may be this many times what independent rounding of each element gives (root mean square)."""

LEAKED = 0.3
"""The share of the full-precision difference that may come through where integers give none."""

STEP_SLACK = 0.5
"""How far the step between two integers may be from one, relatively: clipping makes it smaller than one."""

SMALL_ROWS = 0.5
"""The relative error that rows a hundred times smaller than others may have."""

ANCHOR = 16
"""One large value in so many elements along the products: each group of 32 holds two."""

GRID_RUN, GRID_STEPS = 32, 255
"""Outputs are looked at in runs of so many, which may lie on a grid of so many steps."""

EXPLAINED = 0.3
"""A mistake explains an output if at most this share of the output's deviation from the published scheme is left."""


def probes(task: Task) -> list[Case]:
    """The calls that the contract asks for beside the correctness cases: empty for other tasks."""
    if task.name not in _RULES:
        return []
    return [{"probe": probe.clause.value, "operand": probe.operand} for probe in _RULES[task.name].probes]


def make_call(task: Task, case: Case, make: Make) -> Call:
    """The arguments of one of the task's cases or probes, drawn from the seeded factory."""
    return _probe(task, case).build(make) if "probe" in case else task.inputs(make, **case)


def rules(task: Task) -> Rules:
    """What the contract is for a quantization task."""
    return _RULES[task.name]


@dataclass
class Examination:
    """Answers to correctness cases and probes, and what they say. Answers have the right shape and are finite."""

    task: Task
    _worst: dict[tuple[Clause, str], Measure] = field(default_factory=dict)
    _evidence: dict[tuple[Clause, str], tuple[Call, torch.Tensor]] = field(default_factory=dict)

    def add(self, case: Case, call: Call, got: torch.Tensor) -> Measure | None:
        """Takes an answer. None if it keeps the contract, else what breaks it."""
        measures = (
            _probe(self.task, case).measure(self.task, call, got.double())
            if "probe" in case
            else [accuracy(self.task, call, got)]
        )
        for measure in measures:
            key = (measure.clause, measure.operand)
            if key not in self._worst or _excess(measure) > _excess(self._worst[key]):
                self._worst[key] = measure
            # the largest output says most about the cause
            if not measure.held and (
                key not in self._evidence or got.numel() > self._evidence[key][1].numel()
            ):
                self._evidence[key] = (call, got)
        return next((measure for measure in measures if not measure.held), None)

    @property
    def measures(self) -> tuple[Measure, ...]:
        """For each clause and operand what is closest to its limit or furthest beyond, in the order of clauses."""
        order = list(Clause)
        return tuple(sorted(self._worst.values(), key=lambda measure: order.index(measure.clause)))

    def verdict(self) -> Contract:
        """The contract's verdict, with the cause where it was broken by a known mistake."""
        cause = diagnose(self.task, list(self._evidence.values())) if self._evidence else None
        return Contract(measures=self.measures, cause=cause)


def accuracy(task: Task, call: Call, got: torch.Tensor) -> Measure:
    """The relative error (Frobenius) against full precision, and the most that rounding permits on these inputs."""
    exact = _exact(task, call)
    expected = _RULES[task.name].variance(task, call, exact).sum().sqrt()
    # results are rounded to their own type too
    allowed = ALLOWED_DEVIATIONS * float(expected + exact.norm() * torch.finfo(got.dtype).eps)
    return _measure(
        Clause.ACCURACY, "", _share(got.double() - exact, exact), _ratio(allowed, float(exact.norm()))
    )


def diagnose(task: Task, evidence: Sequence[tuple[Call, torch.Tensor]]) -> Cause | None:
    """The known mistake whose outputs are the submission's on these calls, if there is one."""
    operands = _RULES[task.name].operands
    left: dict[int, float] = {}
    causes: dict[int, Cause] = {}
    elements = sum(got.numel() for _, got in evidence)
    for call, got in evidence:
        off = float((got.double() - simulate(task, operands, call)).norm())
        for place, (cause, simulated) in enumerate(mistakes(task, operands, call)):
            distance = min(_ratio(float((got.double() - simulated()).norm()), off), 1.0)
            # NaN, from a scale of zero, explains nothing
            distance = 1.0 if math.isnan(distance) else distance
            left[place] = left.get(place, 0.0) + distance * got.numel() / elements
            causes[place] = cause
    # the first one where several give the same
    best = min(left, key=lambda place: round(left[place], 3))
    return causes[best] if left[best] <= EXPLAINED else None


# Measures


def _measure(clause: Clause, operand: str, value: float, limit: float) -> Measure:
    # JSON in PostgreSQL knows no infinity
    return Measure(clause=clause, operand=operand, value=min(value, 1e9), limit=min(limit, 1e9))


def _excess(measure: Measure) -> float:
    return _ratio(measure.value, measure.limit)


def _share(part: torch.Tensor, whole: torch.Tensor) -> float:
    return _ratio(float(part.norm()), float(whole.norm()))


def _ratio(part: float, whole: float) -> float:
    return part / whole if whole else math.inf if part else 0.0


def _exact(task: Task, call: Call) -> torch.Tensor:
    arguments, keywords = wide(call)
    exact: torch.Tensor = task.reference(*arguments, **keywords)
    return exact


# What rounding permits: the variance of each output where every rounded element is off by an independent amount


Variance = Callable[[Task, Call, torch.Tensor], torch.Tensor]


def _rounding(x: torch.Tensor, most: torch.Tensor, top: int) -> torch.Tensor:
    """Variance of rounding to steps of most / top; zeros are exact."""
    return torch.where(x == 0, 0.0, (most / top) ** 2 / 12)


def _int8(x: torch.Tensor) -> torch.Tensor:
    """With the coarsest honest scale: one for the tensor."""
    return _rounding(x, x.abs().amax(), 127)


def _of_product(task: Task, call: Call, exact: torch.Tensor) -> torch.Tensor:
    """Both operands int8. Products are linear in each operand, and so are their variances in the squares."""
    (a, b, *others), keywords = wide(call)
    others = [None for _ in others]  # the bias is exact

    def product(left: torch.Tensor, right: torch.Tensor) -> torch.Tensor:
        result: torch.Tensor = task.reference(left, right, *others, **keywords)
        return result

    return product(a.square(), _int8(b)) + product(_int8(a), b.square() + _int8(b))


def _of_linear(task: Task, call: Call, exact: torch.Tensor) -> torch.Tensor:
    """Int4 weights with a scale for each output channel."""
    (x, weight, _), _ = wide(call)
    return x.square() @ _rounding(weight, weight.abs().amax(-1, keepdim=True), 7).mT


def _of_attention(task: Task, call: Call, exact: torch.Tensor) -> torch.Tensor:
    """Scores as a product of int8, through the derivative of the softmax; int8 probabilities and values."""
    (query, key, value), _ = wide(call)
    width = query.shape[-1]
    scores = (query.square() @ _int8(key).mT + _int8(query) @ (key.square() + _int8(key)).mT) / width
    weights = torch.softmax(query @ key.mT / width**0.5, -1)
    # d out / d score_k = weight_k (value_k - out)
    moved = weights.square() * scores
    through_scores = (
        moved @ value.square() - 2 * exact * (moved @ value) + exact.square() * moved.sum(-1, True)
    )
    rounded_weights = _rounding(weights, weights.amax(-1, keepdim=True), 127)
    return through_scores + weights.square() @ _int8(value) + rounded_weights @ value.square()


def _of_layernorm(task: Task, call: Call, exact: torch.Tensor) -> torch.Tensor:
    return _rounding(exact, exact.abs().amax(-1, keepdim=True), 127)


# Probes


@dataclass(frozen=True)
class _Probe:
    """A call whose result tells quantized operands from others."""

    clause: Clause
    operand: str
    build: Callable[[Make], Call]
    measure: Callable[[Task, Call, torch.Tensor], list[Measure]]


def _zero_probe(
    operand: str,
    build: Callable[[Make], Call],
    read: Callable[[torch.Tensor], torch.Tensor] = lambda out: out,
) -> _Probe:
    """Small values beside large ones: integers give what they give without the small ones."""

    def measure(task: Task, call: Call, got: torch.Tensor) -> list[Measure]:
        without = read(simulate(task, _RULES[task.name].operands, call))
        leaked = _share(read(got) - without, read(_exact(task, call)) - without)
        return [_measure(Clause.ZERO, operand, leaked, LEAKED)]

    return _Probe(Clause.ZERO, operand, build, measure)


def _plateau_probe(operand: str, build: Callable[[Make], Call], axis: int) -> _Probe:
    """The operand's values are k - 0.2, k + 0.2 and k + 1.2 in the three thirds of the result along `axis`."""

    def measure(task: Task, call: Call, got: torch.Tensor) -> list[Measure]:
        def within(result: torch.Tensor) -> torch.Tensor:
            low, high, _ = result.chunk(3, axis)
            return high - low

        def between(result: torch.Tensor) -> torch.Tensor:
            _, high, following = result.chunk(3, axis)
            return following - high

        exact = _exact(task, call)
        leaked = _share(within(got), within(exact))
        step = _share(between(got), between(exact))
        return [
            _measure(Clause.PLATEAU, operand, leaked, LEAKED),
            _measure(Clause.STEP, operand, abs(step - 1), STEP_SLACK),
        ]

    return _Probe(Clause.PLATEAU, operand, build, measure)


def _grid_probe(operand: str, build: Callable[[Make], Call]) -> _Probe:
    """The share of runs of neighbours in the result that lie on no coarse grid."""

    def measure(task: Task, call: Call, got: torch.Tensor) -> list[Measure]:
        return [_measure(Clause.GRID, operand, _off_grid(got), 0.0)]

    return _Probe(Clause.GRID, operand, build, measure)


def _off_grid(result: torch.Tensor) -> float:
    runs = result.unfold(-1, GRID_RUN, GRID_RUN).flatten(0, -2)
    low, high = runs.amin(-1, keepdim=True), runs.amax(-1, keepdim=True)
    places = (runs - low) / (high - low).clamp(min=1e-30)  # 0 to 1
    steps = torch.arange(1, GRID_STEPS + 1, device=result.device)[:, None, None]
    off = (places * steps - (places * steps).round()).abs().amax(-1)
    return float((off.amin(0) > 0.02).double().mean())


def _channel_probe(operand: str, build: Callable[[Make], Call]) -> _Probe:
    """Every second output channel comes from weights a hundred times smaller than those of the others."""

    def measure(task: Task, call: Call, got: torch.Tensor) -> list[Measure]:
        exact = _exact(task, call)[..., 1::2]
        return [_measure(Clause.CHANNELS, operand, _share(got[..., 1::2] - exact, exact), SMALL_ROWS)]

    return _Probe(Clause.CHANNELS, operand, build, measure)


# Their inputs: small values, an anchor in each run of 16, and for the other operand zeros and ones


def _small(make: Make, *shape: int, top: int = 127) -> torch.Tensor:
    """From 0 to a sixth of a step, where the largest value is 1: zero by every honest scheme."""
    values = make.uniform(*shape, high=1 / (6 * top))
    values[..., 1::ANCHOR] = 0.0  # the origin of an affine scheme
    return values


def _thirds(make: Make, *shape: int) -> torch.Tensor:
    """k - 0.2, k + 0.2 and k + 1.2 along a new first dimension, each turned around at random, element by element.

    k is -1 or 0, so that the values stay small and clipping does not matter.
    """
    base = make.integers(*shape, low=-1, high=1).float()
    jitter = 0.4 * make.boolean(*shape).float() - 0.2
    sign = 2.0 * make.boolean(*shape).float() - 1.0
    return torch.stack([base - jitter, base + jitter, base + 1 + jitter]) * sign


def _chosen(make: Make, *shape: int) -> torch.Tensor:
    """Zeros and ones: exact in every scheme."""
    return make.boolean(*shape).to(_unit(make).dtype)


def _unit(make: Make) -> torch.Tensor:
    """What a probe's values are multiples of: no kernel can know it."""
    return make.uniform(1, low=0.5, high=2.0)


def _at_anchors(make: Make, rows: int, length: int) -> torch.Tensor:
    """Zeros and ones with zeros at the anchors: only the small values of the other operand count."""
    other = _chosen(make, rows, length)
    other[:, ::ANCHOR] = 0.0
    return other


def _zeroing(make: Make, *shape: int, top: int = 127) -> torch.Tensor:
    """Small values and anchors along the last dimension."""
    probed = _small(make, *shape, top=top)
    probed[..., ::ANCHOR] = 1.0
    return probed * _unit(make)


def _plateaus(make: Make, *shape: int, top: int = 127) -> torch.Tensor:
    """Three times small multiples of a unit, with anchors that make the scale that unit."""
    probed = _thirds(make, *shape)
    # -127 and 128: an asymmetric grid has a point at every integer, and a symmetric one nearly
    probed[..., :: 2 * ANCHOR], probed[..., ANCHOR :: 2 * ANCHOR] = -top, top + 1
    unit = _unit(make)
    return (probed * unit).to(unit.dtype)


Arrange = Callable[[torch.Tensor, torch.Tensor], Call]
"""Two matrices whose rows are multiplied with each other, as the arguments of a call."""

ROWS, OTHERS = 12, 16
"""Rows of the probed operand (three times as many for plateaus) and of the other one."""


def _left_probes(operand: str, arrange: Arrange, length: int = 256, axis: int = -2) -> list[_Probe]:
    def zero(make: Make) -> Call:
        return arrange(_zeroing(make, ROWS, length), _at_anchors(make, OTHERS, length))

    def plateau(make: Make) -> Call:
        return arrange(_plateaus(make, ROWS, length).flatten(0, 1), _at_anchors(make, OTHERS, length))

    return [_zero_probe(operand, zero), _plateau_probe(operand, plateau, axis)]


def _right_probes(
    operand: str, arrange: Arrange, length: int = 256, axis: int = -1, top: int = 127
) -> list[_Probe]:
    def zero(make: Make) -> Call:
        return arrange(_at_anchors(make, OTHERS, length), _zeroing(make, ROWS, length, top=top))

    def plateau(make: Make) -> Call:
        probed = _plateaus(make, ROWS, length, top=top).flatten(0, 1)
        return arrange(_at_anchors(make, OTHERS, length), probed)

    return [_zero_probe(operand, zero), _plateau_probe(operand, plateau, axis)]


def _matmul(left: torch.Tensor, right: torch.Tensor) -> Call:
    return [left, right.mT.contiguous()], {}


def _bmm(left: torch.Tensor, right: torch.Tensor) -> Call:
    # the second batch has its anchors elsewhere
    return [torch.stack([left, left.flip(-1)]), torch.stack([right, right.flip(-1)]).mT.contiguous()], {}


def _linear(left: torch.Tensor, right: torch.Tensor) -> Call:
    return [left, right, None], {}


def _linear_channels(make: Make) -> Call:
    weight = make.normal(32, 256)
    weight[1::2] /= 100
    return [make.normal(16, 256), weight, None], {}


# Convolution: a stride of 4 and windows of 4 x 4, so that every pixel is in one window. Anchors form a lattice:
# one in each run of 16, whether channels come first or last, and one of each channel in every window.

CHANNELS, WINDOW = 32, 4


def _conv(left: torch.Tensor, right: torch.Tensor) -> Call:
    """Windows of pixels (3 images or 1) and weights, each as rows."""
    lattice = _lattice(left.device)
    images = 3 if left.shape[0] == 3 * ROWS else 1
    side = math.isqrt(left.shape[0] // images)
    high, wide_ = (side, left.shape[0] // images // side) if side else (1, 1)
    windows = left.reshape(images, high, wide_, -1).clone()
    # each channel has anchors of both signs: every second window is turned by one anchor
    windows.flatten(1, 2)[:, 1::2] = windows.flatten(1, 2)[:, 1::2].roll(ANCHOR, -1)
    pixels = windows[..., lattice].permute(0, 3, 1, 4, 2, 5)  # image, channel, high, p, wide, q
    x = pixels.reshape(images, CHANNELS, high * WINDOW, wide_ * WINDOW)
    return [x, right[:, lattice].contiguous(), None], {"stride": WINDOW, "padding": 0}


def _lattice(device: torch.device) -> torch.Tensor:
    """For each channel and place in the window its place in a row with anchors at multiples of 16."""
    channel = torch.arange(CHANNELS, device=device)[:, None, None]
    p = torch.arange(WINDOW, device=device)[:, None]
    q = torch.arange(WINDOW, device=device)
    return ANCHOR * (channel ^ channel // ANCHOR) + (channel + WINDOW * p + q) % ANCHOR


# Attention: queries and keys like a product. Values through queries that attend to all keys but every 16th, so that
# each result is a mean of small values only.

BATCH, LENGTH, WIDTH = 3, 32, 64
SPREAD = 70.0
"""Makes the scores of small values differ by about 2."""


def _attention_probes() -> list[_Probe]:
    # the same in each batch: batches are the thirds of a plateau probe
    def other(make: Make) -> torch.Tensor:
        return _at_anchors(make, LENGTH, WIDTH).repeat(BATCH, 1, 1)

    def values(make: Make) -> torch.Tensor:
        return _chosen(make, LENGTH, WIDTH).repeat(BATCH, 1, 1)

    def zeroing(make: Make) -> torch.Tensor:
        return _zeroing(make, BATCH, LENGTH, WIDTH) * SPREAD

    def zero_query(make: Make) -> Call:
        return [zeroing(make), other(make) * SPREAD, values(make)], {}

    def zero_key(make: Make) -> Call:
        return [other(make) * SPREAD, zeroing(make), values(make)], {}

    def plateau_query(make: Make) -> Call:
        return [_plateaus(make, LENGTH, WIDTH), other(make), values(make)], {}

    def plateau_key(make: Make) -> Call:
        return [other(make), _plateaus(make, LENGTH, WIDTH), values(make)], {}

    def zero_value(make: Make) -> Call:
        return _selecting(_turned(_zeroing(make, BATCH, LENGTH, WIDTH)))

    def plateau_value(make: Make) -> Call:
        return _selecting(_turned(_plateaus(make, LENGTH, WIDTH)))

    return [
        _zero_probe("query", zero_query),
        _zero_probe("key", zero_key),
        _zero_probe("value", zero_value, _without_anchors),
        _plateau_probe("query", plateau_query, 0),
        _plateau_probe("key", plateau_key, 0),
        _plateau_probe("value", plateau_value, 0),
    ]


def _turned(values: torch.Tensor) -> torch.Tensor:
    """Row k with its anchors at the columns d where k + d is a multiple of 16, with both signs in each column."""
    turns = [(-row % ANCHOR) + ANCHOR * (row // ANCHOR) for row in range(LENGTH)]
    return torch.stack([values[:, row].roll(turn, -1) for row, turn in enumerate(turns)], 1)


def _selecting(values: torch.Tensor) -> Call:
    """Query i gives no weight to the keys k where k - i is a multiple of 16, and all others the same."""
    one_hot = torch.eye(ANCHOR, WIDTH, device=values.device).repeat(LENGTH // ANCHOR, 1) * 40.0
    key = one_hot.expand(values.shape[0], -1, -1).contiguous()
    return [-key, key, values], {}


def _without_anchors(result: torch.Tensor) -> torch.Tensor:
    """The results of `_selecting(_turned(…))` that hold no anchor: row i, columns d with i + d a multiple of 16."""
    row = torch.arange(LENGTH, device=result.device)[:, None]
    return result[:, (row + torch.arange(WIDTH, device=result.device)) % ANCHOR == 0]


# Layer normalisation: with a weight of zero the bias is what is quantized.


def _layernorm_probes() -> list[_Probe]:
    def of_bias(make: Make, bias: torch.Tensor) -> Call:
        width = len(bias)
        return [make.normal(4, width), (width,), make.full(width, value=0.0), bias], {}

    def grid(make: Make) -> Call:
        return [make.normal(8, 512), (512,), None, None], {}

    def zero(make: Make) -> Call:
        return of_bias(make, _zeroing(make, 256))

    def plateau(make: Make) -> Call:
        return of_bias(make, _plateaus(make, 256).flatten())

    def read(result: torch.Tensor) -> torch.Tensor:
        return result.unflatten(-1, (-1, ANCHOR))[..., 1:]

    return [
        _zero_probe("result", zero, read),
        _grid_probe("result", grid),
        _plateau_probe("result", plateau, -1),
    ]


# The six tasks


@dataclass(frozen=True)
class Rules:
    """What the contract is for one task."""

    operands: Sequence[Operand]
    variance: Variance
    probes: Sequence[_Probe]


_RULES: Mapping[str, Rules] = {
    "matmul_w8a8": Rules(
        [Operand("input", 0), Operand("weight", 1, axes=(-2,))],
        _of_product,
        [*_left_probes("input", _matmul), *_right_probes("weight", _matmul)],
    ),
    "bmm_w8a8": Rules(
        [Operand("input", 0), Operand("mat2", 1, axes=(-2,))],
        _of_product,
        [*_left_probes("input", _bmm), *_right_probes("mat2", _bmm)],
    ),
    "conv2d_w8a8": Rules(
        [
            Operand("input", 0, axes=(-3, -2, -1), group_axes=(-3,)),
            Operand("weight", 1, axes=(-3, -2, -1)),
        ],
        _of_product,
        [
            *_left_probes("input", _conv, CHANNELS * WINDOW**2, axis=0),
            *_right_probes("weight", _conv, CHANNELS * WINDOW**2, axis=1),
        ],
    ),
    "linear_w4a16": Rules(
        [Operand("weight", 1, top=7)],
        _of_linear,
        [_channel_probe("weight", _linear_channels), *_right_probes("weight", _linear, top=7)],
    ),
    "attention_w8a8": Rules(
        [Operand("query", 0), Operand("key", 1), Operand("value", 2)], _of_attention, _attention_probes()
    ),
    "layernorm_w8a8": Rules([Operand("result", -1)], _of_layernorm, _layernorm_probes()),
}


def _probe(task: Task, case: Case) -> _Probe:
    wanted = (case["probe"], case["operand"])
    return next(p for p in _RULES[task.name].probes if (p.clause.value, p.operand) == wanted)
