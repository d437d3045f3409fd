"""`GraphAccess`: read, follow and change the graph of a scope."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import datetime
from typing import Final, TypeVar

import anyio

from recollect.graph.graph_snapshot import GraphSnapshot
from recollect.graph.values import ENTITY_TYPE, FACT_TYPE
from recollect.memory.conflict_retries import retried
from recollect.memory.facade import Recollect
from recollect.memory.pagination import each_memory
from recollect.records import Memory, Scope, Write
from recollect.stores.change_feed import Feed
from recollect.stores.plans.changes import Entry
from recollect.stores.plans.erase_targets import EraseMemory, EraseReceipt
from recollect.stores.plans.snapshot import StoreSnapshot
from recollect.stores.validation import check_scope, check_time, to_datetime
from recollect.sync.object_home import AnyRecollect, Home

TRIES_MAX: Final = 8
"""Attempts of a change when concurrent writers come first."""

PlannedT = TypeVar("PlannedT")


class GraphAccess:
    """A snapshot of a scope's graph, kept current by its feed, and changes of the graph."""

    def __init__(self, memory: AnyRecollect, scope: Scope) -> None:
        self.home = Home(memory)
        self.scope = check_scope(scope)
        self._view = GraphSnapshot(self.scope)
        self._turn = anyio.Lock()

    async def read(self, memory: Recollect) -> GraphSnapshot:
        """
        Return the current graph.

        Use it before the next await: another task's read updates the same snapshot.
        """
        async with self._turn:
            feed, entries = await memory.store.read(self._read_changes)
            self._view.follow(feed, entries)
            return self._view

    def _read_changes(self, snapshot: StoreSnapshot) -> tuple[Feed, list[Entry]]:
        """Return the changes since the last read, with the changed facts and entities."""
        (feed,) = snapshot.feeds([self._view.cursor])
        places = [
            (self.scope, each.uid) for each in feed.entries if each.type in {FACT_TYPE, ENTITY_TYPE}
        ]
        return feed, snapshot.entries(places)

    async def change(
        self, memory: Recollect, plan: Callable[[GraphSnapshot], tuple[PlannedT, Sequence[Write]]]
    ) -> PlannedT:
        """Read, plan and write; retry on a concurrent write."""

        async def attempt() -> PlannedT:
            planned, writes = plan(await self.read(memory))
            if writes:
                await memory.apply(self.scope, writes)
            return planned

        return await retried(attempt, TRIES_MAX)

    async def erased(self, memory: Recollect, found: Sequence[Memory]) -> tuple[EraseReceipt, ...]:
        """Erase memories one by one, and drop them from the snapshot."""
        receipts = [
            await memory.erase(self.scope, EraseMemory(type=each.type, key=each.key))
            for each in found
        ]
        await self.read(memory)
        return tuple(receipts)


async def read_once(memory: Recollect, scope: Scope) -> GraphSnapshot:
    """
    Return the graph of a scope for a single use, by reading only its facts and entities.

    For repeated reads use `GraphAccess`, which reads the whole feed once and then only changes.
    """
    found = [
        each
        for type_ in (FACT_TYPE, ENTITY_TYPE)
        async for each in each_memory(memory, scope, type_)
    ]
    return GraphSnapshot.of(scope, found, to_datetime(memory.store.now()))


async def read_past(memory: Recollect, scope: Scope, known_at: datetime) -> GraphSnapshot:
    """Return the graph of a scope as it was believed at a moment; slow in a large scope."""
    _, entries = await memory.store.past(scope, known_at)
    believed = [
        each.content
        for each in entries
        if isinstance(each.content, Memory) and each.content.type in {FACT_TYPE, ENTITY_TYPE}
    ]
    return GraphSnapshot.of(scope, believed, to_datetime(memory.store.now()))


def moment_of(at: datetime | None, view: GraphSnapshot) -> datetime:
    """Return the moment of a read: *at*, or now if it is ``None``."""
    if at is None:
        return view.now
    check_time(at, "at")
    return at
