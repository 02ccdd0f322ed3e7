"""Answers that are nearly right, or right by chance: at least one case of every task must refuse each of them.

The tests prove it; `evaluator.health` counts it for the page that shows what the cases of a task catch.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

import torch

from evaluator import wire
from evaluator.compare import Answer, check
from evaluator.inputs import Maker
from tasks.spec import Call, Case, Task

SMALL = 2_000_000
"""Bytes; larger cases are for GPUs."""

Miss = Callable[[Call, Answer], Iterable[torch.Tensor]]
"""The outputs that are handed in for a call in place of the right ones."""


def small_cases(task: Task) -> Iterator[Case]:
    """The correctness cases that a CPU does in no time."""
    return (case for case in task.correctness if task.case_bytes(case) < SMALL)


def call_of(task: Task, case: Case, seed: int = 1) -> Call:
    """The arguments of a case, on the CPU."""
    return task.inputs(Maker(seed, "cpu", task.dtype), **case)


def answer_of(task: Task, call: Call, function: Callable[..., Any] | None = None) -> Answer:
    """What the operator (or a reading of it) would hand in itself; `call` stays as it is."""
    arguments, keywords = copied(call)
    result = (function or task.reference)(*arguments, **keywords)
    mutated = tuple(arguments[position] for position in task.mutates)
    if result is None:
        return Answer((), mutated, "none")
    many = isinstance(result, tuple | list)
    return Answer(tuple(result) if many else (result,), mutated, "tuple" if many else "tensor")


def copied(call: Call) -> tuple[list[Any], dict[str, Any]]:
    """The call with tensors of its own."""
    arguments, keywords = call
    return [_cloned(argument) for argument in arguments], dict(keywords)


def refusals(task: Task, miss: Miss) -> Iterator[bool]:
    """For each small case with an output: whether it refuses the miss."""
    for case in small_cases(task):
        call = call_of(task, case)
        answer = answer_of(task, call)
        if answer.outputs:
            wrong = Answer(tuple(miss(call, answer)), answer.mutated, answer.structure)
            yield check(task, case, call, wrong) is not None


def excuse(task: Task, miss: str) -> str:
    """Why the task need not refuse that miss; empty if it must."""
    if task.comparator == "quantized" and miss == "one_off":
        return _WHOLE
    if task.comparator == "uniform" and miss in ("one_off", "shifted"):
        return "any single draw is right"
    if miss in ("scaled", "nan") and not _gives_fractions(task):
        return "its results are whole numbers"
    if miss == "shifted" and _gives_one_number(task):
        return "its result is one number"
    return _EXCUSED.get((task.name, miss), "")


def _gives_one_number(task: Task) -> bool:
    answers = (answer_of(task, call_of(task, case)) for case in small_cases(task))
    return {output.numel() for answer in answers for output in answer.outputs} == {1}


def _gives_fractions(task: Task) -> bool:
    answer = answer_of(task, call_of(task, task.correctness[0]))
    return any(inexact(tensor) for tensor in (*answer.outputs, *answer.mutated))


# The misses


def zeros(call: Call, answer: Answer) -> Iterator[torch.Tensor]:
    """Zeros everywhere, as a kernel that never runs may leave them."""
    return (torch.zeros_like(output) for output in answer.outputs)


def ones(call: Call, answer: Answer) -> Iterator[torch.Tensor]:
    """A constant."""
    return (torch.ones_like(output) for output in answer.outputs)


def nan(call: Call, answer: Answer) -> Iterator[torch.Tensor]:
    """NaN in the last element."""
    return (_nan_at_the_end(output) for output in answer.outputs)


def scaled(call: Call, answer: Answer) -> Iterator[torch.Tensor]:
    """Everything 1% too large."""
    return (output * 1.01 if inexact(output) else output for output in answer.outputs)


def one_off(call: Call, answer: Answer) -> Iterator[torch.Tensor]:
    """The last element wrong by a tenth of the largest one."""
    return (_last_one_off(output) for output in answer.outputs)


def echo(call: Call, answer: Answer) -> Iterator[torch.Tensor]:
    """The first argument, repeated until the output is full."""
    source = next(wire.tensors(call), torch.ones(1)).reshape(-1)
    for output in answer.outputs:
        repeated = source.repeat(output.numel() // max(1, source.numel()) + 1)[: output.numel()]
        yield repeated.reshape(output.shape).to(output.dtype)


def shifted(call: Call, answer: Answer) -> Iterator[torch.Tensor]:
    """Every element one place further, as an index that is off by one gives it."""
    return (output.reshape(-1).roll(1).reshape(output.shape) for output in answer.outputs)


def garbage(call: Call, answer: Answer) -> Iterator[torch.Tensor]:
    """Random bytes, as memory that nobody wrote to may hold."""
    generator = torch.Generator().manual_seed(0)
    for output in answer.outputs:
        shape = [output.numel() * output.element_size()]
        data = torch.randint(0, 256, shape, dtype=torch.uint8, generator=generator)
        yield (data % 2 if output.dtype is torch.bool else data).view(output.dtype).reshape(output.shape)


MISSES: Mapping[str, Miss] = {
    "zeros": zeros,
    "ones": ones,
    "nan": nan,
    "echo": echo,
    "scaled": scaled,
    "one_off": one_off,
    "shifted": shifted,
    "garbage": garbage,
}


_WHOLE = "its measures are of whole outputs, and the bounds are the published ones"

# Two kinds of misses say nothing of outputs that are whole numbers: `excuse` sees that itself.
_EXCUSED = {
    ("attention_w8a8", "scaled"): _WHOLE,
    ("conv2d_w8a8", "scaled"): _WHOLE,
    ("fused_svd_reconstruct", "echo"): "the input is the right answer",
}


# Tensors


def inexact(tensor: torch.Tensor) -> bool:
    """Whether it holds floating point numbers, real or complex."""
    return bool(tensor.is_floating_point() or tensor.is_complex())


def _nan_at_the_end(tensor: torch.Tensor) -> torch.Tensor:
    if not inexact(tensor) or not tensor.numel():
        return tensor
    wrong = tensor.clone()
    wrong[(-1,) * tensor.dim()] = torch.nan
    return wrong


def _last_one_off(tensor: torch.Tensor) -> torch.Tensor:
    if not tensor.numel():
        return tensor
    wrong = tensor.clone()
    last = wrong.reshape(-1)[-1]
    if inexact(tensor):
        last += 0.1 * tensor.abs().nan_to_num(0, 0, 0).max() + 1e-3
    else:
        last.logical_not_() if tensor.dtype is torch.bool else last.add_(1)
    wrong.reshape(-1)[-1] = last
    return wrong


def _cloned(value: Any) -> Any:
    if isinstance(value, list):
        return [_cloned(item) for item in value]
    return value.clone() if isinstance(value, torch.Tensor) else value
