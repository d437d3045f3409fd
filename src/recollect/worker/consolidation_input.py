"""Read the input of a consolidation: groups of similar memories, and which of them are new."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final, TypeAlias

from recollect.formation.derived_memories import (
    DerivedChange,
    can_be_source,
    holds_no_more,
    made_by,
    sources_of,
)
from recollect.formation.similarity_groups import Group, address_of, groups_of
from recollect.formation.types import MemoryType
from recollect.ports import Vector
from recollect.records import Memory, MemoryAddress, Scope
from recollect.stores.contract.base import Store
from recollect.stores.digests import keyed_digest
from recollect.stores.pages import each_page
from recollect.stores.receipt_sources import examined_in
from recollect.stores.validation import to_datetime
from recollect.text.searchable import memory_text

MEMORIES_MAX: Final = 2_000
"""Most memories of a type that are grouped: those that changed last."""
LOOKED_AT_MAX: Final = 20_000
"""Most examined groups that a receipt lists, newest first."""
EMBEDDED_CHARACTERS_MAX: Final = 2_000
PAGE_ROWS: Final = 500

Embed: TypeAlias = Callable[[Sequence[str]], Awaitable[Sequence[Vector | None]]]
"""Async function that returns the vectors of texts, in order."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ConsolidationInput:
    """
    The memories of a scope in groups of similar ones; *unseen* are those not examined yet.

    *derived* memories are not grouped, since their sources are active as well. *looked_at* holds
    the keyed digests of groups examined before.
    """

    scope: Scope
    memories: tuple[Memory, ...]
    derived: tuple[Memory, ...]
    groups: tuple[Group, ...]
    unseen: tuple[Group, ...]
    looked_at: tuple[str, ...]


class ConsolidationReader:
    """Reads and groups the collections of scopes for one run; each text is embedded once."""

    def __init__(self, store: Store, types: Sequence[MemoryType], embed: Embed | None) -> None:
        self._store = store
        self._types = [each for each in types if each.update_mode == "insert"]
        self._embed = embed
        self._vectors: dict[str, Vector | None] = {}
        self._secret = b""

    async def read(self, scope: Scope) -> ConsolidationInput:
        """Return the current groups of a scope."""
        memories: list[Memory] = []
        derived: list[Memory] = []
        for type_ in self._types:
            found = await self._in_force(scope, type_.name)
            active = {address_of(each) for each in found}
            for each in found:
                has_active_source = any((t, k) in active for t, k, _ in sources_of(each))
                (derived if has_active_source else memories).append(each)
        groups = await self._grouped(memories)
        self._secret = await self._store.digest_secret()
        last = await self._store.formations(scope, status="consolidated", limit=1)
        looked_at = tuple(examined_in(last.rows[0].receipt)) if last.rows else ()
        seen = set(looked_at)
        return ConsolidationInput(
            scope=scope,
            memories=tuple(memories),
            derived=tuple(derived),
            groups=tuple(groups),
            unseen=tuple(each for each in groups if self._mark_of(each) not in seen),
            looked_at=looked_at,
        )

    async def outdated(self, view: ConsolidationInput) -> list[Memory]:
        """Return the derived memories with a source that has changed since."""
        return [
            each
            for each in (*view.memories, *view.derived)
            if await self._is_outdated(view.scope, each)
        ]

    async def looked_at_after(
        self, view: ConsolidationInput, asked: Sequence[Group], changes: Sequence[DerivedChange]
    ) -> tuple[str, ...]:
        """
        Return the keyed digests of all groups that count as examined after *changes*.

        Those are the groups *asked* about, the groups that the changes leave, and the groups
        examined before. A group with a memory that still waits in an unexamined group is left out.
        """
        gone = {address for each in changes for address in each.ended}
        merged = [each for each in changes if each.action == "merged"]
        now = to_datetime(self._store.now())
        made = [memory for each in merged if (memory := made_by(each, view.scope, now))]
        digests = {group.digest for group in asked}
        waiting = {
            address_of(memory)
            for group in view.unseen
            if group.digest not in digests
            for memory in group.memories
        }
        left = [each for each in (*view.memories, *made) if address_of(each) not in gone]
        found = [self._mark_of(group) for group in asked]
        found += [
            self._mark_of(group)
            for group in await self._grouped(left)
            if waiting.isdisjoint(map(address_of, group.memories))
        ]
        return tuple(dict.fromkeys([*found, *view.looked_at]))[:LOOKED_AT_MAX]

    def _mark_of(self, group: Group) -> str:
        """Return the digest by which a receipt names a group; see `EXAMINED`."""
        return keyed_digest(self._secret, "group", group.digest).hex()

    async def _is_outdated(self, scope: Scope, memory: Memory) -> bool:
        for type_, key, version in sources_of(memory):
            source = await self._store.get(scope, type_, key)
            # The common case needs no history: the source is still at the version it was read at.
            if source is not None and source.version == version and source.valid_until is None:
                continue
            if holds_no_more(version, await self._store.history(scope, type_, key)):
                return True
        return False

    async def _in_force(self, scope: Scope, type_: str) -> list[Memory]:
        now = to_datetime(self._store.now())
        found: list[Memory] = []
        async for page in each_page(
            lambda cursor: self._store.memories(scope, type_=type_, cursor=cursor, limit=PAGE_ROWS)
        ):
            found += [each for each in page.rows if can_be_source(each, now)]
        newest = sorted(found, key=lambda each: (each.updated_at, each.key), reverse=True)
        return newest[:MEMORIES_MAX]

    async def _grouped(self, memories: Sequence[Memory]) -> list[Group]:
        groups: list[Group] = []
        for type_ in self._types:
            of_type = [each for each in memories if each.type == type_.name]
            vectors = await self._vectors_of(of_type)
            for alike in _by_expiry(of_type):
                groups += groups_of(type_, alike, vectors)
        return groups

    async def _vectors_of(self, memories: Sequence[Memory]) -> dict[MemoryAddress, Vector | None]:
        if self._embed is None or len(memories) < 2:
            return {}
        texts = {
            address_of(each): memory_text(each.value)[:EMBEDDED_CHARACTERS_MAX] for each in memories
        }
        new = [each for each in dict.fromkeys(texts.values()) if each not in self._vectors]
        if new:
            self._vectors.update(zip(new, await self._embed(new), strict=True))
        return {address: self._vectors[text] for address, text in texts.items()}


def _by_expiry(memories: Sequence[Memory]) -> Iterable[Sequence[Memory]]:
    """Return the memories that expire together: merged, others would be lost with the first."""
    found: dict[datetime | None, list[Memory]] = {}
    for each in memories:
        found.setdefault(each.expires_at, []).append(each)
    return found.values()
