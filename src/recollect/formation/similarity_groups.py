"""Group the memories of a collection that are about the same, by words, subject and vectors."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import combinations
from typing import Final, TypeAlias

from recollect.formation.types import MemoryType
from recollect.formation.value_identity import leading_fields, normalised
from recollect.ports import Vector
from recollect.records import JsonObject, Memory, MemoryAddress
from recollect.stores.json_pointers import leaves
from recollect.text.analysis import terms_of
from recollect.text.searchable import memory_text

GROUP_MAX: Final = 12
"""Most memories of a group; less similar ones form another."""
OVERLAP_MIN: Final = 0.5
"""Share of terms (Dice) from which two memories are grouped."""
OVERLAP_OF_SUBJECT_MIN: Final = 0.3
"""
The same for two memories of one subject, whose terms are left out on both sides. Where the
subject is all that a type demands, as the name of an entity, it suffices.
"""
COSINE_MIN: Final = 0.8
"""Cosine of their vectors from which two memories are grouped."""
COMMON_TERM_MEMORIES_MAX: Final = 200
"""A term of more memories than this is too common to group them."""
_DIGEST_BYTES: Final = 12

_Edge: TypeAlias = tuple[float, int, int]
_Worded: TypeAlias = tuple[frozenset[str], str]
"""The terms of a memory, and its subject."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Group:
    """Memories of one type that may say the same, the oldest first."""

    type: str
    memories: tuple[Memory, ...]

    @property
    def digest(self) -> str:
        """
        Return a digest that identifies this group with its present wording.

        Versions are ignored: added evidence or a changed validity does not require another look.
        """
        said = sorted([each.key, normalised(memory_text(each.value))] for each in self.memories)
        text = json.dumps([self.type, said], ensure_ascii=False)
        return hashlib.blake2b(text.encode(), digest_size=_DIGEST_BYTES).hexdigest()


def address_of(memory: Memory) -> MemoryAddress:
    """Return the address of a memory in its scope."""
    return memory.type, memory.key


def groups_of(
    type_: MemoryType, memories: Sequence[Memory], vectors: Mapping[MemoryAddress, Vector | None]
) -> list[Group]:
    """
    Return the groups of at least two of *memories*, all of one type, by their first address.

    The most alike come together first, as long as a group has room: no memory is in two.
    """
    ordered = sorted(memories, key=address_of)
    edges = [*_alike_in_words(type_, ordered), *_alike_in_meaning(ordered, vectors)]
    members = {at: [at] for at in range(len(ordered))}
    group_of = list(range(len(ordered)))
    for _, one, other in sorted(edges, key=lambda edge: (-edge[0], edge[1], edge[2])):
        first, second = sorted((group_of[one], group_of[other]))
        if first == second or len(members[first]) + len(members[second]) > GROUP_MAX:
            continue
        for at in members[second]:
            group_of[at] = first
        members[first] += members.pop(second)
    return [
        Group(type=type_.name, memories=tuple(sorted((ordered[at] for at in found), key=_age)))
        for found in members.values()
        if len(found) > 1
    ]


def _age(memory: Memory) -> tuple[datetime, MemoryAddress]:
    return memory.valid_from or memory.said_at or memory.created_at, address_of(memory)


def subject_of(type_: MemoryType, value: JsonObject) -> str:
    """
    Return the subject of a document: the first of its leading fields that is not single-valued.

    >>> from recollect.formation.types import FACT
    >>> subject_of(FACT, {"subject": "Ada", "predicate": "likes", "object": "tea"})
    'ada'
    """
    lasting = [name for name in leading_fields(type_.parameters) if name not in type_.single_valued]
    found = value.get(lasting[0]) if lasting else None
    return normalised(found) if isinstance(found, str) else ""


def _words(value: JsonObject) -> str:
    said = (leaf for _, leaf in leaves(value))
    return " ".join(str(leaf) for leaf in said if leaf is not None and not isinstance(leaf, bool))


class AlikeWords:
    """Finds, among memories of one type, those that share enough terms with another one."""

    def __init__(self, type_: MemoryType, memories: Sequence[Memory]) -> None:
        self._type = type_
        self._memories = memories
        self._worded = [_worded(type_, each) for each in memories]
        self._holders = _holders([terms for terms, _ in self._worded])

    def to(self, memory: Memory) -> list[Memory]:
        """Return those about the same as *memory*, by words and subject."""
        mine = _worded(self._type, memory)
        places = {
            place
            for term in mine[0]
            if len(holders := self._holders.get(term, ())) <= COMMON_TERM_MEMORIES_MAX
            for place in holders
        }
        return [self._memories[each] for each in sorted(places) if self._is_alike(mine, each)]

    def _is_alike(self, mine: _Worded, place: int) -> bool:
        overlap, least = _overlap(self._type, mine, self._worded[place])
        return overlap >= least


def _worded(type_: MemoryType, memory: Memory) -> _Worded:
    return frozenset(terms_of(_words(memory.value))), subject_of(type_, memory.value)


def _overlap(type_: MemoryType, one: _Worded, other: _Worded) -> tuple[float, float]:
    """Return the overlap of two memories, and how much of it they need to be about the same."""
    (terms, subject), (others, its_subject) = one, other
    if not subject or subject != its_subject:
        return dice(terms, others), OVERLAP_MIN
    about = frozenset(terms_of(subject))
    least = 0.0 if len(leading_fields(type_.parameters)) == 1 else OVERLAP_OF_SUBJECT_MIN
    return dice(terms - about, others - about), least


def _alike_in_words(type_: MemoryType, memories: Sequence[Memory]) -> Iterator[_Edge]:
    """Yield the pairs that share enough terms, with their overlap."""
    worded = [_worded(type_, each) for each in memories]
    for one, other in sorted(_sharing([terms for terms, _ in worded])):
        overlap, least = _overlap(type_, worded[one], worded[other])
        if overlap >= least:
            yield overlap, one, other


def _sharing(terms: Sequence[frozenset[str]]) -> set[tuple[int, int]]:
    """Return the pairs that have any term in common that is not too common."""
    return {
        pair
        for found in _holders(terms).values()
        if len(found) <= COMMON_TERM_MEMORIES_MAX
        for pair in combinations(found, 2)
    }


def _holders(terms: Sequence[frozenset[str]]) -> dict[str, list[int]]:
    """Return the places of the memories that have each term."""
    holders: dict[str, list[int]] = {}
    for at, each in enumerate(terms):
        for term in each:
            holders.setdefault(term, []).append(at)
    return holders


def dice(one: frozenset[str], other: frozenset[str]) -> float:
    """
    Return the similarity of two sets, from 0 to 1 (Sørensen-Dice).

    >>> dice(frozenset("abc"), frozenset("bcd"))
    0.6666666666666666
    """
    both = len(one) + len(other)
    return 2 * len(one & other) / both if both else 0.0


def _alike_in_meaning(
    memories: Sequence[Memory], vectors: Mapping[MemoryAddress, Vector | None]
) -> Iterator[_Edge]:
    """Yield the pairs whose vectors are near enough, with their cosine."""
    known = [
        (at, vector)
        for at, each in enumerate(memories)
        if (vector := vectors.get(address_of(each))) is not None
    ]
    if len(known) < 2:
        return
    import numpy as np  # noqa: PLC0415 (no worker waits for it at its start)

    matrix = np.stack([vector for _, vector in known])
    cosines = matrix @ matrix.T
    for first, second in np.argwhere(np.triu(cosines >= COSINE_MIN, k=1)):
        yield float(cosines[first, second]), known[first][0], known[second][0]
