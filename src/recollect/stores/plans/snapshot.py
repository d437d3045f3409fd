"""A snapshot of a store: scopes, feeds and entries as one read transaction sees them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TypeAlias, TypeVar

from recollect.records import JsonObject, Memory, Scope
from recollect.stores.change_feed import Cursor, Feed, IndexFile, MemorySummaries, ReadMoment
from recollect.stores.filters import read_filter
from recollect.stores.plans.changes import (
    Below,
    Entry,
    cursors_of,
    read_chosen,
    read_feed,
    read_newest,
    read_summaries,
)
from recollect.stores.rows import Place
from recollect.stores.unit_of_work import Rows
from recollect.stores.validation import check_id, check_scope

ResultT = TypeVar("ResultT")


class StoreSnapshot:
    """
    A store as it was at one point in time; valid until its read transaction ends.

    It includes every write acknowledged before. Call its methods on the store's thread only.
    """

    def __init__(self, rows: Rows, now: int) -> None:
        self._rows = rows
        self.now = now
        """The store's time when the read began, in µs since 1970."""

    @property
    def moment(self) -> ReadMoment | None:
        """The name of this point in time; ``None`` if the store has no such names."""
        return self._rows.moment

    def scopes(self, below: Below) -> list[Scope]:
        """Return the scopes that *below* includes, each once, ordered by segments."""
        return [each.scope for each in self.cursors(below)]

    def cursors(self, below: Below) -> list[Cursor]:
        """Return the current feed cursor of each scope that *below* includes, as `scopes` does."""
        scopes = tuple(check_scope(each) for each in below.scopes)
        if below.type is not None:
            check_id(below.type, "a memory's type")
        return cursors_of(self._rows, replace(below, scopes=scopes), self.now)

    def feeds(
        self,
        cursors: Sequence[Cursor],
        *,
        embedder: str | None = None,
        filter_: JsonObject | None = None,
        in_blocks: bool = False,
    ) -> list[Feed]:
        """
        Return the changes since each of *cursors*, in order; see `Feed`.

        Args:
            embedder: Include the vectors of this embedder.
            filter_: Set ``Feed.eligible`` to the entries that match.
            in_blocks: A feed from the start may have its entries in ``Feed.blocks``.
        """
        conditions = None if filter_ is None else read_filter(filter_)
        return [
            read_feed(
                self._rows,
                checked_cursor(each),
                embedder=embedder,
                conditions=conditions,
                now=self.now,
                in_blocks=in_blocks,
            )
            for each in cursors
        ]

    def index_files(self, scope: Scope) -> Sequence[IndexFile]:
        """
        Return the index files of *scope*, in any order; none if the store keeps no such files.

        Each was up to date when it was written: read later changes from `feeds` at its cursor.
        """
        del scope
        return ()

    def summaries(self, scope: Scope) -> tuple[Cursor, MemorySummaries]:
        """Return all memories of *scope* for a listing, and the feed cursor they are current at."""
        return read_summaries(self._rows, check_scope(scope))

    def newest(self, scope: Scope, *, limit: int) -> list[Memory]:
        """Return the newest memories of *scope*; see `read_newest`."""
        return read_newest(self._rows, check_scope(scope), limit=limit, now=self.now)

    def entries(
        self,
        places: Sequence[Place],
        *,
        are_memories: bool = False,
        are_indexed: bool = False,
    ) -> list[Entry]:
        """
        Return the entries at *places* that exist, in the order given.

        Args:
            places: The (scope, uid) of each.
            are_memories: Look for memories first; messages are found as well.
            are_indexed: The feeds of this snapshot list all of them.

        Raises:
            StoreCorruptError: *are_indexed* is set, and one is missing.
        """
        checked = {scope: check_scope(scope) for scope in {scope for scope, _ in places}}
        return read_chosen(
            self._rows,
            [(checked[scope], uid) for scope, uid in places],
            self.now,
            are_memories=are_memories,
            are_indexed=are_indexed,
        )


SnapshotQuery: TypeAlias = Callable[[StoreSnapshot], ResultT]
"""
A function that reads a snapshot and returns a result; it must not block.

It may be run more than once, each time on a later snapshot: only the last result counts.
"""


def checked_cursor(cursor: Cursor) -> Cursor:
    """Return *cursor* with its scope validated and in stored form."""
    scope = check_scope(cursor.scope)
    return cursor if scope is cursor.scope else replace(cursor, scope=scope)
