"""Memories that wait for review as JSON, each with what was said since."""

from __future__ import annotations

from recollect.formation.review_records import LaterWords, WaitingMemory
from recollect.recall.memory_sentences import memory_sentence
from recollect.records import Json
from recollect.wire.elements import (
    Fields,
    ScopeNaming,
    evidence_from_json,
    one_evidence_to_json,
    record_from_json,
    scope_to_json,
    time_to_json,
)
from recollect.wire.memories import memory_from_json, memory_to_json


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
