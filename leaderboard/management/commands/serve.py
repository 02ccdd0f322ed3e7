from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from argparse import ArgumentParser
from contextlib import ExitStack
from pathlib import Path
from types import FrameType
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError

from leaderboard.embedded import (
    Addresses,
    EmbeddedError,
    Postgres,
    Valkey,
    forget_addresses,
    sole_use_of,
    write_addresses,
)
from leaderboard.supervisor import ROOT, Child, Supervisor, cuda_gpus, site_programs, torch_is_for_cpu_only

STOPS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


class _Stop(Exception):
    """Somebody asked for the end."""


class Command(BaseCommand):
    help = (
        "Run the whole site on this host until Ctrl-C: PostgreSQL and Valkey unless DATABASE_URL and "
        "REDIS_URL name others, the web server, the control worker, the clock, a cpu worker, and a worker "
        "for each CUDA GPU."
    )
    requires_system_checks = []

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--host", default=os.environ.get("HOST", "127.0.0.1"))
        parser.add_argument("--port", type=int, default=os.environ.get("PORT", "8000"))

    def handle(self, *args: Any, host: str, port: int, **options: Any) -> None:
        for stop in STOPS:
            signal.signal(stop, _stop)
        try:
            with ExitStack() as running:
                self._serve(running, host, port)
        except _Stop:
            self.stdout.write("Stopped.")
        except EmbeddedError as error:
            raise CommandError(str(error)) from None

    def _serve(self, running: ExitStack, host: str, port: int) -> None:
        var: Path = settings.VAR_DIR
        url = f"http://{'127.0.0.1' if host == '0.0.0.0' else host}:{port}"
        _require_free(host, port)
        running.enter_context(sole_use_of(var))

        servers: list[Child] = []
        addresses = self._start_servers(running, var, servers)
        env = {
            **os.environ,
            "DATABASE_URL": addresses.database_url,
            "REDIS_URL": addresses.redis_url,
            "SECRET_KEY": settings.SECRET_KEY,
            "SITE_URL": os.environ.get("SITE_URL", url),
            "KBX_VAR": str(var),
        }
        self._say("Preparing the database and the static files.")
        _prepare(env)

        if not host.startswith("127.") and "ALLOWED_HOSTS" not in os.environ:
            self._say("Other machines are refused until ALLOWED_HOSTS names this one, as they call it.")
        gpus = cuda_gpus()
        if gpus and torch_is_for_cpu_only():
            self._say(
                f"Found {len(gpus)} CUDA GPU(s), but this torch is built for the CPU: no worker for them."
            )
            gpus = []
        programs = site_programs(env, host=host, port=port, var=var, gpus=gpus, say=self._say)
        supervisor = Supervisor(programs, servers, say=self._say)
        running.callback(supervisor.stop)
        running.callback(self._say, "Stopping.")
        supervisor.start()

        announced = False
        while True:
            supervisor.look()
            if not announced and _answers(url):
                announced = True
                self._announce(url, [program.name for program in programs])
            time.sleep(0.25)

    def _start_servers(self, running: ExitStack, var: Path, servers: list[Child]) -> Addresses:
        """Those that the environment does not name."""
        database_url = os.environ.get("DATABASE_URL")
        redis_url = os.environ.get("REDIS_URL")
        if not database_url:
            self._say(f"Starting PostgreSQL in {var}.")
            postgres = Postgres(var)
            running.callback(postgres.stop)
            postgres.start()
            servers.append(postgres)
            database_url = postgres.url
        if not redis_url:
            self._say(f"Starting Valkey in {var}.")
            valkey = Valkey(var)
            running.callback(valkey.stop)
            valkey.start()
            servers.append(valkey)
            redis_url = valkey.url
        addresses = Addresses(database_url, redis_url)
        running.callback(forget_addresses, var)
        write_addresses(var, addresses)
        return addresses

    def _announce(self, url: str, names: list[str]) -> None:
        python = Path(sys.executable)
        python = python.relative_to(ROOT) if python.is_relative_to(ROOT) else python
        self._say(
            "\n"
            f"  The leaderboard is at  {url}/\n"
            f"  Programs running       {', '.join(names)}\n"
            f"  To make an admin       {python} manage.py createsuperuser   (in a second terminal)\n"
            "  To stop                Ctrl-C\n"
        )

    def _say(self, line: str) -> None:
        try:
            self.stdout.write(line)
            self.stdout.flush()
        except (BrokenPipeError, ValueError):
            pass  # nobody reads any more; that must not keep anything from being stopped


def _stop(signum: int, frame: FrameType | None) -> None:
    for stop in STOPS:
        signal.signal(stop, signal.SIG_IGN)  # once is enough: the stopping itself is not to be interrupted
    raise _Stop


def _require_free(host: str, port: int) -> None:
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((host, port))
        except OSError as error:
            raise CommandError(
                f"Cannot listen on {host}:{port} ({error.strerror}). Another one: make run PORT=8001"
            ) from None
        except OverflowError:
            raise CommandError(f"{port} is no port: a number from 1 to 65535 is.") from None


def _prepare(env: dict[str, str]) -> None:
    command = [sys.executable, "manage.py", "prepare", "--verbosity", "0"]
    if env.get("KBX_DEMO", "1") != "0":
        command.append("--demo")
    result = subprocess.run(command, cwd=ROOT, env=env, capture_output=True, text=True)
    if result.returncode:
        raise CommandError(f"`manage.py prepare` failed:\n{result.stdout}{result.stderr}")


def _answers(url: str) -> bool:
    try:
        with urllib.request.urlopen(f"{url}/accounts/login/", timeout=5):
            return True
    except urllib.error.HTTPError:
        return True
    except OSError:
        return False
