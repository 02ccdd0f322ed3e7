import re
from dataclasses import replace
from html.parser import HTMLParser

import pytest
from django.core.management import call_command
from django.test import Client, RequestFactory
from django.urls import reverse
from django.views import defaults
from django.views.csrf import csrf_failure

from evaluator.report import CAUSES, OUTCOMES, CaseError, Cause, Outcome
from leaderboard import highlight, queries
from leaderboard.models import Gpu, Kernel, Result, Run, Task
from leaderboard.templatetags.numbers import address, milliseconds, percent, quantity, seconds, times
from tasks.registry import task_version
from tests import site_data
from tests.factories import MethodFactory, UserFactory, report
from tests.site_data import HOSTILE, finished_run, hostile_report, timed_report, wall_report

pytestmark = pytest.mark.django_db


@pytest.fixture
def tasks():
    call_command("sync_tasks", verbosity=0)


@pytest.fixture
def h200(tasks):
    return Gpu.objects.get(slug="h200")


@pytest.fixture
def cpu(tasks):
    return Gpu.objects.get(slug="cpu")


def page(client: Client, address: str, status: int = 200) -> str:
    response = client.get(address)
    assert response.status_code == status
    return response.content.decode()


def text(html: str) -> str:
    """What a reader sees of it, in one line."""
    without = re.sub(r"<(script|style)\b.*?</\1>", " ", html, flags=re.DOTALL)
    return " ".join(re.sub(r"<[^>]+>", " ", without).replace("&#x27;", "'").split())


def every_page() -> list[str]:
    run = site_data.fill()["Refiner 2 h200"]
    timed = Result.objects.filter(run=run, speedup__isnull=False)[0]
    return [
        "/", "/?gpu=cpu", "/?gpu=a100", "/categories/", "/categories/?gpu=cpu", "/wall/", "/wall/?gpu=cpu",
        "/tasks/", "/tasks/gelu/", "/tasks/matmul_w8a8/", "/tasks/Lion/", "/tasks/health/",
        "/methods/refiner/", "/methods/refiner/?outcome=correct",
        run.get_absolute_url(), timed.get_absolute_url(), f"/runs/{run.pk}/matmul_w8a8/",
        "/accounts/login/", "/accounts/signup/", "/accounts/password/reset/",
    ]  # fmt: skip


class _Parts(HTMLParser):
    """What a strict security policy and a keyboard care about."""

    def __init__(self) -> None:
        super().__init__()
        self.inline: list[str] = []
        self.ids: list[str] = []
        self.headings: list[str] = []
        self.foreign: list[str] = []
        self.fragments: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = dict(attrs)
        if tag == "style" or "style" in given or any(name.startswith("on") for name in given):
            self.inline.append(self.get_starttag_text() or tag)
        if tag == "script" and "src" not in given and given.get("type") != "application/json":
            self.inline.append("script")
        if given.get("id"):
            self.ids.append(str(given["id"]))
        if re.fullmatch("h[1-6]", tag):
            self.headings.append(tag)
        if tag in ("script", "img", "link") and re.match(
            "(https?:)?//", given.get("src") or given.get("href") or ""
        ):
            self.foreign.append(self.get_starttag_text() or tag)
        if tag == "a" and (given.get("href") or "").startswith("#"):
            self.fragments.append(str(given["href"])[1:])


def test_every_page_is_well_made(client):
    for address_ in every_page():
        html = page(client, address_)
        parts = _Parts()
        parts.feed(html)
        assert parts.inline == [], address_
        assert parts.foreign == [], address_
        assert parts.headings.count("h1") == 1, address_
        assert len(parts.ids) == len(set(parts.ids)), address_
        assert set(parts.fragments) <= set(parts.ids), address_
        assert '<html lang="en" dir="ltr">' in html
        assert "None" not in text(html), address_


def test_every_page_of_an_empty_site(client):
    for address_ in ("/", "/categories/", "/wall/", "/tasks/"):
        page(client, address_)
    call_command("sync_tasks", verbosity=0)
    for address_ in ("/", "/categories/", "/wall/", "/tasks/", "/tasks/gelu/", "/tasks/health/"):
        page(client, address_)


