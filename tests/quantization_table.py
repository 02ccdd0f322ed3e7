"""How schemes fare under the contract, honest and mistaken ones: `python -m tests.quantization_table 200`."""

import sys
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence

import torch

from evaluator import quantization
from evaluator.inputs import Maker, case_seed
from evaluator.report import Cause, Contract
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
    examination = quantization.Examination(task)
    for case, call in calls(task, seed):
        examination.add(case, call, kernel(call).to(getattr(torch, task.dtype)))
    return examination.verdict()


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


def table(seeds: int) -> str:
    """Markdown: the share of seeds on which each kernel holds the contract, and the limit closest to breaking."""
    lines = [
        "| task | kernel | holds | closest to its limit | stops at | named |",
        "|---|---|---|---|---|---|",
    ]
    for task in TASKS.values():
        kernels = [
            *honest(task).items(),
            ("full precision", exact(task)),
            ("full precision, 1% noise", noisy(task)),
        ]
        kernels += [(cause.value, kernel) for cause, kernel in _first_of_each(task)]
        for label, kernel in kernels:
            verdicts = [contract(task, kernel, seed) for seed in range(seeds)]
            held = sum(verdict.held for verdict in verdicts)
            closest = max(
                (measure.value / measure.limit, f"{measure.clause} {measure.operand}".strip())
                for verdict in verdicts
                for measure in verdict.measures
                if measure.limit
            )
            stops = Counter(verdict.broken.clause.value for verdict in verdicts if verdict.broken)
            named = Counter(verdict.cause.value for verdict in verdicts if verdict.cause)
            near = f"{closest[0]:.2f} ({closest[1]})" if held else ""
            lines.append(
                f"| {task.name} | {label} | {held}/{seeds} | {near} | {_counts(stops)} | {_counts(named)} |"
            )
    return "\n".join(lines)


def _first_of_each(task: Task) -> list[tuple[Cause, Kernel]]:
    return list({cause: (cause, kernel) for cause, kernel in reversed(mistaken(task))}.values())[::-1]


def _counts(counter: Counter[str]) -> str:
    return ", ".join(f"{name} {count}" for name, count in counter.most_common())


if __name__ == "__main__":
    torch.set_num_threads(1)
    print(table(int(sys.argv[1])))
