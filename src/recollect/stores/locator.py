"""From an address to a store: the one place that knows which backends there are."""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from recollect.errors import MissingExtraError, NotFoundError, UsageError
from recollect.ports import Clock, Ids
from recollect.stores.contract.base import Store
from recollect.stores.contract.durability import Durability
from recollect.stores.file_state import FileState

if TYPE_CHECKING:
    import sqlite3

# One letter before a colon is a drive, not a scheme.
_WITH_CHECKPOINTS: Final = frozenset({"memory", "sqlite", "postgresql"})
_SCHEME: Final = re.compile(r"([A-Za-z][A-Za-z0-9+.-]+):")


@dataclass(frozen=True, slots=True, kw_only=True)
class _Wishes:
    """How the store is to be opened, whatever its backend."""

    clock: Clock | None
    ids: Ids | None
    durability: Durability


def open_store(
    url: str | os.PathLike[str],
    *,
    clock: Clock | None = None,
    ids: Ids | None = None,
    durability: Durability = "full",
) -> Store:
    """
    Open the store at *url*; a file that does not exist is made, a folder is not.

    Args:
        url: ``memory:`` lives in this process and is gone with it. ``sqlite:///absolute/path``,
            ``sqlite:relative/path`` or a plain path is a file; its name is taken literally.
            ``postgresql://user@host/database`` is a database on a server; it must exist.
            ``redis://host:6379/0`` (``rediss:`` with TLS, ``redis+unix:///path`` by a socket) is a
            numbered database of a Redis server.
        clock: Where the present moment comes from; the machine by default.
        ids: Where identity comes from; chance by default.
        durability: What an acknowledged write survives: ``"full"`` everything, power loss
            included; ``"relaxed"`` the end of the process, but after a power loss or a crash of
            the machine the last writes are missing. ``memory:`` survives neither; on PostgreSQL
            the server's own ``synchronous_commit`` decides. On Redis ``"full"`` refuses a server
            that could lose an acknowledged write, and ``"relaxed"`` takes it as it is set.

    Raises:
        UsageError: The address names no backend that there is, or no file.
        MissingExtraError: The backend's driver is not installed.
        StoreError: The store cannot be opened; the class says why.
    """
    scheme, rest = _split(os.fspath(url))
    return _BACKENDS[scheme](rest, _Wishes(clock=clock, ids=ids, durability=durability))


def check_keeps_checkpoints(url: str) -> None:
    """
    See that the checkpoints of graphs can stand beside the store at *url*.

    Raises:
        UsageError: The address names no backend that there is, or one that keeps none.
    """
    scheme, _ = _split(url)
    if scheme not in _WITH_CHECKPOINTS:
        msg = (
            f"no checkpoints of graphs are kept beside a {scheme}: store: give checkpointer the "
            "address of a file or of a PostgreSQL database, and erase from that one as well"
        )
        raise UsageError(msg)


def open_checkpoint_file(url: str) -> sqlite3.Connection | None:
    """
    Open the file in which the checkpoints of graphs stand beside the store at *url*.

    It is Python's own SQLite that opens it, because LangGraph's saver works with that;
    ``None`` if the store is no file.

    Raises:
        UsageError: The address names no backend that there is, or no file.
        StoreError: It cannot be opened; the class says why.
    """
    scheme, rest = _split(url)
    if scheme != "sqlite":
        return None
    from recollect.stores.sqlite.checkpoints import connect, file_beside

    return connect(file_beside(_path_of(rest)))


def server_parameters(url: str) -> dict[str, Any] | None:
    """
    Return how psycopg connects to the server of the store at *url*, ``None`` if it has none.

    Raises:
        UsageError: The address names no backend that there is.
        MissingExtraError: The backend's driver is not installed.
    """
    scheme, rest = _split(url)
    if scheme != "postgresql":
        return None
    try:
        from recollect.stores.postgres.location import location_of
    except ModuleNotFoundError as error:
        if error.name and error.name.startswith("recollect"):
            raise
        raise MissingExtraError("postgres", "psycopg") from error
    return location_of(f"postgresql:{rest}").parameters


def finish_upgrade(url: str) -> int:
    """
    Take away from the store at *url* what only releases before this one need.

    Do it when none of these uses the store any more: they can then no longer open it. A file
    whose pages have no checksums is given them, for which all of it is written anew.

    Returns:
        How many steps there were to do.

    Raises:
        MissingExtraError: The backend's driver is not installed.
        StoreError: The store cannot be changed; the class says why.
    """
    file = _existing_file(url)
    if file is not None:
        from recollect.stores.sqlite.page_repairs import add_checksums

        return int(add_checksums(file))
    if not url.lower().startswith("postgresql:"):
        return 0
    try:
        from recollect.stores.postgres.bootstrap import finish_upgrade as finish
        from recollect.stores.postgres.location import location_of
    except ModuleNotFoundError as error:
        if error.name and error.name.startswith("recollect"):
            raise
        raise MissingExtraError("postgres", "psycopg") from error
    return finish(location_of(url))


