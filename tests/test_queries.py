from dataclasses import replace
from datetime import timedelta

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils.timezone import now

from evaluator.report import Cause, Failure, Outcome, Report, Stage
from leaderboard import queries
from leaderboard.models import Gpu, Method, Result, Run, Task
from tasks.catalogue import CATALOGUE
from tests.factories import GpuFactory, MethodFactory, ResultFactory, RunFactory, report
from tests.site_data import contract, finished_run, timed_report, wall_report

pytestmark = pytest.mark.django_db

MATH = CATALOGUE["Math"]


@pytest.fixture(autouse=True)
def tasks():
    Task.objects.bulk_create(
        Task(name=name, category=category, version=report(name).task_version)
        for category, names in CATALOGUE.items()
        for name in names
    )


@pytest.fixture
def h200():
    return GpuFactory(slug="h200")


@pytest.fixture
def cpu():
    return GpuFactory(slug="cpu", name="CPU")


def correct(*names: str, speedup: float | None = 1.5, device: str = "h200") -> dict[str, Report]:
    return {
        name: report(name, device=device) if speedup is None else timed_report(name, speedup, device)
        for name in names
    }


def names(ranked: list[queries.Standing]) -> list[str]:
    return [standing.method.name for standing in ranked]


class TestScope:
    def test_without_any_gpu_there_is_none(self):
        with pytest.raises(queries.NoSuchScope):
            queries.scope()

    def test_without_runs_it_is_a_timed_gpu_and_no_choice(self, cpu, h200):
        scope = queries.scope()
        assert (scope.gpu, scope.gpus, scope.suite_versions) == (h200, (), ())

    def test_only_gpus_with_finished_runs_are_offered_and_the_interpreter_last(self, cpu, h200):
        GpuFactory(slug="a100")
        finished_run(MethodFactory(), cpu, correct("abs", speedup=None, device="cpu"))
        finished_run(MethodFactory(), h200, correct("abs"))
        RunFactory(gpu=GpuFactory(slug="l20"))
        assert queries.scope().gpus == (h200, cpu)

    def test_the_gpu_with_most_methods_comes_first_but_never_the_interpreter(self, cpu, h200):
        a100 = GpuFactory(slug="a100")
        for _ in range(3):
            finished_run(MethodFactory(), cpu, correct("abs", speedup=None, device="cpu"))
        for _ in range(2):
            finished_run(MethodFactory(), h200, correct("abs"))
        finished_run(MethodFactory(), a100, correct("abs", device="a100"))
        assert queries.scope().gpus == (h200, a100, cpu)

    def test_the_newest_suite_version_is_the_default(self, h200):
        run = finished_run(MethodFactory(), h200, correct("abs"), suite_version="kbx-old")
        Run.objects.filter(pk=run.pk).update(ended=now() - timedelta(days=9))
        finished_run(MethodFactory(), h200, correct("abs"), suite_version="kbx-new")
        scope = queries.scope("h200")
        assert (scope.suite_version, scope.suite_versions) == ("kbx-new", ("kbx-new", "kbx-old"))

    @pytest.mark.parametrize("asked", [("gtx", ""), ("h200", "kbx-99"), ("h200", "\0")])
    def test_what_the_site_does_not_know_is_refused(self, h200, asked):
        with pytest.raises(queries.NoSuchScope):
            queries.scope(*asked)


