"""The form and the page of a submission: what is wrong ends as a sentence, nothing runs before Evaluate."""

from __future__ import annotations

import html
import io
import json
import re
import zipfile
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from django.conf import LazySettings
from django.core.files.uploadedfile import SimpleUploadedFile
from django.core.management import call_command
from django.http import HttpResponse
from django.test import Client
from django.urls import reverse

from leaderboard.models import Gpu, Method, Run, Submission, User
from tests.factories import (
    GpuFactory,
    HostFactory,
    MethodFactory,
    RunFactory,
    SubmissionFactory,
    TaskFactory,
    UserFactory,
    source_for,
)


@pytest.fixture(autouse=True)
def tasks(db: None) -> None:
    TaskFactory(name="gelu")
    TaskFactory(name="gelu_bf16")
    TaskFactory(name="relu", version="")


@pytest.fixture
def ada() -> User:
    return UserFactory(username="ada")


@pytest.fixture
def browser(client: Client, ada: User) -> Client:
    client.force_login(ada)
    return client


def line(task: str, source: str | None = None) -> bytes:
    return json.dumps({"file": f"X/{task}.py", "predict": source or source_for(task)}).encode() + b"\n"


def hand_in(client: Client, data: bytes, file_name: str = "kernels.jsonl", **fields: Any) -> HttpResponse:
    if not fields.get("method"):
        fields.setdefault("name", "My model")
    return client.post(
        reverse("submit"), {"file": SimpleUploadedFile(file_name, data), **fields}, follow=True
    )


def text(response: HttpResponse) -> str:
    return html.unescape(response.content.decode())


def test_strangers_are_asked_to_sign_in(client: Client) -> None:
    response = client.get(reverse("submit"))
    assert response.status_code == 302
    assert response["Location"].startswith("/accounts/login/")


def test_a_file_becomes_a_draft_that_says_what_was_found(browser: Client) -> None:
    data = (
        line("gelu")
        + line("gelu")
        + line("gelu_bf16", "def gelu_bf16(:\n")
        + line("relu")
        + line("no_such_task")
        + b"{broken\n"
    )
    response = hand_in(browser, data, kind="agentic", base_model="GPT <b>9</b>")
    found = Submission.objects.get()
    assert response.redirect_chain == [(f"/submissions/{found.pk}/", 302)]
    assert (found.method.name, found.method.kind, found.round) == ("My model", "agentic", 0)
    page = text(response)
    for said in (
        "3 of 3",  # tasks found
        "gelu was already found at line 1",
        "The benchmark has no task 'no_such_task'",
        "line 6",
        "not valid JSON",
        "gelu_bf16",
        "not in the suite yet",
    ):
        assert said in page
    assert not Run.objects.exists()


def test_found_and_missing_are_listed_by_category(browser: Client) -> None:
    TaskFactory(name="conv2d")
    page = " ".join(text(hand_in(browser, line("gelu") + line("relu"))).split())
    activation, convolution = page.split("Activation</th>")[1].split("Convolution</th>")
    assert "2 of 3" in activation and "1 missing" in activation
    assert "0 of 1" in convolution and "1 missing" in convolution


def test_a_kernel_without_a_task_in_the_suite_is_not_blamed(browser: Client) -> None:
    page = text(hand_in(browser, line("gelu") + line("relu", "def relu(:\n")))
    assert "Fail the static check</h2>" not in page
    assert "not in the suite yet" in page


def test_gpus_with_a_worker_come_first(browser: Client, ada: User) -> None:
    submission = SubmissionFactory(method__owner=ada, tasks=["gelu"])
    for slug in ("a100", "cpu", "h200", "l20"):
        GpuFactory(slug=slug)
    HostFactory(gpu=Gpu.objects.get(slug="l20"))
    choices = browser.get(submission.get_absolute_url()).context["choices"]
    assert [choice.gpu.slug for choice in choices] == ["l20", "a100", "h200", "cpu"]


def test_a_draft_is_nobody_elses_business(client: Client, ada: User) -> None:
    draft = SubmissionFactory(method__owner=ada, tasks=["gelu"])
    url = reverse("submission", args=[draft.pk])
    assert client.get(url).status_code == 404
    client.force_login(UserFactory())
    assert client.get(url).status_code == 404
    assert client.post(reverse("evaluate", args=[draft.pk])).status_code == 404
    assert client.post(reverse("discard", args=[draft.pk])).status_code == 404
    client.force_login(UserFactory(is_staff=True))
    assert client.get(url).status_code == 200
    client.force_login(ada)
    assert client.get(url).status_code == 200


