"""LangGraph's PostgreSQL saver with its own pool and the additions of `CompleteSaver`."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Final

import psycopg
from langgraph.checkpoint.postgres import PostgresSaver
from langgraph.checkpoint.serde.base import SerializerProtocol
from psycopg import sql
from psycopg.rows import DictRow, dict_row
from psycopg_pool import ConnectionPool, PoolTimeout

from recollect.errors import StoreClosedError, StoreUnavailableError
from recollect.integrations.langgraph.saver_base import (
    CLOSED,
    CompleteSaver,
    check_copy,
    checked_prune,
    delta_refused,
)

CONNECTIONS_MAX: Final = 2
OPEN_S: Final = 30.0
"""How long opening waits for the server, and for another process that creates the tables."""
_LOOK_AGAIN_S: Final = 0.05
_LOCK: Final = 3_264_110_784_551_392
"""The advisory lock of table creation, an arbitrary number."""
_COPIED: Final = {
    "checkpoints": "checkpoint_ns, checkpoint_id, parent_checkpoint_id, type, checkpoint, metadata",
    "checkpoint_blobs": "checkpoint_ns, channel, version, type, blob",
    "checkpoint_writes": "checkpoint_ns, checkpoint_id, task_id, idx, channel, type, blob, "
    "task_path",
}
_OF_RUNS: Final = """
    SELECT thread_id, checkpoint_ns, checkpoint_id FROM checkpoints
    WHERE metadata ->> 'run_id' = ANY(%(runs)s)
"""
# Threads in which a checkpoint with a delta channel stays while its parent, which it needs to be
# read, would be deleted.
_CUT_OFF: Final = """
    SELECT DISTINCT c.thread_id FROM checkpoints AS c
    JOIN checkpoints AS parent ON parent.thread_id = c.thread_id
        AND parent.checkpoint_ns = c.checkpoint_ns
        AND parent.checkpoint_id = c.parent_checkpoint_id
    WHERE c.metadata ? 'counters_since_delta_snapshot'
        AND parent.metadata ->> 'run_id' = ANY(%(runs)s)
        AND (c.metadata ->> 'run_id' = ANY(%(runs)s)) IS NOT TRUE
"""
_DELETE_RUNS: Final = f"""
    WITH going AS MATERIALIZED ({_OF_RUNS}), cleared AS (
        DELETE FROM checkpoint_writes AS w USING going AS g
        WHERE (w.thread_id, w.checkpoint_ns, w.checkpoint_id)
            = (g.thread_id, g.checkpoint_ns, g.checkpoint_id)
    ), orphaned AS (
        UPDATE checkpoints AS c SET parent_checkpoint_id = NULL FROM going AS g
        WHERE (c.thread_id, c.checkpoint_ns, c.parent_checkpoint_id)
            = (g.thread_id, g.checkpoint_ns, g.checkpoint_id)
            AND (c.metadata ->> 'run_id' = ANY(%(runs)s)) IS NOT TRUE
    )
    DELETE FROM checkpoints AS c USING going AS g
    WHERE (c.thread_id, c.checkpoint_ns, c.checkpoint_id)
        = (g.thread_id, g.checkpoint_ns, g.checkpoint_id)
    RETURNING c.thread_id
"""  # noqa: S608 (what is given is bound)
_UNUSED_BLOBS: Final = """
    DELETE FROM checkpoint_blobs AS b
    WHERE b.thread_id = ANY(%(threads)s) AND NOT EXISTS (
        SELECT 1 FROM checkpoints AS c
        WHERE c.thread_id = b.thread_id AND c.checkpoint_ns = b.checkpoint_ns
            AND c.checkpoint -> 'channel_versions' ->> b.channel = b.version
    )
