"""Evidence of a new version: its own, plus that of words which it keeps of earlier versions."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

from recollect.records import EvidenceMap, JsonObject
from recollect.stores.json_pointers import Scalar, covers, leaves
from recollect.stores.provenance import (
    _INDEX,
    NO_WORDS,
    Found,
    Origins,
    Said,
    Source,
    Words,
    _alternatives,
    _message,
    all_of,
    carried_over,
    either_of,
    evidence_at,
    gathered,
    is_enough,
    quoted,
    source_at,
    unusual,
    words_in,
    words_on_the_way,
)


@dataclass(frozen=True, slots=True)
class Founded:
    """A document with the evidence of its parts."""

    value: JsonObject
    evidence: EvidenceMap

    def leaves(self) -> Iterator[tuple[str, Scalar, Found]]:
        """Yield pointer, value and evidence of each leaf."""
        for pointer, leaf in leaves(self.value):
            yield pointer, leaf, evidence_at(pointer, self.evidence)


def merged_evidence(
    value: JsonObject, before: EvidenceMap, again: EvidenceMap, said: Said = quoted
) -> dict[str, Found]:
    """
    Return the evidence of a document whose content was said again in the messages of *again*.

    A value without evidence was written by a person, and stays without.
    """
    words = {pointer: words_in(leaf) for pointer, leaf in leaves(value)}
    merged = {}
    for place, found in before.items():
        inside = NO_WORDS.union(*(each for at, each in words.items() if covers(place, at)))
        parts = [each for at, each in again.items() if at != place and covers(place, at)]
        anew = all_of([evidence_at(place, again), *parts])
        is_more = anew and is_enough(inside, found, anew, said)
        merged[place] = either_of(found, anew) if is_more else either_of(found)
    return merged


def kept_evidence(
    before: Founded,
    after: Founded,
    said: Said = quoted,
    past: Callable[[], Sequence[Founded]] = tuple,
) -> EvidenceMap:
    """
    Return the evidence of a document that replaces another.

    This is its own evidence, plus that of parts of *before* that it keeps unchanged, or from which
    it took words that its own messages do not contain.

    Args:
        past: Returns the versions before *before*, newest first. Called only for words that are
            found nowhere else, because it reads the store.
    """
    stands, old = _Standing(before), _Past(past)
    added: dict[str, Found] = {}
    for pointer, leaf, given in after.leaves():
        kept = stands.kept(pointer, leaf, given, said, old)
        if kept != given:
            added[pointer] = kept
    return {**after.evidence, **gathered(after.value, added)} if added else after.evidence


class _Past:
    """Past versions of a document, as sources of words that return."""

    def __init__(self, read: Callable[[], Sequence[Founded]]) -> None:
        self._read = read

    @cached_property
    def _leaves(self) -> list[tuple[str, Scalar, Found]]:
        return [each for document in self._read() for each in document.leaves()]

    @cached_property
    def _same(self) -> dict[tuple[str, str, Scalar], Source]:
        found: dict[tuple[str, str, Scalar], Source] = {}
        for pointer, leaf, evidence in self._leaves:
            found.setdefault(_place_of(pointer, leaf), source_at(pointer, leaf, evidence))
        return found

    def same(self, pointer: str, leaf: Scalar) -> list[Source]:
        """Return the newest past version of an identical leaf, if there is one."""
        found = self._same.get(_place_of(pointer, leaf))
        return [found] if found else []

    @cached_property
    def origins(self) -> Origins:
        """Return all past versions as sources of words."""
        return Origins(unusual(source_at(*each)) for each in self._leaves)


class _Standing:
    """The version that is being replaced, as a source of words."""

    def __init__(self, before: Founded) -> None:
        self._same: dict[tuple[str, str, Scalar], Found] = {}
        self._equal: dict[Scalar, list[Source]] = {}
        self._at: dict[str, Source] = {}
        for pointer, leaf, evidence in before.leaves():
            here = source_at(pointer, leaf, evidence)
            self._at[pointer] = here
            self._equal.setdefault(leaf, []).append(here)
            name = _place_of(pointer, leaf)
            self._same[name] = either_of(self._same.get(name, ()), evidence)

    @cached_property
    def _others(self) -> Origins:
        return Origins(map(unusual, self._at.values()))

    def kept(self, pointer: str, leaf: Scalar, given: Found, said: Said, old: _Past) -> Found:
        """Return the evidence of a leaf of the new document, for which *given* is cited."""
        place = _place_of(pointer, leaf)
        # An unchanged leaf keeps its evidence; for a new one, look for the origin of its words.
        if place in self._same:
            standing = self._same[place]
            return _kept_of_same(words_in(leaf), standing, given, said) if standing else given
        here = [self._at[pointer]] if pointer in self._at else []
        nearest = [*here, *self._equal.get(leaf, ())]
        words = words_in(leaf) | words_on_the_way(pointer)
        new = words.difference(*map(said, given), *(each.words for each in nearest))
        if new.isdisjoint(words_in(leaf)) or not self._others.lacks(new):
            return carried_over(words, given, said, nearest=nearest, others=[self._others])
        nearest += old.same(pointer, leaf)
        return carried_over(words, given, said, nearest=nearest, others=[self._others, old.origins])


def _kept_of_same(words: Words, standing: Found, given: Found, said: Said) -> Found:
    """Return the evidence of an unchanged leaf: *given* as far as it supports the leaf."""
    whole = _alternatives(standing)
    believed = [
        places
        for places in _alternatives(given)
        if any(one <= places for one in whole)
        or is_enough(words, standing, [e for e in given if _message(e) in places], said)
    ]
    if len(believed) == len(_alternatives(given)) > 0:
        return given
    left = tuple(e for e in given if any(_message(e) in places for places in believed))
    return left or all_of([given, standing])


def _place_of(pointer: str, leaf: Scalar) -> tuple[str, str, Scalar]:
    """Return a key equal for equal leaves; positions in a list are ignored."""
    return _INDEX.sub("/-", pointer), type(leaf).__name__, leaf
