"""What kind of case a case is, seen from its parameters: for people who read a task and not for the judge."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from tasks.spec import Case, Task

SORTS: Mapping[str, str] = {
    "standard": "called as in the timing, on sizes that blocks divide",
    "edge sizes": "called as in the timing, on empty tensors, single elements or sizes that no block divides",
    "edge arguments": "other arguments, or inputs of another form, than in the timing",
    "outliers": "a small share of the values is 20 times as large",
    "special values": "exactly these values, or what is degenerate about them",
}
"""The sorts of correctness cases and what they try; a case has the last one that fits."""

BLOCK = 8
"""What blocks divide, this divides."""

# Both take less than a microsecond of a large GPU (4 TB/s, 50 TFLOP/s), and any launch takes 4 to 6.
LAUNCH_BYTES = 4_000_000
LAUNCH_FLOPS = 50_000_000


def sort_of(task: Task, case: Case) -> str:
    """One of SORTS."""
    if "values" in case:
        return "special values"
    if case.get("outliers"):
        return "outliers"
    sizes = _sizes(task)
    options = {name: value for name, value in case.items() if name not in sizes}
    if not any(options == {k: v for k, v in timed.items() if k not in sizes} for timed in task.timing):
        return "edge arguments"
    numbers = [number for name in sizes for number in _integers(case.get(name))]
    return "standard" if all(number and number % BLOCK == 0 for number in numbers) else "edge sizes"


def by_sort(task: Task) -> dict[str, list[Case]]:
    """The correctness cases by sort, in the order of SORTS; sorts without a case are left out."""
    found: dict[str, list[Case]] = {sort: [] for sort in SORTS}
    for case in task.correctness:
        found[sort_of(task, case)].append(case)
    return {sort: cases for sort, cases in found.items() if cases}


def bound_by_launch(task: Task, case: Case) -> bool:
    """Whether the time of a case says more of the launch than of the kernel."""
    return task.case_bytes(case) < LAUNCH_BYTES and task.case_flops(case) < LAUNCH_FLOPS


def _sizes(task: Task) -> set[str]:
    """The parameters that differ between timing cases: whole numbers, or lists of them."""
    names = {name for case in task.timing for name in case}
    return {name for name in names if _varies([case.get(name) for case in task.timing])}


def _varies(values: Sequence[Any]) -> bool:
    return all(list(_integers(value)) for value in values) and any(value != values[0] for value in values)


def _integers(value: Any) -> Iterator[int]:
    if isinstance(value, list | tuple):
        for item in value:
            yield from _integers(item)
    elif isinstance(value, int) and not isinstance(value, bool):
        yield value
