"""Keeps the programs of one host running and ends all of them together. Knows neither Django nor torch."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from threading import Thread
from typing import Protocol

from evaluator.devices import slug_of
from leaderboard.embedded import dying_with_parent

ROOT = Path(__file__).resolve().parent.parent
STOP_SECONDS = 10
LONGEST_PAUSE_SECONDS = 30
SETTLED_SECONDS = 60

Say = Callable[[str], None]


class Child(Protocol):
    """What a supervisor watches: a program, or an embedded server."""

    @property
    def name(self) -> str: ...

    def start(self) -> None: ...

    def alive(self) -> bool: ...


@dataclass
class Program:
    """A command in a process group of its own, whose output lines carry its name."""

    name: str
    command: Sequence[str]
    env: Mapping[str, str]
    say: Say
    when_orphaned: str = "TERM"  # the signal it gets when the supervisor was killed
    _process: subprocess.Popen[str] | None = field(default=None, init=False)
    _reader: Thread | None = field(default=None, init=False)

    def start(self) -> None:
        self._process = subprocess.Popen(
            [*dying_with_parent(self.when_orphaned), *self.command],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
            cwd=ROOT,
            env=dict(self.env),
            start_new_session=True,
        )
        self._reader = Thread(target=self._repeat_output, args=[self._process], daemon=True)
        self._reader.start()

    @property
    def pid(self) -> int | None:
        return self._process.pid if self._process else None

    def alive(self) -> bool:
        return self._process is not None and self._process.poll() is None

    def ending(self) -> str:
        code = self._process.returncode if self._process else None
        return f"signal {-code}" if code is not None and code < 0 else f"exit code {code}"

    def ask_to_stop(self) -> None:
        """Only the first process is told: it ends its own children in order."""
        if self._process and self.alive():
            self._process.terminate()

    def end(self, deadline: float) -> bool:
        """Wait until `deadline` (monotonic seconds), then kill what is left. True: it ended in time."""
        if not self._process:
            return True
        in_time = True
        try:
            self._process.wait(max(0, deadline - time.monotonic()))
        except subprocess.TimeoutExpired:
            in_time = False
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait()
        if self._reader:
            self._reader.join(timeout=1)
        return in_time

    def _repeat_output(self, process: subprocess.Popen[str]) -> None:
        assert process.stdout
        with process.stdout:
            for line in process.stdout:
                self.say(f"{self.name:>9} | {line.rstrip()}")


@dataclass
class _Restart:
    """When a child was started last, how often in vain, and when it is due again."""

    started: float = 0
    failures: int = 0
    due: float | None = None


class Supervisor:
    def __init__(self, programs: Sequence[Program], servers: Sequence[Child] = (), *, say: Say) -> None:
        """Servers are running already; they are started again when they die, and stopped by their owner."""
        self.programs = programs
        self._children: list[Child] = [*servers, *programs]
        self._restarts = {child.name: _Restart() for child in self._children}
        self._say = say

    def start(self) -> None:
        for program in self.programs:
            program.start()
        for restart in self._restarts.values():
            restart.started = time.monotonic()

    def look(self) -> None:
        """Start again what has died, after a pause that doubles while it dies young."""
        for child in self._children:
            if not child.alive():
                self._care_for(child, self._restarts[child.name])

    def stop(self) -> None:
        deadline = time.monotonic() + STOP_SECONDS
        for program in self.programs:
            program.ask_to_stop()
        for program in self.programs:
            if not program.end(deadline):
                self._say(f"{program.name} did not stop within {STOP_SECONDS} s and was killed.")

    def _care_for(self, child: Child, restart: _Restart) -> None:
        now = time.monotonic()
        if restart.due is None:
            settled = now - restart.started > SETTLED_SECONDS
            restart.failures = 1 if settled else restart.failures + 1
            pause = min(LONGEST_PAUSE_SECONDS, 2**restart.failures - 1)
            restart.due = now + pause
            ending = child.ending() if isinstance(child, Program) else "see its log under var/"
            self._say(f"{child.name} stopped ({ending}); starting it again in {pause} s.")
        if now >= restart.due:
            restart.due = None
            restart.started = now
            child.start()


@dataclass(frozen=True)
class CudaGpu:
    index: int
    name: str

    @property
    def slug(self) -> str:
        return slug_of(self.name)


def cuda_gpus() -> list[CudaGpu]:
    """The GPUs that nvidia-smi lists, in the order in which CUDA counts them."""
    query = ["nvidia-smi", "--query-gpu=index,name", "--format=csv,noheader"]
    try:
        listed = subprocess.run(query, capture_output=True, text=True, timeout=30, check=True).stdout
    except (OSError, subprocess.SubprocessError):
        return []
    rows = (line.split(",", 1) for line in listed.splitlines() if "," in line)
    return [CudaGpu(int(index), name.strip()) for index, name in rows]


def torch_is_for_cpu_only() -> bool:
    """Told by the package's version, because importing torch takes seconds."""
    try:
        return version("torch").endswith("+cpu")
    except PackageNotFoundError:
        return True


def site_programs(
    env: Mapping[str, str], *, host: str, port: int, var: Path, gpus: Sequence[CudaGpu] = (), say: Say
) -> list[Program]:
    """All that one host runs: the site, its jobs and clock, a `cpu` worker, and a worker for each GPU."""
    python = sys.executable
    env = {**env, "PYTHONUNBUFFERED": "1", "PYTHONWARNINGS": _NO_WARNING_ABOUT_ROOT}
    control = [python, "-m", "celery", "--quiet", "-A", "leaderboard.celery:app"]
    web = [python, "-m", "gunicorn", "leaderboard.wsgi", "--bind", f"{host}:{port}", "--no-control-socket"]
    worker = ["worker", "--queues", "control", "--concurrency", "2", "--hostname", "control@%h"]
    return [
        Program("web", [*web, "--workers", "2", "--threads", "4", "--graceful-timeout", "5"], env, say),
        Program("control", [*control, *worker, *_QUIET], env, say),
        Program("beat", [*control, "beat", "--schedule", str(var / "beat"), "--pidfile="], env, say),
        _gpu_worker("cpu", "cpu", "cpu", env, say),
        *(_gpu_worker(f"gpu{gpu.index}", gpu.slug, f"cuda:{gpu.index}", env, say) for gpu in gpus),
    ]


# Celery's reason for it is pickle, which no app here accepts.
_NO_WARNING_ABOUT_ROOT = "ignore:You're running the worker with superuser privileges"
_QUIET = ["--without-gossip", "--without-mingle", "--loglevel", "INFO"]
_NOT_FOR_GPU_WORKERS = {
    "DATABASE_URL",
    "SECRET_KEY",
    "EMAIL_URL",
    "CACHE_REDIS_URL",
    "DJANGO_SETTINGS_MODULE",
}


def _gpu_worker(name: str, slug: str, device: str, env: Mapping[str, str], say: Say) -> Program:
    """It runs strangers' code, so it gets the broker's address and nothing else that is ours."""
    command = [
        sys.executable,
        "-m",
        "celery",
        "--quiet",
        "-A",
        "evaluator.worker",
        "worker",
        "--queues",
        f"gpu.{slug}",
    ]
    own = {"KBX_GPU": slug, "KBX_DEVICE": device}
    return Program(
        name,
        [*command, "--pool", "solo", "--concurrency", "1", "--hostname", f"{name}@%h", *_QUIET],
        {key: value for key, value in env.items() if key not in _NOT_FOR_GPU_WORKERS} | own,
        say,
        when_orphaned="KILL",  # its sandboxes end with it; a polite end would wait for the chunk
    )