def accept_pages(url: str) -> int:
    """
    Accept the pages of the file at *url* that do not match their checksums; return how many.

    Do it only where another program wrote to the file: what is damaged is then believed.

    Raises:
        UsageError: The store is in no file, or there is none.
        StoreError: The file cannot be changed; the class says why.
    """
    file = _existing_file(url)
    if file is None:
        msg = f"{url!r} is in no file that exists: only pages of a SQLite file can be accepted"
        raise UsageError(msg)
    from recollect.stores.sqlite.page_repairs import accept_pages as accept

    return accept(file)


def examine_file(path: Path) -> FileState:
    """
    Read every page and every row of a store's file, and what rows owe to each other.

    Nothing is written. Damage that keeps SQLite from reading the file is told like any other.
    """
    from recollect.stores.sqlite.file_state import read_file_state

    return read_file_state(path)


def _existing_file(url: str) -> str | None:
    file = file_of(url)
    return str(file.resolve()) if file is not None and file.exists() else None


def _split(address: str) -> tuple[str, str]:
    """Return the scheme of an address, and what follows it."""
    found = _SCHEME.match(address)
    scheme = found[1].lower() if found else "sqlite"
    if scheme not in _BACKENDS:
        known = ", ".join(f"{name}:" for name in _BACKENDS)
        msg = f"{address!r} has the unknown scheme {scheme!r}: use {known}, or a plain path"
        raise UsageError(msg)
    return scheme, address[found.end() :] if found else address


def file_of(url: str | os.PathLike[str]) -> Path | None:
    """
    Return the file in which the store at *url* is; ``None`` if it is in no file.

    >>> file_of("sqlite:///var/lib/memory.db"), file_of("memory:")
    (PosixPath('/var/lib/memory.db'), None)

    Raises:
        UsageError: The address names no backend that there is.
    """
    scheme, rest = _split(os.fspath(url))
    return Path(rest.removeprefix("//")) if scheme == "sqlite" else None


def back_up_file(url: str, copy: Path) -> bool:
    """
    Write the file of the store at *url* to *copy*, as of now; ``False`` if it is in no file.

    Raises:
        NotFoundError: There is no such file.
        StoreError: It cannot be read or written; the class says why.
    """
    file = file_of(url)
    if file is None:
        return False
    if not file.exists():
        msg = f"there is no store at {str(file)!r}"
        raise NotFoundError(msg)
    from recollect.stores.sqlite.backup import back_up_file as back_up

    back_up(str(file), copy)
    return True


def put_back(backup: Path, copy: Path) -> None:
    """Copy the backup of a file to *copy*, after looking at every page of it."""
    from recollect.stores.sqlite.backup import put_back as put

    put(backup, copy)


def put_in_place(made: Path, path: Path) -> None:
    """Give a file that is whole its name, durably; refuse if there is something."""
    from recollect.stores.sqlite.backup import put_in_place as put

    put(made, path)


def _open_memory(rest: str, wishes: _Wishes) -> Store:
    from recollect.stores.memory import InProcessStore

    if rest:
        msg = f"'memory:' stands alone: there is no {rest!r} in it"
        raise UsageError(msg)
    return InProcessStore(clock=wishes.clock, ids=wishes.ids)


def _open_sqlite(rest: str, wishes: _Wishes) -> Store:
    from recollect.stores.sqlite.store import SQLiteStore

    path = _path_of(rest)
    return SQLiteStore(path, clock=wishes.clock, ids=wishes.ids, durability=wishes.durability)


def _path_of(rest: str) -> str:
    """Return the path of a file from what follows the scheme."""
    if rest.startswith("//") and not rest.startswith("///"):
        msg = f"'sqlite:{rest}' names a machine: write sqlite:///absolute/path or sqlite:relative"
        raise UsageError(msg)
    path = rest.removeprefix("//")
    if not path or path.endswith(":memory:"):
        msg = f"{rest!r} is no file: write sqlite:///absolute/path, sqlite:relative, or memory:"
        raise UsageError(msg)
    return path


def _open_postgres(rest: str, wishes: _Wishes) -> Store:
    try:
        from recollect.stores.postgres.store import PostgresStore
    except ModuleNotFoundError as error:
        if error.name and error.name.startswith("recollect"):
            raise
        raise MissingExtraError("postgres", "psycopg") from error

    return PostgresStore(f"postgresql:{rest}", clock=wishes.clock, ids=wishes.ids)


def _open_redis(rest: str, wishes: _Wishes, scheme: str = "redis") -> Store:
    try:
        from recollect.stores.redis.store import RedisStore
    except ModuleNotFoundError as error:
        if error.name and error.name.startswith("recollect"):
            raise
        raise MissingExtraError("redis", "redis") from error

    return RedisStore(
        f"{scheme}:{rest}", clock=wishes.clock, ids=wishes.ids, durability=wishes.durability
    )


_BACKENDS: Final[dict[str, Callable[[str, _Wishes], Store]]] = {
    "memory": _open_memory,
    "sqlite": _open_sqlite,
    "postgresql": _open_postgres,
    "redis": _open_redis,
    "rediss": partial(_open_redis, scheme="rediss"),
    "redis+unix": partial(_open_redis, scheme="redis+unix"),
}
