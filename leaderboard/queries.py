"""What the public pages read: one function a section, each in a constant number of SQL queries.

There is one ranking, `standings`; every page that compares methods starts from it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import groupby
from typing import Any

from django.db.models import BooleanField, Count, ExpressionWrapper, F, Max, Prefetch, Q, QuerySet

from evaluator.report import (
    CAUSES,
    CLAUSES,
    OUTCOMES,
    CauseText,
    Clause,
    Contract,
    Outcome,
    Report,
    Stage,
    Verdict,
)
from leaderboard.models import Gpu, Kernel, Method, Result, Run, Submission, Summary, Task
from leaderboard.stats import Rate
from tasks.registry import SUITE_VERSION, categories

ALL = ""  # the category of the summary row over all tasks
QUANTIZATION = "Quantization"


# What is compared


@dataclass(frozen=True)
class Scope:
    """One GPU and one suite version: results are compared inside of it and nowhere else."""

    gpu: Gpu
    suite_version: str
    gpus: tuple[Gpu, ...]  # with finished runs, `cpu` last
    suite_versions: tuple[str, ...]  # with finished runs on the GPU, newest first

    def runs(self) -> QuerySet[Run]:
        return Run.objects.filter(gpu=self.gpu, suite_version=self.suite_version, status=Run.Status.FINISHED)


OUTDATED = ExpressionWrapper(~Q(task_version=F("task__version")), output_field=BooleanField())
"""Of a result: its task's definition has changed since. A run is current while all its results are."""


def outdated_results(runs: Iterable[Run] | QuerySet[Run]) -> dict[int, int]:
    """How many outdated results runs have; a run without any is left out."""
    counted = Result.objects.filter(OUTDATED, run__in=runs).values_list("run").annotate(Count("pk"))
    return dict(counted.order_by())


class NoSuchScope(LookupError):
    """A GPU or a suite version that the site does not know."""


def scope(gpu_slug: str = "", suite_version: str = "") -> Scope:
    """The scope that is asked for, by default the GPU with the most methods and its newest suite version.

    Raises NoSuchScope.
    """
    seen = list(
        Run.objects.filter(status=Run.Status.FINISHED)
        .values_list("gpu", "suite_version")
        .annotate(methods=Count("submission__method", distinct=True), last=Max("ended"))
        .order_by("-last", "gpu")  # newest suite version first
    )
    methods: Counter[int] = Counter()
    for pk, _, count, _ in seen:
        methods[pk] = max(methods[pk], count)
    known = sorted(Gpu.objects.all(), key=lambda gpu: (not gpu.timed, -methods[gpu.pk], gpu.name))
    with_runs = [gpu for gpu in known if gpu.pk in methods]
    asked = [gpu for gpu in known if gpu.slug == gpu_slug] if gpu_slug else [*with_runs, *known]
    if not asked:
        raise NoSuchScope(gpu_slug)
    gpu = asked[0]
    versions = tuple(version for pk, version, *_ in seen if pk == gpu.pk)
    if suite_version and suite_version not in (*versions, SUITE_VERSION):
        raise NoSuchScope(suite_version)
    return Scope(gpu, suite_version or next(iter(versions), SUITE_VERSION), tuple(with_runs), versions)


# The ranking


@dataclass(frozen=True)
class Standing:
    """A method's best finished run in a scope."""

    rank: int | None  # None on a device that nothing is ranked on
    method: Method
    run: Run
    tasks: int
    handed_in: int
    timed: int
    compiled: Rate
    correct: Rate
    fast_1: Rate
    fast_2: Rate
    geometric_mean: float | None
    outdated: int = 0  # results of the run whose task has changed since

    @property
    def partial(self) -> bool:
        return self.handed_in < self.tasks


def standings(scope: Scope) -> list[Standing]:
    """Every method once, by tasks solved, then by geometric mean speedup; one without a speedup comes after.

    A run with outdated results counts, and says so, until the same kernels have a current one: a change of one
    task must neither empty the board nor keep a pass alive that the new definition refuses.
    """
    outdated = outdated_results(scope.runs())
    best = (
        Summary.objects.filter(category=ALL, run__in=scope.runs())
        .exclude(run__in=_superseded(scope, outdated))
        .order_by(
            "run__submission__method_id",
            "-correct",
            F("geometric_mean").desc(nulls_last=True),
            "-run__ended",
        )
        .distinct("run__submission__method_id")
        .select_related("run__submission__method", "run__gpu")
    )
    ordered = sorted(best, key=lambda summary: (*_merit(summary), summary.run.submission.method.name))
    ranked: list[Standing] = []
    for place, summary in enumerate(ordered, 1):
        same = place > 1 and _merit(summary) == _merit(ordered[place - 2])
        rank = ranked[-1].rank if same else place
        ranked.append(_standing(summary, rank if scope.gpu.timed else None, outdated.get(summary.run_id, 0)))
    return ranked


