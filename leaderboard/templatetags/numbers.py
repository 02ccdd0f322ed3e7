"""Numbers for people. A value that is missing shows as an en dash."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from django import template
from django.utils.html import conditional_escape, format_html
from django.utils.safestring import SafeString

from leaderboard.stats import Rate

register = template.Library()

MISSING = "–"


@register.filter
def percent(share: float | None) -> str:
    """0.2386 as 23.9%."""
    return MISSING if share is None else f"{100 * share:.1f}%"


@register.filter
def times(speedup: float | None) -> str:
    """1.347 as 1.35×, with about three digits."""
    return MISSING if speedup is None else f"{_short(speedup)}×"


@register.filter
def milliseconds(ms: float | None) -> str:
    """0.0123 as 12.3 µs."""
    if ms is None:
        return MISSING
    scale, unit = next((s, u) for s, u in ((1e-3, "s"), (1, "ms"), (1e3, "µs")) if ms * s >= 1 or u == "µs")
    return f"{_short(ms * scale)} {unit}"


@register.filter
def seconds(value: float | None) -> str:
    """0.0123 as 12.3 ms."""
    return MISSING if value is None else milliseconds(1000 * value)


@register.filter
def quantity(count: float | None, unit: str = "") -> str:
    """12582912 as 12.6 M; with the unit "B" as 12.6 MB."""
    if count is None:
        return MISSING
    power = min(max(int(math.log10(count) // 3), 0), 5) if count >= 1 else 0
    value = count / 1000**power
    short = f"{value:.0f}" if power == 0 else _short(value)
    return f"{short} {'kMGTP'[power - 1] if power else ''}{unit}".rstrip()


@register.filter
def measured(value: float | str | None) -> str:
    """An error or a value of a tensor, with four significant digits; "nan" and "inf" as they are."""
    if value is None:
        return MISSING
    return str(value) if isinstance(value, str) else f"{value:.4g}"


@register.filter
def case(parameters: Mapping[str, Any]) -> str:
    """The parameters of a case: n=4096, approximate='tanh'."""
    return ", ".join(f"{name}={value!r}" for name, value in parameters.items())


@register.filter
def shape(dimensions: tuple[int, ...]) -> str:
    """(2, 3) as 2 × 3; a scalar as such."""
    return " × ".join(map(str, dimensions)) if dimensions else "scalar"


@register.simple_tag
def interval(rate: Rate) -> SafeString:
    """A small drawing of a rate with its interval, for a table's cell; the numbers stand beside it."""
    return format_html(
        '<svg class="interval" viewBox="0 0 100 12" preserveAspectRatio="none" aria-hidden="true">'
        '<line class="track" x1="0" x2="100" y1="6" y2="6"/><line class="range" x1="{}" x2="{}" y1="6" y2="6"/>'
        '<line class="value" x1="{}" x2="{}" y1="1" y2="11"/></svg>',
        *(f"{100 * x:.1f}" for x in (rate.low, rate.high, rate.share or 0, rate.share or 0)),
    )


@register.simple_tag
def heat(rate: Rate) -> str:
    """The class of a table's cell for a rate, from heat-0 to heat-5."""
    if rate.share is None or rate.count == 0:
        return "heat-0"
    return f"heat-{math.ceil(5 * rate.share)}"


@register.simple_tag(takes_context=True)
def address(context: template.Context, **changes: Any) -> str:
    """The query string of this page with some parameters changed; an empty value drops one."""
    parameters = context["request"].GET.copy()
    for name, value in changes.items():
        if value in ("", None):
            parameters.pop(name, None)
        else:
            parameters[name] = str(value)
    return str(conditional_escape(f"?{parameters.urlencode()}"))


def _short(value: float) -> str:
    """About three significant digits, never in powers of ten unless very small."""
    if value != 0 and abs(value) < 0.01:
        return f"{value:.2g}"
    return f"{value:.{2 if abs(value) < 10 else 1 if abs(value) < 100 else 0}f}"
