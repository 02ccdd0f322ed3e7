"""What a submission can see and touch from inside, and that nothing of it is left behind."""

from __future__ import annotations

import ast
import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from evaluator import cgroups, sandbox, wire
from evaluator.report import Outcome
from evaluator.sandbox import GB, MB, Cancelled, Limits, Sandbox, SandboxError, Sandboxes, Stopped

ROOT = Path(__file__).resolve().parent.parent
LIMITS = Limits(memory_bytes=1 * GB, processes=64, tmp_bytes=16 * MB)


@pytest.fixture
def child() -> Iterator[Sandbox]:
    with Sandbox("cpu", LIMITS) as started:
        started.wait_ready()
        yield started


def load(child: Sandbox, source: str, seconds: float = 20.0) -> wire.Message:
    source += "\ndef gelu(input, approximate='none'):\n    return input\n"
    return child.request("load", seconds=seconds, task="gelu", source=source)


def said(child: Sandbox, source: str) -> list[str]:
    """What `source` prints when it is imported inside."""
    reply = load(child, source)
    assert "error" not in reply.header, reply.header
    return child.log.splitlines()


def test_it_sees_neither_home_nor_checkout_nor_environment(
    child: Sandbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    home = sorted(os.listdir(Path.home()))
    lines = said(
        child,
        f"""
import os
for place in ({str(Path.home())!r}, {str(ROOT)!r}, "/judge", "/etc"):
    print(sorted(os.listdir(place)) if os.path.exists(place) else [])
print(sorted(os.environ))
""",
    )
    seen_home, seen_checkout, judge, etc, environment = map(ast.literal_eval, lines)
    assert set(seen_home) <= {".pyenv", ".local"} and set(seen_home) <= set(home)
    assert set(seen_checkout) <= {".venv"}  # the packages, at their own place
    assert judge == ["evaluator", "tasks"]
    assert set(etc) <= {"ld.so.cache", "ld.so.conf", "ld.so.conf.d", "alternatives"}
    assert not {"DATABASE_URL", "REDIS_URL", "SECRET_KEY"} & set(environment)


def test_the_databases_of_this_machine_are_out_of_reach(child: Sandbox) -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
        [line] = said(
            child,
            f"""
import socket
try:
    socket.create_connection(("127.0.0.1", {port}), timeout=2)
    print("connected")
except OSError as error:
    print(type(error).__name__)
""",
        )
    assert line == "ConnectionRefusedError"


def test_it_has_no_rights_and_cannot_get_any(child: Sandbox) -> None:
    status, unshared, core_pattern, alone = said(
        child,
        """
import ctypes, os
from pathlib import Path
print([l for l in Path("/proc/self/status").read_text().splitlines() if l.startswith("CapEff")])
print(ctypes.CDLL(None).unshare(0x10000000))  # a new user namespace
try:
    path = "/proc/sys/kernel/core_pattern"
    open(path, "w").write(open(path).read())
    print("written")
except OSError as error:
    print(error.strerror)
print(len([p for p in os.listdir("/proc") if p.isdecimal()]))
""",
    )
    assert status == "['CapEff:\\t0000000000000000']"
    assert unshared == "-1"
    assert core_pattern == "Read-only file system"
    assert int(alone) <= 3  # bubblewrap and itself


def test_of_proc_only_its_own_processes_can_be_written(child: Sandbox) -> None:
    """The kernel's files there belong to root, and a submission has root's id where the judge is root."""
    lines = said(
        child,
        """
import os
for folder, _, files in os.walk("/proc"):
    if folder.startswith(("/proc/self", "/proc/thread-self")) or folder[6:7].isdecimal():
        continue
    for file in files:
        path = os.path.join(folder, file)
        if os.access(path, os.W_OK) and not os.path.islink(path):
            print(path)
print("looked")
""",
    )
    assert lines == ["looked"]


def test_limits_cannot_be_raised(child: Sandbox) -> None:
    assert (
        said(
            child,
            """
import resource
for kind, more in ((resource.RLIMIT_CORE, 1), (resource.RLIMIT_FSIZE, 1 << 60), (resource.RLIMIT_AS, -1)):
    try:
        resource.setrlimit(kind, (more, more))
        print("raised")
    except (ValueError, OSError):
        print("refused")
""",
        )
        == ["refused"] * 3
    )


def test_what_hangs_is_gone_within_a_second_with_all_that_it_started() -> None:
    mark = f"kbx-{os.getpid()}-{time.monotonic_ns()}"
    source = f"""
import os, subprocess, sys, time
subprocess.Popen([sys.executable, "-c", "import time; time.sleep(1000)", {mark!r}], start_new_session=True)
print("started", flush=True)
while True:
    time.sleep(1000)
"""
    with Sandbox("cpu", LIMITS) as child:
        child.wait_ready()
        started = time.monotonic()
        with pytest.raises(Stopped) as stopped:
            load(child, source, seconds=1.5)
        assert time.monotonic() - started < 2.5
    assert stopped.value.outcome is Outcome.TIMED_OUT
    assert "started" in child.log
    assert not running(mark)


def running(mark: str) -> list[str]:
    found = []
    for process in Path("/proc").glob("[0-9]*"):
        try:
            if mark.encode() in (process / "cmdline").read_bytes():
                found.append(process.name)
        except OSError:
            continue
    return found


def test_the_sandbox_ends_with_its_judge() -> None:
    mark = time.monotonic_ns()  # among the limits in the child's command line
    judge = f"""
import sys, time
from evaluator.sandbox import Limits, Sandbox
child = Sandbox("cpu", Limits(log_bytes={mark}))
child.wait_ready()
print("ready", flush=True)
time.sleep(1000)
"""
    with subprocess.Popen([sys.executable, "-c", judge], cwd=ROOT, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None and process.stdout.readline() == b"ready\n"
        assert running(str(mark))
        process.kill()
    deadline = time.monotonic() + 5
    while running(str(mark)) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert not running(str(mark))
    cgroups.remove_stale()


def test_no_group_is_left_behind(child: Sandbox) -> None:
    group = child._group
    if group is None:
        pytest.skip("no cgroup can be made here")
    child.close()
    assert not [folder for folder in group._folders if folder.exists()]


def test_a_group_of_a_judge_that_is_gone_is_removed() -> None:
    if (group := cgroups.make(64, GB)) is None:
        pytest.skip("no cgroup can be made here")
    cgroups.remove_stale()
    assert all(folder.exists() for folder in group._folders), "its judge is this process"
    stale = []
    for folder in group._folders:
        stale.append(folder.with_name("kbx-4194305-0"))  # more than any process id
        stale[-1].mkdir()
    cgroups.remove_stale()
    assert not any(folder.exists() for folder in stale)
    group.kill()


def test_cancelling_interrupts_a_child_at_work(child: Sandbox) -> None:
    asked = time.monotonic()
    with pytest.raises(Cancelled):
        child.request(
            "load",
            seconds=60,
            task="gelu",
            source="while True: pass",
            cancelled=lambda: time.monotonic() - asked > 0.3,
        )
    assert time.monotonic() - asked < 1.5


def test_the_next_ones_warm_up_meanwhile_and_no_more_than_are_wanted() -> None:
    with Sandboxes("cpu", LIMITS, isolated=True, wanted=2) as sandboxes:
        with sandboxes.take(lambda: False):
            assert len(sandboxes._warm) == 1
        with sandboxes.take(lambda: False):
            assert len(sandboxes._warm) == 0


def test_without_bubblewrap_there_is_a_clear_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KBX_BWRAP", "/nonexistent/bwrap")
    sandbox._program.cache_clear()
    try:
        with pytest.raises(SandboxError, match="--no-sandbox"):
            sandbox.describe("cpu", isolated=True)
        assert sandbox.describe("cpu", isolated=False) == "none"
    finally:
        sandbox._program.cache_clear()


def test_where_namespaces_are_refused_there_is_a_clear_sentence(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    refusing = tmp_path / "bwrap"
    refusing.write_text("#!/bin/sh\necho 'bwrap: No permissions to create new namespace' >&2\nexit 1\n")
    refusing.chmod(0o755)
    monkeypatch.setenv("KBX_BWRAP", str(refusing))
    sandbox._program.cache_clear()
    try:
        with pytest.raises(SandboxError, match=r"No permissions to create new namespace.*--no-sandbox"):
            sandbox.describe("cpu", isolated=True)
    finally:
        sandbox._program.cache_clear()


def test_a_child_that_cannot_start_says_why_and_bubblewrap_is_not_blamed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    dying = [sys.executable, "-c", "import no_such_module"]
    monkeypatch.setattr(sandbox, "_child_command", lambda *_: dying)
    with Sandbox("cpu", LIMITS) as child, pytest.raises(SandboxError) as raised:
        child.wait_ready()
    assert "exit code 1" in str(raised.value)
    assert "No module named 'no_such_module'" in str(raised.value)
    assert "namespaces" not in str(raised.value)
    assert "--no-sandbox" not in str(raised.value)


def test_where_namespaces_are_refused_later_the_way_out_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    refusing = tmp_path / "bwrap"
    refusing.write_text("#!/bin/sh\necho 'bwrap: No permissions to create new namespace' >&2\nexit 1\n")
    refusing.chmod(0o755)
    monkeypatch.setenv("KBX_BWRAP", str(refusing))
    sandbox._program.cache_clear()
    refused = r"No permissions to create new namespace.*user namespaces.*--no-sandbox"
    try:
        with Sandbox("cpu", LIMITS) as child, pytest.raises(SandboxError, match=refused):
            child.wait_ready()
    finally:
        sandbox._program.cache_clear()


def test_the_environment_names_the_sandbox() -> None:
    assert sandbox.describe("cpu", isolated=True).startswith("bubblewrap 0.")


def test_where_no_group_can_be_made_the_environment_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cgroups, "make", lambda processes, memory_bytes: None)
    assert sandbox.describe("cpu", isolated=True).endswith(" without cgroup")
    with Sandbox("cpu", LIMITS) as child:
        child.wait_ready()
        reply = load(child, "hoard = bytearray(2 << 30)")
    assert reply.header["error"]["outcome"] == "out_of_memory", "one process is bounded all the same"


def test_only_the_sandbox_starts_processes() -> None:
    starters = {"subprocess", "multiprocessing", "pty"}
    found = {
        path.name
        for path in (ROOT / "evaluator").glob("*.py")
        for node in ast.walk(ast.parse(path.read_text()))
        if (
            isinstance(node, ast.Import) and starters & {alias.name.partition(".")[0] for alias in node.names}
        )
        or (isinstance(node, ast.ImportFrom) and (node.module or "").partition(".")[0] in starters)
    }
    assert found == {"sandbox.py"}


def test_devices_are_passed_one_by_one(monkeypatch: pytest.MonkeyPatch) -> None:
    """All of /dev would hold the disk, which root's submissions could read."""
    command = sandbox._bubblewrap("cuda:0", LIMITS)
    bound = [command[i + 1] for i, part in enumerate(command) if part in ("--dev-bind", "--bind")]
    assert all(node.startswith("/dev/nvidia") for node in bound)
    assert "--unshare-all" in command and "--share-net" not in command


@pytest.mark.parametrize(
    ("device", "visible", "expected"),
    [("cuda:1", "", "1"), ("cuda:1", "4,6", "6"), ("cuda", "GPU-a,GPU-b", "GPU-a"), ("cpu", "3", "")],
)
def test_a_child_sees_its_own_gpu_only(
    device: str, visible: str, expected: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", visible)
    assert sandbox._environment(device, "/tmp")["CUDA_VISIBLE_DEVICES"] == expected
