"""Which recalled entries say again what a better one says already."""

from __future__ import annotations

from collections.abc import Sequence

from recollect.recall.result import Recalled
from recollect.records import Memory, Message, Scope

Said = tuple[Scope, str, str]
"""A message: scope, thread, id."""


def repeated(entries: Sequence[Recalled]) -> frozenset[int]:
    """
    Return the places, in *entries* (best first), of what better entries have said.

    A memory repeats when all messages that it rests on are there before it; a message when a
    memory before it rests on it alone. Measured with recorded facts beside their messages:
    as much is found in fewer entries (`recollect bench facts`).
    """
    said: set[Said] = set()
    found: set[int] = set()
    for place, entry in enumerate(entries):
        content = entry.content
        if isinstance(content, Message):
            own = {(entry.scope, content.thread, content.id)}
        else:
            own = rests_on(entry.scope, content)
        if own and own <= said:
            found.add(place)
        elif isinstance(content, Message) or len(own) == 1:
            said |= own
    return frozenset(found)


def rests_on(scope: Scope, memory: Memory) -> set[Said]:
    """Return the messages that any part of *memory* rests on."""
    return {
        (scope, each.thread, each.message)
        for evidence in memory.evidence.values()
        for each in evidence
    }
