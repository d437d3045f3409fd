"""Rivals: the memories that a new single value contradicts."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import datetime

from recollect.formation.succession import Succession, holds_from, succession_of
from recollect.formation.types import MemoryType
from recollect.formation.value_identity import normalised, required_fields, same_text
from recollect.records import JsonObject, Memory, Trust
from recollect.text.searchable import memory_text


def is_single(type_: MemoryType, value: JsonObject) -> bool:
    """Return True if only one such value can hold at a time."""
    can_be_several = type_.several is not None and value.get(type_.several) is True
    return bool(type_.single_valued) and not can_be_several


def identity_of(type_: MemoryType) -> list[str]:
    """Return the fields that identify a single-valued memory: whom it is about, and how."""
    return [name for name in required_fields(type_.parameters) if name not in type_.single_valued]


def subject_key(type_: MemoryType, value: JsonObject) -> tuple[str, ...]:
    """
    Return the normalised values of a value's identifying fields.

    >>> from recollect.formation.types import FACT
    >>> subject_key(FACT, {"subject": "ADA", "predicate": "lives  in", "object": "Oslo"})
    ('ada', 'lives in')
    """
    given = (memory_text({"it": value.get(name)}) for name in identity_of(type_))
    return tuple(normalised(words.removeprefix("it: ")) for words in given)


def are_rivals(type_: MemoryType, one: JsonObject, other: JsonObject) -> bool:
    """Return True if two values of a type differ about the same subject."""
    is_same = subject_key(type_, one) == subject_key(type_, other)
    return is_same and not same_text(one, other)


def rivals_of(
    type_: MemoryType, value: JsonObject, since: datetime, memories: Sequence[Memory]
) -> Iterator[Memory]:
    """Yield those of *memories* that hold at *since*, or later, and that *value* contradicts."""
    if not is_single(type_, value):
        return
    for memory in memories:
        if holds_from(memory, since) and are_rivals(type_, memory.value, value):
            yield memory


def succession_among(
    type_: MemoryType,
    value: JsonObject,
    memories: Sequence[Memory],
    *,
    since: datetime,
    until: datetime | None,
    trust: Trust = "user",
    told: datetime | None = None,
) -> Succession:
    """
    Return how *value*, valid from *since* to *until*, fits among *memories* in time.

    *told* is when it was said, if that may be before what was stored meanwhile.
    """
    rivals = rivals_of(type_, value, since, memories)
    return succession_of(rivals, since, until, trust, told=told)
