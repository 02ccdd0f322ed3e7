"""What the site tells GPU workers. Called when a transaction is over: none waits for the network."""

from __future__ import annotations

import logging

import redis
from celery import current_app
from django.conf import settings
from kombu.exceptions import OperationalError

from leaderboard.models import Chunk, Kernel

log = logging.getLogger(__name__)

CANCEL_KEY = "kbx:cancelled:{run}"
CANCEL_SECONDS = 24 * 60 * 60


def send_chunk(chunk_id: int, attempt: int) -> None:
    """Ask for the kernels of the chunk that have no result yet, unless the attempt is over already.

    Without a broker it is only logged: the sweeper sends again what no worker took.
    """
    chunk = (
        Chunk.objects.select_related("run__gpu").filter(pk=chunk_id, attempt=attempt, state="sent").first()
    )
    if chunk is None:
        return
    try:
        current_app.send_task(
            "evaluator.evaluate_chunk",
            kwargs={
                "run": chunk.run_id,
                "chunk": chunk.pk,
                "attempt": attempt,
                "seed": chunk.run.seed,
                "kernels": _kernels(chunk),
            },
            queue=f"gpu.{chunk.run.gpu.slug}",
            expires=settings.KBX_QUEUE_TIMEOUT,
        )
    except OperationalError as error:
        log.warning("%s could not be sent: %s", chunk, error)


def announce_cancel(run_id: int) -> None:
    """Tell whoever evaluates a part of the run to stop. Its reports would not count anyway."""
    try:
        with redis.Redis.from_url(settings.REDIS_URL, socket_timeout=3) as broker:
            broker.set(CANCEL_KEY.format(run=run_id), 1, ex=CANCEL_SECONDS)
    except redis.RedisError as error:
        log.warning("run %s: the cancel could not be announced: %s", run_id, error)


def _kernels(chunk: Chunk) -> list[tuple[str, str]]:
    wanted = Kernel.objects.filter(submission=chunk.run.submission_id, task__in=chunk.tasks)
    sources = dict(wanted.exclude(results__run=chunk.run).values_list("task_id", "source"))
    return [(task, sources[task]) for task in chunk.tasks if task in sources]
