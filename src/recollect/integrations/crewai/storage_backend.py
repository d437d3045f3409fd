"""A storage backend for CrewAI's memory, which stores its records as memories."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any, Final

from crewai.memory.types import MemoryRecord, ScopeInfo
from pydantic_core import PydanticSerializationError

from recollect.errors import UsageError
from recollect.memory.agent_findings import finding_of
from recollect.memory.facade import Recollect
from recollect.ports import Embedder
from recollect.records import DeleteMemory, EvidenceMap, Memory, PutMemory, ScopeLike
from recollect.stores.pages import each_row
from recollect.stores.validation import PAGE_ROWS_MAX, WRITES_MAX, check_scope
from recollect.sync.method_pairs import method_pair
from recollect.sync.object_home import AnyRecollect, Home

TYPE: Final = "CrewRecord"
SOURCE: Final = "crewai"
_BESIDE: Final = frozenset({"id", "content", "created_at", "private", "embedding"})
"""Fields of a record that are not stored beside the content in a memory's value."""


def crew_embedder(embedder: Embedder) -> Callable[[list[str]], list[list[float]]]:
    """Return the memory's own *embedder* as ``embedder=`` of CrewAI's ``Memory``."""

    def embed(texts: list[str]) -> list[list[float]]:
        vectors = embedder.embed(texts)
        return [[] if each is None else [float(part) for part in each] for each in vectors]

    return embed