def _superseded(scope: Scope, outdated: Mapping[int, int]) -> QuerySet[Run]:
    """The outdated runs of submissions that also have a current one."""
    current = scope.runs().exclude(pk__in=list(outdated))
    return scope.runs().filter(pk__in=list(outdated), submission__in=current.values("submission"))


def _merit(summary: Summary) -> tuple[int, float]:
    """Smaller is better."""
    mean = summary.geometric_mean
    return -summary.correct, float("inf") if mean is None else -mean


def _standing(summary: Summary, rank: int | None, outdated: int) -> Standing:
    return Standing(
        rank=rank,
        method=summary.run.submission.method,
        run=summary.run,
        tasks=summary.tasks,
        handed_in=summary.handed_in,
        timed=summary.timed,
        compiled=Rate(summary.compiled, summary.tasks),
        correct=Rate(summary.correct, summary.tasks),
        fast_1=Rate(summary.fast_1, summary.tasks),
        fast_2=Rate(summary.fast_2, summary.tasks),
        geometric_mean=summary.geometric_mean,
        outdated=outdated,
    )


# Categories


@dataclass(frozen=True)
class Category:
    name: str
    tasks: int
    in_suite: int
    solved: int  # by at least one of the methods that are compared


@dataclass(frozen=True)
class CategoryRow:
    standing: Standing
    rates: tuple[Rate, ...]  # correct, in the order of the categories


@dataclass(frozen=True)
class CategoryBoard:
    categories: tuple[Category, ...]
    rows: tuple[CategoryRow, ...]


def category_board(scope: Scope) -> CategoryBoard:
    """What the methods solve of each of the 15 categories."""
    ranked = standings(scope)
    runs = [standing.run.pk for standing in ranked]
    correct = {
        (run, category): Rate(count, of)
        for run, category, count, of in Summary.objects.filter(run__in=runs)
        .exclude(category=ALL)
        .values_list("run", "category", "correct", "tasks")
    }
    sizes = {
        name: (tasks, built)
        for name, tasks, built in Task.objects.values_list("category")
        .annotate(tasks=Count("pk"), built=Count("pk", filter=~Q(version="")))
        .order_by("category")
    }
    solved = dict(
        Result.objects.filter(run__in=runs, correct=True)
        .values_list("task__category")
        .annotate(Count("task", distinct=True))
    )
    return CategoryBoard(
        categories=tuple(
            Category(name, *sizes.get(name, (0, 0)), solved=solved.get(name, 0)) for name in categories()
        ),
        rows=tuple(
            CategoryRow(
                standing,
                tuple(correct.get((standing.run.pk, name), Rate(0, 0)) for name in categories()),
            )
            for standing in ranked
        ),
    )


# Tasks


@dataclass(frozen=True)
class TaskRow:
    task: Task
    tried: int  # methods whose kernel was judged by today's definition
    solved: int  # methods with a right kernel by it
    ever_tried: int  # methods whose kernel was judged by any definition


def tasks_by_category() -> list[tuple[str, list[TaskRow]]]:
    """All tasks with the number of methods that solved them as they are defined today, on any device."""
    finished = Q(results__run__status=Run.Status.FINISHED)
    current = finished & Q(results__task_version=F("version"))
    rows = [
        TaskRow(task, task.tried, task.solved, task.ever_tried)
        for task in Task.objects.annotate(
            tried=Count("results__run__submission__method", filter=current, distinct=True),
            ever_tried=Count("results__run__submission__method", filter=finished, distinct=True),
            solved=Count(
                "results__run__submission__method",
                filter=current & Q(results__correct=True),
                distinct=True,
            ),
        ).order_by("category", "name")
    ]
    return [(name, list(group)) for name, group in groupby(rows, key=lambda row: row.task.category)]


@dataclass(frozen=True)
class Solution:
    """A method's best right kernel for a task on a GPU."""

    method: Method
    run: Run
    speedup: float | None
    outdated: bool


@dataclass(frozen=True)
class GpuSolutions:
    gpu: Gpu
    solutions: tuple[Solution, ...]  # fastest first, outdated ones last


