"""LangGraph's SQLite saver with the additions of `CompleteSaver`."""

from __future__ import annotations

import json
import os
import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Final

from langgraph.checkpoint.serde.base import SerializerProtocol
from langgraph.checkpoint.sqlite import SqliteSaver

from recollect.errors import StoreClosedError
from recollect.integrations.langgraph.saver_base import (
    CLOSED,
    CompleteSaver,
    check_copy,
    checked_prune,
    delta_refused,
)
from recollect.stores.checkpoint_threads import CheckpointThreads

_GIVEN: Final = "(SELECT value FROM json_each(?))"
_META: Final = "CAST(metadata AS TEXT)"
_DELTA: Final = f"json_type({_META}, '$.counters_since_delta_snapshot') IS NOT NULL"
_COPIED: Final = {
    "checkpoints": "checkpoint_ns, checkpoint_id, parent_checkpoint_id, type, checkpoint, metadata",
    "writes": "checkpoint_ns, checkpoint_id, task_id, task_path, idx, channel, type, value",
}
_MARK_RUNS: Final = f"""
    CREATE TEMP TABLE going AS SELECT thread_id, checkpoint_ns, checkpoint_id FROM checkpoints
    WHERE json_extract({_META}, '$.run_id') IN {_GIVEN}
"""  # noqa: S608 (what is given is bound)
# Threads in which a checkpoint with a delta channel stays while its parent, which it needs to be
# read, would be deleted.
_CUT_OFF: Final = f"""
    SELECT DISTINCT thread_id FROM checkpoints AS c
    WHERE {_DELTA} AND (thread_id, checkpoint_ns, parent_checkpoint_id) IN (
        SELECT thread_id, checkpoint_ns, checkpoint_id FROM temp.going
    ) AND (thread_id, checkpoint_ns, checkpoint_id) NOT IN (
        SELECT thread_id, checkpoint_ns, checkpoint_id FROM temp.going
    )
"""  # noqa: S608 (nothing is given)
_ORPHAN: Final = """
    UPDATE checkpoints SET parent_checkpoint_id = NULL
    WHERE (thread_id, checkpoint_ns, parent_checkpoint_id) IN (
        SELECT thread_id, checkpoint_ns, checkpoint_id FROM temp.going
    )
"""
_HEADS: Final = f"""
    SELECT checkpoint_ns, checkpoint_id, json_extract({_META}, '$.parents') FROM checkpoints AS c
    WHERE thread_id = ? AND checkpoint_id = (
        SELECT max(checkpoint_id) FROM checkpoints AS other
        WHERE other.thread_id = c.thread_id AND other.checkpoint_ns = c.checkpoint_ns
    )
"""  # noqa: S608 (what is given is bound)
_ROOTS: Final = "SELECT checkpoint_id FROM checkpoints WHERE thread_id = ? AND checkpoint_ns = ''"
_MARK_OLD: Final = """
    CREATE TEMP TABLE going AS SELECT thread_id, checkpoint_ns, checkpoint_id FROM checkpoints
    WHERE thread_id = ? AND (checkpoint_ns, checkpoint_id) NOT IN (
        SELECT json_extract(value, '$[0]'), json_extract(value, '$[1]') FROM json_each(?)
    )
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Head:
    """The newest checkpoint of a namespace; *root* is the calling graph's checkpoint, if any."""

    namespace: str
    checkpoint_id: str
    root: str | None


def heads_to_keep(heads: Sequence[Head], roots: frozenset[str]) -> list[Head]:
    """
    Return the heads that pruning keeps, one per live namespace.

    The namespace of one call of a subgraph (its name ends with a colon and the task's id) is
    pruned once the root checkpoint that the call started from is among *roots*, and not the newest.

    >>> main = Head(namespace="", checkpoint_id="2", root=None)
    >>> call = Head(namespace="sub:a", checkpoint_id="9", root="1")
    >>> [each.namespace for each in heads_to_keep([main, call], frozenset({"1", "2"}))]
    ['']
    """
    newest = {each.checkpoint_id for each in heads if not each.namespace}
    return [
        each
        for each in heads
        if ":" not in each.namespace or each.root not in roots or each.root in newest
    ]


