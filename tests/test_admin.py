"""The admin: every list opens, chosen submissions run again, runs are cancelled, results stay as they are."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from leaderboard import services
from leaderboard.models import Result, Run
from tests.factories import (
    GpuFactory,
    HostFactory,
    MethodFactory,
    ResultFactory,
    RunFactory,
    SubmissionFactory,
    UserFactory,
)

pytestmark = pytest.mark.usefixtures("sent")

MODELS = ["chunk", "gpu", "host", "method", "result", "run", "submission", "task", "user"]


def admin_url(model: str, page: str = "changelist", *args: object) -> str:
    return reverse(f"admin:leaderboard_{model}_{page}", args=args)


@pytest.fixture
def admin(client: Client, db: None) -> Client:
    client.force_login(UserFactory(username="root", is_staff=True, is_superuser=True))
    return client


@pytest.mark.parametrize("model", MODELS)
def test_every_list_opens_with_rows(admin: Client, model: str) -> None:
    run = services.enqueue(SubmissionFactory(tasks=["gelu"]), HostFactory().gpu)
    ResultFactory(run=run, kernel=run.submission.kernels.get())
    response = admin.get(admin_url(model))
    assert response.status_code == 200
    assert response.context["cl"].result_count > 0


@pytest.mark.parametrize("model", ["run", "submission", "chunk", "result"])
def test_lists_take_as_many_queries_however_long(
    admin: Client, model: str, django_assert_max_num_queries: Callable[..., Any]
) -> None:
    gpu = GpuFactory()
    for _ in range(12):
        run = services.enqueue(SubmissionFactory(tasks=["gelu"]), gpu)
        ResultFactory(run=run, kernel=run.submission.kernels.get())
    with django_assert_max_num_queries(10):
        admin.get(admin_url(model))


def test_chosen_submissions_run_again_on_a_chosen_gpu(admin: Client) -> None:
    chosen = [SubmissionFactory(tasks=["gelu"]) for _ in range(2)]
    SubmissionFactory(tasks=["gelu"])
    gpu, _ = GpuFactory(), GpuFactory(slug="a100")
    data: dict[str, Any] = {
        "action": "evaluate_again",
        "_selected_action": [submission.pk for submission in chosen],
    }
    asked = admin.post(admin_url("submission"), data)
    assert asked.status_code == 200
    page = asked.content.decode()
    assert all(f'value="{submission.pk}"' in page for submission in chosen)
    assert "NVIDIA A100" in page
    assert not Run.objects.exists()

    done = admin.post(admin_url("submission"), data | {"gpu": gpu.pk}, follow=True)
    assert "2 runs on NVIDIA H200." in done.content.decode()
    one_more = data | {"_selected_action": [chosen[0].pk], "gpu": gpu.pk}
    assert (
        "1 run on NVIDIA H200." in admin.post(admin_url("submission"), one_more, follow=True).content.decode()
    )
    assert set(Run.objects.values_list("submission", "gpu")) == {(one.pk, gpu.pk) for one in chosen}


def test_a_run_says_that_no_worker_is_online_and_can_be_cancelled(admin: Client) -> None:
    run = services.enqueue(SubmissionFactory(tasks=["gelu"]), GpuFactory())
    assert "none" in admin.get(admin_url("run")).content.decode()
    done = admin.post(admin_url("run"), {"action": "cancel", "_selected_action": [run.pk]}, follow=True)
    assert "1 run cancelled." in done.content.decode()
    run.refresh_from_db()
    assert (run.status, run.reason) == ("cancelled", "Cancelled by root.")


def test_the_seed_of_a_run_is_not_shown(admin: Client) -> None:
    run = RunFactory()
    page = admin.get(admin_url("run", "change", run.pk)).content.decode()
    assert run.get_status_display() in page
    assert run.seed not in page


def test_results_cannot_be_changed(admin: Client) -> None:
    result = ResultFactory()
    url = admin_url("result", "change", result.pk)
    assert admin.get(url).status_code == 200
    assert admin.post(url, {"outcome": "wrong_values"}).status_code == 403
    assert admin.post(admin_url("result", "delete", result.pk), {"post": "yes"}).status_code == 403
    assert admin.get(admin_url("result", "add")).status_code == 403
    assert Result.objects.get().outcome == "correct"


def test_methods_are_edited(admin: Client) -> None:
    method = MethodFactory()
    url = admin_url("method", "change", method.pk)
    form = admin.get(url).context["adminform"].form
    data = {name: value if value is not None else "" for name, value in form.initial.items()}
    assert admin.post(url, data | {"description": "By hand."}).status_code == 302
    method.refresh_from_db()
    assert method.description == "By hand."


def test_the_admin_is_for_staff(client: Client, db: None) -> None:
    client.force_login(UserFactory())
    assert client.get(admin_url("run")).status_code == 302
