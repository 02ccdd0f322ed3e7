"""The GPU worker: what it sends, in which order, and that it needs neither Django nor the site."""

from __future__ import annotations

import base64
import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import redis

ROOT = Path(__file__).resolve().parent.parent
GELU = (ROOT / "tests" / "kernels" / "gelu.py").read_text()
ENDLESS = (ROOT / "tests" / "attacks" / "never_ends.py").read_text()


def python(code: str, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", code],
        cwd=ROOT,
        env=os.environ | environment,
        capture_output=True,
        text=True,
        timeout=60,
    )


BLOCKER = """
import sys

class Blocked:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in {blocked!r}:
            raise ImportError(f"{{name}} is blocked")

sys.meta_path.insert(0, Blocked())
"""


def test_the_worker_imports_without_django_and_the_site() -> None:
    blocked = BLOCKER.format(blocked=["django", "leaderboard", "psycopg"])
    done = python(blocked + "import evaluator.worker; print(evaluator.worker.app.main)")
    assert done.stdout.strip() == "evaluator", done.stderr


def test_the_command_line_imports_without_celery_and_redis() -> None:
    blocked = BLOCKER.format(blocked=["django", "leaderboard", "celery", "kombu", "redis", "plotly"])
    done = python(blocked + "import evaluator.__main__; print('imported')")
    assert done.stdout.strip() == "imported", done.stderr


def broker_url() -> str:
    """A database of the test broker that nobody else uses, for each of pytest's own workers."""
    number = int(os.environ.get("PYTEST_XDIST_WORKER", "gw0").removeprefix("gw"))
    return f"{os.environ['REDIS_URL'].rpartition('/')[0]}/{15 - number}"


@pytest.fixture
def broker() -> Iterator[redis.Redis]:
    client = redis.Redis.from_url(broker_url(), decode_responses=True)
    client.flushdb()
    yield client
    client.flushdb()


@pytest.fixture
def worker(broker: redis.Redis) -> Iterator[subprocess.Popen[bytes]]:
    command = [sys.executable, "-m", "celery", "--quiet", "-A", "evaluator.worker", "worker"]
    command += ["--queues", "gpu.cpu", "--pool", "solo", "--without-gossip", "--without-mingle"]
    environment = os.environ | {"REDIS_URL": broker_url(), "KBX_GPU": "cpu", "KBX_DEVICE": "cpu"}
    with subprocess.Popen(command, cwd=ROOT, env=environment) as process:
        yield process
        process.terminate()
        process.wait(timeout=20)


def queue_chunk(kernels: dict[str, str], run: int = 3) -> None:
    """As the site does it: a job by name on the GPU's queue."""
    from celery import Celery

    site = Celery(broker=broker_url())
    arguments = {"run": run, "chunk": 7, "attempt": 2, "seed": "s", "kernels": list(kernels.items())}
    site.send_task("evaluator.evaluate_chunk", kwargs=arguments, queue="gpu.cpu")


def messages(broker: redis.Redis, until: Callable[[str, dict[str, Any]], bool]) -> list[tuple[str, Any]]:
    """What the worker sends to the site, up to a certain message."""
    found = []
    deadline = time.monotonic() + 45
    while time.monotonic() < deadline:
        item = broker.brpop(["control"], timeout=1)
        if item is None:
            continue
        message = json.loads(item[1])
        _, arguments, _ = json.loads(base64.b64decode(message["body"]))
        found.append((message["headers"]["task"], arguments))
        if until(*found[-1]):
            return found
    raise AssertionError(f"it did not come; there were {[name for name, _ in found]}")


def test_a_chunk_is_evaluated_and_each_report_sent(
    broker: redis.Redis, worker: subprocess.Popen[bytes]
) -> None:
    queue_chunk({"gelu": GELU, "not_built_yet": "print('no such task here')"})
    sent = messages(broker, lambda job, _: job == "leaderboard.chunk_finished")

    jobs = [job.removeprefix("leaderboard.") for job, _ in sent]
    assert "host_alive" in jobs
    hello = dict(sent)["leaderboard.host_alive"]
    assert hello["gpu"] == "cpu" and hello["environment"]["sandbox"].startswith("bubblewrap")
    of_the_chunk = [job for job in jobs if job != "host_alive"]
    assert of_the_chunk == [
        "chunk_started",
        "chunk_alive",
        "kernel_reported",
        "chunk_alive",
        "kernel_reported",
        "chunk_finished",
    ]
    assert all((a["chunk"], a["attempt"]) == (7, 2) for job, a in sent if not job.endswith("host_alive"))
    reports = [a["report"] for job, a in sent if job.endswith("kernel_reported")]
    assert [report["task"] for report in reports] == ["gelu", "not_built_yet"]
    assert reports[0]["failure"] is None and reports[0]["cases_passed"] == reports[0]["cases_total"] > 0


def test_cancelling_reaches_a_kernel_at_work(broker: redis.Redis, worker: subprocess.Popen[bytes]) -> None:
    queue_chunk({"gelu": ENDLESS, "gelu_bf16": f"{GELU}\n\ngelu_bf16 = gelu\n"})
    messages(broker, lambda job, arguments: arguments.get("task") == "gelu")
    time.sleep(2)  # now the kernel itself is at work
    cancelled = time.monotonic()
    broker.set("kbx:cancelled:3", 1)
    sent = messages(broker, lambda job, _: job == "leaderboard.chunk_finished")
    assert time.monotonic() - cancelled < 5
    outcomes = [a["report"]["failure"]["outcome"] for job, a in sent if job.endswith("kernel_reported")]
    assert outcomes == ["cancelled", "cancelled"]


def test_a_worker_that_is_stopped_leaves_at_once_and_reports_nothing_false(
    broker: redis.Redis, worker: subprocess.Popen[bytes]
) -> None:
    queue_chunk({"gelu": ENDLESS})
    messages(broker, lambda job, arguments: arguments.get("task") == "gelu")
    time.sleep(1)
    worker.terminate()
    worker.wait(timeout=10)
    left = [json.loads(item)["headers"]["task"] for item in broker.lrange("control", 0, -1)]
    assert "leaderboard.kernel_reported" not in left and "leaderboard.chunk_finished" not in left


def test_a_lost_connection_is_tried_again(monkeypatch: pytest.MonkeyPatch) -> None:
    from evaluator import worker as module

    tried = []

    def send_task(name: str, **_: Any) -> None:
        tried.append(name)
        if len(tried) < 3:
            raise redis.ConnectionError("gone")

    monkeypatch.setattr(module.app, "send_task", send_task)
    monkeypatch.setattr(module._stopping, "wait", lambda pause: False)
    module.send("host_alive", host="h")
    assert tried == ["leaderboard.host_alive"] * 3


def test_a_worker_for_another_gpu_evaluates_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    from evaluator import worker as module

    sent = []
    monkeypatch.setattr(module, "send", lambda job, **arguments: sent.append((job, arguments)))
    monkeypatch.setattr(module, "GPU", "h200")
    module._environment.cache_clear()
    module.evaluate_chunk(run=1, chunk=2, attempt=1, seed="s", kernels=[("gelu", GELU)])
    [(job, arguments)] = sent
    assert job == "chunk_failed" and "was started for h200" in arguments["reason"]