class TestLeaderboard:
    def test_without_results_it_invites(self, client, h200):
        html = page(client, "/?gpu=h200")
        assert "No results on NVIDIA H200 with the suite kbx-0 yet" in text(html)
        assert reverse("submit") in html
        assert "plotly" not in html

    def test_before_any_result_no_gpu_is_named(self, client, tasks):
        for address_ in ("/", "/categories/", "/wall/"):
            html = page(client, address_)
            assert "No results yet" in text(html)
            assert not [gpu.name for gpu in Gpu.objects.filter(timed=True) if gpu.name in text(html)]
            assert 'class="chooser"' not in html

    def test_it_opens_where_there_are_results(self, client, cpu):
        finished_run(MethodFactory(name="Only here"), cpu, {"abs": report("abs", device="cpu")})
        assert "Only here" in text(page(client, "/"))

    def test_a_row_says_of_how_many_where_and_when_and_links_to_its_evidence(self, client, h200):
        method = MethodFactory(name="Refiner", slug="refiner", base_model="model-b")
        reports = {name: timed_report(name, 3.0) for name in ("abs", "add", "gelu")}
        run = finished_run(method, h200, reports | {"relu": report("relu", Outcome.WRONG_VALUES)})
        html = page(client, "/")
        row = text(re.search(r"<tbody>(.*?)</tbody>", html, re.DOTALL)[1])
        assert "1 Refiner single pass · model-b 1.7% 3 of 176 · 0.6% – 4.9%" in row
        assert "3.00× 3 tasks" in row
        assert "4 of 176 partial" in row
        assert f"{run.ended:%Y}" in row
        for link in (f"/methods/refiner/?run={run.pk}&amp;outcome=correct#results", run.get_absolute_url()):
            assert f'href="{link}"' in html
        assert "1 method on NVIDIA H200, suite kbx-0; 4 kernels" in text(html)

    def test_a_missing_speedup_is_a_dash_and_not_first(self, client, h200):
        finished_run(MethodFactory(name="untimed"), h200, {"abs": report("abs")})
        finished_run(MethodFactory(name="timed"), h200, {"abs": timed_report("abs", 0.5)})
        seen = text(page(client, "/"))
        assert seen.index("timed single pass") < seen.index("untimed single pass")
        assert "untimed single pass 0.6% 1 of 176 · 0.1% – 3.1% – " in seen

    def test_on_the_interpreter_nothing_is_ranked_or_timed(self, client, cpu):
        finished_run(MethodFactory(), cpu, {"abs": report("abs", device="cpu")})
        html = page(client, "/")
        assert "Nothing is timed there and nothing is ranked" in text(html)
        assert '<th scope="col" class="number">Rank' not in html
        assert "×" not in text(re.search(r"<table.*?</table>", html, re.DOTALL)[0])

    def test_the_chooser_links_every_gpu_that_has_results(self, client, h200, cpu):
        finished_run(MethodFactory(), h200, {"abs": timed_report("abs", 1.5)})
        finished_run(MethodFactory(), cpu, {"abs": report("abs", device="cpu")})
        html = page(client, "/?gpu=cpu")
        chooser = re.search(r'<nav class="chooser".*?</nav>', html, re.DOTALL)[0]
        assert re.findall(r'href="([^"]*)"', chooser) == ["?gpu=h200", "?gpu=cpu"]
        assert '<a href="?gpu=cpu" aria-current="true">' in chooser
        assert "correctness only, not ranked" in chooser

    @pytest.mark.parametrize("query", ["gpu=gtx", "gpu=%00", "suite=kbx-99", "gpu=h200&suite=%00"])
    def test_an_unknown_gpu_or_suite_is_not_found(self, client, h200, query):
        for address_ in ("/", "/categories/", "/wall/"):
            page(client, f"{address_}?{query}", 404)


def test_plotly_is_loaded_only_where_a_chart_is(client, h200):
    assert "plotly" not in page(client, "/")
    run = finished_run(MethodFactory(), h200, {"abs": timed_report("abs", 2), "add": report("add")})
    assert "plotly/plotly.min.js" in page(client, "/")
    assert "plotly/plotly.min.js" in page(client, f"/runs/{run.pk}/abs/")
    assert "plotly" not in page(client, f"/runs/{run.pk}/add/")


