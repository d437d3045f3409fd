"""When memories hold, and how a newer value of a single-valued field ends them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from recollect.records import EndMemory, Memory, Trust
from recollect.stores.field_evidence import is_written_over

A_MOMENT: Final = timedelta(microseconds=1)
NEWER_VALUE: Final = "a newer value"
"""The reason that an older value's history states for its end."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Succession:
    """Which values end when a new one begins, and when that one ends (``None``: open)."""

    ends: tuple[EndMemory, ...]
    until: datetime | None


def end_of(memory: Memory, now: datetime) -> datetime:
    """Return when a memory that is replaced now ends: never before it began."""
    begins = memory.valid_from
    return now if begins is None else max(now, begins + A_MOMENT)


def has_ended(memory: Memory, at: datetime) -> bool:
    """Return True if a memory is no longer valid at *at*, whatever its state."""
    return memory.valid_until is not None and memory.valid_until <= at


def is_valid_at(memory: Memory, at: datetime) -> bool:
    """Return True if a memory has begun and not ended at *at*, whatever its state."""
    begun = memory.valid_from is None or memory.valid_from <= at
    return begun and not has_ended(memory, at)


def holds(memory: Memory, at: datetime) -> bool:
    """Return True if a memory is active and valid at *at*."""
    return memory.state == "active" and is_valid_at(memory, at)


def holds_from(memory: Memory, since: datetime) -> bool:
    """Return True if an active memory holds at *since*, or begins to hold later."""
    return memory.state == "active" and not has_ended(memory, since)


def told_at(memory: Memory) -> datetime:
    """Return when the words of a memory were said, or when a person wrote it."""
    if is_written_over(memory.evidence):
        return memory.updated_at
    return memory.said_at or memory.created_at


def is_told_later(rival: Memory, told: datetime, since: datetime) -> bool:
    """
    Return True if *rival* was told after a value that was *told* then, and is valid from *since*.

    It does not speak of the time of a value that begins after it was told.
    """
    return since <= told_at(rival) > told


def succession_of(
    rivals: Iterable[Memory],
    since: datetime,
    until: datetime | None,
    trust: Trust = "user",
    *,
    told: datetime | None = None,
) -> Succession:
    """
    Return how a value of this *trust*, valid from *since*, succeeds its *rivals*.

    A rival that began before ends at *since*; one that begins later ends the new value there,
    unless only an agent found it: that ends in any case.

    *told* is when the words of a value were said that comes late, as one that waited. Words said
    after them end it, even if they tell of a time before; but not what it says of a later time.
    """
    ends: list[EndMemory] = []
    for rival in rivals:
        gives_way = rival.trust == "agent" and trust != "agent"
        begins = rival.valid_from
        if told is not None and is_told_later(rival, told, since):
            begins = told_at(rival) if begins is None or begins <= since else begins
        if begins is not None and begins > since and not gives_way:
            until = min(filter(None, [until, begins]))
        else:
            ends.append(_ended(rival, since))
    return Succession(ends=tuple(ends), until=until)


def _ended(memory: Memory, at: datetime) -> EndMemory:
    return EndMemory(
        type=memory.type,
        key=memory.key,
        at=max(at, (memory.valid_from or at) + A_MOMENT),
        expected=memory.version,
        cause=NEWER_VALUE,
    )
