"""Choose which types of a thread are formed with the conversation, and which on a schedule."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence

from recollect.formation.types import MemoryType
from recollect.records import Lane, Thread


def laned(types: Sequence[MemoryType], recorded: Collection[str]) -> tuple[MemoryType, ...]:
    """
    Return the types with a schedule of their own, or with a lane in the thread.

    A type whose schedule was taken away keeps its lane until it is formed as far as the others.
    """
    return tuple(each for each in types if each.schedule or each.name in recorded)


def formed_with_talk(
    types: Sequence[MemoryType], recorded: Collection[str]
) -> tuple[MemoryType, ...]:
    """Return the types that are formed when the conversation pauses."""
    apart = laned(types, recorded)
    return tuple(each for each in types if each not in apart)


def waiting_lanes(
    thread: Thread, types: Sequence[MemoryType]
) -> Iterator[tuple[MemoryType, Lane, int]]:
    """
    Yield the types of a thread for whose lane something waits, each with lane and end.

    A type without a schedule is only brought up to the watermark, where it joins the others.
    """
    for type_ in laned(types, thread.lanes):
        lane = thread.lanes.get(type_.name, Lane(formed=thread.formed))
        end = thread.last if type_.schedule else thread.formed
        if lane.formed < end or lane.again:
            yield type_, lane, end
