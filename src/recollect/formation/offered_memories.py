"""Choose the known memories that a model is shown, by the users' new messages."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import datetime
from itertools import islice
from typing import Final

from recollect.formation.succession import has_ended
from recollect.formation.window import Window, WindowLine
from recollect.ports import TokenCounter
from recollect.records import Memory, MemoryAddress, Role
from recollect.stores.json_pointers import leaves
from recollect.text.analysis import terms_of
from recollect.text.searchable import memory_text

QUERIES_MAX: Final = 24
"""Most searches for one window; with more messages, several share a search."""
QUERY_CHARACTERS_MAX: Final = 2_000
TWIN_OVERLAP_MIN: Final = 0.6
"""Share of terms (Dice) from which two memories count as near-duplicates."""
TWIN_RANKS_MAX: Final = 8
"""Best results of a message that are compared for near-duplicates."""
TWINS_MAX: Final = 2
"""Most near-duplicates shown with one memory, so that they leave room for others."""
QUERY_LETTERS_MIN: Final = 4
"""A shorter message ("ok", 好) is not searched for."""


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

    The messages take turns, so that none crowds out another; each offers active memories before
    ended ones. Memories that say nearly the same come together: if the model changed only one, the
    other would become stale. A memory that is too long for the remaining tokens is skipped, except
    the first. The order by time lets the model read the newest of contradicting memories last.
    """
    chosen: dict[MemoryAddress, Memory] = {}
    groups: list[list[Memory]] = []
    left = tokens_max
    twins = _Twins(found, now)
    for memory in _in_turn([sorted(each, key=lambda one: has_ended(one, now)) for each in found]):
        group: list[Memory] = []
        for each in (memory, *twins.of(memory)):
            cost = count(memory_text(each.value))
            is_over = len(chosen) >= memories_max or (cost > left and bool(chosen))
            if is_over or (each.type, each.key) in chosen:
                continue
            left -= cost
            chosen[each.type, each.key] = each
            group.append(each)
        groups.append(sorted(group, key=_age))
    groups = [each for each in groups if each]
    return [each for group in sorted(groups, key=lambda group: _age(group[-1])) for each in group]


def _age(memory: Memory) -> tuple[datetime, str, str]:
    return memory.time, memory.type, memory.key


class _Twins:
    """The active memories among those found that say nearly the same as another one."""

    def __init__(self, found: Sequence[Sequence[Memory]], now: datetime) -> None:
        every = {
            (each.type, each.key): each for memories in found for each in memories[:TWIN_RANKS_MAX]
        }
        self._terms = {
            address: frozenset(terms_of(_words_of(each)[:QUERY_CHARACTERS_MAX]))
            for address, each in every.items()
            if not (each.is_document or has_ended(each, now))
        }
        self._found = every

    def of(self, memory: Memory) -> Iterator[Memory]:
        """Yield a few twins of *memory*, those found first first."""
        mine = self._terms.get((memory.type, memory.key), frozenset())
        twins = (
            self._found[type_, key]
            for (type_, key), terms in self._terms.items()
            if type_ == memory.type and key != memory.key and _overlap(mine, terms)
        )
        yield from islice(twins, TWINS_MAX)


def _words_of(memory: Memory) -> str:
    """Return the words of a memory without the names of its fields, which all of a type share."""
    return " ".join(leaf for _, leaf in leaves(memory.value) if isinstance(leaf, str))


def _overlap(one: frozenset[str], other: frozenset[str]) -> bool:
    shared = 2 * len(one & other)
    return shared > 0 and shared >= TWIN_OVERLAP_MIN * (len(one) + len(other))


def _in_turn(found: Sequence[Sequence[Memory]]) -> Iterator[Memory]:
    """Yield results round-robin: the best new one of each message in turn."""
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