def solutions(task: Task) -> list[GpuSolutions]:
    """Who solves the task, GPU by GPU; by an older definition of it where a method has nothing current."""
    best = (
        Result.objects.filter(task=task, correct=True, run__status=Run.Status.FINISHED)
        .annotate(outdated=OUTDATED)
        .order_by(
            "run__gpu_id",
            "run__submission__method_id",
            "outdated",
            F("speedup").desc(nulls_last=True),
            "-run__ended",
        )
        .distinct("run__gpu_id", "run__submission__method_id")
        .select_related("run__gpu", "run__submission__method")
        .defer("report")
    )
    ordered = sorted(best, key=_fastest_first)
    return [
        GpuSolutions(
            gpu,
            tuple(Solution(r.run.submission.method, r.run, r.speedup, r.outdated) for r in group),
        )
        for gpu, group in groupby(ordered, key=lambda result: result.run.gpu)
    ]


def _fastest_first(result: Any) -> tuple[bool, str, bool, float, str]:
    gpu, speed = result.run.gpu, float("inf") if result.speedup is None else -result.speedup
    return not gpu.timed, gpu.name, result.outdated, speed, result.run.submission.method.name


@dataclass(frozen=True)
class OutcomeCount:
    outcome: Outcome
    count: int

    @property
    def label(self) -> str:
        return OUTCOMES[self.outcome].label

    @property
    def tone(self) -> str:
        return tone_of(self.outcome)


def tone_of(outcome: Outcome) -> str:
    """ "good", "bad", or "neutral" for what says nothing of the kernel."""
    if outcome is Outcome.CORRECT:
        return "good"
    return "neutral" if OUTCOMES[outcome].ours else "bad"


def outcomes_of_task(task: Task) -> list[OutcomeCount]:
    """How its kernels ended in finished runs, most frequent first."""
    counted = (
        Result.objects.filter(task=task, run__status=Run.Status.FINISHED)
        .values_list("outcome")
        .annotate(count=Count("pk"))
        .order_by("-count", "outcome")
    )
    return [OutcomeCount(Outcome(outcome), count) for outcome, count in counted]


# Methods


@dataclass(frozen=True)
class MethodRun:
    run: Run
    summary: Summary | None  # None until it has finished
    outdated: int = 0  # results whose task has changed since


@dataclass(frozen=True)
class Round:
    submission: Submission
    kernels: int
    runs: tuple[MethodRun, ...]  # newest first


def rounds(method: Method) -> list[Round]:
    """The method's submissions that were evaluated, with their runs."""
    with_gpu = Run.objects.select_related("gpu", "submission__method").order_by("-created")
    overall = Summary.objects.filter(category=ALL)
    submissions = (
        method.submissions.filter(runs__isnull=False)
        .annotate(count=Count("kernels", distinct=True))
        .prefetch_related(Prefetch("runs", with_gpu), Prefetch("runs__summaries", overall))
        .order_by("round")
    )
    outdated = outdated_results(Run.objects.filter(submission__method=method))
    return [
        Round(
            submission,
            submission.count,
            tuple(
                MethodRun(run, next(iter(run.summaries.all()), None), outdated.get(run.pk, 0))
                for run in submission.runs.all()
            ),
        )
        for submission in submissions
    ]


def chosen_run(rounds: Sequence[Round], run_pk: int | None) -> MethodRun | None:
    """The run that is asked for, or else the best finished one, on a GPU that is timed if there is one.

    As in the ranking, a current run of the same kernels takes the place of an outdated one.
    """
    runs = [one for round in rounds for one in round.runs]
    if run_pk is not None:
        return next((one for one in runs if one.run.pk == run_pk), None)
    finished = [(one, one.summary) for one in runs if one.summary is not None]
    current = {(one.run.submission_id, one.run.gpu_id) for one, _ in finished if not one.outdated}

    def preference(pair: tuple[MethodRun, Summary]) -> tuple[bool, bool, tuple[int, float]]:
        one, summary = pair
        superseded = one.outdated > 0 and (one.run.submission_id, one.run.gpu_id) in current
        return superseded, not one.run.gpu.timed, _merit(summary)

    best = min(finished, key=preference, default=None)
    return best[0] if best else None


@dataclass(frozen=True)
class RunOutcomes:
    """How the kernels of one run ended, by outcome; tasks that were not handed in are not among them."""

    run: Run
    counts: tuple[OutcomeCount, ...]


def outcomes_by_run(runs: Iterable[MethodRun]) -> list[RunOutcomes]:
    """Of finished runs, oldest first."""
    finished = sorted((one.run for one in runs if one.summary), key=lambda run: run.created)
    counted: dict[int, list[OutcomeCount]] = {run.pk: [] for run in finished}
    rows = (
        Result.objects.filter(run__in=counted)
        .values_list("run", "outcome")
        .annotate(count=Count("pk"))
        .order_by("outcome")
    )
    for run, outcome, count in rows:
        counted[run].append(OutcomeCount(Outcome(outcome), count))
    return [RunOutcomes(run, tuple(counted[run.pk])) for run in finished]