class TestStandings:
    def test_more_tasks_first_then_the_faster(self, h200):
        for name, reports in {
            "few": correct("abs", speedup=9),
            "slow": correct("abs", "add", speedup=1.1),
            "fast": correct("abs", "add", speedup=3),
        }.items():
            finished_run(MethodFactory(name=name), h200, reports)
        ranked = queries.standings(queries.scope())
        assert names(ranked) == ["fast", "slow", "few"]
        assert [standing.rank for standing in ranked] == [1, 2, 3]

    def test_a_missing_speedup_comes_after_any_speedup(self, h200):
        finished_run(MethodFactory(name="a untimed"), h200, correct("abs", speedup=None))
        finished_run(MethodFactory(name="b slow"), h200, correct("abs", speedup=0.01))
        assert names(queries.standings(queries.scope())) == ["b slow", "a untimed"]

    def test_equal_merit_shares_a_rank(self, h200):
        for name in ("a", "b"):
            finished_run(MethodFactory(name=name), h200, correct("abs", speedup=2))
        finished_run(MethodFactory(name="c"), h200, correct("abs", speedup=1))
        assert [standing.rank for standing in queries.standings(queries.scope())] == [1, 1, 3]

    def test_the_best_finished_run_of_a_method_counts(self, h200):
        method = MethodFactory()
        finished_run(method, h200, correct("abs", "add"), round=1)
        finished_run(method, h200, correct("abs"), round=2)
        abandoned = finished_run(method, h200, correct(*MATH), round=3)
        Run.objects.filter(pk=abandoned.pk).update(status=Run.Status.CANCELLED)
        (standing,) = queries.standings(queries.scope())
        assert (standing.correct.count, standing.run.submission.round) == (2, 1)

    def test_of_a_methods_runs_with_as_many_right_the_fastest_counts(self, h200):
        method = MethodFactory()
        for round, speedup in enumerate([1.2, 3.0, 0.5, None]):
            finished_run(method, h200, correct("abs", speedup=speedup), round=round)
        (standing,) = queries.standings(queries.scope())
        assert standing.run.submission.round == 1

    def test_an_outdated_run_counts_and_says_so_until_the_same_kernels_have_a_current_one(self, h200):
        method = MethodFactory()
        old = finished_run(method, h200, correct("abs", "add"))
        Result.objects.filter(run=old, task="abs").update(task_version="older")
        (standing,) = queries.standings(queries.scope())
        assert (standing.run, standing.outdated, standing.correct.count) == (old, 1, 2)

        another_round = finished_run(method, h200, correct("abs"), round=1)
        (standing,) = queries.standings(queries.scope())
        assert (standing.run, standing.outdated) == (old, 1)
        assert queries.chosen_run(queries.rounds(method), None).run == old

        again = finished_run(method, h200, correct("add") | {"abs": report("abs", Outcome.WRONG_VALUES)})
        (standing,) = queries.standings(queries.scope())
        assert (standing.run, standing.outdated, standing.correct.count) == (again, 0, 1)
        assert another_round.submission != again.submission == old.submission
        assert queries.chosen_run(queries.rounds(method), None).run == again

    def test_a_current_run_on_another_gpu_does_not_take_its_place(self, h200):
        method = MethodFactory()
        old = finished_run(method, h200, correct("abs"))
        Result.objects.filter(run=old).update(task_version="older")
        finished_run(method, GpuFactory(slug="a100"), correct("abs", device="a100"))
        (standing,) = queries.standings(queries.scope("h200"))
        assert (standing.run, standing.outdated) == (old, 1)

    def test_gpus_and_suite_versions_are_never_mixed(self, h200):
        a100 = GpuFactory(slug="a100")
        method = MethodFactory()
        finished_run(method, h200, correct("abs"))
        finished_run(method, a100, correct("abs", "add", device="a100"), round=1)
        finished_run(method, h200, correct("abs", "add", "div"), suite_version="kbx-old", round=2)
        counts = {
            (gpu, version): [s.correct.count for s in queries.standings(queries.scope(gpu, version))]
            for gpu, version in [("h200", "kbx-0"), ("a100", "kbx-0"), ("h200", "kbx-old")]
        }
        assert counts == {("h200", "kbx-0"): [1], ("a100", "kbx-0"): [2], ("h200", "kbx-old"): [3]}

    def test_the_interpreter_ranks_nobody(self, cpu):
        finished_run(MethodFactory(), cpu, correct("abs", speedup=None, device="cpu"))
        (standing,) = queries.standings(queries.scope("cpu"))
        assert standing.rank is None

    def test_rates_are_over_all_tasks_and_a_part_is_marked(self, h200):
        finished_run(
            MethodFactory(), h200, correct("abs", "add") | {"div": report("div", Outcome.WRONG_VALUES)}
        )
        (standing,) = queries.standings(queries.scope())
        assert (standing.correct.count, standing.correct.of, standing.compiled.count) == (2, 176, 3)
        assert (standing.handed_in, standing.partial) == (3, True)


class TestCategories:
    def test_all_15_are_there_with_what_is_solved(self, h200):
        finished_run(MethodFactory(), h200, correct("abs", "add", "gelu"))
        finished_run(MethodFactory(), h200, correct("abs", "gelu"))
        board = queries.category_board(queries.scope())
        solved = {category.name: category.solved for category in board.categories}
        assert len(board.categories) == 15
        assert (solved["Math"], solved["Activation"], solved["Loss"]) == (2, 1, 0)
        math = [category.name for category in board.categories].index("Math")
        assert [row.rates[math].count for row in board.rows] == [2, 1]
        assert board.rows[0].rates[math].of == len(MATH)


