"""How schemes fare under the contract, honest and mistaken ones: `python -m tests.quantization_table 200`."""

import sys
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence

import torch

from evaluator import compare, quantization
from evaluator.compare import Answer
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


def tables(seeds: int) -> Iterator[str]:
    """Two tables in Markdown: honest schemes and others, a column a task."""
    head = [f"| | {' | '.join(TASKS)} |", "|---" * (len(TASKS) + 1) + "|"]
    yield from head
    for label in HONEST:
        cells = [_honest_cell(task, honest(task).get(label), seeds) for task in TASKS.values()]
        yield f"| {label} | {' | '.join(cells)} |"
    yield ""
    yield from head
    others = {name: _others(task) for name, task in TASKS.items()}
    for label in dict.fromkeys(label for kernels in others.values() for label in kernels):
        cells = [_other_cell(task, others[name].get(label), seeds) for name, task in TASKS.items()]
        yield f"| {label} | {' | '.join(cells)} |"


def _honest_cell(task: Task, kernel: Kernel | None, seeds: int) -> str:
    """On how many seeds the contract holds, how close it comes to a limit, on how many the paper's thresholds hold."""
    if kernel is None:
        return "not allowed"
    held, published, closest = 0, 0, 0.0
    for seed in range(seeds):
        measures = _examined(task, kernel, seed).measures
        held += all(measure.held for measure in measures)
        closest = max(closest, *(measure.value / measure.limit for measure in measures if measure.limit))
        answers = [
            (call, Answer((kernel(call).to(getattr(torch, task.dtype)),)))
            for case, call in calls(task, seed)
            if "probe" not in case
        ]
        verdict = compare.paper_verdict(task, answers)
        published += verdict is not None and verdict.held
    return f"{held}, {closest:.2f}, {published}"


def _others(task: Task) -> dict[str, tuple[Cause, Kernel]]:
    return {
        "full precision": (Cause.FLOATING_POINT, exact(task)),
        "full precision with 1% noise": (Cause.FLOATING_POINT, noisy(task)),
        **{CAUSES[cause].label: (cause, kernel) for cause, kernel in reversed(mistaken(task))},
    }


def _other_cell(task: Task, wanted: tuple[Cause, Kernel] | None, seeds: int) -> str:
    """On how many seeds the contract holds, the clauses where it breaks, how often the cause is named."""
    if wanted is None:
        return ""
    held, named = 0, 0
    stops: Counter[str] = Counter()
    for seed in range(seeds):
        examination = _examined(task, wanted[1], seed)
        broken = next((measure for measure in examination.measures if not measure.held), None)
        held += broken is None
        if broken:
            stops[broken.clause.value] += 1
            named += seed < NAMED and examination.verdict().cause is wanted[0]
    return f"{held}, {' or '.join(name for name, _ in stops.most_common())}, {named}/{min(NAMED, seeds)}"


if __name__ == "__main__":
    torch.set_num_threads(1)
    for line in tables(int(sys.argv[1])):
        print(line, flush=True)