def category_rates(run: Run) -> list[Summary]:
    """The run's summary of each category."""
    # Not through run.summaries: there `rounds` has left the overall rows only.
    return list(Summary.objects.filter(run=run).exclude(category=ALL).order_by("category"))


@dataclass(frozen=True)
class ResultRow:
    task: str
    category: str
    outcome: Outcome
    speedup: float | None
    message: str
    outdated: bool

    @property
    def label(self) -> str:
        return OUTCOMES[self.outcome].label

    @property
    def tone(self) -> str:
        return tone_of(self.outcome)


def results_of_run(run: Run, *, outcome: str = "", category: str = "", search: str = "") -> list[ResultRow]:
    """The run's results by task; empty filters let everything pass."""
    found = Result.objects.filter(run=run)
    if outcome:
        found = found.filter(outcome=outcome)
    if category:
        found = found.filter(task__category=category)
    if search:
        found = found.filter(task__name__icontains=search)
    rows = found.order_by("task__category", "task").values_list(
        "task", "task__category", "outcome", "speedup", "report__failure__message", OUTDATED
    )
    return [
        ResultRow(task, category, Outcome(outcome), speedup, message or "", outdated)
        for task, category, outcome, speedup, message, outdated in rows
    ]


# One result


@dataclass(frozen=True)
class Step:
    """A stage of the evaluation and how this kernel fared there."""

    stage: Stage
    state: str  # "passed", "failed", "skipped" (not done on this device) or "ahead" (never reached)
    seconds: float | None


@dataclass(frozen=True)
class OtherResult:
    """The same task's kernel of the same method in another run."""

    run: Run
    outcome: Outcome
    speedup: float | None
    outdated: bool

    @property
    def label(self) -> str:
        return OUTCOMES[self.outcome].label

    @property
    def tone(self) -> str:
        return tone_of(self.outcome)


@dataclass(frozen=True)
class ResultPage:
    result: Result
    report: Report
    kernel: Kernel
    run: Run
    method: Method
    steps: tuple[Step, ...]
    others: tuple[OtherResult, ...]

    @property
    def tone(self) -> str:
        return tone_of(self.report.outcome)

    @property
    def outdated(self) -> bool:
        return self.result.task_version != self.result.task.version


def result_page(run_pk: int, task: str) -> ResultPage:
    """Everything about one kernel in one run. Raises Result.DoesNotExist."""
    result = Result.objects.select_related("kernel", "task", "run__gpu", "run__submission__method").get(
        run=run_pk, task=task
    )
    report = Report.from_json(result.report)
    method = result.run.submission.method
    others = (
        Result.objects.filter(task=task, run__submission__method=method)
        .exclude(pk=result.pk)
        .select_related("run__gpu", "run__submission")
        .defer("report", "run__environment")
        .order_by("run__submission__round", "run__gpu_id", "-run__created")[:50]
    )
    return ResultPage(
        result=result,
        report=report,
        kernel=result.kernel,
        run=result.run,
        method=method,
        steps=steps(report, timed=result.run.gpu.timed),
        others=tuple(
            OtherResult(
                other.run,
                Outcome(other.outcome),
                other.speedup,
                other.task_version != result.task.version,
            )
            for other in others
        ),
    )


def steps(report: Report, *, timed: bool) -> tuple[Step, ...]:
    """The report stage by stage."""
    order = list(Stage)
    reached = order.index(report.stage)
    judged = not OUTCOMES[report.outcome].ours or reached > 0

    def state(place: int) -> str:
        stage_failed = report.failure is not None and place == reached
        if order[place] is Stage.PERF and not timed:
            return "skipped" if report.passed else "ahead"
        if not judged or place > reached:
            return "ahead"
        return "failed" if stage_failed else "passed"

    return tuple(Step(stage, state(place), report.seconds.get(stage)) for place, stage in enumerate(order))


# The quantization wall


@dataclass(frozen=True)
class WallCell:
    """A method's kernel for a quantization task, and how far up the wall it came."""

    task: str
    run: Run
    outcome: Outcome
    compiled: bool
    well_formed: bool  # the right shapes and dtypes, and finite
    paper: Verdict | None
    contract: Contract | None

    @property
    def label(self) -> str:
        return OUTCOMES[self.outcome].label

    @property
    def tone(self) -> str:
        return tone_of(self.outcome)

    @property
    def judged(self) -> bool:
        return not OUTCOMES[self.outcome].ours

    @property
    def cause(self) -> CauseText | None:
        return CAUSES[self.contract.cause] if self.contract and self.contract.cause else None

    def holds(self, *clauses: Clause) -> bool:
        """Whether it was measured and none of these clauses is broken."""
        if self.contract is None:
            return False
        return all(measure.held for measure in self.contract.measures if measure.clause in clauses)


