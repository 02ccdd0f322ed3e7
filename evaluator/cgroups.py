"""Control groups (v1 and v2) that bound the processes and the memory of one sandbox."""

from __future__ import annotations

import itertools
import os
import re
import signal
import time
from collections.abc import Iterator
from pathlib import Path

_CONTROLLERS = ("pids", "memory")
_numbers = itertools.count()


class Cgroup:
    """A group that a shell joins before it becomes the sandbox; it limits all that starts inside."""

    def __init__(self, folders: list[Path]) -> None:
        self._folders = folders  # one under v2, one a controller under v1

    @property
    def join_files(self) -> list[str]:
        """The files to which a process writes its id in order to belong."""
        return [str(folder / "cgroup.procs") for folder in self._folders]

    def limit(self, processes: int, memory_bytes: int) -> bool:
        """Sets the limits; False where the kernel did not take both."""
        taken = {
            file
            for folder in self._folders
            for file, value in (
                ("pids.max", processes),
                ("memory.max", memory_bytes),  # v2
                ("memory.swap.max", 0),
                ("memory.limit_in_bytes", memory_bytes),  # v1
                ("memory.memsw.limit_in_bytes", memory_bytes),
            )
            if _write(folder / file, value)
        }
        return "pids.max" in taken and bool(taken & {"memory.max", "memory.limit_in_bytes"})

    @property
    def hit_processes(self) -> bool:
        """Whether something inside was refused a new process."""
        return self._event("pids.events", "max") > 0

    @property
    def hit_memory(self) -> bool:
        """Whether something inside was killed for its memory."""
        return self._event("memory.events", "oom_kill") + self._event("memory.oom_control", "oom_kill") > 0

    def kill(self) -> None:
        """Kills all that is inside and removes the group; gives up removing after two seconds."""
        deadline = time.monotonic() + 2
        while any(folder.exists() for folder in self._folders):
            for folder in self._folders:
                _kill_all(folder)
                _remove(folder)
            if time.monotonic() > deadline:
                return
            time.sleep(0.005)

    def _event(self, file: str, name: str) -> int:
        for folder in self._folders:
            try:
                fields = dict(line.split() for line in (folder / file).read_text().splitlines())
                return int(fields.get(name, 0))
            except (OSError, ValueError):
                continue
        return 0


def make(processes: int, memory_bytes: int) -> Cgroup | None:
    """A group with these limits below the group of this process, or None where none can be made."""
    name = f"kbx-{os.getpid()}-{next(_numbers)}"
    try:
        folders = _make_v2(name) or _make_v1(name)
    except OSError:
        return None
    group = Cgroup(folders)
    if group.limit(processes, memory_bytes):
        return group
    group.kill()
    return None


def remove_stale() -> None:
    """Removes the groups of judges that are gone."""
    for parent in {parent for parents in (_v2_parents(), _v1_parents()) for parent in parents}:
        for folder in parent.glob("kbx-*-*"):
            owner = re.fullmatch(r"kbx-(\d+)-\d+", folder.name)
            if owner and not Path("/proc", owner[1]).exists():
                _kill_all(folder)
                _remove(folder)


def _make_v2(name: str) -> list[Path]:
    for parent in _v2_parents():
        wanted = set(_CONTROLLERS)
        if not wanted <= set(_read(parent / "cgroup.controllers").split()):
            continue
        if not wanted <= set(_read(parent / "cgroup.subtree_control").split()):
            _write(parent / "cgroup.subtree_control", "+pids +memory")
        if wanted <= set(_read(parent / "cgroup.subtree_control").split()) and _mkdir(parent / name):
            return [parent / name]
    return []


def _make_v1(name: str) -> list[Path]:
    folders = [parent / name for parent in _v1_parents()]
    if len(folders) != len(_CONTROLLERS):
        return []
    made = [folder for folder in folders if _mkdir(folder)]
    if len(made) == len(folders):
        return made
    for folder in made:
        _remove(folder)
    return []


def _v2_parents() -> list[Path]:
    """This process's own group, then the root: groups between them belong to somebody else."""
    return [
        parent
        for options, own in _hierarchies()
        if not options
        for mount in _mounts("cgroup2", "")
        for parent in dict.fromkeys((_below(mount, own), mount))
    ]


def _v1_parents() -> list[Path]:
    return [
        _below(mount, own)
        for controller in _CONTROLLERS
        for options, own in _hierarchies()
        if controller in options.split(",")
        for mount in _mounts("cgroup", controller)[:1]
    ]


def _hierarchies() -> Iterator[tuple[str, str]]:
    """Controllers (none under v2) and this process's group in each hierarchy."""
    for line in _read(Path("/proc/self/cgroup")).splitlines():
        _, controllers, own = line.split(":", 2)
        yield controllers, own


def _mounts(kind: str, option: str) -> list[Path]:
    fields = [line.split() for line in _read(Path("/proc/self/mounts")).splitlines()]
    return [Path(f[1]) for f in fields if f[2] == kind and (not option or option in f[3].split(","))]


def _below(mount: Path, own: str) -> Path:
    folder = mount / own.lstrip("/")
    return folder if folder.is_dir() else mount  # inside a container the path may be the host's


def _kill_all(folder: Path) -> None:
    _write(folder / "cgroup.kill", 1)
    for process in _read(folder / "cgroup.procs").split():
        try:
            os.kill(int(process), signal.SIGKILL)
        except (ProcessLookupError, PermissionError):
            pass


def _mkdir(folder: Path) -> bool:
    try:
        folder.mkdir()
    except OSError:
        return False
    return True


def _remove(folder: Path) -> None:
    try:
        folder.rmdir()
    except OSError:
        pass  # not empty yet, or gone


def _read(file: Path) -> str:
    try:
        return file.read_text()
    except OSError:
        return ""


def _write(file: Path, value: object) -> bool:
    """False where the kernel does not have the file or does not take the value."""
    try:
        descriptor = os.open(file, os.O_WRONLY)  # never creates it
    except OSError:
        return False
    try:
        return os.write(descriptor, str(value).encode()) > 0
    except OSError:
        return False
    finally:
        os.close(descriptor)
