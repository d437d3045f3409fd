"""Which known memories a model is shown: those that the users' new messages bear on."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import Final

from recollect.formation.window import Window, WindowLine
from recollect.ports import TokenCounter
from recollect.records import Memory, MemoryAddress, Role
from recollect.text.searchable import memory_text

QUERIES_MAX: Final = 24
"""So many searches are made for one window; of more messages several share one."""
QUERY_CHARACTERS_MAX: Final = 2_000
QUERY_LETTERS_MIN: Final = 4
"""A shorter message ("ok", 好) bears on nothing that is known."""


def queries_of(window: Window, roles: frozenset[Role]) -> list[str]:
    """
    Return what to search for: each new user message by itself.

    An assistant's words are not searched for, since they say much that changes nothing. Only where
    no user speaks, the messages of *roles*, which may cause a memory, take their place.
    """
    users = [line for line in window.new if line.message.role == "user"]
    texts = list(dict.fromkeys(_worded(users)))
    texts = texts or list(
        dict.fromkeys(_worded([e for e in window.new if e.message.role in roles]))
    )
    step = -(-len(texts) // QUERIES_MAX) or 1
    joined = [" ".join(texts[at : at + step]) for at in range(0, len(texts), step)]
    return [each[:QUERY_CHARACTERS_MAX] for each in joined]


def _worded(lines: Sequence[WindowLine]) -> Iterator[str]:
    for line in lines:
        letters = sum(2 if each > "\u3000" else 1 for each in line.text if each.isalnum())
        if letters >= QUERY_LETTERS_MIN:
            yield line.text.strip()


def chosen_memories(
    found: Sequence[Sequence[Memory]],
    *,
    now: datetime,
    memories_max: int,
    tokens_max: int,
    count: TokenCounter,
) -> list[Memory]:
    """
    Return the memories to show, oldest first, from what each message has *found*, best first.

    The messages take turns, so that none is left out for another; each gives what is in force
    before what has ended. One that is too long for the tokens left is passed over, but for the
    first. In the order of time the newest of several that contradict each other is read last.
    """
    chosen: dict[MemoryAddress, Memory] = {}
    left = tokens_max
    for memory in _in_turn([_in_force_first(each, now) for each in found]):
        address = (memory.type, memory.key)
        if len(chosen) >= memories_max:
            break
        if address in chosen:
            continue
        cost = count(memory_text(memory.value))
        if cost > left and chosen:
            continue
        left -= cost
        chosen[address] = memory
    return sorted(chosen.values(), key=lambda each: (each.time, each.type, each.key))


def _in_force_first(found: Sequence[Memory], now: datetime) -> list[Memory]:
    return sorted(found, key=lambda each: each.valid_until is not None and each.valid_until <= now)


def _in_turn(found: Sequence[Sequence[Memory]]) -> Iterator[Memory]:
    """Yield the best of each message, then what is next best and new of each, and so on."""
    seen: set[MemoryAddress] = set()
    waiting = [iter(each) for each in found]
    while waiting:
        again = []
        for each in waiting:
            for memory in each:
                address = (memory.type, memory.key)
                if address not in seen:
                    seen.add(address)
                    again.append(each)
                    yield memory
                    break
        waiting = again
