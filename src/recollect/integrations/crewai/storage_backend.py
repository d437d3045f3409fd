"""A storage backend for CrewAI's memory, which stores its records as memories."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterable, Sequence
from contextvars import ContextVar
from dataclasses import dataclass, field
from datetime import datetime
from hashlib import blake2b
from threading import Lock
from typing import Any, Final

from crewai.memory.types import MemoryRecord, ScopeInfo

from recollect.deferred_imports import load_modules
from recollect.errors import UsageError
from recollect.integrations.crewai.crew_records import (
    OTHERS,
    SOURCE,
    TYPE,
    children,
    fits,
    others_record,
    record_of,
    write_of,
)
from recollect.integrations.entry_ids import is_entry_id
from recollect.memory.facade import Recollect
from recollect.memory.memory_edits import finding_of
from recollect.recall.empty_turns import without_empty
from recollect.recall.query import MATCHES_MAX, query_in
from recollect.records import DeleteMemory, Memory, ScopeLike
from recollect.stores.pages import each_row
from recollect.stores.validation import PAGE_ROWS_MAX, WRITES_MAX, check_scope
from recollect.sync.facade import SyncRecollect
from recollect.sync.method_pairs import method_pair
from recollect.sync.object_home import Home
from recollect.text.time_zones import with_zone

is_saving: Final = ContextVar("is_saving", default=False)
"""Whether CrewAI searches for records to merge with one that it saves: only its own."""
OTHERS_MAX: Final = 100
"""Entries of other programs among which a search looks, at least."""
TEXTS_MAX: Final = 1_000
"""Texts that are remembered; a query is searched right after it was embedded."""


class RecollectStorage:
    """
    ``storage=`` of CrewAI's ``Memory``: each record is a memory of the type ``CrewRecord``.

    A record is a finding of an agent, with the source ``crewai``. CrewAI searches by vectors: give
    its ``Memory`` `embed` as ``embedder=``. `RecollectCrewMemory` does both. A search goes by the
    words of the query as well, and so finds what the embedder does not read. It also finds
    what other programs stored in the scope, as records with the source ``recollect`` that neither
    CrewAI's ``update`` nor ``forget`` changes.
    """

    def __init__(self, memory: SyncRecollect, scope: ScopeLike, *, others: bool = True) -> None:
        """
        Create a backend.

        Args:
            memory: One of `open_sync` with an embedder; CrewAI calls it from threads.
            scope: The scope of the records.
            others: Whether a search also finds messages and memories of other programs.

        Raises:
            UsageError: The memory is not of `open_sync`, or has no embedder.
        """
        self.home = Home.of_sync(memory)
        if memory.embedder is None:
            msg = "CrewAI recalls by vectors alone: open the memory with an embedder, as 'minilm'"
            raise UsageError(msg)
        self.scope = check_scope(scope)
        self._others = others
        self._queries = QueryTexts()

    def embed(self, texts: list[str]) -> list[list[float]]:
        """Return the vectors of *texts* by the memory's embedder, or what stands for them."""
        vectors = self.home.call(lambda memory: memory.embed(texts))
        return [
            self._queries.note(text, vector) for text, vector in zip(texts, vectors, strict=True)
        ]

    async def _save(self, memory: Recollect, records: list[MemoryRecord]) -> None:
        """
        Store records atomically; each replaces one of the same id.

        Raises:
            UsageError: A record is private, or holds something that JSON cannot express.
        """
        writes = [write_of(each, finding_of(memory.store, SOURCE)) for each in records]
        await memory.apply(self.scope, writes)

    async def _update(self, memory: Recollect, record: MemoryRecord) -> None:
        """
        Replace the record of the same id; the earlier version stays in the history.

        A record that stands for what another program stored is not changed: the update is stored as
        a new record.
        """
        if is_entry_id(record.id) and await memory.get(self.scope, TYPE, record.id) is None:
            own: dict[str, object] = {"id": memory.store.new_name(), "metadata": {}, "source": None}
            record = record.model_copy(update=own)
        await memory.apply(self.scope, [write_of(record, finding_of(memory.store, SOURCE))])

    async def _search(  # noqa: PLR0917 (as CrewAI calls it)
        self,
        memory: Recollect,
        query_embedding: list[float],
        scope_prefix: str | None = None,
        categories: list[str] | None = None,
        metadata_filter: dict[str, Any] | None = None,
        limit: int = 10,
        min_score: float = 0.0,
    ) -> list[tuple[MemoryRecord, float]]:
        """
        Return the records nearest to a vector, with their similarity, best first.

        Entries of other programs have neither categories nor metadata of CrewAI's, and any path.

        Raises:
            UsageError: The vector has another dimension than those of the memory.
        """
        # CrewAI expects to find what it has just saved: wait until new records are embedded.
        await memory.settled(self.scope)
        query = self._queries.find(query_embedding)
        others = self._others and not (categories or metadata_filter or is_saving.get())
        near: list[tuple[MemoryRecord, float]] = []
        if query is None or query.is_read:
            near = await self._near(memory, query_embedding, limit)
            if others:
                near += await self._near_others(memory, query_embedding, scope_prefix, limit)
        if query is not None and not is_saving.get():
            known = {each.id for each, _ in near}
            named = await self._by_words(memory, query.text, scope_prefix, limit)
            near += [each for each in named if each[0].id not in known]
        found = [
            (record, score)
            for record, score in near
            if (others or record.source != OTHERS)
            and fits(record, scope_prefix, categories, metadata_filter)
        ]
        found.sort(key=lambda each: each[1], reverse=True)
        return [each for each in found if each[1] >= min_score][:limit]

    async def _near(
        self, memory: Recollect, vector: list[float], limit: int
    ) -> list[tuple[MemoryRecord, float]]:
        near = await memory.nearest(self.scope, vector, type_=TYPE, limit=max(limit, PAGE_ROWS_MAX))
        return [(record_of(each.memory), each.similarity) for each in near]

    async def _by_words(
        self, memory: Recollect, text: str, path: str | None, limit: int
    ) -> list[tuple[MemoryRecord, float]]:
        """Return the entries that recall finds, with their relevance in the place of similarity."""
        found = await memory.recall(
            self.scope, query_in(text), limit=min(max(limit, OTHERS_MAX), MATCHES_MAX)
        )
        records = []
        for each in without_empty(found.entries, lambda entry: entry.content):
            content = each.content
            if isinstance(content, Memory) and content.type == TYPE:
                record: MemoryRecord | None = record_of(content)
            else:
                record = others_record(content, path)
            if record is not None:
                records.append((record, each.relevance))
        return records

    async def _near_others(
        self, memory: Recollect, vector: list[float], path: str | None, limit: int
    ) -> list[tuple[MemoryRecord, float]]:
        await load_modules("recollect.recall.neighbours")
        from recollect.recall.neighbours import nearest_entries

        near = await nearest_entries(
            memory.store,
            self.scope,
            vector,
            embedder=memory.embedder or "",
            without=TYPE,
            limit=max(limit, OTHERS_MAX),
        )
        return [
            (record, similarity)
            for content, similarity in without_empty(near, lambda each: each[0])
            if (record := others_record(content, path)) is not None
        ]

    async def _delete(  # noqa: PLR0917 (as CrewAI calls it)
        self,
        memory: Recollect,
        scope_prefix: str | None = None,
        categories: list[str] | None = None,
        record_ids: list[str] | None = None,
        older_than: datetime | None = None,
        metadata_filter: dict[str, Any] | None = None,
    ) -> int:
        """Delete the records that match all given conditions, and return their number."""
        chosen = [
            each.id
            for each in await self._all(memory)
            if fits(each, scope_prefix, categories, metadata_filter)
            and (record_ids is None or each.id in record_ids)
            and (older_than is None or with_zone(each.created_at) < with_zone(older_than))
        ]
        gone = [DeleteMemory(type=TYPE, key=each) for each in chosen]
        for start in range(0, len(gone), WRITES_MAX):
            await memory.apply(self.scope, gone[start : start + WRITES_MAX])
        return len(gone)

    async def _get_record(self, memory: Recollect, record_id: str) -> MemoryRecord | None:
        """Return the active record with an id; ``None`` if there is none."""
        found = await memory.get(self.scope, TYPE, record_id)
        return record_of(found) if found is not None and found.state == "active" else None

    async def _list_records(
        self, memory: Recollect, scope_prefix: str | None = None, limit: int = 200, offset: int = 0
    ) -> list[MemoryRecord]:
        """Return the records at and below a CrewAI scope path, newest first."""
        found = [each for each in await self._all(memory) if fits(each, scope_prefix)]
        found.sort(key=lambda each: with_zone(each.created_at), reverse=True)
        return found[offset : offset + limit]

    async def _get_scope_info(self, memory: Recollect, scope: str) -> ScopeInfo:
        """Return the counts, categories, times and children of a CrewAI scope path."""
        found = [each for each in await self._all(memory) if fits(each, scope)]
        times = [each.created_at for each in found]
        return ScopeInfo(
            path=scope.rstrip("/") or "/",
            record_count=len(found),
            categories=sorted({name for each in found for name in each.categories}),
            oldest_record=min(times, key=with_zone, default=None),
            newest_record=max(times, key=with_zone, default=None),
            child_scopes=children(found, scope),
        )

    async def _list_scopes(self, memory: Recollect, parent: str = "/") -> list[str]:
        """Return the scope paths directly below *parent*."""
        return children(await self._all(memory), parent)

    async def _list_categories(
        self, memory: Recollect, scope_prefix: str | None = None
    ) -> dict[str, int]:
        """Return the number of records in each category."""
        counts: dict[str, int] = {}
        for each in await self._all(memory):
            for name in each.categories if fits(each, scope_prefix) else ():
                counts[name] = counts.get(name, 0) + 1
        return counts

    async def _count(self, memory: Recollect, scope_prefix: str | None = None) -> int:
        """Return the number of records at and below a scope path."""
        return sum(fits(each, scope_prefix) for each in await self._all(memory))

    async def _reset(self, memory: Recollect, scope_prefix: str | None = None) -> None:
        """Delete all records at and below a scope path; other memories and messages stay."""
        await self._delete(memory, scope_prefix)

    save, asave = method_pair(_save)
    update, aupdate = method_pair(_update)
    search, asearch = method_pair(_search)
    delete, adelete = method_pair(_delete)
    get_record, aget_record = method_pair(_get_record)
    list_records, alist_records = method_pair(_list_records)
    get_scope_info, aget_scope_info = method_pair(_get_scope_info)
    list_scopes, alist_scopes = method_pair(_list_scopes)
    list_categories, alist_categories = method_pair(_list_categories)
    count, acount = method_pair(_count)
    reset, areset = method_pair(_reset)

    async def _all(self, memory: Recollect) -> list[MemoryRecord]:
        rows = each_row(
            lambda cursor: memory.store.memories(
                self.scope, type_=TYPE, state="active", cursor=cursor, limit=PAGE_ROWS_MAX
            )
        )
        return [record_of(each) async for each in rows]


