"""Ways to quantize, simulated in float64: the honest ones, and the mistakes that kernels are known to make.

A simulation is the task's own reference on operands that went to integers and back.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import torch

from evaluator.report import Cause
from tasks.spec import Call, Task

Rounding = Callable[[torch.Tensor, torch.Tensor, int], torch.Tensor]
"""(x, scale, top) -> what stands for x / scale; integers from -top on, where it is honest."""


@dataclass(frozen=True)
class Scheme:
    """How numbers become integers. The default is what the prompts ask for: one scale a row, symmetric."""

    group: int = 0  # this many neighbours share a scale; 0: the whole row
    one_scale: bool = False  # for the whole tensor
    asymmetric: bool = False  # the range need not be centred on zero: an integer stands for zero
    affine: bool = False  # the same with the smallest value as the origin
    clipped: bool = False  # the scale is smaller than the largest value asks for, where that lowers the error


PUBLISHED = Scheme()

HONEST: Mapping[str, Scheme] = {
    "one scale for each row": PUBLISHED,
    "one scale for the tensor": Scheme(one_scale=True),
    "groups of 128": Scheme(group=128),
    "groups of 64": Scheme(group=64),
    "groups of 32": Scheme(group=32),
    "asymmetric rows": Scheme(asymmetric=True),
    "asymmetric tensor": Scheme(asymmetric=True, one_scale=True),
    "affine groups of 32": Scheme(affine=True, group=32),
    "clipped rows": Scheme(clipped=True),
}
"""Schemes that hold the contract; int4 weights need a scale for each row."""


@dataclass(frozen=True)
class Operand:
    """A tensor of a call that is quantized."""

    name: str
    position: int  # among the arguments; -1: the result
    axes: tuple[int, ...] = (-1,)  # the axes that share a scale
    group_axes: tuple[int, ...] = ()  # the axes along which groups lie, where they are others
    top: int = 127  # the largest integer

    def quantize(self, x: torch.Tensor, scheme: Scheme, rounding: Rounding) -> Integers:
        """`x` as integers (float64, same shape) with scale and offset for each element."""
        axes = self.group_axes or self.axes if scheme.group else self.axes
        ends = tuple(range(-len(axes), 0))
        moved = x.double().movedim(axes, ends)
        rows = moved.flatten(-len(axes))
        parts = _quantize(_parted(rows, scheme), scheme, self.top, rounding)

        def restored(part: torch.Tensor) -> torch.Tensor:
            whole = part.reshape(*rows.shape[:-1], -1)[..., : rows.shape[-1]]
            return whole.reshape(moved.shape).movedim(ends, axes)

        return Integers(restored(parts.values), restored(parts.scale), restored(parts.offset))


@dataclass(frozen=True)
class Integers:
    """A quantized tensor."""

    values: torch.Tensor
    scale: torch.Tensor
    offset: torch.Tensor

    @property
    def restored(self) -> torch.Tensor:
        return self.values * self.scale + self.offset


def _parted(rows: torch.Tensor, scheme: Scheme) -> torch.Tensor:
    """`rows` so that the elements of the last axis share a scale."""
    if scheme.one_scale:
        # the rows stay the last axis' owners: see `restored`
        return rows.reshape(1, -1)
    if scheme.group:
        missing = -rows.shape[-1] % scheme.group
        return torch.nn.functional.pad(rows, (0, missing)).unflatten(-1, (-1, scheme.group))
    return rows


def _quantize(x: torch.Tensor, scheme: Scheme, top: int, rounding: Rounding) -> Integers:
    if scheme.affine:
        low, high = x.amin(-1, keepdim=True), x.amax(-1, keepdim=True)
        scale = _usable((high - low) / (2 * top + 1))
        return Integers(((x - low) / scale).round(), scale.expand_as(x), low.expand_as(x))
    if scheme.asymmetric:
        low, high = x.amin(-1, keepdim=True).clamp(max=0), x.amax(-1, keepdim=True).clamp(min=0)
        scale = _usable((high - low) / (2 * top + 1))
        zero = (-top - 1 - low / scale).round()
        values = ((x / scale).round() + zero).clamp(-top - 1, top) - zero
    else:
        scale = _usable(x.abs().amax(-1, keepdim=True) / top)
        if scheme.clipped:
            scale = scale * _best_clip(x, scale, top)
        values = rounding(x, scale, top)
    return Integers(values, scale.expand_as(x), torch.zeros_like(x))


def _best_clip(x: torch.Tensor, scale: torch.Tensor, top: int) -> torch.Tensor:
    """The factor for each scale, of a few, that gives the least squared error."""
    factors = torch.linspace(1.0, 0.7, 7, dtype=x.dtype, device=x.device)
    errors = [(nearest(x, scale * f, top) * scale * f - x).square().sum(-1, keepdim=True) for f in factors]
    return factors[torch.stack(errors).argmin(0)]


def _usable(scale: torch.Tensor) -> torch.Tensor:
    return torch.where(scale > 0, scale, 1.0)


# Simulations


def simulate(
    task: Task,
    operands: Sequence[Operand],
    call: Call,
    scheme: Scheme = PUBLISHED,
    rounding: Rounding | None = None,
) -> torch.Tensor:
    """The result in float64 of a kernel that quantizes all operands by `scheme`."""
    return _simulate(task, operands, call, lambda o, x: o.quantize(x, scheme, rounding or nearest).restored)


def _simulate(
    task: Task,
    operands: Sequence[Operand],
    call: Call,
    change: Callable[[Operand, torch.Tensor], torch.Tensor],
) -> torch.Tensor:
    arguments, keywords = wide(call)
    for operand in operands:
        if operand.position >= 0:
            arguments[operand.position] = change(operand, arguments[operand.position])
    result: torch.Tensor = task.reference(*arguments, **keywords)
    for operand in operands:
        if operand.position < 0:
            result = change(operand, result)
    return result


def wide(call: Call) -> tuple[list[Any], dict[str, Any]]:
    """The call with its tensors in float64."""
    arguments, keywords = call
    return [x.double() if isinstance(x, torch.Tensor) else x for x in arguments], dict(keywords)


def nearest(x: torch.Tensor, scale: torch.Tensor, top: int) -> torch.Tensor:
    return (x / scale).round().clamp(-top, top)


# Mistakes


def _digits(bits: int) -> Rounding:
    """Floating point with so many bits of significand, the leading one among them."""

    def rounded(x: torch.Tensor, scale: torch.Tensor, top: int) -> torch.Tensor:
        significand, exponent = torch.frexp(x)
        return torch.ldexp((significand * 2**bits).round(), exponent - bits) / scale

    return rounded


def _zeroed(x: torch.Tensor, scale: torch.Tensor, top: int) -> torch.Tensor:
    return torch.where((x / scale).abs() < 0.5, 0.0, x / scale)


def _truncated(x: torch.Tensor, scale: torch.Tensor, top: int) -> torch.Tensor:
    return (x / scale).trunc()


def _rounded_down(x: torch.Tensor, scale: torch.Tensor, top: int) -> torch.Tensor:
    return (x / scale).floor()


def _wrapped(x: torch.Tensor, scale: torch.Tensor, top: int) -> torch.Tensor:
    # the scale is max / 128 here
    return _wrap((x * (top + 1) / (scale * top)).round(), top) * top / (top + 1)


def _wrap(values: torch.Tensor, top: int) -> torch.Tensor:
    return (values + top + 1).remainder(2 * top + 2) - top - 1


def _eight_bits(x: torch.Tensor, scale: torch.Tensor, top: int) -> torch.Tensor:
    finer = scale * top / 127
    return (x / finer).round() * finer / scale


def _nibbles_swapped(x: torch.Tensor, scale: torch.Tensor, top: int) -> torch.Tensor:
    return nearest(x, scale, top).unflatten(-1, (-1, 2)).flip(-1).flatten(-2)


_GRANULARITIES = (PUBLISHED, Scheme(one_scale=True), *(Scheme(group=size) for size in (128, 64, 32)))

_ROUNDINGS: Sequence[tuple[Cause, Rounding]] = (
    (Cause.FLOATING_POINT, _digits(24)),
    (Cause.FLOATING_POINT, _digits(11)),
    (Cause.FLOATING_POINT, _digits(8)),
    (Cause.FLOAT8, _digits(4)),
    (Cause.FLOAT8, _digits(3)),
    (Cause.ZEROED, _zeroed),
    (Cause.TRUNCATED, _truncated),
    (Cause.ROUNDED_DOWN, _rounded_down),
    (Cause.WRAPPED, _wrapped),
)
_INT4_ROUNDINGS: Sequence[tuple[Cause, Rounding]] = (
    (Cause.EIGHT_BITS, _eight_bits),
    (Cause.NIBBLES_SWAPPED, _nibbles_swapped),
)

Mistake = tuple[Cause, Callable[[], torch.Tensor]]


def mistakes(task: Task, operands: Sequence[Operand], call: Call) -> list[Mistake]:
    """Each of the known mistakes, and what a kernel that makes it returns for the call, in float64."""
    int4 = operands[-1].top == 7
    found: list[Mistake] = [
        (cause, partial(simulate, task, operands, call, scheme, rounding))
        for cause, rounding in (*_ROUNDINGS, *(_INT4_ROUNDINGS if int4 else ()))
        for scheme in _GRANULARITIES
    ]
    if int4:
        found.append((Cause.ONE_SCALE, partial(simulate, task, operands, call, Scheme(one_scale=True))))
    chosen = {*((operand,) for operand in operands), tuple(operands)}
    for scheme in (PUBLISHED, Scheme(one_scale=True)):
        for some in sorted(chosen, key=lambda some: [operand.position for operand in some]):
            found.append((Cause.SCALED_TWICE, partial(_scaled, task, operands, call, scheme, some, 2)))
            found.append((Cause.SCALE_MISSING, partial(_scaled, task, operands, call, scheme, some, 0)))
        if task.name in _PRODUCTS and not int4:  # sums with floating point activations do not wrap around
            found += [
                (Cause.OVERFLOWED, partial(_overflowed, task, operands, call, scheme, top))
                for top in (127, 32767)
            ]
        if _PRODUCTS.get(task.name):
            found.append((Cause.BIAS_SCALED, partial(_bias_scaled, task, operands, call, scheme)))
        if task.name == "attention_w8a8":
            found += [
                (Cause.SOFTMAX_QUANTIZED, partial(_softmax_quantized, operands, call, scheme, whole))
                for whole in (torch.round, torch.trunc)
            ]
        if task.name == "layernorm_w8a8":
            found += [
                (
                    Cause.INTEGER_STATISTICS,
                    partial(_integer_statistics, operands, call, scheme, rounded, quantized),
                )
                for rounded in (True, False)
                for quantized in (True, False)
            ]
    return found


def _scaled(
    task: Task, operands: Sequence[Operand], call: Call, scheme: Scheme, chosen: Sequence[Operand], power: int
) -> torch.Tensor:
    """The scales of the chosen operands multiplied in so many times."""

    def change(operand: Operand, x: torch.Tensor) -> torch.Tensor:
        integers = operand.quantize(x, scheme, nearest)
        return integers.values * integers.scale ** (power if operand in chosen else 1)

    return _simulate(task, operands, call, change)


_PRODUCTS: Mapping[str, int | None] = {
    "matmul_w8a8": None,
    "bmm_w8a8": None,
    "conv2d_w8a8": 2,
    "linear_w4a16": 2,
}
"""Tasks that are one product, and the position of their bias."""


def _overflowed(
    task: Task, operands: Sequence[Operand], call: Call, scheme: Scheme, top: int
) -> torch.Tensor:
    total, scale, bias = _sum(task, operands, call, scheme)
    return _wrap(total, top) * scale + bias


def _bias_scaled(task: Task, operands: Sequence[Operand], call: Call, scheme: Scheme) -> torch.Tensor:
    total, scale, bias = _sum(task, operands, call, scheme)
    return (total + bias) * scale


def _sum(
    task: Task, operands: Sequence[Operand], call: Call, scheme: Scheme
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """The sum of integers, the scale of each of its elements, and the bias of each."""
    arguments, keywords = wide(call)
    place, bias = _PRODUCTS[task.name], None
    if place is not None:
        bias, arguments[place] = arguments[place], None
    integers, scales, ones = list(arguments), list(arguments), list(arguments)
    for operand in operands:
        quantized = operand.quantize(arguments[operand.position], scheme, nearest)
        integers[operand.position] = quantized.values
        scales[operand.position] = quantized.scale
        ones[operand.position] = torch.ones_like(quantized.scale)
    total = task.reference(*integers, **keywords)
    # rows share a scale, so that each sum of scales is a multiple of one product of scales
    scale = task.reference(*scales, **keywords) / task.reference(*ones, **keywords)
    added = torch.zeros_like(total) if bias is None else bias.reshape(-1, *[1] * (total.dim() - 2))
    return total, scale, added


def _softmax_quantized(
    operands: Sequence[Operand], call: Call, scheme: Scheme, whole: Callable[[torch.Tensor], torch.Tensor]
) -> torch.Tensor:
    """Probabilities as multiples of 1/127."""
    query, key, value = (
        operand.quantize(x, scheme, nearest).restored
        for operand, x in zip(operands, wide(call)[0], strict=True)
    )
    weights = torch.softmax(query @ key.mT / query.shape[-1] ** 0.5, -1)
    return whole(weights * 127) / 127 @ value


def _integer_statistics(
    operands: Sequence[Operand], call: Call, scheme: Scheme, rounded: bool, quantized: bool
) -> torch.Tensor:
    """Mean and variance as whole numbers of steps; of a rounded input or not, with a quantized result or not."""
    (x, shape, weight, bias), keywords = wide(call)
    rows = Operand("input", 0, tuple(range(-len(shape), 0)))
    integers = rows.quantize(x, scheme, nearest)
    mean = integers.values.mean(rows.axes, keepdim=True).round()
    variance = (integers.values - mean).square().mean(rows.axes, keepdim=True).round()
    values = integers.values if rounded else x / integers.scale
    result = (values - mean) / (variance + keywords.get("eps", 1e-5)).sqrt()
    result = result if weight is None else result * weight
    result = result if bias is None else result + bias
    return operands[0].quantize(result, PUBLISHED, nearest).restored if quantized else result
