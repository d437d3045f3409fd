"""Store contract: the change feed, and the vectors that follow it."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from functools import partial
from typing import TypeVar, final

from recollect.records import JsonObject, Scope
from recollect.stores.change_feed import Cursor, Feed, ReadOrigin, StaleBound
from recollect.stores.contract.backend import Transactor
from recollect.stores.filters import read_filter
from recollect.stores.plans.changes import Entry, read_feed, read_past, read_places
from recollect.stores.plans.embedding_backlog import (
    Embedded,
    Unembedded,
    plan_embedded,
    read_backlog,
    read_unembedded,
)
from recollect.stores.plans.snapshot import SnapshotQuery, checked_cursor
from recollect.stores.validation import check_scope, check_stale_s, check_time

ResultT = TypeVar("ResultT")


class FeedStore(Transactor):
    """The change feed of scopes, and the vectors of their entries."""

    @final
    async def changes(self, cursor: Cursor, *, embedder: str | None = None) -> Feed:
        """Return each entry changed since *cursor* once, in its current state; see `Feed`."""
        cursor, now = checked_cursor(cursor), self.now()
        query = partial(read_feed, cursor=cursor, embedder=embedder, conditions=None, now=now)
        return await self._read(query)

    @final
    async def places(self, scopes: Sequence[Scope]) -> list[Cursor]:
        """
        Return the current feed cursors of *scopes*, in order, read at one point in time.

        A reader at that cursor is up to date. The cursor of an empty scope is at 0.
        """
        scopes = [check_scope(each) for each in scopes]
        return await self._read(partial(read_places, scopes=scopes))

    @final
    async def read(self, query: SnapshotQuery[ResultT]) -> ResultT:
        """
        Run *query* on the store as it is at one moment, in one read transaction.

        It sees every write acknowledged before. It may be run more than once; what the last run
        returns counts. It runs on the store's thread, and must not block.
        """
        return await self._read_snapshot(query, self.now())

    @final
    async def read_stale(
        self, query: SnapshotQuery[ResultT], cursors: Sequence[Cursor], *, stale_s_max: float
    ) -> tuple[ResultT, ReadOrigin]:
        """
        Run *query* as `read` does, but on a read replica if one is fresh enough.

        A replica answers only if it lacks no change of the scopes of *cursors* that is older than
        *stale_s_max* seconds, no erase in them at all, and nothing that a reader at *cursors* has
        read already. Otherwise, and where there are no replicas, the primary answers. *query* must
        read no other scopes.
        """
        cursors = [checked_cursor(each) for each in cursors]
        bound = StaleBound(cursors, check_stale_s(stale_s_max))
        return await self._read_stale(query, self.now(), bound)

    @final
    async def past(
        self, scope: Scope, known_at: datetime, *, filter_: JsonObject | None = None
    ) -> tuple[Feed, list[Entry]]:
        """Return all entries of a scope as they were believed at *known_at*."""
        conditions = None if filter_ is None else read_filter(filter_)
        at = check_time(known_at, "known_at")
        query = partial(
            read_past, scope=check_scope(scope), at=at, conditions=conditions, now=self.now()
        )
        return await self._read(query)

    @final
    async def unembedded_scopes(self, embedder: str, limit: int = 100) -> Sequence[int]:
        """Return ids of scopes with changes that the embedder has not processed."""
        return await self._read(lambda rows: rows.unembedded_scopes(embedder, limit))

    @final
    async def unembedded_count(self, embedder: str, *, limit: int = 1_000) -> int:
        """Return how many entries the embedder has not processed, counted up to *limit*."""
        return await self._read(partial(read_backlog, embedder=embedder, limit=limit))

    @final
    async def scope_id(self, scope: Scope) -> int | None:
        """Return the id of a scope, ``None`` if it is empty."""
        scope = check_scope(scope)
        found = await self._read(lambda rows: rows.scope(scope))
        return found.id if found else None

    @final
    async def unembedded(self, scope_id: int, embedder: str) -> Unembedded | None:
        """Return the next entries of a scope to embed, ``None`` if there are none."""
        return await self._read(partial(read_unembedded, scope_id=scope_id, embedder=embedder))

    @final
    async def keep_vectors(self, batch: Unembedded, embedder: str, done: Sequence[Embedded]) -> int:
        """Store vectors of a batch for texts that have not changed; return how many."""
        plan = partial(
            plan_embedded,
            scope_id=batch.scope_id,
            embedder=embedder,
            done=done,
            until=batch.until,
        )
        return await self._transact(plan)
