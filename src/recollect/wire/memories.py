"""Memories, their revisions, and those that wait for review as JSON."""

from __future__ import annotations

from recollect.formation.review_records import LaterWords, WaitingMemory
from recollect.recall.memory_sentences import memory_sentence
from recollect.records import Json, Memory, PutMemory, Revision
from recollect.wire.elements import (
    Fields,
    ScopeNaming,
    evidence_from_json,
    evidence_to_json,
    one_evidence_to_json,
    record_from_json,
    scope_to_json,
    time_to_json,
)


def memory_to_json(memory: Memory, scope_of: ScopeNaming = scope_to_json) -> dict[str, Json]:
    """Encode the current version of a memory."""
    return {
        "scope": scope_of(memory.scope),
        "type": memory.type,
        "key": memory.key,
        "value": memory.value,
        "text": memory.text,
        "sentence": memory_sentence(memory.value, memory.text),
        "version": memory.version,
        "created_at": time_to_json(memory.created_at),
        "updated_at": time_to_json(memory.updated_at),
        "valid_from": time_to_json(memory.valid_from),
        "valid_until": time_to_json(memory.valid_until),
        "expires_at": time_to_json(memory.expires_at),
        "evidence": evidence_to_json(memory.evidence),
        "trust": memory.trust,
        "state": memory.state,
        "said_at": time_to_json(memory.said_at),
    }


def memory_from_json(fields: Fields) -> Memory:
    """Decode the result of `memory_to_json`."""
    return record_from_json(Memory, fields)


def put_to_json(put: PutMemory) -> dict[str, Json]:
    """Encode the content of a put, without its address and expected version."""
    return {
        "value": put.value,
        "text": put.text,
        "valid_from": time_to_json(put.valid_from),
        "valid_until": time_to_json(put.valid_until),
        "expires_at": time_to_json(put.expires_at),
        "evidence": evidence_to_json(put.evidence),
    }


def revision_to_json(revision: Revision) -> dict[str, Json]:
    """Encode one version of a memory."""
    return {
        "version": revision.version,
        "value": revision.value,
        "text": revision.text,
        "sentence": memory_sentence(revision.value, revision.text),
        "valid_from": time_to_json(revision.valid_from),
        "valid_until": time_to_json(revision.valid_until),
        "evidence": evidence_to_json(revision.evidence),
        "trust": revision.trust,
        "state": revision.state,
        "cause": revision.cause,
        "believed_from": time_to_json(revision.believed_from),
        "believed_until": time_to_json(revision.believed_until),
    }


def revision_from_json(fields: Fields) -> Revision:
    """Decode the result of `revision_to_json`."""
    return record_from_json(Revision, fields)


def waiting_to_json(
    waiting: WaitingMemory, scope_of: ScopeNaming = scope_to_json
) -> dict[str, Json]:
    """Encode a waiting memory, with the later words beside its own fields."""
    since: list[Json] = [_later_to_json(each, scope_of) for each in waiting.since]
    return {**memory_to_json(waiting.memory, scope_of), "since": since}


def waiting_from_json(fields: Fields) -> WaitingMemory:
    """Decode the result of `waiting_to_json`."""
    since = tuple(map(_later_from_json, fields["since"]))
    return WaitingMemory(memory=memory_from_json(fields), since=since)


def _later_to_json(words: LaterWords, scope_of: ScopeNaming) -> dict[str, Json]:
    return {
        "memory": memory_to_json(words.memory, scope_of),
        "value": words.value,
        "sentence": memory_sentence(words.value, words.memory.text),
        "said_at": time_to_json(words.said_at),
        "evidence": None if words.evidence is None else one_evidence_to_json(words.evidence),
        "ended": words.ended,
    }


def _later_from_json(fields: Fields) -> LaterWords:
    cited = evidence_from_json({"": [fields["evidence"]] if fields["evidence"] else []})
    evidence = next((each for found in cited.values() for each in found), None)
    memory = memory_from_json(fields["memory"])
    return record_from_json(LaterWords, fields, memory=memory, evidence=evidence)
