"""
Remove erased bytes from the files of tables and indexes.

A deleted row stays in its page until ``VACUUM`` removes it, and its bytes stay in free space until
they are overwritten. So every table or partition is rewritten, one after the other, and the old
files are removed. This does not reach the write-ahead log (`docs/decisions/0011-postgresql.md`).
"""

from __future__ import annotations

from psycopg import sql

from recollect.errors import StoreReadOnlyError
from recollect.stores.postgres.checkpoints import rewrite_checkpoints
from recollect.stores.postgres.connections import close_quietly, connect
from recollect.stores.postgres.driver_errors import store_errors
from recollect.stores.postgres.location import PostgresLocation
from recollect.stores.postgres.statements import SESSION

_REWRITE = sql.SQL("VACUUM (FULL) recollect.")


def remove_deleted_bytes(location: PostgresLocation) -> None:
    """
    Rewrite every table, the checkpoint tables of graphs included; lock one at a time.

    Raises:
        StoreReadOnlyError: The user does not own the tables.
        StoreError: PostgreSQL failed; tables rewritten before stay rewritten.
    """
    with store_errors(location.name):
        connection = connect(location)
        try:
            ((may_rewrite,),) = connection.execute(SESSION["may_rewrite"]).fetchall()
            if not may_rewrite:
                user = connection.info.user
                raise StoreReadOnlyError(
                    f"{location.name}: the user {user!r} does not own the tables, and only their "
                    "owner can write them anew: clean as the owner"
                )
            for (table,) in connection.execute(SESSION["tables"]).fetchall():
                connection.execute(_REWRITE + sql.Identifier(table))
            rewrite_checkpoints(connection, location)
        finally:
            close_quietly(connection)
