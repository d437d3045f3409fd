"""Convert between CrewAI's memory records and memories, and select records as CrewAI does."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Final

from crewai.memory.types import MemoryRecord
from pydantic_core import PydanticSerializationError

from recollect.errors import UsageError
from recollect.formation.succession import has_ended
from recollect.integrations.entry_ids import entry_id
from recollect.integrations.storable_items import storable_text
from recollect.recall.context_text import safe_lines
from recollect.recall.memory_sentences import memory_sentence
from recollect.records import EvidenceMap, Memory, Message, PutMemory
from recollect.text.searchable import message_text
from recollect.text.time_zones import with_zone

TYPE: Final = "CrewRecord"
SOURCE: Final = "crewai"
OTHERS: Final = "recollect"
"""The ``source`` of a record that stands for what another program stored."""
_BESIDE: Final = frozenset({
    "id", "content", "created_at", "last_accessed", "private", "embedding"
})  # fmt: skip
"""Fields of a record that are not stored beside the content in a memory's value."""


def write_of(record: MemoryRecord, found: EvidenceMap) -> PutMemory:
    """
    Return the write that stores a record.

    Raises:
        UsageError: The record is private, or holds something that JSON cannot express.
    """
    if record.private:
        raise UsageError(
            f"the record {record.id!r} is private, and everyone who shares the scope could find "
            "it: store it in a scope of its owner"
        )
    try:
        beside = record.model_dump(mode="json", exclude=set(_BESIDE), exclude_defaults=True)
    except PydanticSerializationError as error:
        raise UsageError(f"the record {record.id!r} is not JSON: {error}") from error
    content = storable_text(record.content)
    return PutMemory(
        type=TYPE,
        key=record.id,
        value={"content": content, **beside},
        text=content,
        valid_from=with_zone(record.created_at),
        evidence=found,
        cause=SOURCE,
    )


def record_of(memory: Memory) -> MemoryRecord:
    """Return a memory as a record, with those fields of an edited value that CrewAI knows."""
    fields: dict[str, object] = {
        name: value
        for name, value in memory.value.items()
        if name in MemoryRecord.model_fields and name not in _BESIDE
    }
    content = memory.value.get("content")
    return MemoryRecord(
        **fields,
        id=memory.key,
        content=content if isinstance(content, str) else memory.text,
        created_at=_naive(memory.valid_from or memory.created_at),
        last_accessed=_naive(memory.updated_at),
    )


def others_record(content: Memory | Message, path: str | None) -> MemoryRecord | None:
    """
    Return what another program stored as a record; ``None`` for what CrewAI must not be told.

    Such an entry has no path of CrewAI's: the record has the *path* that is searched, so that every
    search finds it. CrewAI puts records into a prompt unmarked, so that results of tools and text
    from outside are left out.
    """
    origin: dict[str, str]
    if isinstance(content, Message):
        if content.role not in {"user", "assistant"}:
            return None
        text = message_text(content.text, content.name, content.content)
        origin = {"said by": content.role, "thread": content.thread}
    elif content.trust == "external" or has_ended(content, datetime.now(UTC)):
        return None
    else:
        text = memory_sentence(content.value, content.text)
        origin = {"type": content.type, "trust": content.trust}
    return MemoryRecord(
        id=entry_id(content),
        content=safe_lines(text),
        scope=path or "/",
        metadata=origin,
        created_at=_naive(content.time),
        last_accessed=_naive(content.time),
        source=OTHERS,
    )


def fits(
    record: MemoryRecord,
    prefix: str | None = None,
    categories: Sequence[str] | None = None,
    metadata: Mapping[str, object] | None = None,
) -> bool:
    """Return True if a record is at or below a path, and has a category and the metadata."""
    path = (prefix or "").strip("/")
    return (
        (not path or f"{record.scope.strip('/')}/".startswith(f"{path}/"))
        and (not categories or not set(categories).isdisjoint(record.categories))
        and all(record.metadata.get(name) == wanted for name, wanted in (metadata or {}).items())
    )


def children(records: Sequence[MemoryRecord], parent: str) -> list[str]:
    """Return the paths of *records* directly below *parent*."""
    above = parent.strip("/")
    start = f"/{above}/" if above else "/"
    paths = [f"/{each.scope.strip('/')}" for each in records]
    below = {each.removeprefix(start).split("/")[0] for each in paths if each.startswith(start)}
    return sorted(f"{start}{name}" for name in below if name)


def _naive(moment: datetime) -> datetime:
    return moment.astimezone(UTC).replace(tzinfo=None)
