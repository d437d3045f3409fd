"""A snapshot that presumes that nothing has changed, and checks it in the trip for the entries."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TypeVar

from recollect.records import JsonObject, Scope
from recollect.stores.plans.changes import Entry
from recollect.stores.plans.snapshot import SnapshotQuery, StoreSnapshot, checked_cursor
from recollect.stores.postgres.rows import PostgresRows
from recollect.stores.postgres.scope_guesses import KnownScopes
from recollect.stores.postgres.transaction import TransactionOverError
from recollect.stores.rows import Cursor, Feed, Place

ResultT = TypeVar("ResultT")


class PresumedSnapshot(StoreSnapshot):
    """
    A snapshot whose feeds are empty where this process last saw the scopes at the cursors.

    Every answer of the database is a trip. So the scopes' rows are fetched together with the
    entries that the reader then asks for, which ends the transaction. Where the presumption was
    wrong, or something else is asked for, `TransactionOverError` is raised: the query has to be
    run again, on a snapshot that presumes nothing.
    """

    def __init__(self, rows: PostgresRows, now: int, known: KnownScopes) -> None:
        super().__init__(rows, now)
        self._postgres_rows = rows
        self._known = known
        self._ids: Mapping[Scope, int] | None = None
        self._presumed: Sequence[Cursor] = ()

    def feeds(
        self,
        cursors: Sequence[Cursor],
        *,
        embedder: str | None = None,
        filter_: JsonObject | None = None,
        in_blocks: bool = False,
    ) -> list[Feed]:
        """Return empty feeds where all of the scopes are presumed to be unchanged."""
        cursors = [checked_cursor(each) for each in cursors]
        if filter_ is None and cursors and self._ids is None:
            self._ids = self._known.unchanged(cursors)
            if self._ids is not None:
                self._presumed = cursors
                return [unchanged_feed(each, self.now) for each in cursors]
        return super().feeds(cursors, embedder=embedder, filter_=filter_, in_blocks=in_blocks)

    def entries(
        self, places: Sequence[Place], *, are_memories: bool = False, are_indexed: bool = False
    ) -> list[Entry]:
        """Return the entries, and check by the way what was presumed."""
        self.check_presumed(places)
        return super().entries(places, are_memories=are_memories, are_indexed=are_indexed)

    def check_presumed(self, places: Sequence[Place] = ()) -> None:
        """
        Fetch the scopes' rows with the entries at *places*, unless nothing waits to be checked.

        Raises:
            TransactionOverError: A scope has changed, or one of *places* is in none of them.
        """
        presumed, self._presumed = self._presumed, ()
        if not presumed or self._ids is None:
            return
        uids: dict[Scope, list[int]] = {each.scope: [] for each in presumed}
        for scope, uid in places:
            if scope not in uids:
                raise TransactionOverError
            uids[scope].append(uid)
        self._postgres_rows.foresee(self._ids, uids)
        for each in presumed:
            row = self._postgres_rows.scope(each.scope)
            if row is None or (row.epoch, row.seq) != (each.epoch, each.seq):
                raise TransactionOverError


def read_presuming(
    rows: PostgresRows, query: SnapshotQuery[ResultT], now: int, known: KnownScopes
) -> ResultT:
    """
    Run *query* on a `PresumedSnapshot`.

    Raises:
        TransactionOverError: What was presumed is not so: run it on another snapshot.
    """
    snapshot = PresumedSnapshot(rows, now, known)
    result = query(snapshot)
    snapshot.check_presumed()
    return result


def unchanged_feed(cursor: Cursor, now: int) -> Feed:
    """Return the feed of a scope in which nothing has changed since *cursor*."""
    return Feed(
        scope=cursor.scope,
        now=now,
        seq=cursor.seq,
        epoch=cursor.epoch,
        reset=False,
        entries=(),
        removed=(),
    )
