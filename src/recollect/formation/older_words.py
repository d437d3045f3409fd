"""
Older words: words that are formed after newer ones, as those of a talk that is imported.

What was said, or written by a person, after them stands.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import datetime

from recollect.formation.operation_outcomes import OperationOutcome, Present
from recollect.formation.operations import Citation, Insert, Operation, citations_of
from recollect.records import Json, JsonObject, Memory, MemoryAddress
from recollect.stores.json_pointers import is_list, part_at


def targets_written_since(operations: Sequence[Operation], present: Present) -> list[Memory]:
    """Return what *operations* may replace or end that was written after their words were said."""
    found: dict[MemoryAddress, Memory] = {}
    for each in operations:
        if isinstance(each, Insert):
            memory = present.at.get((each.type, each.document_key))
        else:
            memory = present.offer.known[each.target]
        said = present.said_at(citations_of(each))
        if memory is not None and said is not None and said < memory.updated_at:
            found[memory.type, memory.key] = memory
    return list(found.values())


def refused_step(
    step: JsonObject,
    value: JsonObject,
    cited: Sequence[Citation],
    address: MemoryAddress,
    present: Present,
) -> OperationOutcome | None:
    """Return the refusal of a patch step on *value* that would replace newer words, if it would."""
    told, said = present.told.get(address), present.said_at(cited)
    if told is None or said is None:
        return None
    for place, new in _replaced_by(step, value):
        if newer := told.replaced_after(place, new, said):
            return _refusal(address, f"{place}: ", newer, said)
    return None


def refused_end(memory: Memory, said: datetime, present: Present) -> OperationOutcome | None:
    """Return the refusal of an end that was *said* before what it would end, if it was."""
    address = memory.type, memory.key
    told = present.told.get(address)
    newer = None if told is None else told.at("")
    return _refusal(address, "", newer, said) if newer is not None and newer > said else None


def _replaced_by(step: JsonObject, value: JsonObject) -> Iterator[tuple[str, Json]]:
    """Yield the places at which a step may replace something, with what comes there."""
    name, path = step.get("op"), str(step.get("path"))
    adds_element = name == "add" and is_list(part_at(value, path.rpartition("/")[0]))
    if name == "move":
        yield str(step.get("from")), None
    if name != "test" and not adds_element:
        yield path, step.get("value")


def _refusal(
    address: MemoryAddress, place: str, newer: datetime, said: datetime
) -> OperationOutcome:
    type_, key = address
    reason = f"{place}it was told on {newer:%Y-%m-%d}, after these words of {said:%Y-%m-%d}"
    return OperationOutcome(action="refused", type=type_, key=key, reason=reason)