"""
_HAS_ANY: Final = "SELECT 1 FROM checkpoints WHERE thread_id = %s LIMIT 1"


class PostgresCheckpoints(CompleteSaver, PostgresSaver):
    """LangGraph's `PostgresSaver` with its own connection pool and all methods implemented."""

    def __init__(self, parameters: Mapping[str, object], serde: SerializerProtocol) -> None:
        """
        Open the database, and create or migrate LangGraph's tables.

        Raises:
            StoreUnavailableError: The server did not answer in time.
        """
        # No prepared statements: a pooler in transaction mode would lose them.
        kept = {"autocommit": True, "prepare_threshold": None, "row_factory": dict_row}
        self._pool: ConnectionPool[psycopg.Connection[DictRow]] = ConnectionPool(
            kwargs={**parameters, **kept},
            min_size=1,
            max_size=CONNECTIONS_MAX,
            check=ConnectionPool.check_connection,
            open=False,
        )
        super().__init__(self._pool, serde=serde)
        self._process = os.getpid()
        try:
            self._pool.open(wait=True, timeout=OPEN_S)
            with self._pool.connection() as connection, _alone(connection):
                self.setup()
        except PoolTimeout as error:
            self.close()
            msg = f"the server of the checkpoints did not answer for {OPEN_S:g} s: try again"
            raise StoreUnavailableError(msg) from error
        except BaseException:
            self.close()
            raise

    def close(self) -> None:
        """Close the connections; repeated calls do nothing, nor does one in a forked child."""
        # A child shares the sockets: closing them would end the sessions of its parent.
        if not self.is_inherited:
            self._pool.close()

    def prune(self, thread_ids: Sequence[str], *, strategy: str = "keep_latest") -> None:
        """Prune like LangGraph's saver, after validating threads and strategy as on SQLite."""
        super().prune(checked_prune(thread_ids, strategy), strategy=strategy)

    @contextmanager
    def _cursor(self, *, pipeline: bool = False) -> Iterator[psycopg.Cursor[DictRow]]:
        self.check_process()
        if self._pool.closed:
            raise StoreClosedError(CLOSED)
        with super()._cursor(pipeline=pipeline) as cursor:
            yield cursor

    def _copy_thread(self, source: str, target: str) -> None:
        with self._cursor() as cursor, cursor.connection.transaction():
            # Serialise copies to one target, so that two cannot both find it empty.
            cursor.execute("SELECT pg_advisory_xact_lock(hashtextextended(%s, 0))", (target,))
            found = [
                each for each in (source, target) if cursor.execute(_HAS_ANY, (each,)).fetchone()
            ]
            check_copy(source, target, found)
            for table, columns in _COPIED.items():
                statement = (
                    f"INSERT INTO {table} (thread_id, {columns}) "  # noqa: S608 (our own names)
                    f"SELECT %s, {columns} FROM {table} WHERE thread_id = %s"
                )
                cursor.execute(sql.SQL(statement), (target, source))

    def _delete_for_runs(self, run_ids: Sequence[str]) -> None:
        runs = {"runs": list(run_ids)}
        with self._cursor() as cursor, cursor.connection.transaction():
            cut_off = cursor.execute(_CUT_OFF, runs).fetchall()
            if cut_off:
                raise delta_refused([row["thread_id"] for row in cut_off])
            gone = cursor.execute(_DELETE_RUNS, runs).fetchall()
            threads = sorted({row["thread_id"] for row in gone})
            cursor.execute(_UNUSED_BLOBS, {"threads": threads})


@contextmanager
def _alone(connection: psycopg.Connection[DictRow]) -> Iterator[None]:
    """
    Hold the lock of table creation, so that two processes do not create the same tables.

    It polls for the lock instead of waiting in a statement: ``CREATE INDEX CONCURRENTLY`` waits for
    all running statements, so a waiting one would deadlock with it.
    """
    until = time.monotonic() + OPEN_S
    while True:
        row = connection.execute("SELECT pg_try_advisory_lock(%s) AS ours", (_LOCK,)).fetchone()
        if row and row["ours"]:
            break
        if time.monotonic() > until:
            raise StoreUnavailableError(
                f"another process has been creating the checkpoints' tables for {OPEN_S:g} s: "
                "try again"
            )
        time.sleep(_LOOK_AGAIN_S)
    try:
        yield
    finally:
        connection.execute("SELECT pg_advisory_unlock(%s)", (_LOCK,))