def test_once_it_runs_it_is_public_but_only_its_owner_evaluates(client: Client) -> None:
    run = RunFactory()
    url = reverse("submission", args=[run.submission.pk])
    page = text(client.get(url))
    assert run.get_absolute_url() in page
    assert "Evaluate</button>" not in page
    client.force_login(UserFactory())
    assert client.post(reverse("evaluate", args=[run.submission.pk]), {"gpus": run.gpu.pk}).status_code == 404


def evaluate(browser: Client, submission: Submission, *gpus: Gpu) -> HttpResponse:
    return browser.post(reverse("evaluate", args=[submission.pk]), {"gpus": [gpu.pk for gpu in gpus]})


def test_evaluate_queues_it_on_the_chosen_gpus(
    browser: Client,
    ada: User,
    sent: list[SimpleNamespace],
    django_capture_on_commit_callbacks: Callable[..., Any],
) -> None:
    submission = SubmissionFactory(method__owner=ada, tasks=["gelu"])
    h200, cpu, _ = GpuFactory(), GpuFactory(slug="cpu"), GpuFactory(slug="a100")
    with django_capture_on_commit_callbacks(execute=True):
        response = evaluate(browser, submission, h200, cpu)
        evaluate(browser, submission, h200, cpu)
    assert response["Location"] == submission.get_absolute_url()
    assert sorted(message.queue for message in sent) == ["gpu.cpu", "gpu.h200"]
    assert Run.objects.count() == 2
    one = evaluate(browser, submission, cpu)
    assert one["Location"] == submission.runs.get(gpu=cpu).get_absolute_url()


@pytest.mark.parametrize("action", ["evaluate", "discard"])
def test_the_address_of_an_action_leads_to_the_page(client: Client, ada: User, action: str) -> None:
    """Who was signed out meanwhile comes back there from signing in; so does a reload."""
    submission = SubmissionFactory(method__owner=ada, tasks=["gelu"])
    url = reverse(action, args=[submission.pk])
    assert client.post(url)["Location"] == f"{reverse('account_login')}?next={url}"
    client.force_login(ada)
    assert client.get(url)["Location"] == submission.get_absolute_url()
    assert Submission.objects.exists() and not Run.objects.exists()
    client.force_login(UserFactory())
    assert client.get(url).status_code == 404


def test_evaluate_without_a_choice_says_so(browser: Client, ada: User) -> None:
    submission = SubmissionFactory(method__owner=ada, tasks=["gelu"])
    response = evaluate(browser, submission)
    assert response.status_code == 422
    assert "Choose at least one GPU." in text(response)
    assert not Run.objects.exists()


def test_the_page_says_which_gpu_has_no_worker(browser: Client, ada: User) -> None:
    submission = SubmissionFactory(method__owner=ada, tasks=["gelu"])
    HostFactory(gpu=GpuFactory())
    assert "no worker online" not in text(browser.get(submission.get_absolute_url()))
    GpuFactory(slug="a100")
    assert "no worker online" in text(browser.get(submission.get_absolute_url()))


def test_gpus_with_a_worker_online_are_ticked(browser: Client, ada: User) -> None:
    submission = SubmissionFactory(method__owner=ada, tasks=["gelu"])
    online, _, busy = (GpuFactory(slug=slug) for slug in ("h200", "a100", "l20"))
    HostFactory(gpu=online)
    HostFactory(gpu=busy)
    RunFactory(submission=submission, gpu=busy)
    html = browser.get(submission.get_absolute_url()).content.decode()
    boxes = re.findall(r'name="gpus" value="(\d+)"([^>]*)>', html)
    assert {int(pk) for pk, rest in boxes if "checked" in rest} == {online.pk}
    assert {int(pk) for pk, rest in boxes if "disabled" in rest} == {busy.pk}
    assert len(boxes) == 3


def test_the_same_file_twice_is_one_submission(browser: Client) -> None:
    first = hand_in(browser, line("gelu"))
    again = hand_in(browser, line("gelu"))
    with_round = hand_in(browser, line("gelu"), name="my  MODEL", round="0")
    chosen = hand_in(browser, line("gelu"), method=str(Method.objects.get().pk))
    assert first.redirect_chain == again.redirect_chain == with_round.redirect_chain == chosen.redirect_chain
    assert Submission.objects.count() == Method.objects.count() == 1