def test_all_15_categories_are_always_shown(client, h200):
    assert page(client, "/categories/").count('<th scope="row">') == 15


class TestTask:
    def test_its_definition_and_who_solves_it(self, client, h200):
        run = finished_run(MethodFactory(name="Refiner"), h200, {"gelu": timed_report("gelu", 2.5)})
        html = page(client, "/tasks/gelu/")
        seen = text(html)
        assert "gelu(input, approximate='none') -&gt; Tensor" in seen
        assert "within 1e-5 + 1e-5 × |value| of the value computed in double precision" in seen
        assert "Refiner 2.50×" in seen
        assert f'href="/runs/{run.pk}/gelu/"' in html
        assert "1.07 GB" in seen

    def test_one_that_is_not_built_says_so(self, client, tasks):
        task = Task.objects.filter(version="").first() or Task.objects.create(name="later", category="Math")
        assert "this site does not run it yet" in text(page(client, task.get_absolute_url()))

    def test_an_unknown_one_is_not_found(self, client, tasks):
        page(client, "/tasks/no-such-task/", 404)

    def test_the_list_counts_who_solved_what(self, client, h200):
        finished_run(MethodFactory(), h200, {"gelu": report("gelu")})
        finished_run(MethodFactory(), h200, {"gelu": report("gelu", Outcome.TIMED_OUT)})
        seen = text(page(client, "/tasks/"))
        assert "gelu solved by 1 of 2 methods" in seen


class TestMethod:
    def test_before_its_first_run_there_is_nothing_to_see(self, client):
        assert "Nothing of this method has been evaluated yet" in text(
            page(client, MethodFactory().get_absolute_url())
        )

    def test_a_run_under_way_has_no_numbers_yet(self, client, h200):
        method = MethodFactory()
        run = finished_run(method, h200, {"abs": timed_report("abs", 2)})
        run.summaries.all().delete()
        Run.objects.filter(pk=run.pk).update(status=Run.Status.RUNNING, ended=None)
        seen = text(page(client, method.get_absolute_url()))
        assert "running – – – kbx-0 –" in seen

    def test_results_are_filtered_by_the_address(self, client, h200):
        method = MethodFactory()
        finished_run(method, h200, {"abs": timed_report("abs", 2), "gelu": report("gelu", Outcome.TIMED_OUT)})
        address_ = method.get_absolute_url()
        assert "2 kernels; 1 timed, 2.00×" in text(page(client, address_))
        html = page(client, f"{address_}?outcome=timed_out")
        assert "1 kernel" in text(html) and "/gelu/" in html and "/abs/" not in html
        assert '<option value="timed_out" selected>' in html
        assert "No kernel of this run is like that" in text(page(client, f"{address_}?q=zzz"))
        for nonsense in ("outcome=zzz", "category=zzz", "q=%00"):
            assert "2 kernels" in text(page(client, f"{address_}?{nonsense}"))

    @pytest.mark.parametrize("run", ["0", "abc", "-1", "9" * 30, "²"])
    def test_a_run_that_is_not_the_methods_is_not_found(self, client, h200, run):
        method = MethodFactory()
        finished_run(method, h200, {"abs": report("abs")})
        page(client, f"{method.get_absolute_url()}?run={run}", 404)


