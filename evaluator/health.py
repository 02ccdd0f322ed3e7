"""`python -m evaluator.health`: measure what the cases of the tasks catch, for the site's page on it.

Only tasks that have changed since are measured (all of them after a new near miss), unless names are given.
Runs on any machine with torch.
"""

from __future__ import annotations

import argparse
import inspect
import sys
from collections.abc import Callable, Iterator, Sequence
from types import CodeType, FrameType
from typing import Any

import torch

from evaluator.compare import describe
from evaluator.near_misses import MISSES, call_of, copied, excuse, refusals, small_cases
from tasks.health import Health, Miss, health_of, measured, write
from tasks.registry import all_tasks, task_version
from tasks.spec import Task


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs the command line; the exit code is 1 where a miss has escaped."""
    parser = argparse.ArgumentParser(prog="python -m evaluator.health", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="TASK", choices=[*all_tasks(), []])
    names = parser.parse_args(arguments).names or [name for name in all_tasks() if not _is_measured(name)]
    kept = {name: health for name, health in measured().items() if name in all_tasks()}
    found = {name: measure(all_tasks()[name]) for name in names}
    write({**kept, **found})
    for name, health in found.items():
        escaped = f", escaped: {', '.join(health.escaped)}" if health.escaped else ""
        print(f"{name}: {health.caught} of {len(health.misses)} misses refused{escaped}")
    return int(any(health.escaped for health in found.values()))


def _is_measured(name: str) -> bool:
    found = health_of(name)
    return found is not None and found.misses.keys() == MISSES.keys()


def measure(task: Task) -> Health:
    """Run every near miss on the small cases of a task, on the CPU. What the reference draws is seeded."""
    torch.manual_seed(0)
    lines = _Lines(task.reference)
    for case in small_cases(task):
        lines.run(call_of(task, case))
    return Health(
        version=task_version(task.name),
        calls=tuple(describe(call_of(task, case)) for case in task.correctness),
        misses={name: _miss(task, name) for name in MISSES},
        options=_options(task),
        lines_run=len(lines.seen),
        lines=len(lines.all),
    )


def _miss(task: Task, name: str) -> Miss:
    refused = list(refusals(task, MISSES[name]))
    return Miss(sum(refused), len(refused), "" if any(refused) else excuse(task, name))


def _options(task: Task) -> dict[str, tuple[str, ...]]:
    signature = inspect.signature(task.reference)
    optional = [name for name, p in signature.parameters.items() if p.default is not p.empty]
    tried: dict[str, dict[str, None]] = {name: {} for name in optional}
    for case in small_cases(task):
        arguments, keywords = call_of(task, case)
        bound = signature.bind(*arguments, **keywords)
        bound.apply_defaults()
        for name in optional:
            value = bound.arguments[name]
            tried[name]["a tensor" if isinstance(value, torch.Tensor) else repr(value)] = None
    return {name: tuple(values) for name, values in tried.items()}


class _Lines:
    """Which lines of a function, and of those it calls in the same file, are run."""

    def __init__(self, function: Callable[..., Any]) -> None:
        self._function = function
        self._file = function.__code__.co_filename
        self.all: set[int] = set(_lines(function.__code__))
        self.seen: set[int] = set()

    def run(self, call: tuple[Sequence[Any], Any]) -> None:
        arguments, keywords = copied(call)
        before = sys.gettrace()
        sys.settrace(self._entered)
        try:
            self._function(*arguments, **keywords)
        finally:
            sys.settrace(before)

    def _entered(self, frame: FrameType, event: str, argument: Any) -> Any:
        if frame.f_code.co_filename != self._file:
            return None
        self.all |= set(_lines(frame.f_code))
        return self._line

    def _line(self, frame: FrameType, event: str, argument: Any) -> Any:
        if frame.f_lineno in self.all:
            self.seen.add(frame.f_lineno)
        return self._line


def _lines(code: CodeType) -> Iterator[int]:
    yield from (line for _, _, line in code.co_lines() if line and line != code.co_firstlineno)
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _lines(constant)


if __name__ == "__main__":
    torch.set_num_threads(1)
    sys.exit(main())
