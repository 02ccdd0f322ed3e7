"""How schemes fare under the contract, honest and mistaken ones: `python -m tests.quantization_table 200`."""

import sys
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence

import torch

from evaluator import quantization
from evaluator.inputs import Maker, case_seed
from evaluator.report import CAUSES, Cause, Contract
from evaluator.schemes import HONEST, Operand, Scheme, mistakes, simulate, wide
from tasks.catalogue import CATALOGUE
from tasks.registry import all_tasks
from tasks.spec import Call, Case, Task

Kernel = Callable[[Call], torch.Tensor]
TASKS = {name: all_tasks()[name] for name in sorted(CATALOGUE["Quantization"])}


def calls(task: Task, seed: int | str) -> Iterator[tuple[Case, Call]]:
    """Every correctness case and every probe."""
    for number, case in enumerate([*task.correctness, *quantization.probes(task)]):
        make = Maker(case_seed(str(seed), task.name, number), "cpu", task.dtype)
        yield case, quantization.make_call(task, case, make)


def contract(task: Task, kernel: Kernel, seed: int | str) -> Contract:
    """The verdict on a kernel in PyTorch, on inputs of this seed."""
    return _examined(task, kernel, seed).verdict()


def _examined(task: Task, kernel: Kernel, seed: int | str) -> quantization.Examination:
    examination = quantization.Examination(task)
    for case, call in calls(task, seed):
        examination.add(case, call, kernel(call).to(getattr(torch, task.dtype)))
    return examination


def honest(task: Task) -> Mapping[str, Kernel]:
    """Kernels that keep the contract."""
    return {
        label: _simulated(task, scheme)
        for label, scheme in HONEST.items()
        if not (scheme.one_scale and task.name == "linear_w4a16")
    }


def mistaken(task: Task) -> list[tuple[Cause, Kernel]]:
    """A kernel for each simulated mistake; a cause may come with several granularities."""
    _, some_call = next(calls(task, "causes"))
    causes = [cause for cause, _ in mistakes(task, _operands(task), some_call)]

    def kernel(place: int) -> Kernel:
        def run(call: Call) -> torch.Tensor:
            return mistakes(task, _operands(task), call)[place][1]()

        return run

    return [(cause, kernel(place)) for place, cause in enumerate(causes)]


def exact(task: Task) -> Kernel:
    """Full precision."""

    def run(call: Call) -> torch.Tensor:
        arguments, keywords = wide(call)
        return task.reference(*arguments, **keywords)

    return run


def noisy(task: Task) -> Kernel:
    """Full precision with an error of one percent, as large as that of honest integers."""

    def run(call: Call) -> torch.Tensor:
        result = exact(task)(call)
        generator = torch.Generator().manual_seed(result.numel())
        noise = torch.randn(result.shape, generator=generator, dtype=result.dtype)
        return result * (1 + 0.01 * noise)

    return run


def _simulated(task: Task, scheme: Scheme) -> Kernel:
    return lambda call: simulate(task, _operands(task), call, scheme)


def _operands(task: Task) -> Sequence[Operand]:
    return quantization.rules(task).operands


NAMED = 20
"""Seeds for which the cause is looked for too, which takes most of the time."""


def rows(seeds: int) -> Iterator[str]:
    """A table in Markdown: how often each kernel holds the contract, what came closest, where it stops and why."""
    yield "| task | kernel | holds | closest to its limit | stops at | named |"
    yield "|---|---|---|---|---|---|"
    for task in TASKS.values():
        kernels: list[tuple[str, Kernel]] = [
            *honest(task).items(),
            ("full precision", exact(task)),
            ("full precision, 1% noise", noisy(task)),
            *((CAUSES[cause].label, kernel) for cause, kernel in _first_of_each(task)),
        ]
        for label, kernel in kernels:
            yield f"| {task.name} | {label} | {_row(task, kernel, seeds)} |"


def _row(task: Task, kernel: Kernel, seeds: int) -> str:
    held, closest = 0, (0.0, "")
    stops: Counter[str] = Counter()
    named: Counter[str] = Counter()
    for seed in range(seeds):
        examination = _examined(task, kernel, seed)
        broken = next((measure for measure in examination.measures if not measure.held), None)
        if broken is None:
            held += 1
            shares = [(m.value / m.limit, f"{m.clause} {m.operand}") for m in examination.measures if m.limit]
            closest = max(closest, *shares)
        else:
            stops[broken.clause.value] += 1
            if seed < NAMED:
                cause = examination.verdict().cause
                named[CAUSES[cause].label if cause else "no known cause"] += 1
    near = f"{closest[0]:.2f}, {closest[1].strip()}" if held else ""
    return f"{held}/{seeds} | {near} | {_counts(stops)} | {_counts(named)}"


def _first_of_each(task: Task) -> list[tuple[Cause, Kernel]]:
    return list({cause: (cause, kernel) for cause, kernel in reversed(mistaken(task))}.values())[::-1]


def _counts(counter: Counter[str]) -> str:
    return ", ".join(f"{name} {count}" for name, count in counter.most_common())


if __name__ == "__main__":
    torch.set_num_threads(1)
    for line in rows(int(sys.argv[1])):
        print(line, flush=True)