class TestResult:
    def test_a_wrong_one_shows_the_case_and_marks_the_line(self, client, h200):
        run = finished_run(MethodFactory(), h200, {"matmul_w8a8": wall_report("matmul_w8a8")})
        html = page(client, f"/runs/{run.pk}/matmul_w8a8/")
        seen = text(html)
        assert OUTCOMES[Outcome.CONTRACT_BROKEN].advice in seen
        assert (
            f"It looks like this: {CAUSES[Cause.TRUNCATED].label}. {CAUSES[Cause.TRUNCATED].explanation}"
            in seen
        )
        assert "plateau input 1.22 0.3 ✗ broken values around one integer give one result" in seen
        assert "The paper's thresholds are missed; they decide nothing here." in seen
        assert "The contract's clause plateau (input) is broken. Measured 1.22, at most 0.3." in seen
        assert "1 of 262144 elements" in seen
        assert "511, 0 nan 12.5" in seen
        assert '<span class="line failing" id="L8">' in html
        assert re.findall(r'<li class="(\w+)"><strong>(\w+)', html) == [
            ("passed", "static"), ("passed", "call"), ("failed", "exe"), ("ahead", "perf"),
        ]  # fmt: skip

    def test_numbers_that_say_nothing_are_left_out(self, client, h200):
        error = CaseError(case={"n": 8}, inputs="float32[8]", wrong=1, elements=8, max_absolute=0.5)
        zero = replace(report("abs", Outcome.WRONG_VALUES), cases_passed=1, cases_total=3)
        zero = replace(zero, failure=replace(zero.failure, case_error=replace(error, max_relative=0.0)))
        run = finished_run(MethodFactory(), h200, {"abs": zero, "add": report("add", Outcome.CALL_FAILED)})
        seen = text(page(client, f"/runs/{run.pk}/abs/"))
        assert "Cases right 1 of 3" in seen
        assert "0.5 absolute" in seen and "relative" not in seen
        never_ran = page(client, f"/runs/{run.pk}/add/")
        assert "Cases right" not in text(never_ran) and 'class="stats"' not in never_ran

    def test_a_timed_one_shows_every_size(self, client, h200):
        run = finished_run(MethodFactory(), h200, {"gelu": timed_report("gelu", 2)})
        seen = text(page(client, f"/runs/{run.pk}/gelu/"))
        assert "n=4096 4.01 µs 3.93 µs–4.13 µs 8.02 µs" in seen
        assert "not independently" in seen
        assert "2.00×" in seen
        assert "Triton kernels launched _kernel" in seen

    def test_the_seed_is_secret_until_the_run_is_over(self, client, h200):
        run = finished_run(MethodFactory(), h200, {"abs": report("abs")})
        assert run.seed in page(client, f"/runs/{run.pk}/abs/")
        Run.objects.filter(pk=run.pk).update(status=Run.Status.RUNNING)
        html = page(client, f"/runs/{run.pk}/abs/")
        assert run.seed not in html
        assert "secret until the run is over" in html

    def test_every_outcome_has_a_page(self, client, h200):
        kernels = [task.name for task in Task.objects.all()]
        failures = [outcome for outcome in Outcome if outcome is not Outcome.CORRECT]
        run = finished_run(
            MethodFactory(),
            h200,
            {task: report(task, outcome) for task, outcome in zip(kernels, failures, strict=False)},
        )
        for task, outcome in zip(kernels, failures, strict=False):
            assert OUTCOMES[outcome].label in text(page(client, f"/runs/{run.pk}/{task}/"))

    @pytest.mark.parametrize("address_", ["/runs/1/abs/", "/runs/99999999999999999999/abs/"])
    def test_an_unknown_one_is_not_found(self, client, address_):
        page(client, address_, 404)


class TestOutdated:
    """A changed task marks its own results, and no others, wherever they are shown."""

    @pytest.fixture
    def runs(self, h200):
        method = MethodFactory(name="Refiner", slug="refiner")
        return [
            finished_run(method, h200, {"abs": timed_report("abs", 2), "add": report("add")}, round=round)
            for round in range(2)
        ]

    def marks(self, client, runs):
        """The pages with a badge, and how many."""
        addresses = ["/", "/tasks/abs/", "/tasks/add/", "/methods/refiner/"]
        for run in runs:
            addresses += [run.get_absolute_url(), f"/runs/{run.pk}/abs/", f"/runs/{run.pk}/add/"]
        counted = {address_: page(client, address_).count(">outdated</span>") for address_ in addresses}
        return {address_: count for address_, count in counted.items() if count}

    def test_nothing_is_while_no_task_has_changed(self, client, runs):
        assert self.marks(client, runs) == {}
        assert "since it changed" not in page(client, "/tasks/")

    def test_the_results_of_a_changed_task_are_and_no_others(self, client, runs):
        Task.objects.filter(name="abs").update(version="changed")
        first, second = (run.pk for run in runs)
        assert self.marks(client, runs) == {
            "/": 1,
            "/tasks/abs/": 1,
            "/methods/refiner/": 3,  # both runs, and one row of the chosen one
            f"/runs/{first}/": 1,
            f"/runs/{first}/abs/": 2,  # itself and the other round's
            f"/runs/{second}/": 1,
            f"/runs/{second}/abs/": 2,
        }
        assert "The run counts until the same kernels have a current one" in text(page(client, "/"))
        assert "1 result of this run is of an older definition" in text(page(client, "/methods/refiner/"))
        assert "1 of its results is of an older definition" in text(page(client, f"/runs/{first}/"))
        assert "definition has changed since this was judged" in text(page(client, f"/runs/{first}/abs/"))
        seen = text(page(client, "/tasks/"))
        assert "abs not tried since it changed" in seen and "add solved by 1 of 1 methods" in seen

    def test_the_code_decides_which_have_changed(self, client, runs, monkeypatch, capsys):
        command = "leaderboard.management.commands.sync_tasks"
        monkeypatch.setattr(
            f"{command}.task_version", lambda name: "changed" if name == "add" else task_version(name)
        )
        call_command("sync_tasks")
        assert "; 2 results are of older task definitions." in capsys.readouterr().out
        outdated = Result.objects.filter(queries.OUTDATED)
        assert {(result.run_id, result.task_id) for result in outdated} == {(run.pk, "add") for run in runs}


