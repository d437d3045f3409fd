"""Rebased changes: a change that waited while other fields of its document were written."""

from __future__ import annotations

from dataclasses import replace

from recollect.formation.grounding.passage_trust import least
from recollect.records import EvidenceMap, JsonObject, Memory
from recollect.stores.json_pointers import covers, join_pointer
from recollect.stores.provenance import evidence_at


def rebased(change: Memory, before: JsonObject, standing: Memory) -> Memory | None:
    """
    Return the waiting *change* of the value *before* as one of *standing*, a later version.

    It writes the fields that it was to write, and leaves the others as they are now. ``None`` if
    one of its fields says something else by now, or *standing* is over: newer words would be
    written over. An end is of the value that it was asked for, and of no other.
    """
    if standing.state != "active" or standing.valid_until is not None:
        return None
    if change.valid_until is not None and standing.value != before:
        return None
    names = [
        name
        for name in dict.fromkeys((*before, *change.value))
        if change.value.get(name) != before.get(name)
    ]
    if any(standing.value.get(name) != before.get(name) for name in names):
        return None
    places = [join_pointer([name]) for name in names]
    kept = {name: each for name, each in standing.value.items() if name not in names}
    written = {name: change.value[name] for name in names if name in change.value}
    evidence = {
        at: found
        for at, found in standing.evidence.items()
        if not any(covers(place, at) for place in places)
    }
    for name, place in zip(names, places, strict=True):
        if name in change.value:
            evidence |= _evidence_below(place, change.evidence)
    return replace(
        change,
        value={**kept, **written},
        evidence=evidence,
        trust=least([change.trust, standing.trust]),
    )


def _evidence_below(place: str, evidence: EvidenceMap) -> EvidenceMap:
    """Return the evidence of the value at *place* and of its parts, with that of the whole."""
    parts = {at: found for at, found in evidence.items() if at != place and covers(place, at)}
    own = evidence_at(place, evidence)
    return parts | ({place: own} if own else {})
