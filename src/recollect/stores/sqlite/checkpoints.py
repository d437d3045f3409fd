"""
The file beside the store in which LangGraph's checkpoint saver keeps its checkpoints.

They contain copies of the conversation, so every erase covers them as well, from any process. The
saver opens its file with Python's own ``sqlite3``, and so does this module: two SQLite libraries in
one process would drop each other's locks. If that library can lose commits in WAL mode (see
`engine`), the file uses a rollback journal.
"""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from secrets import randbelow
from typing import Final
from weakref import finalize

from recollect.errors import (
    StoreCorruptError,
    StoreError,
    StoreFullError,
    StoreReadOnlyError,
    StoreUnavailableError,
    StoreVersionError,
)
from recollect.observability.logs import kind_of
from recollect.stores.checkpoint_threads import CheckpointThreads
from recollect.stores.sqlite.connections import LOCK_WAIT_S
from recollect.stores.sqlite.driver_errors import LOG
from recollect.stores.sqlite.engine import check_engine, version_of
from recollect.stores.sqlite.inherited_files import (
    OpenedFile,
    check_not_inherited,
    note_closed,
    note_opened,
)

_TABLES: Final = frozenset({"checkpoints", "writes"})
_OWNER_ONLY: Final = 0o600
_MARKS: Final = (1 << 31) - 1
"""Different marks of an erase: positive values of ``user_version``."""
_FAILURES: Final[dict[str, tuple[type[StoreError], str]]] = {
    "SQLITE_BUSY": (StoreUnavailableError, "another connection kept it locked: try again"),
    "SQLITE_LOCKED": (StoreUnavailableError, "another connection kept it locked: try again"),
    "SQLITE_FULL": (StoreFullError, "there is no room left: free some space, then try again"),
    "SQLITE_READONLY": (StoreReadOnlyError, "it may not be written: give this user the right"),
    "SQLITE_CANTOPEN": (StoreReadOnlyError, "it cannot be opened: give this user the right"),
    "SQLITE_CORRUPT": (StoreCorruptError, "it is damaged: restore it from a backup"),
    "SQLITE_NOTADB": (StoreCorruptError, "it is not a database: name another file"),
}
"""The error class and the advice by the beginning of SQLite's error name."""


class _CheckpointConnection(sqlite3.Connection):
    """A connection to a file that no forked child may open as long as this one is open."""

    opened: OpenedFile | None = None

    def close(self) -> None:
        """Close the connection, unless it is that of a parent process; idempotent."""
        if self.opened is not None and self.opened.process != os.getpid():
            return
        super().close()
        if self.opened is not None:
            note_closed(self.opened)


def connect(file: str, *, lock_wait_s: float = LOCK_WAIT_S) -> sqlite3.Connection:
    """
    Open the checkpoint file; a missing one is created, readable by its owner only.

    The connection may be used by several threads, one at a time.

    Raises:
        StoreClosedError: The parent of this process had the file open at the fork.
        StoreError: The folder does not exist, or SQLite failed; the class tells why.
    """
    if not Path(file).parent.is_dir():
        msg = f"there is no folder {str(Path(file).parent)!r}: make it, then open it again"
        raise StoreError(msg)
    # Create it first: SQLite would make it readable by all, and the log and its index with it.
    with suppress(FileExistsError):
        os.close(os.open(file, os.O_CREAT | os.O_EXCL | os.O_WRONLY, _OWNER_ONLY))
    check_not_inherited(file)
    with saver_errors(file):
        connection = _opened(file, lock_wait_s)
        try:
            connection.execute("PRAGMA secure_delete = ON")  # deleted rows become zeros
            connection.execute("PRAGMA synchronous = FULL")  # an erase survives a power loss
            connection.execute("PRAGMA trusted_schema = OFF")
            _use_journal(connection, "wal" if _is_fit(sqlite3.sqlite_version) else "truncate")
        except BaseException:
            connection.close()
            raise
    return connection


def _opened(file: str, lock_wait_s: float) -> sqlite3.Connection:
    # Noted first: another thread may fork while SQLite opens the file.
    opened = note_opened(file)
    try:
        connection = sqlite3.connect(
            file, timeout=lock_wait_s, check_same_thread=False, factory=_CheckpointConnection
        )
    except BaseException:
        note_closed(opened)
        raise
    connection.opened = opened
    # A connection that is collected without being closed is closed by then.
    finalize(connection, note_closed, opened).atexit = False
    return connection