class TestTasks:
    def test_methods_are_counted_once_and_finished_runs_only(self, h200, cpu):
        method = MethodFactory()
        finished_run(method, h200, correct("abs"))
        finished_run(method, cpu, correct("abs", speedup=None, device="cpu"))
        finished_run(MethodFactory(), h200, {"abs": report("abs", Outcome.WRONG_VALUES)})
        ResultFactory(run=RunFactory(status=Run.Status.RUNNING), report_=report("abs"))
        rows = {row.task.name: row for _, group in queries.tasks_by_category() for row in group}
        assert (rows["abs"].tried, rows["abs"].solved) == (2, 1)
        assert (rows["add"].tried, rows["add"].solved) == (0, 0)

    def test_the_fastest_solution_is_first_and_each_method_once(self, h200):
        slow, fast = MethodFactory(name="slow"), MethodFactory(name="fast")
        finished_run(slow, h200, correct("abs", speedup=1.1))
        finished_run(fast, h200, correct("abs", speedup=1.2))
        finished_run(fast, h200, correct("abs", speedup=4), round=1)
        finished_run(MethodFactory(name="untimed"), h200, correct("abs", speedup=None))
        (group,) = queries.solutions(Task.objects.get(name="abs"))
        assert [solution.method.name for solution in group.solutions] == ["fast", "slow", "untimed"]
        assert group.solutions[0].speedup == pytest.approx(4)

    def test_a_solution_of_an_older_definition_is_marked_and_last_and_makes_way(self, h200):
        fast, slow = MethodFactory(name="fast"), MethodFactory(name="slow")
        old = [finished_run(method, h200, correct("abs", speedup=9)) for method in (fast, slow)]
        Result.objects.filter(run__in=old).update(task_version="older")
        finished_run(slow, h200, correct("abs", speedup=0.5), round=1)
        (group,) = queries.solutions(Task.objects.get(name="abs"))
        told = [(one.method.name, one.speedup, one.outdated) for one in group.solutions]
        assert told == [("slow", pytest.approx(0.5), False), ("fast", pytest.approx(9), True)]

    def test_only_results_by_todays_definition_count(self, h200):
        run = finished_run(MethodFactory(), h200, correct("abs", "add"))
        Result.objects.filter(run=run, task="abs").update(task_version="older")
        rows = {row.task.name: row for _, group in queries.tasks_by_category() for row in group}
        assert (rows["abs"].tried, rows["abs"].solved, rows["abs"].ever_tried) == (0, 0, 1)
        assert (rows["add"].tried, rows["add"].solved, rows["add"].ever_tried) == (1, 1, 1)


