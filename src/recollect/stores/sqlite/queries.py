"""Run the named queries of one SQLite transaction, and notice rows that a damaged page lost."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from types import MappingProxyType
from typing import Final, TypeAlias, TypeVar

import apsw

from recollect.stores.sqlite.checksums import DamagedRowError, Stored
from recollect.stores.sqlite.statements import QUERIES

Bound: TypeAlias = tuple[object, ...]
"""The values of a statement's parameters, in order."""

RowT = TypeVar("RowT")

_COUNTS: Final = MappingProxyType(
    {
        "message": "message_count",
        "memory": "memory_count",
        "side_record": "side_record_count",
    }
)


class SQLiteQueries:
    """The queries of one transaction on a connection."""

    def __init__(self, connection: apsw.Connection) -> None:
        self._connection = connection
        self._open: set[apsw.Cursor] = set()

    def close(self) -> None:
        """Close unfinished iterations: they would keep the transaction open."""
        while self._open:
            self._open.pop().close(force=True)

    def _counted(self, table: str, scope_id: int, found: Iterator[RowT]) -> Iterator[RowT]:
        """Yield all rows of a scope; raise at the end if another index lists more or fewer."""
        count = 0
        for row in found:
            count += 1
            yield row
        self._check_count(table, scope_id, count)

    def _check_count(self, table: str, scope_id: int, count: int) -> None:
        """
        Raise if the number of rows read differs from the number that the index of uids lists.

        A page that lost rows, or is an older version of itself, can be read without an error.
        """
        ((listed,),) = self._all(_COUNTS[table], (scope_id,))
        if listed != count:
            raise DamagedRowError(
                f"{count} rows of the table {table} with scope_id {scope_id} were read, but its "
                f"index of uids lists {listed}"
            )

    def _all(self, name: str, values: Bound) -> list[Stored]:
        return self._connection.execute(QUERIES[name], values).fetchall()

    def _of(self, name: str, scope_id: int, *values: object) -> list[Stored]:
        return self._all(name, (scope_id, *values))

    def _first(self, name: str, values: Bound) -> Stored | None:
        return self._connection.execute(QUERIES[name], values).fetchone()

    def _one(self, name: str, values: Bound) -> Stored:
        found = self._all(name, values)
        if len(found) != 1:
            raise DamagedRowError(f"the query {name!r} returned {len(found)} rows where one exists")
        return found[0]

    def _found(self, name: str, keys: Sequence[Bound]) -> Iterator[Stored]:
        # One look-up per key costs less than a list bound as JSON, and compares keys exactly.
        return iter(self._connection.executemany(QUERIES[name], keys).fetchall())

    def _each(self, name: str, values: Bound) -> Iterator[Stored]:
        """Yield rows as they are read; the cursor is closed with the iteration or by `close`."""
        cursor = self._connection.execute(QUERIES[name], values)
        self._open.add(cursor)
        try:
            yield from cursor
        finally:
            self._open.discard(cursor)
            cursor.close(force=True)