class RecollectStorage:
    """
    ``storage=`` of CrewAI's ``Memory``: each record is a memory of the type ``CrewRecord``.

    A record is a finding of an agent, with the source ``crewai``. CrewAI searches by vectors of its
    own embedder, which must be the one that the memory is opened with (see `crew_embedder`). Recall
    finds the records as well, by words too.
    """

    def __init__(self, memory: AnyRecollect, scope: ScopeLike) -> None:
        """Create a backend; CrewAI calls it from threads, so open *memory* with `open_sync`."""
        self.home = Home(memory)
        self.scope = check_scope(scope)

    async def _save(self, memory: Recollect, records: list[MemoryRecord]) -> None:
        """
        Store records atomically; each replaces one of the same id.

        Raises:
            UsageError: A record is private, or holds something that JSON cannot express.
        """
        writes = [_write_of(each, finding_of(memory.store, SOURCE)) for each in records]
        await memory.apply(self.scope, writes)

    async def _update(self, memory: Recollect, record: MemoryRecord) -> None:
        """Replace the record of the same id; the earlier version stays in the history."""
        await memory.apply(self.scope, [_write_of(record, finding_of(memory.store, SOURCE))])

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

        Raises:
            UsageError: The memory has no embedder, or one of another dimension.
        """
        # CrewAI expects to find what it has just saved: wait until new records are embedded.
        await memory.settled(self.scope)
        near = await memory.nearest(
            self.scope, query_embedding, type_=TYPE, limit=max(limit, PAGE_ROWS_MAX)
        )
        found = [(_record_of(each.memory), each.similarity) for each in near]
        fitting = [
            (record, score)
            for record, score in found
            if score >= min_score and _fits(record, scope_prefix, categories, metadata_filter)
        ]
        return fitting[:limit]

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
            if _fits(each, scope_prefix, categories, metadata_filter)
            and (record_ids is None or each.id in record_ids)
            and (older_than is None or _aware(each.created_at) < _aware(older_than))
        ]
        gone = [DeleteMemory(type=TYPE, key=each) for each in chosen]
        for start in range(0, len(gone), WRITES_MAX):
            await memory.apply(self.scope, gone[start : start + WRITES_MAX])
        return len(gone)

    async def _get_record(self, memory: Recollect, record_id: str) -> MemoryRecord | None:
        """Return the record with an id; ``None`` if there is none."""
        found = await memory.get(self.scope, TYPE, record_id)
        return None if found is None else _record_of(found)

    async def _list_records(
        self, memory: Recollect, scope_prefix: str | None = None, limit: int = 200, offset: int = 0
    ) -> list[MemoryRecord]:
        """Return the records at and below a CrewAI scope path, newest first."""
        found = [each for each in await self._all(memory) if _fits(each, scope_prefix)]
        found.sort(key=lambda each: _aware(each.created_at), reverse=True)
        return found[offset : offset + limit]

    async def _get_scope_info(self, memory: Recollect, scope: str) -> ScopeInfo:
        """Return the counts, categories, times and children of a CrewAI scope path."""
        found = [each for each in await self._all(memory) if _fits(each, scope)]
        times = [each.created_at for each in found]
        return ScopeInfo(
            path=scope.rstrip("/") or "/",
            record_count=len(found),
            categories=sorted({name for each in found for name in each.categories}),
            oldest_record=min(times, key=_aware, default=None),
            newest_record=max(times, key=_aware, default=None),
            child_scopes=_children(found, scope),
        )

    async def _list_scopes(self, memory: Recollect, parent: str = "/") -> list[str]:
        """Return the scope paths directly below *parent*."""
        return _children(await self._all(memory), parent)

    async def _list_categories(
        self, memory: Recollect, scope_prefix: str | None = None
    ) -> dict[str, int]:
        """Return the number of records in each category."""
        counts: dict[str, int] = {}
        for each in await self._all(memory):
            for name in each.categories if _fits(each, scope_prefix) else ():
                counts[name] = counts.get(name, 0) + 1
        return counts

    async def _count(self, memory: Recollect, scope_prefix: str | None = None) -> int:
        """Return the number of records at and below a scope path."""
        return sum(_fits(each, scope_prefix) for each in await self._all(memory))

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
            lambda cursor: memory.memories(
                self.scope, type_=TYPE, state="active", cursor=cursor, limit=PAGE_ROWS_MAX
            )
        )
        return [_record_of(each) async for each in rows]


def _write_of(record: MemoryRecord, found: EvidenceMap) -> PutMemory:
    if record.private:
        raise UsageError(
            f"the record {record.id!r} is private, and everyone who shares the scope could find "
            "it: store it in a scope of its owner"
        )
    try:
        beside = record.model_dump(mode="json", exclude=set(_BESIDE), exclude_defaults=True)
    except PydanticSerializationError as error:
        raise UsageError(f"the record {record.id!r} is not JSON: {error}") from error
    return PutMemory(
        type=TYPE,
        key=record.id,
        value={"content": record.content, **beside},
        text=record.content,
        valid_from=_aware(record.created_at),
        evidence=found,
        cause=SOURCE,
    )


def _record_of(memory: Memory) -> MemoryRecord:
    """Return a memory as a record, with those fields of an edited value that CrewAI knows."""
    since = memory.valid_from or memory.created_at
    fields: dict[str, object] = {
        name: value
        for name, value in memory.value.items()
        if name in MemoryRecord.model_fields and name not in _BESIDE
    }
    content = memory.value.get("content")
    return MemoryRecord(
        **{"last_accessed": since, **fields},
        id=memory.key,
        content=content if isinstance(content, str) else memory.text,
        created_at=since.astimezone(UTC).replace(tzinfo=None),
    )


def _fits(
    record: MemoryRecord,
    prefix: str | None = None,
    categories: Sequence[str] | None = None,
    metadata: Mapping[str, object] | None = None,
) -> bool:
    path = (prefix or "").strip("/")
    return (
        (not path or f"{record.scope.strip('/')}/".startswith(f"{path}/"))
        and (not categories or not set(categories).isdisjoint(record.categories))
        and all(record.metadata.get(name) == wanted for name, wanted in (metadata or {}).items())
    )


def _children(records: Sequence[MemoryRecord], parent: str) -> list[str]:
    above = parent.strip("/")
    start = f"/{above}/" if above else "/"
    paths = [f"/{each.scope.strip('/')}" for each in records]
    below = {each.removeprefix(start).split("/")[0] for each in paths if each.startswith(start)}
    return sorted(f"{start}{name}" for name in below if name)


def _aware(moment: datetime) -> datetime:
    """Return a time with a zone; CrewAI's times are in UTC without one."""
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)