class TestMethod:
    def test_rounds_hold_their_runs_and_drafts_are_not_shown(self, h200, cpu):
        method = MethodFactory()
        finished_run(method, h200, correct("abs", "add"))
        finished_run(method, cpu, correct("abs", "add", speedup=None, device="cpu"))
        RunFactory(submission=method.submissions.get(), gpu=GpuFactory(slug="a100"))
        method.submissions.create(round=7, file_name="draft.py", file_sha256="0")
        (round,) = queries.rounds(method)
        assert (round.submission.round, round.kernels, len(round.runs)) == (0, 2, 3)
        assert {one.run.gpu.slug: one.summary and one.summary.correct for one in round.runs} == {
            "h200": 2,
            "cpu": 2,
            "a100": None,
        }

    def test_the_run_that_is_shown_is_the_best_on_a_timed_gpu(self, h200, cpu):
        method = MethodFactory()
        finished_run(method, cpu, correct("abs", "add", "div", speedup=None, device="cpu"))
        finished_run(method, h200, correct("abs"), round=1)
        best = finished_run(method, h200, correct("abs", "add"), round=2)
        rounds = queries.rounds(method)
        assert queries.chosen_run(rounds, None).run == best
        assert queries.chosen_run(rounds, 10**9) is None
        assert queries.chosen_run([], None) is None

    def test_categories_are_there_after_the_rounds_were_read(self, h200):
        method = MethodFactory()
        finished_run(method, h200, correct("abs"))
        chosen = queries.chosen_run(queries.rounds(method), None)
        assert len(queries.category_rates(chosen.run)) == 15

    def test_outcomes_add_up_to_what_was_handed_in(self, h200):
        method = MethodFactory()
        run = finished_run(method, h200, correct("abs", "add") | {"div": report("div", Outcome.TIMED_OUT)})
        (counted,) = queries.outcomes_by_run(one for round in queries.rounds(method) for one in round.runs)
        assert counted.run == run
        assert {one.outcome: one.count for one in counted.counts} == {
            Outcome.CORRECT: 2,
            Outcome.TIMED_OUT: 1,
        }

    def test_filters(self, h200):
        run = finished_run(
            MethodFactory(),
            h200,
            correct("abs", "add", "gelu") | {"relu": report("relu", Outcome.WRONG_SHAPE)},
        )

        def shown(**filters: str) -> list[str]:
            return [row.task for row in queries.results_of_run(run, **filters)]

        assert shown() == ["gelu", "relu", "abs", "add"]
        assert shown(outcome="wrong_shape") == ["relu"]
        assert shown(category="Math") == ["abs", "add"]
        assert shown(search="EL") == ["gelu", "relu"]
        assert shown(search="%") == []
        assert shown(category="Activation", search="re") == ["relu"]
        (relu,) = queries.results_of_run(run, outcome="wrong_shape")
        assert (relu.label, relu.tone, relu.message) == (
            "wrong shape",
            "bad",
            "The kernel ended as wrong_shape.",
        )


class TestSteps:
    @pytest.mark.parametrize(
        ("one", "timed", "states"),
        [
            (timed_report("abs", 2), True, "passed passed passed passed"),
            (report("abs", device="cpu"), False, "passed passed passed skipped"),
            (report("abs", Outcome.SYNTAX_ERROR), True, "failed ahead ahead ahead"),
            (report("abs", Outcome.COMPILE_FAILED), True, "passed failed ahead ahead"),
            (report("abs", Outcome.WRONG_VALUES), False, "passed passed failed ahead"),
            (report("abs", Outcome.TIMING_FAILED), True, "passed passed passed failed"),
            (report("abs", Outcome.NOT_SUPPORTED), False, "passed failed ahead ahead"),
        ],
    )
    def test_every_stage_says_how_it_went(self, one, timed, states):
        assert [step.state for step in queries.steps(one, timed=timed)] == states.split()

    @pytest.mark.parametrize("outcome", [Outcome.WORKER_LOST, Outcome.NOT_IN_SUITE, Outcome.CANCELLED])
    def test_what_was_never_judged_passed_nothing_and_failed_nothing(self, outcome):
        failure = Failure(outcome=outcome, message="It was not judged.")
        never = Report(task="abs", task_version="", device="h200", stage=Stage.STATIC, failure=failure)
        assert {step.state for step in queries.steps(never, timed=True)} == {"ahead"}


class TestResult:
    def test_the_same_task_in_other_runs_of_the_method(self, h200, cpu):
        method = MethodFactory()
        run = finished_run(method, h200, correct("abs", "add"))
        finished_run(method, cpu, correct("abs", speedup=None, device="cpu"))
        finished_run(method, h200, {"abs": report("abs", Outcome.TIMED_OUT)}, round=1)
        finished_run(MethodFactory(), h200, correct("abs"))
        page = queries.result_page(run.pk, "abs")
        assert [(o.run.submission.round, o.run.gpu.slug, o.label) for o in page.others] == [
            (0, "cpu", "correct"),
            (1, "h200", "took too long"),
        ]

    def test_there_is_none(self):
        with pytest.raises(Result.DoesNotExist):
            queries.result_page(1, "abs")


