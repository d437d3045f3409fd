"""Convert memories to mem0's form: texts with owners, metadata, categories and times."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime, time, timedelta
from typing import Final

from recollect.integrations.storable_items import ITEM_KINDS
from recollect.memory.facade import Recollect
from recollect.recall.memory_sentences import memory_sentence
from recollect.records import Json, JsonObject, Memory, Message, Revision, Scope
from recollect.server.mem0.owners import id_of, owners_of
from recollect.text.searchable import memory_text

CONTENT: Final = "content"
METADATA: Final = "metadata"
CATEGORIES: Final = "categories"
ITEM: Final = "Item"
"""The type of texts that a client stored verbatim; formed memories have their own types."""

_NOT_GIVEN: Final = {"message", *ITEM_KINDS}
"""Metadata of messages by which other programs restore them."""

Names = tuple[str, str]
"""Thread and id of a message."""


def text_of_value(value: JsonObject, text: str, *, is_document: bool = False) -> str:
    """Return a memory's content, else its sentence; a document's fields by their names."""
    if is_document:
        return memory_text(value)
    content = value.get(CONTENT)
    return content if isinstance(content, str) and content else memory_sentence(value, text)


def row_of(memory: Memory, segments: Scope, messages: Mapping[Names, Message]) -> dict[str, Json]:
    """
    Return a memory in mem0's form.

    Its metadata is its own, merged over that of the messages that it was formed from, which are
    looked up in *messages*.
    """
    owners = owners_of(segments) or {}
    expires_at = memory.expires_at
    return {
        "id": id_of(memory, segments),
        "memory": text_of_value(memory.value, memory.text, is_document=memory.is_document),
        "user_id": owners.get("user_id"),
        "agent_id": owners.get("agent_id"),
        "app_id": owners.get("app_id"),
        "run_id": owners.get("run_id"),
        "session_id": owners.get("run_id"),
        "metadata": _metadata(memory, messages),
        "categories": _categories(memory.value),
        "created_at": memory.created_at.isoformat(),
        "updated_at": memory.updated_at.isoformat(),
        "expiration_date": None if expires_at is None else written_expiry(expires_at),
    }


def written_expiry(expires_at: datetime) -> str:
    """
    Return the last day of a memory that expires at a midnight, as mem0 writes it; else the moment.

    >>> from datetime import UTC
    >>> written_expiry(datetime(2026, 5, 2, tzinfo=UTC))
    '2026-05-01'
    """
    if expires_at.time() != time.min:
        return expires_at.isoformat()
    return (expires_at.date() - timedelta(days=1)).isoformat()


def _metadata(memory: Memory, messages: Mapping[Names, Message]) -> dict[str, Json]:
    own = memory.value.get(METADATA)
    found: dict[str, Json] = {}
    cited = [messages[each] for each in evidence_of(memory) if each in messages]
    for message in sorted(cited, key=lambda each: each.position):
        found |= {name: each for name, each in message.metadata.items() if name not in _NOT_GIVEN}
    return {**found, **own} if isinstance(own, Mapping) else found


def _categories(value: JsonObject) -> list[Json]:
    found = value.get(CATEGORIES)
    return list(found) if isinstance(found, list | tuple) else []


def evidence_of(memory: Memory) -> list[Names]:
    """Return thread and id of the messages that a memory rests on."""
    cited = [each for found in memory.evidence.values() for each in found]
    return list(dict.fromkeys((each.thread, each.message) for each in cited))


async def rows_of(memory: Recollect, root: Scope, found: Sequence[Memory]) -> list[dict[str, Json]]:
    """Return memories in mem0's form, in order, without those outside of owners' scopes."""
    by_scope: dict[Scope, dict[Names, None]] = {}
    for each in found:
        by_scope.setdefault(each.scope, {}).update(dict.fromkeys(evidence_of(each)))
    messages = {
        scope: {(each.thread, each.id): each for each in await _named(memory, scope, names)}
        for scope, names in by_scope.items()
    }
    kept = [each for each in found if owners_of(each.scope[len(root) :])]
    return [row_of(each, each.scope[len(root) :], messages[each.scope]) for each in kept]


async def _named(memory: Recollect, scope: Scope, names: Mapping[Names, None]) -> Sequence[Message]:
    return await memory.store.messages_named(scope, list(names)) if names else ()


def history_of(
    id_: str, revisions: Sequence[Revision], *, is_document: bool
) -> list[dict[str, Json]]:
    """Return the versions of a memory as mem0's events, oldest first."""
    rows: list[dict[str, Json]] = []
    before: str | None = None
    created_at = revisions[0].believed_from.isoformat()
    for each in revisions:
        text = text_of_value(each.value, each.text, is_document=is_document)
        rows.append(
            {
                "id": f"{id_}:{each.version}",
                "memory_id": id_,
                "old_memory": before,
                "new_memory": text,
                "event": "ADD" if before is None else "UPDATE",
                "created_at": created_at,
                "updated_at": each.believed_from.isoformat(),
                "is_deleted": False,
            }
        )
        before = text
    return rows
