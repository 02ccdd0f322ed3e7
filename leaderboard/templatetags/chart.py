"""A Plotly figure on a page. Without JavaScript a sentence points to the table that holds the same numbers."""

from __future__ import annotations

from typing import Any

from django import template

register = template.Library()


@register.inclusion_tag("_chart.html")
def chart(figure: dict[str, Any], description: str, *, wide: bool = False) -> dict[str, Any]:
    """A wide one keeps its width on a narrow screen and scrolls inside its box."""
    return {"figure": figure, "description": description, "wide": wide}
