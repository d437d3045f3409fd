"""Derive expectations for a case file from past formations and corrections."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from recollect.formation.types import MemoryType
from recollect.ports import ModelRequest, Turn
from recollect.records import Json, JsonObject, Message, Revision
from recollect.stores.json_pointers import covers, leaves
from recollect.testing.oracle import read_request

Entry = dict[str, Json]
"""The fields of one table of a case file."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ExpectedEntry:
    """Entries for ``must`` and ``must_not``."""

    must: list[Entry] = field(default_factory=list)
    must_not: list[Entry] = field(default_factory=list)


def shown_memories(receipt: JsonObject) -> Iterator[Entry]:
    """Yield the memories that a formation was shown, as entries for ``memories``."""
    exchanges = receipt.get("exchanges")
    first = exchanges[0] if isinstance(exchanges, list) and exchanges else {}
    turns = first.get("turns") if isinstance(first, Mapping) else None
    turn = turns[0] if isinstance(turns, list) and turns else {}
    text = turn.get("text") if isinstance(turn, Mapping) else None
    if not isinstance(text, str):
        return
    asked = ModelRequest(system="", turns=(Turn(role="user", text=text),))
    for known in read_request(asked).known:
        yield {"type": known.type, "value": known.value}


def ended_entry(type_: MemoryType, revision: Revision) -> Entry:
    """Return the ``must`` entry for a memory that has ended."""
    return {"type": type_.name, "where": _where(revision.value), "ended": True}


def after_formation(
    type_: MemoryType, before: Revision | None, after: Revision, messages: Sequence[Message]
) -> ExpectedEntry:
    """Return the expectation for a memory that a formation stored or changed."""
    if type_.update_mode == "insert" and before is None:
        return ExpectedEntry(must=[_whole_entry(type_, after, messages)])
    where = (
        _unchanged_fields(before.value, after.value)
        if before and type_.update_mode == "insert"
        else {}
    )
    found = ExpectedEntry()
    old = _places(before.value) if before else []
    new = _places(after.value)
    for pointer, place, leaf in new:
        if (place, leaf) not in [(p, each) for _, p, each in old]:
            entry = _field_entry(type_, place, leaf, where)
            found.must.append({**entry, **_citation(after, pointer, messages)})
    found.must_not.extend(
        _field_entry(type_, place, leaf, where)
        for _, place, leaf in old
        if (place, leaf) not in [(p, each) for _, p, each in new]
    )
    return found


def after_correction(
    type_: MemoryType,
    before: Revision | None,
    versions: tuple[Revision, Revision],
    messages: Sequence[Message],
) -> ExpectedEntry:
    """
    Return the expectation for a formed memory that was corrected or rejected since.

    Args:
        type_: Its type.
        before: The version that the formation found.
        versions: The version it formed, and the current one.
        messages: The messages of the case; message number n is at index n - 1.
    """
    formed, now = versions
    if now.state == "rejected":
        where = _where(formed.value)
        return ExpectedEntry(must_not=[{"type": type_.name, "where": where}])
    # The correction cites no message of the case: keep the evidence of the formed version.
    corrected = replace(now, evidence=formed.evidence)
    found = after_formation(type_, before, corrected, messages)
    current = [(place, leaf) for _, place, leaf in _places(now.value)]
    found.must_not.extend(
        _field_entry(type_, place, leaf, {})
        for _, place, leaf in _places(formed.value)
        if (place, leaf) not in current
    )
    return found


def _whole_entry(type_: MemoryType, revision: Revision, messages: Sequence[Message]) -> Entry:
    because = [
        {**cited, "path": pointer} if pointer else cited
        for pointer in revision.evidence
        if (cited := _citation(revision, pointer, messages))
    ]
    found: Entry = {
        "type": type_.name,
        "where": _where(revision.value),
        "value": revision.value,
    }
    return {**found, "because": because} if because else found


def _field_entry(type_: MemoryType, place: str, leaf: Json, where: Mapping[str, Json]) -> Entry:
    selected: Entry = {"where": dict(where)} if where else {}
    return {"type": type_.name, **selected, "path": place, "equals": leaf}


def _citation(revision: Revision, pointer: str, messages: Sequence[Message]) -> Entry:
    """Return number and quote of a message that supports *pointer*; empty if none is left."""
    numbers = {(each.thread, each.id): at for at, each in enumerate(messages, 1)}
    near = sorted((p for p in revision.evidence if covers(p, pointer)), key=len, reverse=True)
    for each in (evidence for place in near for evidence in revision.evidence[place]):
        number = numbers.get((each.thread, each.message))
        if number is not None and each.quote:
            return {"message": number, "quote": each.quote}
    return {}


def _places(value: JsonObject) -> list[tuple[str, str, Json]]:
    """Return pointer, place and value of every leaf; an element's place is its list."""
    found: list[tuple[str, str, Json]] = []
    for pointer, leaf in leaves(value):
        parent, _, last = pointer.rpartition("/")
        if leaf is not None:
            found.append((pointer, parent if last.isdigit() else pointer, leaf))
    return found


def _where(value: JsonObject) -> Entry:
    return {
        name: each
        for name, each in value.items()
        if isinstance(each, str | int | float) and each != ""
    }


def _unchanged_fields(before: JsonObject, after: JsonObject) -> Entry:
    """Return the fields that a change left as they were; they identify the entry."""
    return {name: each for name, each in _where(before).items() if after.get(name) == each}