def erase_checkpoints(
    file: str, threads: CheckpointThreads, *, lock_wait_s: float = LOCK_WAIT_S
) -> None:
    """
    Erase all checkpoints and writes of *threads*, in one transaction; without a file, nothing.

    Raises:
        StoreUnavailableError: Another connection kept it locked; nothing was erased.
        StoreError: SQLite failed; nothing was erased.
    """
    if not threads or not Path(file).exists():
        return
    with saver_errors(file), closing(connect(file, lock_wait_s=lock_wait_s)) as connection:
        connection.isolation_level = None
        connection.execute("BEGIN IMMEDIATE")
        gone = sum(_erase_from(connection, each, threads) for each in _tables(connection))
        if gone:
            # A random mark per erase: a cleaning that began before this one does not clear it.
            connection.execute(f"PRAGMA user_version = {1 + randbelow(_MARKS)}")
        connection.execute("COMMIT")


def thread_ids(file: str, *, lock_wait_s: float = LOCK_WAIT_S) -> list[str]:
    """
    Return the thread ids of all checkpoints and writes; none without a file.

    Raises:
        StoreError: SQLite failed; the class tells why.
    """
    if not Path(file).exists():
        return []
    with saver_errors(file), closing(connect(file, lock_wait_s=lock_wait_s)) as connection:
        found: set[str] = set()
        for table in _tables(connection):
            statement = f"SELECT DISTINCT thread_id FROM {table}"  # noqa: S608 (one of our two names)
            found |= {id_ for (id_,) in connection.execute(statement).fetchall()}
    return sorted(found)


def remove_erased_bytes(file: str, *, lock_wait_s: float = LOCK_WAIT_S) -> None:
    """
    Rewrite the file and truncate its log, if anything was erased since the last cleaning.

    Raises:
        StoreUnavailableError: Another connection kept the file or its log in use.
        StoreError: SQLite failed; a later call tries again.
    """
    if not Path(file).exists():
        return
    with saver_errors(file), closing(connect(file, lock_wait_s=lock_wait_s)) as connection:
        connection.isolation_level = None
        mark = _mark(connection)
        if not mark:
            return
        connection.execute("VACUUM")
        _truncate_log(connection, file)
        connection.execute("BEGIN IMMEDIATE")
        # Another mark is that of a later erase, whose bytes may still be there.
        if _mark(connection) == mark:
            connection.execute("PRAGMA user_version = 0")
        connection.execute("COMMIT")


@contextmanager
def saver_errors(file: str) -> Iterator[None]:
    """Translate every error of the driver into one of ours, with the original as its cause."""
    try:
        yield
    except sqlite3.Error as error:
        name = getattr(error, "sqlite_errorname", "")
        ours, advice = StoreError, "SQLite failed: look into the system's log, then try again"
        for known, failure in _FAILURES.items():
            if name.startswith(known):
                ours, advice = failure
        raise ours(f"{file!r}: {advice} ({type(error).__name__}: {error})") from error


def _is_fit(version: str) -> bool:
    try:
        check_engine(version_of(version))
    except StoreVersionError:
        return False
    return True


def _use_journal(connection: sqlite3.Connection, wanted: str) -> None:
    """Switch to the journal mode *wanted*, unless the file is in use with another one."""
    try:
        ((mode,),) = connection.execute("PRAGMA journal_mode").fetchall()
        # WAL is a property of the file, the other modes are one of each connection.
        if wanted == "truncate" or mode != wanted:
            connection.execute(f"PRAGMA journal_mode = {wanted}").fetchall()
    except sqlite3.OperationalError as error:
        LOG.debug("the checkpoint file keeps its journal mode: %s", kind_of(error))


def _tables(connection: sqlite3.Connection) -> list[str]:
    found = connection.execute("SELECT name FROM sqlite_schema WHERE type = 'table'").fetchall()
    return sorted(_TABLES & {name for (name,) in found})


def _erase_from(connection: sqlite3.Connection, table: str, threads: CheckpointThreads) -> int:
    gone = 0
    for thread_id in threads.ids:
        statement = f"DELETE FROM {table} WHERE thread_id = ?"  # noqa: S608 (one of our two names)
        gone += connection.execute(statement, (thread_id,)).rowcount
    if threads.prefix is not None:
        # A range, which the table's key serves: up to the prefix with its last character raised.
        end = threads.prefix[:-1] + chr(ord(threads.prefix[-1]) + 1)
        statement = f"DELETE FROM {table} WHERE thread_id >= ? AND thread_id < ?"  # noqa: S608
        gone += connection.execute(statement, (threads.prefix, end)).rowcount
    return gone


def _mark(connection: sqlite3.Connection) -> int:
    ((mark,),) = connection.execute("PRAGMA user_version").fetchall()
    return int(mark)


def _truncate_log(connection: sqlite3.Connection, file: str) -> None:
    ((is_busy, _, _),) = connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
    if is_busy:
        msg = f"{file!r}: another connection reads from its log: clean again later"
        raise StoreUnavailableError(msg)