class TestWall:
    def test_it_shows_thresholds_measures_and_where_kernels_stop(self, client, h200):
        finished_run(MethodFactory(name="Refiner"), h200, {"matmul_w8a8": wall_report("matmul_w8a8")})
        seen = text(page(client, "/wall/"))
        assert "contract broken plateau input truncated in place of rounded paper: missed cos 0.9998" in seen
        assert "L1 0.0213 RMSE 0.497" in seen
        assert "right shapes, finite 1 accurate 1 small values become zero 1 contract held 0" in seen
        assert "contract broken 0 1" in seen  # the paper's thresholds: held by none, missed by one
        assert CAUSES[Cause.TRUNCATED].explanation in seen
        assert "matmul_w8a8 0.95 0.05 0.1" in seen


class TestHostileText:
    @pytest.fixture
    def run(self, h200):
        method = MethodFactory(name=HOSTILE, slug="hostile", base_model=HOSTILE, description=HOSTILE)
        method.owner.username = HOSTILE
        method.owner.save()
        run = finished_run(method, h200, {"abs": hostile_report("abs"), "add": report("add")})
        Kernel.objects.filter(submission=run.submission).update(
            source=f"# {HOSTILE}\nx = '</code>{HOSTILE}'\n"
        )
        return run

    def test_no_page_lets_it_through(self, client, run):
        for address_ in (
            "/", "/categories/", "/tasks/abs/", "/tasks/add/", "/methods/hostile/",
            f"/methods/hostile/?q={HOSTILE}", f"/runs/{run.pk}/", f"/runs/{run.pk}/abs/",
        ):  # fmt: skip
            html = page(client, address_)
            assert "<script>alert" not in html, address_
            assert "alert(" in html or "tasks" in address_, address_

    def test_a_source_that_closes_its_block_stays_inside(self, client, run):
        html = page(client, f"/runs/{run.pk}/abs/")
        source = re.search(r'<pre class="source".*?</pre>', html, re.DOTALL)[0]
        assert source.count("</code>") == 1
        assert source.count('class="line') == 2

    def test_a_link_that_is_no_web_address_is_not_followed(self, client, h200):
        method = MethodFactory(link="javascript:alert(1)")
        finished_run(method, h200, {"abs": report("abs")})
        assert 'href="javascript:' not in page(client, method.get_absolute_url())


class TestSource:
    def test_every_line_has_its_number_and_address(self):
        html = highlight.numbered("a = 1\n\n'''two\nlines'''\n", failing_line=4)
        assert re.findall(r'id="L(\d+)"', html) == ["1", "2", "3", "4"]
        assert html.count("failing") == 1 and 'class="line failing" id="L4"' in html
        assert "style=" not in html

    @pytest.mark.parametrize("end", ["\r\n", "\r"])
    def test_other_line_ends_count_as_python_counts_them(self, end):
        assert highlight.numbered(f"a{end}b{end}c").count('class="line"') == 3

    def test_leading_blank_lines_keep_the_numbers_right(self):
        html = highlight.numbered("\n\nbroken(")
        assert re.search(r'id="L3".*broken', html)

    def test_characters_that_hide_or_reorder_are_made_visible(self):
        html = highlight.numbered("x = '\u202egnp.exe\u2066'\n")
        assert "\u202e" not in html and "U+202E" in html and "U+2066" in html

    def test_a_very_long_source_is_plain_but_whole_and_escaped(self):
        source = "<b>\n" * 30_000
        html = highlight.numbered(source)
        assert html.count("&lt;b&gt;") == 30_000

    def test_a_source_that_is_no_python_is_shown(self):
        assert "§" in highlight.numbered("§ ¿ <<<\t\x0c !")


