"""An optimistic snapshot: it presumes unchanged scopes, and checks that as entries are fetched."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TypeVar

from recollect.records import JsonObject, Scope
from recollect.stores.change_feed import Cursor, Feed
from recollect.stores.plans.changes import Entry
from recollect.stores.plans.snapshot import SnapshotQuery, StoreSnapshot, checked_cursor
from recollect.stores.postgres.rows import PostgresRows
from recollect.stores.postgres.scope_guesses import KnownScopes
from recollect.stores.postgres.transaction import TransactionOverError
from recollect.stores.rows import Place

ResultT = TypeVar("ResultT")


class PresumedSnapshot(StoreSnapshot):
    """
    A snapshot that returns empty feeds for scopes that this process last saw at the cursors.

    It saves a round trip: the scopes' rows are fetched together with the entries that the reader
    asks for next, which ends the transaction. If a scope has changed, or anything else is read,
    `TransactionOverError` is raised, and the query has to run again on a `StoreSnapshot`.
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
        """Return empty feeds if all scopes are presumed unchanged, otherwise read them."""
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
        """Return the entries, and check in the same round trip that the scopes are unchanged."""
        self.check_presumed(places)
        return super().entries(places, are_memories=are_memories, are_indexed=are_indexed)

    def check_presumed(self, places: Sequence[Place] = ()) -> None:
        """
        Fetch the presumed scopes' rows and the entries at *places*, once.

        Raises:
            TransactionOverError: A scope has changed, or a place is in none of these scopes.
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
        TransactionOverError: A scope has changed: run *query* on a `StoreSnapshot`.
    """
    snapshot = PresumedSnapshot(rows, now, known)
    result = query(snapshot)
    snapshot.check_presumed()
    return result


def unchanged_feed(cursor: Cursor, now: int) -> Feed:
    """Return the empty feed of a scope that is unchanged since *cursor*."""
    return Feed(
        scope=cursor.scope,
        now=now,
        seq=cursor.seq,
        epoch=cursor.epoch,
        reset=False,
        entries=(),
        removed=(),
    )
