"""Change of a type's `update_mode`: find memories in the other mode, and convert them."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from recollect.formation.derived_memories import DerivedChange
from recollect.formation.grounding.passage_trust import least
from recollect.formation.succession import end_of, holds_from
from recollect.formation.types import UpdateMode
from recollect.formation.value_identity import normalised
from recollect.records import EndMemory, Evidence, Json, JsonObject, Memory, PutMemory, Write
from recollect.stores.json_pointers import is_list, join_pointer, parse_pointer
from recollect.stores.provenance import evidence_at
from recollect.stores.remainder import MEMORY_THREAD, merged_into, version_name
from recollect.text.searchable import memory_text

EvidenceLists = dict[str, list[Evidence]]


def in_other_mode(
    memories: Sequence[Memory], update_mode: UpdateMode, now: datetime
) -> list[Memory]:
    """
    Return the active memories that are not where *update_mode* stores them.

    The document of a patched type has the type's name, or a speaker's mark, as its key; entries of
    a collection have other keys. Quarantined, rejected and ended memories are ignored.
    """
    return [
        each
        for each in memories
        if holds_from(each, now)
        and (not each.is_document if update_mode == "patch" else each.key == each.type)
    ]


def migration(
    sources: Sequence[Memory], to: UpdateMode, *, key: str, standing: Memory | None, now: datetime
) -> DerivedChange:
    """
    Return the change that converts the *sources* of a type into one document, or an entry.

    The new memory cites the versions it came from, field by field, in addition to their evidence;
    the sources end and stay as history. It ends and expires when the last of them would have.

    Args:
        sources: The memories in the other form; at least one.
        key: The key of the new memory.
        standing: The memory at that key now, in any state.
    """
    type_ = sources[0].type
    ordered = sorted(sources, key=lambda each: (each.time, each.key))
    in_force = [] if standing is None or not holds_from(standing, now) else [standing]
    value, evidence = _merged([*in_force, *ordered], standing)
    put = PutMemory(
        type=type_,
        key=key,
        value=value,
        expected=standing.version if standing else 0,
        valid_from=_single([each.valid_from for each in [*in_force, *ordered]]),
        valid_until=_last([each.valid_until for each in [*in_force, *ordered]]),
        expires_at=_last([each.expires_at for each in [*in_force, *ordered]]),
        evidence=evidence,
        trust=least([each.trust for each in [*in_force, *ordered]]),
        cause=f"migrated to {to}",
    )
    ends: list[Write] = [
        EndMemory(
            type=type_,
            key=each.key,
            at=end_of(each, now),
            expected=each.version,
            cause=merged_into(type_, key),
        )
        for each in ordered
    ]
    return DerivedChange(
        action="merged",
        type=type_,
        key=key,
        sources=tuple((type_, each.key, each.version) for each in ordered),
        ended=tuple((type_, each.key) for each in ordered),
        reason=f"migrated to {to}",
        writes=(put, *ends),
    )


def _single(times: Sequence[datetime | None]) -> datetime | None:
    """Return the time of a single memory; a memory made from several has none."""
    return times[0] if len(times) == 1 else None


def _last(times: Sequence[datetime | None]) -> datetime | None:
    """Return the last of the *times*, ``None`` if one of them is open."""
    known = [each for each in times if each is not None]
    return max(known) if len(known) == len(times) else None


def _merged(
    memories: Sequence[Memory], standing: Memory | None
) -> tuple[JsonObject, EvidenceLists]:
    """
    Return one value made from several, oldest first, with the evidence of each part.

    A later value of a field replaces an earlier one; lists are concatenated without duplicates.
    """
    value: dict[str, Json] = {}
    evidence: EvidenceLists = {}
    for memory in memories:
        named = [] if memory is standing else [_naming(memory)]
        for name, given in memory.value.items():
            held = value.get(name)
            if not (is_list(given) and is_list(held)):
                for pointer in [each for each in evidence if parse_pointer(each)[:1] == (name,)]:
                    del evidence[pointer]
                held = []
            if is_list(given) and is_list(held):
                # Each element has its own evidence: erasing one's removes no other.
                new = _unsaid(held, given)
                for place, at in enumerate(new, start=len(held)):
                    _cite(evidence, (name, str(at)), (name, str(place)), memory, named=named)
                value[name] = [*held, *(given[at] for at in new)]
                continue
            value[name] = given
            _cite(evidence, (name,), (name,), memory, named=named)
    return value, evidence


def _naming(memory: Memory) -> Evidence:
    name = version_name(memory.type, memory.key, memory.version)
    return Evidence(thread=MEMORY_THREAD, message=name)


def _unsaid(held: Sequence[Json], given: Sequence[Json]) -> list[int]:
    """Return the places in *given* of what *held* does not say, each thing once."""
    words = {_words(each) for each in held}
    places = []
    for at, each in enumerate(given):
        if _words(each) not in words:
            words.add(_words(each))
            places.append(at)
    return places


def _words(value: Json) -> str:
    return normalised(memory_text({"value": value}))


def _cite(
    evidence: EvidenceLists,
    path: tuple[str, ...],
    place: tuple[str, ...],
    memory: Memory,
    *,
    named: Sequence[Evidence],
) -> None:
    """Cite *path* of *memory*, and its evidence, for the part at *place*."""
    whole = [*named, *evidence_at(join_pointer(path), memory.evidence)]
    for pointer, found in memory.evidence.items():
        steps = parse_pointer(pointer)
        if len(steps) > len(path) and steps[: len(path)] == path:
            evidence[join_pointer((*place, *steps[len(path) :]))] = [*named, *found]
    if whole:
        evidence[join_pointer(place)] = list(dict.fromkeys(whole))