class TestErrors:
    def test_not_found_is_our_page(self, client):
        html = page(client, "/no/such/page/", 404)
        assert "Not found" in text(html) and "KernelBench-X" in html

    def test_an_error_of_ours_is_our_page_and_says_nothing_of_its_cause(self, h200, client, monkeypatch):
        def broken(*args: object) -> None:
            raise RuntimeError("a secret of the house")

        monkeypatch.setattr("leaderboard.queries.standings", broken)
        client.raise_request_exception = False
        html = page(client, "/", 500)
        assert "Something broke" in text(html)
        assert "secret of the house" not in html and "Traceback" not in html

    def test_other_refusals_are_our_pages(self):
        request = RequestFactory().get("/")
        for view, words in (
            (defaults.bad_request, "Bad request"),
            (defaults.permission_denied, "Not allowed"),
        ):
            assert words in text(view(request, Exception()).content.decode())
        assert "The form has expired" in text(csrf_failure(request).content.decode())


class TestAccounts:
    def test_sign_up_sign_out_and_sign_in_again(self, client):
        password = "a long enough sentence"
        form = {"username": "ada", "email": "ada@example.org", "password1": password, "password2": password}
        assert client.post("/accounts/signup/", form).status_code == 302
        assert "ada" in page(client, "/") and "Sign out" in page(client, "/")
        assert client.post("/accounts/logout/").status_code == 302
        assert "Sign in" in text(page(client, "/"))
        assert client.post("/accounts/login/", {"login": "ada", "password": password}).status_code == 302
        assert "Sign out" in page(client, "/")

    def test_account_pages_wear_our_frame(self, client):
        client.force_login(UserFactory())
        for address_ in ("/accounts/email/", "/accounts/password/change/", "/accounts/logout/"):
            html = page(client, address_)
            assert 'class="skip"' in html and "narrow card" in html and "site.css" in html

    def test_a_wrong_password_is_a_sentence(self, client):
        response = client.post("/accounts/login/", {"login": "nobody", "password": "wrong"})
        assert 'class="errorlist' in response.content.decode()


def test_pages_take_few_queries_however_much_there_is(client, django_assert_max_num_queries):
    for address_ in every_page():
        with django_assert_max_num_queries(12):
            client.get(address_)


class TestNumbers:
    def test_as_people_read_them(self):
        assert [percent(x) for x in (0.2386, 0, 1, None)] == ["23.9%", "0.0%", "100.0%", "–"]
        assert [times(x) for x in (1.347, 12.34, 452.1, 0.004, None)] == [
            "1.35×",
            "12.3×",
            "452×",
            "0.004×",
            "–",
        ]
        assert [milliseconds(x) for x in (0.0123, 1.5, 2500, None)] == ["12.3 µs", "1.50 ms", "2.50 s", "–"]
        assert [seconds(x) for x in (0.01, 6.2, None)] == ["10.0 ms", "6.20 s", "–"]
        assert [quantity(x, "B") for x in (0, 999, 1000, 12_582_912, 1_073_741_824)] == [
            "0 B", "999 B", "1.00 kB", "12.6 MB", "1.07 GB",
        ]  # fmt: skip
        assert quantity(671_088_640) == "671 M"

    def test_an_address_keeps_the_rest_of_the_state(self):
        context = {"request": RequestFactory().get("/?gpu=h200&q=a%26b")}
        assert address(context, suite="kbx-1") == "?gpu=h200&amp;q=a%26b&amp;suite=kbx-1"
        assert address(context, gpu="") == "?q=a%26b"
