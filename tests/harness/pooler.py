"""A connection pooler before a PostgreSQL server for tests: PgBouncer in transaction mode."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from time import monotonic, sleep
from typing import Final

from recollect.errors import StoreUnavailableError
from tests.harness.postgres_server import PostgresServer

VARIABLE: Final = "RECOLLECT_PGBOUNCER"
"""Names the program where it is not on the path."""
_PORT: Final = 6432
_STARTS_S_MAX: Final = 20.0
_LOOK_EVERY_S: Final = 0.02


def find_pooler() -> str | None:
    """Return the program PgBouncer, ``None`` without one."""
    return os.environ.get(VARIABLE) or shutil.which("pgbouncer", path=_path())


def _path() -> str:
    # It is a server's program, which is not on every user's path.
    return os.pathsep.join((os.environ.get("PATH", ""), "/usr/sbin"))


@contextmanager
def open_pooler(
    program: str,
    server: PostgresServer,
    *,
    sessions: int = 2,
    clients: int = 200,
    port: int | None = None,
) -> Iterator[str]:
    """
    Yield the address of *server*'s database ``recollect`` behind a pooler.

    It reaches the server by its socket, or by a *port* of this machine. After each transaction
    the pooler gives the session to whoever asks next; all share so many *sessions*, and it
    takes so many *clients* at most.

    Raises:
        StoreUnavailableError: It did not start.
    """
    with tempfile.TemporaryDirectory(prefix="recollect-pooler-") as folder:
        place = Path(folder)
        settings = place / "pgbouncer.ini"
        users = place / "users"
        users.write_text('"postgres" ""\n', "utf-8")
        settings.write_text(_settings(place, server, sessions, clients, port), "utf-8")
        user = "nobody" if os.geteuid() == 0 else None
        if user:
            for each in (place, settings, users):
                shutil.chown(each, user)
        with (place / "log").open("wb") as log:
            process = subprocess.Popen(
                [program, str(settings)],
                user=user,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
            )
        try:
            _wait(process, place)
            yield f"postgresql://postgres@/recollect?host={place}&port={_PORT}"
        finally:
            process.terminate()
            process.wait()


def _settings(
    place: Path, server: PostgresServer, sessions: int, clients: int, port: int | None
) -> str:
    settings = {
        "listen_addr": "",
        "listen_port": _PORT,
        "unix_socket_dir": place,
        "auth_type": "trust",
        "auth_file": place / "users",
        "pool_mode": "transaction",
        "default_pool_size": sessions,
        "max_client_conn": clients,
        "server_round_robin": 1,  # nobody gets the session that he had, if there is another
        "admin_users": "postgres",
    }
    where = f"host={server.folder}" if port is None else f"host=127.0.0.1 port={port}"
    database = f"recollect = {where} dbname=recollect user=postgres"
    written = "\n".join(f"{name} = {value}" for name, value in settings.items())
    return f"[databases]\n{database}\n\n[pgbouncer]\n{written}\n"


def _wait(process: subprocess.Popen[bytes], place: Path) -> None:
    """Wait until somebody answers at the pooler's socket."""
    until = monotonic() + _STARTS_S_MAX
    while monotonic() < until and process.poll() is None:
        with closing(socket.socket(socket.AF_UNIX)) as asked:
            if asked.connect_ex(str(place / f".s.PGSQL.{_PORT}")) == 0:
                return
        sleep(_LOOK_EVERY_S)
    said = (place / "log").read_text("utf-8", "replace")[-500:]
    msg = f"the pooler did not answer within {_STARTS_S_MAX:g} s: {said!r}"
    raise StoreUnavailableError(msg)
