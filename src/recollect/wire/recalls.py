"""Recalls and contexts as JSON, and the filters of a recall."""

from __future__ import annotations

from datetime import datetime
from typing import Final

from recollect.recall.context import Context, ContextEntry, LeftOut, ProfileDocument
from recollect.recall.memory_sentences import memory_sentence
from recollect.recall.query import Where
from recollect.recall.rank_corrections import STANDING
from recollect.recall.rerank_order import RERANK
from recollect.recall.results import DroppedEntry, Recall, Recalled
from recollect.records import Json, Message
from recollect.text.token_estimate import estimated_tokens
from recollect.wire.elements import (
    Fields,
    ScopeNaming,
    record_from_json,
    scope_to_json,
    time_to_json,
)
from recollect.wire.memories import memory_from_json, memory_to_json
from recollect.wire.threads import message_from_json, message_to_json

FIGURE_DIGITS: Final = 4
"""Decimal places of an entry's numbers, unless it is encoded whole."""


def recall_to_json(
    recall: Recall, scope_of: ScopeNaming = scope_to_json, *, whole: bool = True
) -> dict[str, Json]:
    """
    Encode the results of a recall, with their signals and the dropped entries.

    Only a *whole* result can be decoded: each entry has its message or memory as *content*, and its
    numbers are exact.
    """
    return {
        "query": recall.query,
        "entries": [recalled_to_json(each, scope_of, whole=whole) for each in recall.entries],
        "dropped": [
            recalled_to_json(each.entry, scope_of, whole=whole) | {"reason": each.reason}
            for each in recall.dropped
        ],
        "tokens": recall.tokens,
        "searched": recall.searched,
        "eligible": recall.eligible,
        "partial": recall.is_partial,
        "embedder": recall.embedder,
        "outside": recall.outside,
        "reranker": recall.reranker,
        "replica": recall.replica,
        "behind_s": recall.behind_s,
    }


def recall_from_json(fields: Fields) -> Recall:
    """Decode the *whole* result of `recall_to_json`."""
    return record_from_json(
        Recall,
        fields,
        entries=tuple(map(recalled_from_json, fields["entries"])),
        dropped=tuple(
            DroppedEntry(entry=recalled_from_json(each), reason=each["reason"])
            for each in fields["dropped"]
        ),
        term_weights={},  # not sent
    )


def recalled_to_json(
    entry: Recalled, scope_of: ScopeNaming = scope_to_json, *, whole: bool = True
) -> dict[str, Json]:
    """Encode a recalled entry with its signals; see `recall_to_json`."""
    content, score, relevance = entry.content, float(entry.score), float(entry.relevance)
    text = entry.text
    written: dict[str, Json] = {
        "kind": "message" if isinstance(content, Message) else "memory",
        "scope": scope_of(entry.scope),
        "text": text,
        "time": time_to_json(entry.time),
        "score": score if whole else round(score, FIGURE_DIGITS),
        "relevance": relevance if whole else round(relevance, FIGURE_DIGITS),
        "signals": _signals_to_json(entry, whole=whole),
        "tokens": estimated_tokens(text),
    }
    if isinstance(content, Message):
        written |= {"thread": content.thread, "id": content.id, "role": content.role}
        written |= {"name": content.name, "has_lapsed": entry.has_lapsed}
        whole_content = message_to_json(content) if whole else None
    else:
        written |= {"type": content.type, "key": content.key, "version": content.version}
        written["value"] = content.value
        written["sentence"] = memory_sentence(content.value, content.text)
        whole_content = memory_to_json(content, scope_of) if whole else None
    return {**written, "content": whole_content} if whole else written


def recalled_from_json(fields: Fields) -> Recalled:
    """Decode the *whole* result of `recalled_to_json`."""
    read = message_from_json if fields["kind"] == "message" else memory_from_json
    return Recalled(
        scope=tuple(fields["scope"]),
        content=read(fields["content"]),
        score=fields["score"],
        relevance=fields["relevance"],
        signals={each["name"]: each["part"] for each in fields["signals"]},
        has_lapsed=fields.get("has_lapsed", False),  # a memory has no such field
    )


