"""A pytest plugin: real PostgreSQL and Valkey for the whole run, up before Django reads its settings."""

import os
import tempfile
from collections.abc import Generator
from contextlib import ExitStack
from pathlib import Path

import pytest

from leaderboard.embedded import embedded_services

_running = ExitStack()


@pytest.hookimpl(wrapper=True)
def pytest_load_initial_conftests() -> Generator[None]:
    worker = os.environ.get("PYTEST_XDIST_WORKER", "")
    if worker:
        # One server for all: pytest-django gives each worker its own database, this its own queues and cache.
        server = os.environ["REDIS_URL"].rpartition("/")[0]
        os.environ["REDIS_URL"] = f"{server}/{2 + 2 * int(worker.removeprefix('gw'))}"
    else:
        _start()
    return (yield)


def pytest_unconfigure() -> None:
    _running.close()


def _start() -> None:
    folder = _running.enter_context(tempfile.TemporaryDirectory(prefix="kbx-tests-"))
    addresses = _running.enter_context(embedded_services(Path(folder), durable=False))
    os.environ |= {
        "DATABASE_URL": addresses.database_url,
        "REDIS_URL": addresses.redis_url,
        "KBX_VAR": folder,
        "KBX_PLAIN_STATIC": "1",
        "KBX_DEMO": "0",
        "SECRET_KEY": "not a secret: for tests",
        "DEBUG": "0",
    }
