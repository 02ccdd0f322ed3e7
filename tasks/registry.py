"""All tasks of the suite, found by their files: `tasks/<category>/<name>.py` defines `TASK`."""

from __future__ import annotations

import importlib
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from types import MappingProxyType

from tasks.catalogue import CATALOGUE
from tasks.spec import Task
from tasks.version import definition_hash

SUITE_VERSION = "kbx-0"
"""The name of this set of task versions; `kbx-1` will be the first complete one."""


class TaskError(Exception):
    """A task file that cannot be used; the message names the file."""


@cache
def all_tasks() -> Mapping[str, Task]:
    """Every task of the suite by name, ordered by category and name.

    Raises TaskError, naming the file, where one does not load or contradicts its place.
    """
    root = Path(__file__).parent
    tasks: dict[str, Task] = {}
    for path in sorted(root.glob("*/[!_]*.py")):
        task = _load(f"tasks.{path.parent.name}.{path.stem}")
        if task.name != path.stem or _folder(task.category) != path.parent.name:
            raise TaskError(f"{path}: declares {task.category}/{task.name}, which belongs in another file")
        if task.name not in CATALOGUE.get(task.category, ()):
            raise TaskError(f"{path}: the benchmark has no task {task.category}/{task.name}")
        tasks[task.name] = task
    return MappingProxyType(tasks)


@cache
def task_version(name: str) -> str:
    """The version of a task of the suite: see `tasks.version.definition_hash`."""
    return definition_hash(name, all_tasks()[name].category)


def find(name: str) -> str | None:
    """The catalogue's task for a name as uploads write it: a path, an entry name, an older name. None if unknown."""
    stem = name.rsplit("/", 1)[-1].removesuffix(".py")
    return _names().get(stem) or _names().get(f"fused_{stem}")


@cache
def categories() -> tuple[str, ...]:
    """The 15 categories, alphabetically."""
    return tuple(sorted(CATALOGUE))


@cache
def category_of(name: str) -> str:
    """The category of a task of the catalogue, built or not."""
    return next(category for category, names in CATALOGUE.items() if name in names)


@cache
def _names() -> Mapping[str, str]:
    names = {name: name for group in CATALOGUE.values() for name in group}
    for task in all_tasks().values():
        for other in (task.entry, *task.aliases):
            if names.setdefault(other, task.name) != task.name:
                raise TaskError(f"{task.file}: the name {other!r} already means {names[other]}")
    return MappingProxyType(names)


def _folder(category: str) -> str:
    return category.lower()


def _load(module: str) -> Task:
    try:
        task = importlib.import_module(module).TASK
    except Exception as error:
        raise TaskError(f"{module}: {type(error).__name__}: {error}") from error
    if not isinstance(task, Task):
        raise TaskError(f"{module}: TASK is a {type(task).__name__}, not a Task")
    return task
