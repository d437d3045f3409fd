"""
Erase the checkpoints of graphs that LangGraph's saver keeps in the same database.

They contain copies of the conversation, so every erase covers them as well. The saver creates its
tables in the first schema of the user's search path.
"""

from __future__ import annotations

from typing import Final

from psycopg import sql

from recollect.errors import StoreReadOnlyError
from recollect.stores.checkpoint_threads import CheckpointThreads
from recollect.stores.postgres.connections import close_quietly, connect
from recollect.stores.postgres.driver_errors import store_errors
from recollect.stores.postgres.location import PostgresLocation
from recollect.stores.postgres.transaction import Connection

# One such name may be another application's table; all four together are the saver's.
_TABLES: Final = (
    "checkpoint_migrations",
    "checkpoints",
    "checkpoint_blobs",
    "checkpoint_writes",
)
_FIND: Final = "SELECT to_regclass(name)::text FROM unnest(%s::text[]) AS given (name)"
_IDS: Final = sql.SQL("SELECT DISTINCT thread_id FROM ")
_DELETE: Final = sql.SQL("DELETE FROM ")
_COPIES: Final = sql.SQL(" WHERE thread_id = ANY(%(ids)s) OR starts_with(thread_id, %(prefix)s)")
_REWRITE: Final = sql.SQL("VACUUM (FULL) ")
_MAY_REWRITE: Final = (
    "SELECT bool_and(pg_has_role(current_user, relowner, 'USAGE')) FROM pg_class "
    "WHERE oid = ANY(%s::regclass[])"
)


def erase_checkpoints(location: PostgresLocation, threads: CheckpointThreads) -> None:
    """
    Erase all checkpoints, writes and blobs of *threads*, in one transaction.

    Do nothing in a database without the saver's tables.

    Raises:
        StoreReadOnlyError: The user may not delete there; nothing was erased.
        StoreError: PostgreSQL failed; nothing was erased.
    """
    with store_errors(location.name):
        connection = connect(location)
        try:
            connection.answer_s = location.answer_s
            tables = _tables(connection)
            if not tables:
                return
            given = {"ids": list(threads.ids), "prefix": threads.prefix}
            statement_s, lock_s, _ = location.limits()
            with connection.transaction():
                connection.execute(
                    "SELECT set_config('statement_timeout', %s, true), "
                    "set_config('lock_timeout', %s, true)",
                    (statement_s, lock_s),
                )
                for table in tables:
                    connection.execute(_DELETE + sql.Identifier(table) + _COPIES, given)
        finally:
            close_quietly(connection)


def thread_ids(location: PostgresLocation) -> list[str]:
    """
    Return the thread ids of all checkpoints; none without the saver's tables.

    Raises:
        StoreError: PostgreSQL failed.
    """
    with store_errors(location.name):
        connection = connect(location)
        try:
            connection.answer_s = location.answer_s
            found: set[str] = set()
            for table in _tables(connection):
                rows = connection.execute(_IDS + sql.Identifier(table)).fetchall()
                found |= {id_ for (id_,) in rows}
        finally:
            close_quietly(connection)
    return sorted(found)


def rewrite_checkpoints(connection: Connection, location: PostgresLocation) -> None:
    """
    Rewrite the checkpoint tables, if there are any, so that erased bytes leave their files.

    Raises:
        StoreReadOnlyError: The user does not own the tables.
        psycopg.Error: PostgreSQL failed; tables rewritten before stay rewritten.
    """
    tables = _tables(connection)
    if not tables:
        return
    ((may_rewrite,),) = connection.execute(_MAY_REWRITE, (tables,)).fetchall()
    if not may_rewrite:
        raise StoreReadOnlyError(
            f"{location.name}: the user {connection.info.user!r} does not own the tables of the "
            "checkpoints, and only their owner can write them anew: clean as the owner"
        )
    for table in tables:
        connection.execute(_REWRITE + sql.Identifier(table))


def _tables(connection: Connection) -> list[str]:
    """Return the saver's tables that hold copies; none if this database lacks them."""
    found = [name for (name,) in connection.execute(_FIND, (list(_TABLES),)).fetchall()]
    return found[1:] if all(found) else []