class SQLiteCheckpoints(CompleteSaver, SqliteSaver):
    """LangGraph's `SqliteSaver` with all methods implemented; the caller closes *connection*."""

    def __init__(self, connection: sqlite3.Connection, serde: SerializerProtocol) -> None:
        super().__init__(connection, serde=serde)
        self._process = os.getpid()
        # LangGraph's setup changes the journal mode, which was chosen when the file was opened:
        # ignore that statement.
        connection.set_authorizer(_keep_journal)
        try:
            self.setup()
        finally:
            connection.set_authorizer(None)

    @contextmanager
    def cursor(self, transaction: bool = True) -> Iterator[sqlite3.Cursor]:  # noqa: FBT001, FBT002
        """
        Yield a cursor, as LangGraph's methods use it.

        Raises:
            StoreClosedError: The saver is closed, or was opened before a fork.
        """
        self._check_open()
        with super().cursor(transaction) as cursor:
            yield cursor

    def _check_open(self) -> None:
        self.check_process()
        try:
            _ = self.conn.total_changes
        except sqlite3.ProgrammingError as error:
            raise StoreClosedError(CLOSED) from error

    def erase(self, threads: CheckpointThreads) -> None:
        """Delete all checkpoints and writes of *threads*."""
        with self._transaction() as cursor:
            found = cursor.execute(
                "SELECT thread_id FROM checkpoints UNION SELECT thread_id FROM writes"
            )
            for thread_id in [each for (each,) in found.fetchall() if each in threads]:
                _delete_threads(cursor, [thread_id])

    def prune(self, thread_ids: Sequence[str], *, strategy: str = "keep_latest") -> None:
        """
        Delete all checkpoints of threads except the latest per namespace; with "delete", all.

        The latest ones keep their writes, and lose their parents. The namespace of a subgraph's
        call is deleted with the checkpoint that the call started from.

        Raises:
            NotImplementedError: A thread has a `DeltaChannel`, and the latest are to be kept;
                nothing is deleted.
        """
        threads = checked_prune(thread_ids, strategy)
        with self._transaction() as cursor:
            if strategy == "delete":
                _delete_threads(cursor, threads)
                return
            statement = (
                f"SELECT DISTINCT thread_id FROM checkpoints WHERE thread_id IN {_GIVEN} "  # noqa: S608
                f"AND {_DELTA}"
            )
            found = cursor.execute(statement, (json.dumps(threads),)).fetchall()
            if found:
                raise delta_refused([each for (each,) in found])
            for thread_id in threads:
                _keep_latest(cursor, thread_id)

    def _copy_thread(self, source: str, target: str) -> None:
        with self._transaction() as cursor:
            check_copy(source, target, [e for e in (source, target) if _has_any(cursor, e)])
            for table, columns in _COPIED.items():
                cursor.execute(
                    f"INSERT INTO {table} (thread_id, {columns}) "  # noqa: S608 (our own names)
                    f"SELECT ?, {columns} FROM {table} WHERE thread_id = ?",
                    (target, source),
                )

    def _delete_for_runs(self, run_ids: Sequence[str]) -> None:
        with self._transaction() as cursor:
            cursor.execute(_MARK_RUNS, (json.dumps(run_ids),))
            cut_off = cursor.execute(_CUT_OFF).fetchall()
            if cut_off:
                raise delta_refused([each for (each,) in cut_off])
            _delete_marked(cursor)

    @contextmanager
    def _transaction(self) -> Iterator[sqlite3.Cursor]:
        """Run a transaction: commit it, or roll it back on any error."""
        self._check_open()
        with self.lock:
            cursor = self.conn.cursor()
            cursor.execute("BEGIN IMMEDIATE")
            try:
                yield cursor
                self.conn.commit()
            except BaseException:
                self.conn.rollback()
                raise
            finally:
                cursor.close()


def _keep_journal(action: int, name: str | None, *_: str | None) -> int:
    is_switch = action == sqlite3.SQLITE_PRAGMA and name == "journal_mode"
    return sqlite3.SQLITE_IGNORE if is_switch else sqlite3.SQLITE_OK


def _has_any(cursor: sqlite3.Cursor, thread_id: str) -> bool:
    for table in _COPIED:
        statement = f"SELECT 1 FROM {table} WHERE thread_id = ? LIMIT 1"  # noqa: S608 (our names)
        if cursor.execute(statement, (thread_id,)).fetchone():
            return True
    return False


def _delete_threads(cursor: sqlite3.Cursor, threads: Sequence[str]) -> None:
    for table in _COPIED:
        statement = f"DELETE FROM {table} WHERE thread_id IN {_GIVEN}"  # noqa: S608 (our names)
        cursor.execute(statement, (json.dumps(threads),))


def _keep_latest(cursor: sqlite3.Cursor, thread_id: str) -> None:
    heads = [
        Head(namespace=namespace, checkpoint_id=id_, root=json.loads(parents or "{}").get(""))
        for namespace, id_, parents in cursor.execute(_HEADS, (thread_id,)).fetchall()
    ]
    roots = frozenset(id_ for (id_,) in cursor.execute(_ROOTS, (thread_id,)).fetchall())
    kept = [[each.namespace, each.checkpoint_id] for each in heads_to_keep(heads, roots)]
    cursor.execute(_MARK_OLD, (thread_id, json.dumps(kept)))
    _delete_marked(cursor)


def _delete_marked(cursor: sqlite3.Cursor) -> None:
    """Delete the checkpoints in the table ``temp.going``, and their writes."""
    cursor.execute(_ORPHAN)
    for table in _COPIED:
        cursor.execute(
            f"DELETE FROM {table} WHERE (thread_id, checkpoint_ns, checkpoint_id) IN "  # noqa: S608
            "(SELECT thread_id, checkpoint_ns, checkpoint_id FROM temp.going)"
        )
    cursor.execute("DROP TABLE temp.going")
