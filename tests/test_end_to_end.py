"""The main job as a person does it: a browser, gunicorn, the control worker, a `cpu` worker, real services."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from leaderboard.models import Run, Task

if TYPE_CHECKING:
    from playwright.sync_api import Page

    from tests.conftest import LiveSite

RIGHT = """\
import torch
import triton
import triton.language as tl


@triton.jit
def gelu_kernel(x_ptr, out_ptr, n, TANH: tl.constexpr, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = offsets < n
    x = tl.load(x_ptr + offsets, mask=inside)
    if TANH:
        inner = 0.7978845608028654 * (x + 0.044715 * x * x * x)
        half_one_plus = tl.sigmoid(2 * inner)
    else:
        half_one_plus = 0.5 * (1 + tl.erf(x * 0.7071067811865476))
    tl.store(out_ptr + offsets, x * half_one_plus, mask=inside)


def gelu(input, approximate="none"):
    out = torch.empty_like(input)
    n = input.numel()
    gelu_kernel[(triton.cdiv(n, 16384),)](input, out, n, TANH=approximate == "tanh", BLOCK=16384)
    return out
"""

WRONG = RIGHT.replace("def gelu(", "def sigmoid(")


@pytest.mark.browser
def test_from_signing_up_to_the_outcome_of_every_kernel(
    live_site: LiveSite, browser_page: Page, tmp_path: Path
) -> None:
    unbuilt = Task.objects.filter(version="").first()
    records = {"gelu": RIGHT, "sigmoid": WRONG, "relu": "def relu(input:\n    pass\n"}
    expected = {"gelu": "correct", "sigmoid": "wrong_values", "relu": "syntax_error"}
    if unbuilt:  # until all 176 are
        records[unbuilt.name] = RIGHT
        expected[unbuilt.name] = "not_in_suite"
    file = tmp_path / "kernels.jsonl"
    file.write_text(
        "".join(json.dumps({"file": f"X/{t}.py", "predict": s}) + "\n" for t, s in records.items())
    )
    page = browser_page

    sign_up(page, live_site.url)
    page.goto(f"{live_site.url}/submit/")
    page.get_by_label("Name of the new method").fill("Hand-written")
    page.get_by_label("File", exact=True).set_input_files(file)
    page.get_by_role("button", name="Upload", exact=True).click()

    page.get_by_role("heading", name="Hand-written").wait_for()
    assert f"{len(records)} of 176" in page.locator("main").inner_text()
    assert not Run.objects.exists()
    page.get_by_label("CPU (Triton interpreter)").check()
    page.get_by_role("button", name="Evaluate").click()

    page.wait_for_url("**/runs/*/")
    page.locator("#progress").get_by_text("finished", exact=True).wait_for(timeout=120_000)
    run = Run.objects.get()
    assert dict(run.results.values_list("task", "outcome")) == expected
    assert run.environment["device"] == "cpu"
    assert page.locator("#progress li.tile a").count() == len(expected)

    page.get_by_role("link", name="sigmoid").click()
    page.wait_for_url(f"**/runs/{run.pk}/sigmoid/")
    said = page.locator("main").inner_text()
    assert "wrong values" in said.lower()
    assert "half_one_plus" in said  # the source

    page.goto(live_site.url)
    assert "Hand-written" in page.locator("main").inner_text()


def sign_up(page: Page, url: str) -> None:
    page.goto(f"{url}/accounts/signup/")
    page.get_by_label("Username").fill("ada")
    page.get_by_label("Email").fill("ada@example.org")
    for field in page.locator("input[type=password]").all():
        field.fill("correct horse battery staple")
    page.locator("main").get_by_role("button", name="Sign up").click()
    page.wait_for_url(f"{url}/")
