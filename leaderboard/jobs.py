"""The control worker's jobs: what GPU workers say, by name, and the sweeper's beat."""

from __future__ import annotations

from typing import Any

from celery import shared_task

from leaderboard import services


@shared_task(name="leaderboard.host_alive")
def host_alive(host: str, gpu: str, environment: Any) -> None:
    services.host_alive(host, gpu, environment)


@shared_task(name="leaderboard.chunk_started")
def chunk_started(chunk: int, attempt: int, host: str, environment: Any) -> None:
    services.chunk_started(chunk, attempt, host, environment)


@shared_task(name="leaderboard.chunk_alive")
def chunk_alive(chunk: int, attempt: int, task: str) -> None:
    services.chunk_alive(chunk, attempt, task)


@shared_task(name="leaderboard.kernel_reported")
def kernel_reported(chunk: int, attempt: int, report: Any) -> None:
    services.record(chunk, attempt, report)


@shared_task(name="leaderboard.chunk_finished")
def chunk_finished(chunk: int, attempt: int) -> None:
    services.chunk_finished(chunk, attempt)


@shared_task(name="leaderboard.chunk_failed")
def chunk_failed(chunk: int, attempt: int, reason: str) -> None:
    services.chunk_failed(chunk, attempt, reason)


@shared_task(name="leaderboard.sweep")
def sweep() -> None:
    services.sweep()