class TestWall:
    def test_the_funnel_counts_the_steps(self, h200):
        tasks = CATALOGUE["Quantization"]
        kernels = {
            tasks[0]: report(tasks[0], Outcome.SYNTAX_ERROR),
            tasks[1]: report(tasks[1], Outcome.WRONG_SHAPE),
            tasks[2]: wall_report(tasks[2]),
            tasks[3]: replace(
                timed_report(tasks[3], 1.2), contract=contract(), paper=wall_report(tasks[3]).paper
            ),
            tasks[4]: report(tasks[4], Outcome.NOT_SUPPORTED),
        }
        finished_run(MethodFactory(), h200, kernels | correct("abs"))
        wall = queries.wall(queries.scope())
        assert [task.name for task in wall.tasks] == sorted(tasks)
        assert dict(wall.funnel) == {
            "possible": 6,
            "handed in": 5,
            "judged": 4,
            "compiles and runs": 3,
            "right shapes, finite": 2,
            "accurate": 2,
            "small values become zero": 2,
            "contract held": 1,
        }
        (row,) = wall.rows
        by_task = dict(zip([task.name for task in wall.tasks], row.cells, strict=True))
        assert by_task[tasks[5]] is None
        assert by_task[tasks[2]].paper.rmse == pytest.approx(0.497)
        assert by_task[tasks[2]].cause.label == "truncated in place of rounded"

    def test_kernels_are_counted_by_both_verdicts_clause_and_cause(self, h200):
        one, two, three, four, five, _ = sorted(CATALOGUE["Quantization"])
        held = wall_report(one).paper
        finished_run(
            MethodFactory(),
            h200,
            {
                one: wall_report(one),
                two: wall_report(two),
                three: replace(timed_report(three, 1.2), contract=contract(), paper=held),
                four: replace(
                    wall_report(four),
                    contract=contract(zero=1.0, cause=Cause.FLOATING_POINT),
                    paper=replace(held, held=True),
                ),
                five: replace(wall_report(five), contract=contract(accuracy=0.9)),
            },
        )
        wall = queries.wall(queries.scope())
        assert wall.verdicts == [("contract held", 0, 1), ("contract broken", 1, 3)]
        assert {clause.value: count for clause, _, count in wall.clauses if count} == {
            "accuracy": 1,
            "zero": 1,
            "plateau": 2,
        }
        assert [(cause.label, count) for cause, count in wall.causes] == [
            ("truncated in place of rounded", 2),
            ("not quantized", 1),
        ]
        assert dict(wall.funnel)["accurate"] == 4 and dict(wall.funnel)["contract held"] == 1


def count_queries(function) -> int:
    with CaptureQueriesContext(connection) as captured:
        function()
    return len(captured)


SECTIONS = {
    "scope": lambda: queries.scope(),
    "standings": lambda: [
        (s.method.name, s.run.submission.round) for s in queries.standings(queries.scope())
    ],
    "categories": lambda: queries.category_board(queries.scope()),
    "tasks": lambda: queries.tasks_by_category(),
    "solutions": lambda: [
        (s.method.name, s.run.ended)
        for group in queries.solutions(Task.objects.get(name="abs"))
        for s in group.solutions
    ],
    "outcomes of a task": lambda: queries.outcomes_of_task(Task.objects.get(name="abs")),
    "rounds": lambda: [
        (str(one.run), one.summary and one.summary.correct, str(one.run.gpu))
        for round in queries.rounds(Method.objects.get(slug="watched"))
        for one in round.runs
    ],
    "outcomes by run": lambda: [
        (str(one.run), one.counts)
        for one in queries.outcomes_by_run(
            run for round in queries.rounds(Method.objects.get(slug="watched")) for run in round.runs
        )
    ],
    "categories of a run": lambda: queries.category_rates(Run.objects.earliest("pk")),
    "results of a run": lambda: queries.results_of_run(Run.objects.earliest("pk")),
    "result": lambda: [
        (o.run.submission.round, o.run.gpu.name)
        for o in queries.result_page(Run.objects.earliest("pk").pk, "abs").others
    ],
    "wall": lambda: queries.wall(queries.scope()).funnel,
}


@pytest.mark.parametrize("section", SECTIONS)
def test_the_number_of_queries_does_not_grow_with_the_rows(section, h200):
    function = SECTIONS[section]
    method = MethodFactory(slug="watched")
    finished_run(method, h200, correct("abs", *CATALOGUE["Quantization"][:1]))
    function()
    before = count_queries(function)
    for extra in range(1, 4):
        gpu: Gpu = GpuFactory(slug=f"gpu-{extra}")
        finished_run(method, h200, correct("abs", "add"), round=extra)
        finished_run(method, gpu, correct("abs", "add", device=gpu.slug), round=extra)
        finished_run(MethodFactory(), h200, correct("abs", *CATALOGUE["Quantization"][: extra + 1]))
    assert count_queries(function) == before
    assert 0 < before <= 8
