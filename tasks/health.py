"""What the cases of each task catch, as `python -m evaluator.health` last measured it. Read without torch."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from functools import cache
from pathlib import Path
from typing import Any

from tasks.registry import task_version

FILE = Path(__file__).parent / "health.json"


@dataclass(frozen=True)
class Miss:
    """A wrong answer, handed in for every small case of a task."""

    refused: int  # cases that refuse it
    tried: int
    excuse: str = ""  # why the task need not refuse it

    @property
    def caught(self) -> bool:
        return self.refused > 0


@dataclass(frozen=True)
class Health:
    """Of one task, in one version of it."""

    version: str
    calls: tuple[str, ...]  # the arguments of each correctness case: "float32[3, 5], approximate='tanh'"
    misses: Mapping[str, Miss]
    options: Mapping[
        str, tuple[str, ...]
    ]  # optional arguments of the operator, with the values that are tried
    lines_run: int  # of the reference, by the small cases
    lines: int

    @property
    def caught(self) -> int:
        """How many of the misses are refused."""
        return sum(miss.caught for miss in self.misses.values())

    @property
    def escaped(self) -> list[str]:
        """The misses that no case refuses although one should."""
        return [name for name, miss in self.misses.items() if not miss.caught and not miss.excuse]

    def to_json(self) -> dict[str, Any]:
        return asdict(self)

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Health:
        return cls(
            version=data["version"],
            calls=tuple(data["calls"]),
            misses={name: Miss(**miss) for name, miss in data["misses"].items()},
            options={name: tuple(values) for name, values in data["options"].items()},
            lines_run=data["lines_run"],
            lines=data["lines"],
        )


def health_of(name: str) -> Health | None:
    """None where the task was never measured, or has changed since."""
    found = measured().get(name)
    return found if found and found.version == task_version(name) else None


@cache
def measured() -> Mapping[str, Health]:
    """What FILE holds, by task, whatever versions they were."""
    if not FILE.exists():
        return {}
    return {name: Health.from_json(data) for name, data in json.loads(FILE.read_text()).items()}


def write(measured: Mapping[str, Health]) -> None:
    """Replace FILE, a line for each task."""
    lines = (f"{json.dumps(name)}: {json.dumps(measured[name].to_json())}" for name in sorted(measured))
    FILE.write_text("{\n" + ",\n".join(lines) + "\n}\n")
