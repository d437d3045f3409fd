"""Open a store by its address; the only module that knows all backends."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from recollect.deferred_imports import needs_extra
from recollect.errors import NotFoundError, StoreError, UsageError
from recollect.ports import Clock, Ids
from recollect.stores.contract.base import Store
from recollect.stores.contract.durability import Durability
from recollect.stores.file_state import FileState

if TYPE_CHECKING:
    import sqlite3

_WITH_CHECKPOINTS: Final = frozenset({"memory", "sqlite", "postgresql"})
_OPTIONS: Final = re.compile(r"\?\w+=[^/?]*$")
# At least two letters: one letter before a colon is a drive.
_SCHEME: Final = re.compile(r"([A-Za-z][A-Za-z0-9+.-]+):")


@dataclass(frozen=True, slots=True, kw_only=True)
class _OpenOptions:
    """Options for opening a store of any backend."""

    clock: Clock | None
    ids: Ids | None
    durability: Durability
    index_files: bool
    replicas: Sequence[str]


def open_store(
    url: str | os.PathLike[str],
    *,
    clock: Clock | None = None,
    ids: Ids | None = None,
    durability: Durability = "full",
    index_files: bool = True,
    replicas: Sequence[str] = (),
) -> Store:
    """
    Open the store at *url*; a missing file is created, a missing folder is not.

    Args:
        url: ``memory:`` lives in this process and ends with it. ``sqlite:///absolute/path``,
            ``sqlite:relative/path`` or a plain path is a file; the path is not URL-decoded, and a
            leading ``~`` is the user's home.
            ``postgresql://user@host/database`` is an existing database on a server.
            ``redis://host:6379/0`` (``rediss:`` for TLS, ``redis+unix:///path`` for a socket) is a
            numbered database of a Redis server.
        clock: Source of the current time; the system clock by default.
        ids: Source of identifiers; random by default.
        durability: With ``"full"``, acknowledged writes survive a power loss. With ``"relaxed"``,
            they survive the end of the process, but a power loss or a crash of the machine may lose
            the last ones. ``memory:`` survives neither; on PostgreSQL the server's
            ``synchronous_commit`` decides. On Redis ``"full"`` rejects a server configured so that
            it could lose an acknowledged write, and ``"relaxed"`` accepts any.
        index_files: Whether the indexes of large scopes are kept in files beside a SQLite file;
            other stores keep none.
        replicas: Addresses of read replicas of a PostgreSQL database, for reads that allow
            staleness; see `PostgresStore`.

    Raises:
        UsageError: The address names no known backend, or no file; or a store without replicas.
        MissingExtraError: The backend's driver is not installed.
        StoreError: The store cannot be opened; the class tells why.
    """
    scheme, rest = _split(_address_of(url))
    if isinstance(replicas, str):
        raise UsageError(f"replicas is {replicas!r}: give a list of addresses")
    if replicas and scheme != "postgresql":
        msg = f"replicas are PostgreSQL servers, and the store is a {scheme}: store: give none"
        raise UsageError(msg)
    options = _OpenOptions(
        clock=clock,
        ids=ids,
        durability=durability,
        index_files=index_files,
        replicas=replicas,
    )
    return _BACKENDS[scheme](rest, options)


def check_keeps_checkpoints(url: str) -> None:
    """
    Raise if graph checkpoints cannot be kept beside the store at *url*.

    Raises:
        UsageError: The address names no known backend, or one without checkpoints.
    """
    scheme, _ = _split(url)
    if scheme not in _WITH_CHECKPOINTS:
        raise UsageError(
            f"graph checkpoints cannot be kept beside a {scheme}: store: give checkpointer the "
            "address of a file or of a PostgreSQL database, and erase from that one as well"
        )


def open_checkpoint_file(url: str) -> sqlite3.Connection | None:
    """
    Open the file that holds graph checkpoints beside the store at *url*.

    It is opened with Python's own sqlite3, which LangGraph's saver needs. Returns ``None`` if the
    store is not a file.

    Raises:
        UsageError: The address names no known backend, or no file.
        StoreError: The file cannot be opened; the class tells why.
    """
    scheme, rest = _split(url)
    if scheme != "sqlite":
        return None
    from recollect.stores.sqlite.checkpoints import connect
    from recollect.stores.sqlite.connections import location_of

    path = Path(_path_of(rest))
    if path.is_dir():
        msg = f"{str(path)!r} is a folder: name a file in it, such as {str(path / 'memory.db')!r}"
        raise StoreError(msg)
    return connect(location_of(str(path.resolve())).checkpoints)


def server_parameters(url: str) -> dict[str, Any] | None:
    """
    Return psycopg's connection parameters for the store at *url*, ``None`` if not PostgreSQL.

    Raises:
        UsageError: The address names no known backend.
        MissingExtraError: The backend's driver is not installed.
    """
    scheme, rest = _split(url)
    if scheme != "postgresql":
        return None
    with needs_extra("postgres", "psycopg"):
        from recollect.stores.postgres.location import location_of
    return location_of(f"postgresql:{rest}").parameters


def finish_upgrade(url: str) -> int:
    """
    Remove from the store at *url* what only older releases need.

    Call it once no older release uses the store: they cannot open it afterwards. A file without
    page checksums gets them, which rewrites the whole file.

    Returns:
        How many steps were carried out.

    Raises:
        MissingExtraError: The backend's driver is not installed.
        StoreError: The store cannot be changed; the class tells why.
    """
    file = _existing_file(url)
    if file is not None:
        from recollect.stores.sqlite.page_repairs import add_checksums

        return int(add_checksums(file))
    if not url.lower().startswith("postgresql:"):
        return 0
    with needs_extra("postgres", "psycopg"):
        from recollect.stores.postgres.bootstrap import finish_upgrade as finish
        from recollect.stores.postgres.location import location_of
    return finish(location_of(url))


def accept_pages(url: str) -> int:
    """
    Accept pages with wrong checksums in the file at *url*; return how many.

    Use it only if another program wrote to the file, since it makes damaged pages count as valid.

    Raises:
        UsageError: The store is not a file, or the file does not exist.
        StoreError: The file cannot be changed; the class tells why.
    """
    file = _existing_file(url)
    if file is None:
        msg = f"{url!r} is in no file that exists: only pages of a SQLite file can be accepted"
        raise UsageError(msg)
    from recollect.stores.sqlite.page_repairs import accept_pages as accept

    return accept(file)


def examine_file(path: Path) -> FileState:
    """
    Read every page and row of a store's file, and check the references between rows.

    Nothing is written. Damage that keeps SQLite from reading the file is reported like any other.
    """
    from recollect.stores.sqlite.file_state import read_file_state

    return read_file_state(path)


def _existing_file(url: str) -> str | None:
    file = file_of(url)
    return str(file.resolve()) if file is not None and file.exists() else None


def _address_of(url: str | os.PathLike[str]) -> str:
    try:
        return os.fspath(url)
    except TypeError:
        msg = f"url is {url!r}: give the address of a store, such as 'memory.db' or 'memory:'"
        raise UsageError(msg) from None


def _split(address: str) -> tuple[str, str]:
    found = _SCHEME.match(address)
    scheme = found[1].lower() if found else "sqlite"
    if scheme not in _BACKENDS:
        known = ", ".join(f"{name}:" for name in _BACKENDS)
        msg = f"{address!r} has the unknown scheme {scheme!r}: use {known}, or a plain path"
        raise UsageError(msg)
    return scheme, address[found.end() :] if found else address


def file_of(url: str | os.PathLike[str]) -> Path | None:
    """
    Return the file of the store at *url*; ``None`` if it is not in a file.

    >>> file_of("sqlite:///var/lib/memory.db"), file_of("memory:")
    (PosixPath('/var/lib/memory.db'), None)

    Raises:
        UsageError: The address names no known backend.
    """
    scheme, rest = _split(_address_of(url))
    return _expanded(rest.removeprefix("//")) if scheme == "sqlite" else None


def back_up_file(url: str, copy: Path) -> bool:
    """
    Copy the current state of the store's file to *copy*; ``False`` if it is not in a file.

    Raises:
        NotFoundError: The file does not exist.
        StoreError: A file cannot be read or written; the class tells why.
    """
    file = file_of(url)
    if file is None:
        return False
    if not file.exists():
        raise NotFoundError(f"there is no store at {str(file)!r}")
    from recollect.stores.sqlite.backup import back_up_file as back_up

    back_up(str(file), copy)
    return True


def put_back(backup: Path, copy: Path) -> None:
    """Copy a backup file to *copy*, after checking every page of it."""
    from recollect.stores.sqlite.backup import put_back as put

    put(backup, copy)


def put_in_place(made: Path, path: Path) -> None:
    """Rename a complete file to its final *path*, durably; raise if *path* exists."""
    from recollect.stores.sqlite.backup import put_in_place as put

    put(made, path)


def _open_memory(rest: str, options: _OpenOptions) -> Store:
    from recollect.stores.in_process.store import InProcessStore

    if rest:
        raise UsageError(f"'memory:{rest}' is not an address: 'memory:' stands alone")
    return InProcessStore(clock=options.clock, ids=options.ids)


def _open_sqlite(rest: str, options: _OpenOptions) -> Store:
    from recollect.stores.sqlite.store import SQLiteStore

    path = _path_of(rest)
    return SQLiteStore(
        path,
        clock=options.clock,
        ids=options.ids,
        durability=options.durability,
        index_files=options.index_files,
    )


def _path_of(rest: str) -> str:
    """Return the path of a file from the part of an address after its scheme."""
    if rest.startswith("//") and not rest.startswith("///"):
        msg = f"'sqlite:{rest}' names a host: write sqlite:///absolute/path or sqlite:relative"
        raise UsageError(msg)
    path = rest.removeprefix("//")
    if not path or path.endswith(":memory:"):
        msg = f"{rest!r} is not a file: write sqlite:///absolute/path, sqlite:relative, or memory:"
        raise UsageError(msg)
    if options := _OPTIONS.search(path):
        # Taken for the end of a name, they would open a new, empty store that may be written.
        raise UsageError(
            f"{rest!r} ends with options of a SQLite address, {options[0]!r}: leave them out, none "
            "is supported (a file that may only be read cannot be opened)"
        )
    return str(_expanded(path))


def _expanded(path: str) -> Path:
    """Return *path* with a leading ``~`` replaced by the home, if there is such a user."""
    try:
        return Path(path).expanduser()
    except RuntimeError:
        return Path(path)


def _open_postgres(rest: str, options: _OpenOptions) -> Store:
    with needs_extra("postgres", "psycopg"):
        from recollect.stores.postgres.store import PostgresStore
    return PostgresStore(
        f"postgresql:{rest}", replicas=options.replicas, clock=options.clock, ids=options.ids
    )


def _open_redis(rest: str, options: _OpenOptions, scheme: str = "redis") -> Store:
    with needs_extra("redis", "redis"):
        from recollect.stores.redis.store import RedisStore
    return RedisStore(
        f"{scheme}:{rest}", clock=options.clock, ids=options.ids, durability=options.durability
    )


_BACKENDS: Final[dict[str, Callable[[str, _OpenOptions], Store]]] = {
    "memory": _open_memory,
    "sqlite": _open_sqlite,
    "postgresql": _open_postgres,
    "redis": _open_redis,
    "rediss": partial(_open_redis, scheme="rediss"),
    "redis+unix": partial(_open_redis, scheme="redis+unix"),
}