def test_another_file_for_a_taken_round_says_which_is_free(browser: Client) -> None:
    hand_in(browser, line("gelu"), round="0")
    response = hand_in(browser, line("gelu_bf16"), round="0")
    assert response.status_code == 422
    assert "Its next free round is 1." in text(response)
    assert Submission.objects.count() == 1


def test_the_next_free_round_is_offered_and_taken(browser: Client) -> None:
    hand_in(browser, line("gelu"), round="4")
    assert "My model (next free round: 5)" in text(browser.get(reverse("submit")))
    hand_in(browser, line("gelu_bf16"), method=str(Method.objects.get().pk))
    assert sorted(Submission.objects.values_list("round", flat=True)) == [4, 5]


def test_a_method_of_somebody_else_is_out_of_reach(browser: Client) -> None:
    other = MethodFactory(name="Theirs")
    assert "Theirs" not in text(browser.get(reverse("submit")))
    assert hand_in(browser, line("gelu"), method=str(other.pk)).status_code == 422
    assert "somebody else" in text(hand_in(browser, line("gelu"), name="theirs"))
    assert not Submission.objects.exists()


@pytest.mark.parametrize(
    ("fields", "sentence"),
    [
        ({"name": ""}, "Choose one of your methods or name a new one."),
        ({"name": "a\0b"}, "Null characters"),
        ({"name": "n" * 81}, "at most 80 characters"),
        ({"round": "-1"}, "greater than or equal to 0"),
        ({"round": "70000"}, "less than or equal to 999"),
        ({"round": "first"}, "Enter a whole number"),
        ({"kind": "magic"}, "not one of the available choices"),
        ({"code": "import triton"}, "Choose a file or paste code, not both."),
        ({"file": ""}, "Choose a file or paste code."),
    ],
    ids=str,
)
def test_a_wrong_field_is_named(browser: Client, fields: dict[str, str], sentence: str) -> None:
    file = SimpleUploadedFile("k.jsonl", line("gelu"))
    response = browser.post(reverse("submit"), {"file": file, "name": "My model", **fields})
    assert response.status_code == 422
    assert sentence in text(response)
    assert not Submission.objects.exists()


@pytest.mark.parametrize(
    ("body", "content_type"),
    [
        ("", "multipart/form-data; boundary=x"),
        ("--x\r\nno form at all", "multipart/form-data; boundary=x"),
        ('{"name": ', "application/json"),
        ('{"name": "My model"}', "application/json"),
        ("", "application/x-www-form-urlencoded"),
    ],
)
def test_a_body_that_is_no_form_is_answered_with_what_is_missing(
    browser: Client, body: str, content_type: str
) -> None:
    response = browser.generic("POST", reverse("submit"), body, content_type)
    assert response.status_code == 422
    assert "Choose one of your methods or name a new one." in text(response)
    assert "Choose a file or paste code." in text(response)


def packed(**entries: bytes) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in entries.items():
            archive.writestr(name, content)
    return buffer.getvalue()


@pytest.mark.parametrize(
    ("name", "data", "sentence"),
    [
        ("k.jsonl", b"", "The file is empty."),
        ("k.jsonl", b"\xff\xfe\x00", "neither JSONL"),
        ("k.jsonl", b'{"file": "gelu"}', "line 1: The line has no “predict”"),
        ("k.jsonl", b'{"file": "no_such", "predict": "x"}', "The benchmark has no task 'no_such'"),
        ("k.jsonl", b"{\n" * 8, "And 3 more like these."),
        ("gelu.py", b"\xff", "not valid UTF-8"),
        ("k.zip", b"PK\x03\x04 no more", "cannot be opened"),
        ("k.zip", packed(**{"../gelu.py": b"x"}), "leaves the archive"),
        ("k.zip", packed(**{"inner.zip": packed(**{"gelu.py": b"x"})}), "A zip inside a zip"),
        ("k.zip", packed(**{"gelu.py": b"0" * 60_000_000}), "Unpacked, the archive is larger"),
        ("k.jsonl", line("gelu", "x" * 300_000), "at most 256 kB"),
    ],
    ids=lambda value: value[:24] if isinstance(value, str) else None,
)
def test_an_unusable_file_ends_in_a_sentence_on_the_form(
    browser: Client, name: str, data: bytes, sentence: str
) -> None:
    response = hand_in(browser, data, name)
    assert response.status_code == 422
    assert sentence in text(response)
    assert not Submission.objects.exists()
    assert not Method.objects.exists()


