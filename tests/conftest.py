"""Fixtures for all tests, and the one place where tests are skipped for what a machine lacks."""

from __future__ import annotations

import functools
import json
import os
import shutil
import signal
import subprocess
import time
import urllib.request
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import pytest
import redis
from django.conf import settings
from django.core.cache import cache
from django.core.management import call_command
from django.db import connection

from leaderboard.embedded import free_port
from leaderboard.supervisor import Supervisor, site_programs

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

ROOT = Path(__file__).resolve().parent.parent
SAMPLES = ROOT.parent / "shared" / "samples"

CHROMIUM_OPTIONS = [
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        for marker, missing in (("gpu", _no_gpu), ("browser", _no_chromium), ("samples", _no_samples)):
            if item.get_closest_marker(marker) and (reason := missing()):
                item.add_marker(pytest.mark.skip(reason=reason))


@functools.cache
def _no_gpu() -> str:
    try:
        listed = subprocess.run(["nvidia-smi", "--list-gpus"], capture_output=True, text=True, timeout=30)
    except (OSError, subprocess.TimeoutExpired):
        return "no CUDA GPU: there is no nvidia-smi"
    return "" if listed.stdout.strip() else "no CUDA GPU: nvidia-smi lists none"


@functools.cache
def _no_chromium() -> str:
    return "" if chromium() else "no Chromium: install Debian's chromium, or set KBX_CHROMIUM to its path"


@functools.cache
def _no_samples() -> str:
    return "" if SAMPLES.is_dir() else f"no sample files: {SAMPLES} is not there"


def chromium() -> str | None:
    return os.environ.get("KBX_CHROMIUM") or shutil.which("chromium") or shutil.which("chromium-browser")


@pytest.fixture
def samples() -> Path:
    return SAMPLES


@pytest.fixture(scope="session")
def _browser() -> Iterator[Browser]:
    from playwright.sync_api import sync_playwright

    # Playwright keeps an event loop running in this thread, in which Django would refuse to query.
    os.environ["DJANGO_ALLOW_ASYNC_UNSAFE"] = "true"
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium(), args=CHROMIUM_OPTIONS)
        yield browser
        browser.close()


@pytest.fixture
def browser_page(_browser: Browser) -> Iterator[Page]:
    """A page of a fresh Chromium profile. Script errors and what the console calls an error, such as a
    breach of the content security policy or a file that was not found, fail the test at its end."""
    context = _browser.new_context(viewport={"width": 1440, "height": 900})
    page = context.new_page()
    page.set_default_timeout(15_000)
    errors: list[str] = []
    page.on("pageerror", lambda error: errors.append(str(error)))
    page.on("console", lambda message: errors.append(message.text) if message.type == "error" else None)
    yield page
    context.close()
    assert errors == []


@dataclass(frozen=True)
class LiveSite:
    url: str
    supervisor: Supervisor
    lines: list[str]  # what its processes have printed

    def stop_program(self, name: str) -> None:
        """As a crash would: without a warning."""
        (program,) = (program for program in self.supervisor.programs if program.name == name)
        assert program.pid
        os.killpg(program.pid, signal.SIGKILL)


@pytest.fixture
def live_site(transactional_db: None, tmp_path: Path) -> Iterator[LiveSite]:
    """The site as it is served: gunicorn, the control worker, beat and a `cpu` worker as processes of
    their own, on the test's database and queues, with tasks and GPUs filled in. Its processes are not
    started again when they die, unless the test calls `supervisor.look()`."""
    call_command("sync_tasks", verbosity=0)
    _forget_messages()
    port = free_port()
    lines: list[str] = []
    server = os.environ["DATABASE_URL"].rpartition("/")[0]
    env = os.environ | {
        "DATABASE_URL": f"{server}/{connection.settings_dict['NAME']}",
        "KBX_VAR": str(tmp_path),
        "SITE_URL": f"http://127.0.0.1:{port}",
    }
    supervisor = Supervisor(
        site_programs(env, host="127.0.0.1", port=port, var=tmp_path, say=lines.append), say=lines.append
    )
    try:
        supervisor.start()
        _wait_until_answering(f"http://127.0.0.1:{port}/accounts/login/", lines)
        yield LiveSite(f"http://127.0.0.1:{port}", supervisor, lines)
    finally:
        supervisor.stop()
        _forget_messages()
        print("\n".join(lines))  # pytest shows it when the test failed


def _forget_messages() -> None:
    with redis.Redis.from_url(settings.REDIS_URL) as broker:
        broker.flushdb()
    cache.clear()


def _wait_until_answering(url: str, lines: list[str], seconds: float = 30) -> None:
    deadline = time.monotonic() + seconds
    while True:
        try:
            with urllib.request.urlopen(url, timeout=10):
                return
        except OSError as error:
            if time.monotonic() > deadline:
                raise AssertionError(f"{url}: {error}\n" + "\n".join(lines)) from None
            time.sleep(0.2)


@pytest.fixture
def sent(monkeypatch: pytest.MonkeyPatch) -> list[SimpleNamespace]:
    """The chunks that GPU workers were asked for, in their order; nothing reaches a queue."""
    messages: list[SimpleNamespace] = []

    def send_task(name: str, *, kwargs: dict[str, Any], queue: str, expires: float) -> None:
        assert name == "evaluator.evaluate_chunk"
        messages.append(SimpleNamespace(queue=queue, **json.loads(json.dumps(kwargs))))

    monkeypatch.setattr("leaderboard.broker.current_app.send_task", send_task)
    return messages
