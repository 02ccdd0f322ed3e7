"""The GPU worker: takes chunks of a run from its GPU's queue, evaluates them, sends each report as it comes.

Started as `celery -A evaluator.worker worker --queues gpu.<slug> --pool solo`. It knows the broker and nothing
of the site's database. What it sends goes to the queue `control`; the site decides what still counts.

REDIS_URL   the broker
KBX_GPU     the slug that this worker's results are for
KBX_DEVICE  "cpu" or "cuda:0"
"""

from __future__ import annotations

import logging
import os
import socket
import threading
import time
from collections.abc import Callable
from functools import cache
from typing import Any

import redis
from celery import Celery
from celery.signals import worker_ready, worker_shutting_down
from kombu.exceptions import OperationalError

from evaluator import environment, sandbox
from evaluator.draft import PROTOCOL
from evaluator.pipeline import evaluate

HEARTBEAT_S = 15.0
"""How often the site hears that this worker, and the chunk at work, are alive."""

CANCEL_POLL_S = 1.0
"""How often the broker is asked whether the run was cancelled."""

CONTROL = "control"
GPU = os.environ.get("KBX_GPU", "cpu")
DEVICE = os.environ.get("KBX_DEVICE", "cpu")
REDIS_URL = os.environ.get("REDIS_URL", "redis://127.0.0.1:6379/0")
HOST = f"{socket.gethostname()} {DEVICE}"

log = logging.getLogger(__name__)

app = Celery("evaluator", broker=REDIS_URL)
app.conf.update(
    task_default_queue=f"gpu.{GPU}",
    task_ignore_result=True,
    # The database is the truth: a chunk whose worker dies is sent again by the site, not by the broker.
    task_acks_late=False,
    worker_prefetch_multiplier=1,
    broker_connection_retry_on_startup=True,
    broker_connection_max_retries=None,
    broker_transport_options={"visibility_timeout": 24 * 3600},
    worker_hijack_root_logger=False,
    worker_enable_remote_control=False,
)


@app.task(name="evaluator.evaluate_chunk")
def evaluate_chunk(run: int, chunk: int, attempt: int, seed: str, kernels: list[tuple[str, str]]) -> None:
    """Evaluates the kernels ([task, source] each) of a chunk and sends what there is to say of it."""
    about = {"chunk": chunk, "attempt": attempt}
    try:
        where = _environment()
    except Exception as error:
        log.exception("this worker cannot evaluate")
        send("chunk_failed", **about, reason=f"{HOST}: {error}"[:1000])
        return
    send("chunk_started", **about, host=HOST, environment=where)
    try:
        with _Turn(about) as turn:
            tasks = [task for task, _ in kernels]
            reports = evaluate(
                dict(kernels),
                DEVICE,
                seed=seed,
                cancelled=cancellation(run),
                settings=PROTOCOL,
            )
            for task in tasks:
                turn.begin(task)
                report = next(reports)
                if _stopping.is_set():
                    return  # the site sends what has no report to another worker
                send("kernel_reported", **about, report=report.to_json())
    except Exception as error:
        log.exception("chunk %s failed", chunk)
        send("chunk_failed", **about, reason=f"{HOST}: {type(error).__name__}: {error}"[:1000])
        return
    send("chunk_finished", **about)


def send(job: str, **arguments: Any) -> None:
    """Sends a job of the site by name; tries again until the broker takes it."""
    pause = 1.0
    while True:
        try:
            app.send_task(f"leaderboard.{job}", kwargs=arguments, queue=CONTROL, retry=False)
            return
        except (OperationalError, redis.RedisError, OSError) as error:
            log.warning("the broker does not answer (%s): trying again in %.0f s", error, pause)
            if _stopping.wait(pause):
                return
            pause = min(2 * pause, 30.0)


def cancellation(run: int) -> Callable[[], bool]:
    """A function that says whether to stop: the run was cancelled, or this worker is being shut down.

    It asks the broker at most once a second.
    """
    client = redis.Redis.from_url(REDIS_URL, socket_timeout=5, socket_connect_timeout=5)
    asked, answer = float("-inf"), False

    def cancelled() -> bool:
        nonlocal asked, answer
        if not answer and time.monotonic() - asked >= CANCEL_POLL_S:
            try:
                answer = bool(client.exists(f"kbx:cancelled:{run}"))
            except redis.RedisError as error:
                log.warning("cannot ask whether run %s was cancelled: %s", run, error)
            asked = time.monotonic()
        return answer or _stopping.is_set()

    return cancelled


class _Turn:
    """Says every 15 seconds, and when a kernel's turn begins, that the chunk is alive and at which kernel."""

    def __init__(self, about: dict[str, int]) -> None:
        self._about, self._task = about, ""

    def __enter__(self) -> _Turn:
        self._stop = _every(HEARTBEAT_S, lambda: self.begin(self._task))
        return self

    def __exit__(self, *exception: object) -> None:
        self._stop()

    def begin(self, task: str) -> None:
        self._task = task
        if task:
            send("chunk_alive", **self._about, task=task)


@worker_ready.connect
def _say_hello(**_: Any) -> None:
    """From now on the site hears of this host, idle or busy."""

    def hello() -> None:
        send("host_alive", host=HOST, gpu=GPU, environment=_environment())

    _every(HEARTBEAT_S, hello, at_once=True)


@worker_shutting_down.connect
def _stop(**_: Any) -> None:
    """Comes with the signal, while a chunk may be at work: its sandbox is killed within a second."""
    _stopping.set()


_stopping = threading.Event()


def _every(seconds: float, action: Callable[[], None], *, at_once: bool = False) -> Callable[[], None]:
    """Runs `action` in a thread of its own until the returned function is called. An error ends nothing."""
    stopped = threading.Event()

    def loop() -> None:
        if at_once:
            _logged(action)
        while not stopped.wait(seconds) and not _stopping.is_set():
            _logged(action)

    threading.Thread(target=loop, daemon=True).start()
    return stopped.set


def _logged(action: Callable[[], None]) -> None:
    try:
        action()
    except Exception as error:
        log.error("the heartbeat failed: %s", error)


@cache
def _environment() -> dict[str, Any]:
    """Where results of this worker come from. Raises where it cannot evaluate."""
    if problem := environment.problem(DEVICE):
        raise RuntimeError(problem)
    if (slug := environment.slug(DEVICE)) != GPU:
        raise RuntimeError(f"{DEVICE} is a {slug}, and this worker was started for {GPU}: set KBX_GPU={slug}")
    return environment.collect(DEVICE, sandbox.describe(DEVICE, isolated=True)).to_json()