def _signals_to_json(entry: Recalled, *, whole: bool) -> list[Json]:
    """Encode each signal as its standardised value z, its weight, and their product *part*."""
    from recollect.recall.fusion import weights_at

    at = weights_at(entry.strength)
    weights = at.having if "dense" in entry.signals else at.without
    written: list[Json] = []
    for name, each in entry.signals.items():
        # These two are changes of the score itself: they have no weight.
        weight = 1.0 if name in {RERANK, STANDING} else weights.get(name, 0.0)
        part = float(each)
        signal: Json = {
            "name": name,
            "z": round(part / weight if weight else 0.0, FIGURE_DIGITS),
            "weight": weight,
            "part": part if whole else round(part, FIGURE_DIGITS),
        }
        written.append(signal)
    return written


def where_to_json(where: Where) -> dict[str, Json]:
    """Encode the filters of a recall; an empty list of roles means no messages."""
    valid_at = where.valid_at
    return {
        "roles": None if where.messages else [],
        "types": None if where.types is None else list(where.types),
        "threads": None if where.threads is None else list(where.threads),
        "filter": where.filter,
        "since": time_to_json(where.since),
        "until": time_to_json(where.until),
        "valid_at": time_to_json(valid_at) if isinstance(valid_at, datetime) else valid_at,
        "known_at": time_to_json(where.known_at),
    }


def context_to_json(
    context: Context, scope_of: ScopeNaming = scope_to_json, *, whole: bool = True
) -> dict[str, Json]:
    """
    Encode a context.

    Only a *whole* one can be decoded: it contains each message or memory. Otherwise entries left
    out are only named, since there may be hundreds of long messages.
    """
    return {
        "query": context.query,
        "text": context.text,
        "profile": [_document_to_json(each, scope_of, whole=whole) for each in context.profile],
        "entries": [_entry_to_json(each, scope_of, whole=whole) for each in context.entries],
        "summary": context.summary,
        "history": [message_to_json(each) for each in context.history],
        "instructions": context.instructions,
        "examples": list(context.examples),
        "left_out": [_left_out_to_json(each, scope_of, whole=whole) for each in context.left_out],
        "tokens": context.tokens,
        "tokens_by_part": dict(context.tokens_by_part),
        "budget_tokens": context.budget_tokens,
        "awaits_vectors": context.awaits_vectors,
        "replica": context.replica,
        "behind_s": context.behind_s,
    }


def context_from_json(fields: Fields) -> Context:
    """Decode the *whole* result of `context_to_json`."""
    return record_from_json(
        Context,
        fields,
        profile=tuple(map(_document_from_json, fields["profile"])),
        entries=tuple(map(_entry_from_json, fields["entries"])),
        history=tuple(map(message_from_json, fields["history"])),
        left_out=tuple(
            LeftOut(entry=recalled_from_json(each["entry"]), reason=each["reason"])
            for each in fields["left_out"]
        ),
    )


def _document_to_json(
    document: ProfileDocument, scope_of: ScopeNaming, *, whole: bool
) -> dict[str, Json]:
    memory = document.memory
    written: dict[str, Json] = {
        "handle": document.handle,
        "scope": scope_of(memory.scope),
        "type": memory.type,
        "key": memory.key,
        "version": memory.version,
        "fields": list(document.fields),
        "is_excerpt": document.is_excerpt,
        "tokens": document.tokens,
    }
    return {**written, "memory": memory_to_json(memory, scope_of)} if whole else written


def _document_from_json(fields: Fields) -> ProfileDocument:
    return record_from_json(ProfileDocument, fields, memory=memory_from_json(fields["memory"]))


def _entry_to_json(entry: ContextEntry, scope_of: ScopeNaming, *, whole: bool) -> dict[str, Json]:
    return {
        "handle": entry.handle,
        "text": entry.text,
        "is_excerpt": entry.is_excerpt,
        "has_ended": entry.has_ended,
        "tokens": entry.tokens,
        "entry": recalled_to_json(entry.entry, scope_of, whole=whole),
    }


def _entry_from_json(fields: Fields) -> ContextEntry:
    return record_from_json(ContextEntry, fields, entry=recalled_from_json(fields["entry"]))


def _left_out_to_json(left_out: LeftOut, scope_of: ScopeNaming, *, whole: bool) -> dict[str, Json]:
    entry = left_out.entry
    written: dict[str, Json] = {
        "reason": left_out.reason,
        "scope": scope_of(entry.scope),
        "source": entry.source,
        "relevance": round(float(entry.relevance), FIGURE_DIGITS),
    }
    return {**written, "entry": recalled_to_json(entry, scope_of)} if whole else written