@pytest.mark.parametrize("extra", [1, 2_000_000])
def test_a_file_over_the_limit_ends_in_a_sentence(
    browser: Client, settings: LazySettings, extra: int
) -> None:
    settings.KBX_MAX_UPLOAD_BYTES = 100_000
    settings.DATA_UPLOAD_MAX_MEMORY_SIZE = 1_100_000
    response = hand_in(browser, line("gelu").ljust(100_000 + extra))
    assert response.status_code in (413, 422)
    assert "at most 0.1 MB are accepted" in text(response)
    assert not Submission.objects.exists()


def test_a_body_over_the_limit_is_never_parsed(browser: Client, settings: LazySettings) -> None:
    settings.DATA_UPLOAD_MAX_MEMORY_SIZE = 1_000_000
    response = browser.post(reverse("submit"), {"code": "x" * 1_000_001, "name": "My model"})
    assert response.status_code == 413
    assert "are accepted" in text(response)


def test_pasted_code_is_a_kernel(browser: Client) -> None:
    fields = {"name": "By hand", "kind": "human"}
    browser.post(reverse("submit"), {"code": source_for("gelu").replace("\n", "\r\n"), **fields})
    assert Submission.objects.get().kernels.get().source == source_for("gelu")
    browser.post(reverse("submit"), {"code": line("gelu").decode() + line("relu").decode(), **fields})
    assert [s.kernels.count() for s in Submission.objects.order_by("round")] == [1, 2]


def test_the_token_is_checked(ada: User) -> None:
    strict = Client(enforce_csrf_checks=True)
    strict.force_login(ada)
    assert strict.post(reverse("submit"), {"name": "x", "code": source_for("gelu")}).status_code == 403
    assert not Submission.objects.exists()


def test_a_draft_can_be_discarded_and_its_round_is_free_again(browser: Client) -> None:
    hand_in(browser, line("gelu"), round="0")
    response = browser.post(reverse("discard", args=[Submission.objects.get().pk]), follow=True)
    assert "its round is free again" in text(response)
    hand_in(browser, line("gelu_bf16"), round="0")
    assert Submission.objects.get().kernels.get().task_id == "gelu_bf16"


def test_what_was_evaluated_cannot_be_discarded(browser: Client, ada: User) -> None:
    run = RunFactory(submission__method__owner=ada)
    response = browser.post(reverse("discard", args=[run.submission.pk]), follow=True)
    assert "can no longer be discarded" in text(response)


def test_names_from_a_file_are_text_on_the_page(browser: Client) -> None:
    data = line("gelu") + json.dumps({"file": "<script>alert(1)</script>", "predict": "x"}).encode()
    response = hand_in(browser, data, "<b>.jsonl")
    assert b"<script>alert" not in response.content
    assert b"<b>" not in response.content


def test_names_that_hide_or_reorder_are_shown_as_they_are(browser: Client) -> None:
    entries = {"gelu.py": source_for("gelu").encode(), "gelu\u202eyp.exe": b"x"}
    response = hand_in(browser, packed(**entries), "k.zip")
    assert "gelu[U+202E]yp.exe" in text(response)
    assert "\u202e" not in text(response)


def test_the_page_of_a_submission_takes_as_many_queries_however_much_it_holds(
    browser: Client, ada: User, django_assert_num_queries: Callable[..., Any]
) -> None:
    small, large = (
        SubmissionFactory(method__owner=ada, tasks=names) for names in (["gelu"], ["gelu", "relu"])
    )
    for slug in ("h200", "a100", "cpu"):
        RunFactory(submission=large, gpu=GpuFactory(slug=slug))
    for submission in (small, large):
        browser.get(submission.get_absolute_url())
        with django_assert_num_queries(6):
            browser.get(submission.get_absolute_url())


@pytest.mark.samples
@pytest.mark.parametrize("name", ["geak/round_0.jsonl", "tritonbench_t/output_o1-2024-12-17.jsonl"])
def test_published_files_are_taken_whole(browser: Client, samples: Path, name: str) -> None:
    call_command("sync_tasks", verbosity=0)
    data = (samples / name).read_bytes()
    page = text(hand_in(browser, data, name.rpartition("/")[2]))
    found = Submission.objects.get()
    lines = len(data.splitlines())
    assert found.kernels.count() + len(found.findings["problems"]) == lines
    assert f"{found.kernels.count()} of 176" in page
