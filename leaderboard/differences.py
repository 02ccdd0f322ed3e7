"""What docs/differences.md says of a task: how it differs from what is published for it."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import cache

from django.conf import settings

_BULLET = re.compile(r"^- \*\*([^*]+)\*\*:?\s+(.*?)(?=^- |^#|^\s*$|\Z)", re.MULTILINE | re.DOTALL)


def differences(task: str) -> Sequence[str]:
    """The sentences on the task, with code between backticks."""
    return _by_task().get(task, ())


def left_out(task: str) -> Sequence[str]:
    """Those of them that name sizes which are left out for their footprint."""
    return [text for text in differences(task) if "left out:" in text]


@cache
def _by_task() -> Mapping[str, Sequence[str]]:
    text = (settings.BASE_DIR / "docs" / "differences.md").read_text()
    found: dict[str, list[str]] = {}
    for names, said in _BULLET.findall(text):
        for name in re.split(r",\s*", names):
            found.setdefault(name, []).append(" ".join(said.split()))
    return found
