"""The task pack: what a method is told of each task, as JSON lines that it can answer line by line.

An upload repeats a line's `file` or `instruction` and adds `predict`, the kernel's source.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from functools import cache

from tasks.registry import SUITE_VERSION, all_tasks
from tasks.spec import Task

FILE_NAME = f"kernelbench-x-{SUITE_VERSION}.jsonl"


@cache
def pack() -> bytes:
    """All tasks of the suite, one JSON object a line."""
    return "".join(json.dumps(record, ensure_ascii=False) + "\n" for record in records()).encode()


def records() -> Iterator[dict[str, str]]:
    """The lines of the pack as objects, in the order of the registry."""
    for task in all_tasks().values():
        yield {
            "file": task.file,
            "instruction": instruction(task),
            "signature": task.signature,
            "suite_version": SUITE_VERSION,
        }


def instruction(task: Task) -> str:
    """What to write, in the form of the public benchmark: `Functional Description:`, then the entry."""
    return (
        "Write a kernel in Triton, and the Python function that allocates the result, launches the kernel and "
        "returns the result. Answer with one Python file that holds both and imports what it needs.\n"
        f"Functional Description: {task.prompt}\n"
        f"Wrapper Entry Information: {task.signature}\n"
        f"Math: {task.formula}\n"
        "The function must bear that name and take its arguments in that order. All tensors are on one CUDA device."
    )