@dataclass(frozen=True)
class WallRow:
    standing: Standing
    cells: tuple[WallCell | None, ...]  # in the order of the tasks; None: not handed in


@dataclass(frozen=True)
class Wall:
    tasks: tuple[Task, ...]
    rows: tuple[WallRow, ...]

    @property
    def funnel(self) -> list[tuple[str, int]]:
        """The steps up the wall and how many kernels stand on each, of all methods and tasks."""
        cells = self.cells
        accurate = (Clause.ACCURACY, Clause.CHANNELS)
        return [
            ("possible", len(self.rows) * len(self.tasks)),
            ("handed in", len(cells)),
            ("judged", sum(cell.judged for cell in cells)),
            ("compiles and runs", sum(cell.compiled for cell in cells)),
            ("right shapes, finite", sum(cell.well_formed for cell in cells)),
            ("accurate", sum(cell.holds(*accurate) for cell in cells)),
            ("small values become zero", sum(cell.holds(*accurate, Clause.ZERO) for cell in cells)),
            ("contract held", sum(cell.holds(*Clause) for cell in cells)),
        ]

    @property
    def cells(self) -> list[WallCell]:
        return [cell for row in self.rows for cell in row.cells if cell]

    @property
    def verdicts(self) -> list[tuple[str, int, int]]:
        """Kernels with both verdicts: held and broken by the paper's thresholds, for each outcome of the contract."""
        both = Counter((c.contract.held, c.paper.held) for c in self.cells if c.contract and c.paper)
        return [
            ("contract held", both[True, True], both[True, False]),
            ("contract broken", both[False, True], both[False, False]),
        ]

    @property
    def clauses(self) -> list[tuple[Clause, str, int]]:
        """How many kernels stop at each clause: the first one that they break."""
        broken = Counter(c.contract.broken.clause for c in self.cells if c.contract and c.contract.broken)
        return [(clause, words, broken[clause]) for clause, words in CLAUSES.items()]

    @property
    def causes(self) -> list[tuple[CauseText, int]]:
        """The known mistakes that were found, most frequent first."""
        return Counter(cell.cause for cell in self.cells if cell.cause).most_common()

    @property
    def stops(self) -> list[tuple[str, int]]:
        """Where the kernels ended, most frequent first."""
        return Counter(cell.label for row in self.rows for cell in row.cells if cell).most_common()


_MALFORMED = (
    Outcome.WRONG_STRUCTURE,
    Outcome.WRONG_SHAPE,
    Outcome.WRONG_DTYPE,
    Outcome.NOT_FINITE,
)


def wall(scope: Scope) -> Wall:
    """The quantization tasks of every method's best run in the scope."""
    ranked = standings(scope)
    tasks = tuple(Task.objects.filter(category=QUANTIZATION).order_by("name"))
    runs = {standing.run.pk: standing.run for standing in ranked}
    cells = {
        (run, task): _wall_cell(task, runs[run], Outcome(outcome), compiled, paper, contract)
        for run, task, outcome, compiled, paper, contract in Result.objects.filter(
            run__in=runs, task__category=QUANTIZATION
        ).values_list("run", "task", "outcome", "compiled", "report__paper", "report__contract")
    }
    return Wall(
        tasks,
        tuple(
            WallRow(standing, tuple(cells.get((standing.run.pk, task.name)) for task in tasks))
            for standing in ranked
        ),
    )


def _wall_cell(
    task: str,
    run: Run,
    outcome: Outcome,
    compiled: bool,
    paper: dict[str, object] | None,
    contract: dict[str, object] | None,
) -> WallCell:
    return WallCell(
        task=task,
        run=run,
        outcome=outcome,
        compiled=compiled,
        well_formed=compiled and outcome not in _MALFORMED,
        paper=Verdict.from_json(paper) if paper else None,
        contract=Contract.from_json(contract) if contract else None,
    )


# The footer of every comparison


@dataclass(frozen=True)
class Freshness:
    methods: int
    kernels: int
    newest: datetime | None


def freshness(ranked: Sequence[Standing]) -> Freshness:
    """What a comparison rests on. No query."""
    return Freshness(
        methods=len(ranked),
        kernels=sum(standing.handed_in for standing in ranked),
        newest=max((s.run.ended for s in ranked if s.run.ended), default=None),
    )
