"""The embedded PostgreSQL and Valkey: started, stopped, killed, left behind, and found again."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import psycopg
import pytest
import redis

from leaderboard.embedded import (
    NO_SERVICES,
    Addresses,
    EmbeddedError,
    Postgres,
    Valkey,
    embedded_services,
    forget_addresses,
    read_addresses,
    sole_use_of,
    write_addresses,
)

ROOT = Path(__file__).resolve().parent.parent


def read_note(url: str) -> str:
    with psycopg.connect(url) as connection:
        row = connection.execute("SELECT text FROM note").fetchone()
        assert row
        return str(row[0])


def write_note(url: str, text: str) -> None:
    with psycopg.connect(url) as connection:
        connection.execute("CREATE TABLE note (text text)")
        connection.execute("INSERT INTO note VALUES (%s)", [text])


def wait_until(true: Callable[[], bool], seconds: float = 15) -> None:
    deadline = time.monotonic() + seconds
    while not true():
        assert time.monotonic() < deadline, "waited in vain"
        time.sleep(0.05)


def exists(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def test_both_servers_keep_their_data_over_a_restart(tmp_path: Path) -> None:
    with embedded_services(tmp_path) as addresses:
        write_note(addresses.database_url, "kept · محفوظ")
        with redis.Redis.from_url(addresses.redis_url) as broker:
            broker.rpush("queue", "message")

    with pytest.raises(psycopg.OperationalError):
        psycopg.connect(addresses.database_url, connect_timeout=2)
    with embedded_services(tmp_path) as addresses:
        assert read_note(addresses.database_url) == "kept · محفوظ"
        with redis.Redis.from_url(addresses.redis_url) as broker:
            assert broker.lrange("queue", 0, -1) == [b"message"]


def test_a_path_longer_than_a_socket_name_and_closed_to_others(tmp_path: Path) -> None:
    home = tmp_path / "home of root"
    home.mkdir(mode=0o700)
    with embedded_services(home / ("long" * 30), durable=False) as addresses:
        write_note(addresses.database_url, "reached")
        assert read_note(addresses.database_url) == "reached"
    assert home.stat().st_mode & 0o777 == 0o700


def test_a_password_is_asked_for(tmp_path: Path) -> None:
    with embedded_services(tmp_path, durable=False) as addresses:
        user, _, server = addresses.database_url.rpartition("@")
        assert user
        with pytest.raises(psycopg.OperationalError, match="password"):
            psycopg.connect(f"postgres://postgres:wrong@{server}")
        with pytest.raises(redis.AuthenticationError):
            redis.Redis.from_url(f"redis://{addresses.redis_url.rpartition('@')[2]}").ping()


@pytest.mark.parametrize("kind", [Postgres, Valkey])
def test_a_killed_server_starts_again_at_the_same_address(
    kind: type[Postgres] | type[Valkey], tmp_path: Path
) -> None:
    server = kind(tmp_path, durable=False)
    server.start()
    try:
        url = server.url
        os.kill(server.pid, signal.SIGKILL)
        wait_until(lambda: not server.alive())
        server.start()
        assert server.alive()
        assert server.url == url
    finally:
        server.stop()


def test_servers_do_not_outlive_a_killed_owner(tmp_path: Path) -> None:
    owner, pids = start_owner(tmp_path)
    owner.kill()
    owner.wait()
    wait_until(lambda: not any(exists(pid) for pid in pids))
    with embedded_services(tmp_path) as addresses:
        assert read_note(addresses.database_url) == "written before the kill"


def test_servers_that_were_left_behind_are_ended_before_the_next_start(tmp_path: Path) -> None:
    owner, pids = start_owner(tmp_path, tied=False)
    owner.kill()
    owner.wait()
    assert all(exists(pid) for pid in pids)
    with embedded_services(tmp_path) as addresses:
        assert not any(exists(pid) for pid in pids)
        assert read_note(addresses.database_url) == "written before the kill"


def start_owner(var: Path, *, tied: bool = True) -> tuple[subprocess.Popen[str], list[int]]:
    """A process that starts both servers; untied, as on a system that cannot end them with it."""
    program = f"""
import time
from pathlib import Path
import psycopg
from leaderboard import embedded
if not {tied}:
    prefix = [part for part in embedded._as_unprivileged() if part not in ("--pdeathsig", "INT")]
    embedded._as_unprivileged = lambda: prefix
    embedded.dying_with_parent = lambda stop_signal: []
servers = embedded.Postgres(Path({str(var)!r})), embedded.Valkey(Path({str(var)!r}))
for server in servers:
    server.start()
with psycopg.connect(servers[0].url) as connection:
    connection.execute("CREATE TABLE note (text text)")
    connection.execute("INSERT INTO note VALUES ('written before the kill')")
print(*(server.pid for server in servers), flush=True)
time.sleep(600)
"""
    owner = subprocess.Popen([sys.executable, "-c", program], cwd=ROOT, stdout=subprocess.PIPE, text=True)
    assert owner.stdout
    return owner, [int(pid) for pid in owner.stdout.readline().split()]


def test_a_pid_file_that_names_somebody_else_harms_nobody(tmp_path: Path) -> None:
    with embedded_services(tmp_path, durable=False):
        pass
    (tmp_path / "postgresql" / "data" / "postmaster.pid").write_text(f"{os.getpid()}\n/elsewhere\n")
    (tmp_path / "valkey" / "pid").write_text("not a number")
    with embedded_services(tmp_path, durable=False) as addresses:
        psycopg.connect(addresses.database_url).close()


def test_an_interrupted_initdb_is_done_again(tmp_path: Path) -> None:
    unfinished = tmp_path / "postgresql" / "data.new"
    unfinished.mkdir(parents=True)
    (unfinished / "PG_VERSION").write_text("18\n")
    with embedded_services(tmp_path, durable=False) as addresses:
        psycopg.connect(addresses.database_url).close()


def test_a_server_that_cannot_start_says_why(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(time, "sleep", lambda seconds: None)
    postgres = Postgres(tmp_path, durable=False)
    postgres.start()
    postgres.stop()
    (tmp_path / "postgresql" / "data" / "postgresql.conf").write_text("max_connections = many\n")
    with pytest.raises(EmbeddedError, match="max_connections"):
        postgres.start()


def test_one_checkout_is_served_once(tmp_path: Path) -> None:
    with sole_use_of(tmp_path), pytest.raises(EmbeddedError, match="already serves"), sole_use_of(tmp_path):
        pass
    with sole_use_of(tmp_path):
        pass


def test_addresses_are_readable_by_their_owner_alone(tmp_path: Path) -> None:
    assert read_addresses(tmp_path) is None
    addresses = Addresses("postgres://a", "redis://b")
    write_addresses(tmp_path, addresses)
    assert read_addresses(tmp_path) == addresses
    assert (tmp_path / "addresses.json").stat().st_mode & 0o777 == 0o600
    forget_addresses(tmp_path)
    assert read_addresses(tmp_path) is None


def test_without_services_the_error_says_what_to_set() -> None:
    with pytest.raises(psycopg.OperationalError, match=r"(?i)set-database_url-or-start-make-run"):
        psycopg.connect(NO_SERVICES.database_url)
