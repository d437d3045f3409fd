"""The context of a prompt as JSON: its text, its parts, and the entries left out."""

from __future__ import annotations

from recollect.recall.context import Context, ContextEntry, LeftOut, ProfileDocument
from recollect.records import Json
from recollect.wire.elements import Fields, ScopeNaming, scope_to_json
from recollect.wire.memories import memory_from_json, memory_to_json
from recollect.wire.messages import message_from_json, message_to_json
from recollect.wire.recalls import FIGURE_DIGITS, recalled_from_json, recalled_to_json


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
    return Context(
        query=fields["query"],
        text=fields["text"],
        profile=tuple(map(_document_from_json, fields["profile"])),
        entries=tuple(map(_entry_from_json, fields["entries"])),
        summary=fields["summary"],
        history=tuple(map(message_from_json, fields["history"])),
        instructions=fields["instructions"],
        examples=tuple(fields["examples"]),
        left_out=tuple(
            LeftOut(entry=recalled_from_json(each["entry"]), reason=each["reason"])
            for each in fields["left_out"]
        ),
        tokens=fields["tokens"],
        tokens_by_part=fields["tokens_by_part"],
        budget_tokens=fields["budget_tokens"],
        awaits_vectors=fields["awaits_vectors"],
        replica=fields["replica"],
        behind_s=fields["behind_s"],
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
    return ProfileDocument(
        handle=fields["handle"],
        memory=memory_from_json(fields["memory"]),
        fields=tuple(fields["fields"]),
        is_excerpt=fields["is_excerpt"],
        tokens=fields["tokens"],
    )


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
    return ContextEntry(
        handle=fields["handle"],
        entry=recalled_from_json(fields["entry"]),
        text=fields["text"],
        is_excerpt=fields["is_excerpt"],
        has_ended=fields["has_ended"],
        tokens=fields["tokens"],
    )


def _left_out_to_json(left_out: LeftOut, scope_of: ScopeNaming, *, whole: bool) -> dict[str, Json]:
    entry = left_out.entry
    written: dict[str, Json] = {
        "reason": left_out.reason,
        "scope": scope_of(entry.scope),
        "source": entry.source,
        "relevance": round(float(entry.relevance), FIGURE_DIGITS),
    }
    return {**written, "entry": recalled_to_json(entry, scope_of)} if whole else written
