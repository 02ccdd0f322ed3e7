"""`manage.py serve`, which is `make run`: from an empty folder to a site, and back to no process at all."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Thread

import pytest

from leaderboard import supervisor
from leaderboard.embedded import free_port, read_addresses
from leaderboard.supervisor import CudaGpu, Program, Supervisor, cuda_gpus, site_programs

ROOT = Path(__file__).resolve().parent.parent


class Serving:
    """A running `manage.py serve` and what it has printed so far."""

    def __init__(self, var: Path, port: int) -> None:
        env = {key: value for key, value in os.environ.items() if key not in ("DATABASE_URL", "REDIS_URL")}
        self.process = subprocess.Popen(
            [sys.executable, "manage.py", "serve", "--port", str(port)],
            cwd=ROOT,
            env=env | {"KBX_VAR": str(var), "KBX_PLAIN_STATIC": "0"},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        self.output = ""
        Thread(target=self._read, daemon=True).start()

    def wait_for(self, text: str, seconds: float = 60) -> None:
        wait_until(lambda: text in self.output or self.process.poll() is not None, seconds, self)
        assert text in self.output, self.output

    def _read(self) -> None:
        assert self.process.stdout
        for line in self.process.stdout:
            self.output += line


@contextmanager
def serving(var: Path, port: int) -> Iterator[Serving]:
    served = Serving(var, port)
    try:
        yield served
    finally:
        served.process.send_signal(signal.SIGTERM)
        try:
            served.process.wait(30)
        except subprocess.TimeoutExpired:
            served.process.kill()


def wait_until(true: Callable[[], bool], seconds: float, served: Serving) -> None:
    deadline = time.monotonic() + seconds
    while not true():
        assert time.monotonic() < deadline, f"waited in vain\n{served.output}"
        time.sleep(0.1)


def processes_of(var: Path) -> list[str]:
    """Command lines of all processes that were started for `var`."""
    found = []
    for process in Path("/proc").glob("[0-9]*"):
        try:
            command = (process / "cmdline").read_bytes()
            if os.fsencode(var) in command + (process / "environ").read_bytes():
                found.append(command.replace(b"\0", b" ").decode(errors="replace"))
        except OSError:
            continue
    return found


def process_id(pattern: str, var: Path) -> int:
    for process in Path("/proc").glob("[0-9]*"):
        try:
            if os.fsencode(var) not in (process / "environ").read_bytes():
                continue
            if pattern in (process / "cmdline").read_bytes().replace(b"\0", b" ").decode():
                parent = (process / "stat").read_text().rpartition(")")[2].split()[1]
                if pattern not in Path(f"/proc/{parent}/cmdline").read_bytes().replace(b"\0", b" ").decode():
                    return int(process.name)
        except OSError:
            continue
    raise AssertionError(f"no process like {pattern}")


def test_serves_from_an_empty_folder_and_leaves_no_process_behind(tmp_path: Path) -> None:
    port = free_port()
    with serving(tmp_path, port) as served:
        served.wait_for("To stop")
        assert f"http://127.0.0.1:{port}/" in served.output
        assert "createsuperuser" in served.output
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/accounts/login/") as page:
            assert page.status == 200
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/static/plotly/plotly.min.js") as script:
            assert script.status == 200
        assert read_addresses(tmp_path)

        second = subprocess.run(
            [sys.executable, "manage.py", "serve", "--port", str(free_port())],
            cwd=ROOT,
            env=os.environ | {"KBX_VAR": str(tmp_path)},
            capture_output=True,
            text=True,
        )
        assert second.returncode == 1
        assert second.stderr == (
            f"CommandError: Another process already serves from {tmp_path}; stop it first.\n"
        )

        os.kill(process_id("gunicorn", tmp_path), signal.SIGKILL)
        served.wait_for("web stopped (signal 9); starting it again in 1 s.")
        wait_until(lambda: served.output.count("Listening at") == 2, 20, served)

        served.process.send_signal(signal.SIGINT)
        assert served.process.wait(30) == 0
        wait_until(lambda: served.output.endswith("Stopped.\n"), 5, served)
    assert processes_of(tmp_path) == []
    assert read_addresses(tmp_path) is None


def test_nothing_outlives_a_killed_supervisor(tmp_path: Path) -> None:
    with serving(tmp_path, free_port()) as served:
        served.wait_for("To stop")
        served.process.kill()
        served.process.wait()
        wait_until(lambda: processes_of(tmp_path) == [], 30, served)


def test_a_taken_port_is_one_sentence(tmp_path: Path) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        with serving(tmp_path, port) as served:
            assert served.process.wait(30) == 1
            served.wait_for(f"CommandError: Cannot listen on 127.0.0.1:{port} (Address already in use).")
    assert len(served.output.splitlines()) == 1


def wait_until_gone(pid: int) -> None:
    """A killed process may take a moment, and a zombie until its new parent looks."""
    process = Path(f"/proc/{pid}/stat")
    deadline = time.monotonic() + 10
    while process.exists() and " Z " not in process.read_text():
        assert time.monotonic() < deadline, process.read_text()
        time.sleep(0.02)


def program(name: str, code: str, said: list[str]) -> Program:
    return Program(name, [sys.executable, "-c", code], os.environ, said.append)


def test_output_carries_the_name_of_its_program() -> None:
    said: list[str] = []
    one = program("one", "print('hello'); print('bad \\udcff'.encode('latin1', 'surrogateescape'))", said)
    one.start()
    assert one.end(time.monotonic() + 10)
    assert said[0] == "      one | hello"


def test_a_program_that_does_not_stop_is_killed_with_its_children(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(supervisor, "STOP_SECONDS", 0.5)
    said: list[str] = []
    code = (
        "import signal, subprocess, sys, time; signal.signal(signal.SIGTERM, signal.SIG_IGN);"
        "child = subprocess.Popen(['sleep', '600']); print(child.pid, flush=True); time.sleep(600)"
    )
    deaf = program("deaf", code, said)
    watched = Supervisor([deaf], say=said.append)
    watched.start()
    while not said:
        time.sleep(0.05)
    watched.stop()
    assert said[-1] == "deaf did not stop within 0.5 s and was killed."
    wait_until_gone(int(said[0].split()[-1]))


def test_pauses_double_and_a_settled_program_starts_afresh(monkeypatch: pytest.MonkeyPatch) -> None:
    now = 0.0
    monkeypatch.setattr(time, "monotonic", lambda: now)
    said: list[str] = []
    starts: list[float] = []

    class Failing(Program):
        def start(self) -> None:
            starts.append(now)

        def alive(self) -> bool:
            return 88.5 < now < 200

    watched = Supervisor([Failing("web", [], {}, said.append)], say=said.append)
    watched.start()
    while now < 201.5:
        watched.look()
        now += 0.5
    assert starts == [0, 1, 4.5, 12, 27.5, 58, 88.5, 201]
    assert said[-1] == "web stopped (exit code None); starting it again in 1 s."


def test_gpus_are_those_that_nvidia_smi_lists(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    assert cuda_gpus() == []
    smi = tmp_path / "nvidia-smi"
    smi.write_text("#!/bin/sh\necho '0, NVIDIA H200'\necho '1, NVIDIA GeForce RTX 5090'\n")
    smi.chmod(0o755)
    assert cuda_gpus() == [CudaGpu(0, "NVIDIA H200"), CudaGpu(1, "NVIDIA GeForce RTX 5090")]


def test_gpu_workers_get_the_broker_and_no_secret_of_the_site(tmp_path: Path) -> None:
    env = {"DATABASE_URL": "postgres://", "SECRET_KEY": "key", "REDIS_URL": "redis://", "PATH": "/bin"}
    gpus = [CudaGpu(0, "NVIDIA H200")]
    programs = site_programs(env, host="127.0.0.1", port=1, var=tmp_path, gpus=gpus, say=print)
    by_name = {program.name: program for program in programs}
    assert list(by_name) == ["web", "control", "beat", "cpu", "gpu0"]
    for name, device, slug in (("cpu", "cpu", "cpu"), ("gpu0", "cuda:0", "h200")):
        worker = by_name[name]
        assert not {"DATABASE_URL", "SECRET_KEY"} & set(worker.env)
        assert worker.env["REDIS_URL"] == "redis://"
        assert (worker.env["KBX_DEVICE"], worker.env["KBX_GPU"]) == (device, slug)
        assert f"gpu.{slug}" in worker.command