@dataclass(frozen=True, slots=True)
class QueryText:
    """A text that was embedded, and whether the embedder reads its language."""

    text: str
    is_read: bool


@dataclass(frozen=True, slots=True)
class QueryTexts:
    """
    Remembers which text each vector came from.

    CrewAI gives a storage the vector of a query alone, and searches nothing for an empty one.
    Knowing the text, the storage searches by its words as well.
    """

    _texts: OrderedDict[tuple[float, ...], QueryText] = field(default_factory=OrderedDict)
    # CrewAI embeds and searches in several threads.
    _turn: Lock = field(default_factory=Lock)

    def note(self, text: str, vector: Iterable[float] | None) -> list[float]:
        """Return the vector of *text*, or without one a stand-in that is unlike any other."""
        found = _stand_in(text) if vector is None else [float(part) for part in vector]
        with self._turn:
            self._texts[tuple(found)] = QueryText(text, vector is not None)
            while len(self._texts) > TEXTS_MAX:
                self._texts.popitem(last=False)
        return found

    def find(self, vector: Sequence[float]) -> QueryText | None:
        """Return the text of a vector; ``None`` for one that was not embedded here lately."""
        with self._turn:
            return self._texts.get(tuple(vector))


def _stand_in(text: str) -> list[float]:
    # CrewAI drops texts of one batch whose vectors are alike, so that equal vectors lose texts.
    digest = blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).digest()
    return [each / 127.5 - 1.0 for each in digest]
