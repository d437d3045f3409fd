"""The evidence of a new version: its own, and that of the words it keeps from earlier versions."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from recollect.records import SPEAKER_MARK, EvidenceMap, JsonObject
from recollect.stores.json_pointers import Scalar, covers, leaves
from recollect.stores.provenance import (
    LIST_INDEX,
    NO_WORDS,
    Found,
    Origins,
    Said,
    Source,
    Words,
    all_of,
    as_origin,
    carried_over,
    cited_message,
    either_of,
    evidence_at,
    gathered,
    is_enough,
    quoted,
    source_at,
    sufficient_sets,
    unusual,
    words_in,
    words_in_path,
)
from recollect.stores.remainder import ORIGIN_QUOTE


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

    A value without evidence was written by a person, and gets none.
    """
    words = {pointer: words_in(leaf) for pointer, leaf in leaves(value)}
    merged = {}
    for place, found in before.items():
        inside = NO_WORDS.union(*(each for at, each in words.items() if covers(place, at)))
        parts = [each for at, each in again.items() if at != place and covers(place, at)]
        new = all_of([evidence_at(place, again), *parts])
        is_enough_alone = new and is_enough(inside, found, new, said)
        merged[place] = either_of(found, new) if is_enough_alone else either_of(found)
    return merged


def kept_evidence(
    before: Founded,
    after: Founded,
    said: Said = quoted,
    past: Callable[[], Sequence[Founded]] = tuple,
    *,
    restores: bool = False,
) -> EvidenceMap:
    """
    Return the evidence of a document that replaces another.

    This is its own evidence, plus that of parts of *before* that it keeps unchanged, or from which
    it took words that its own messages do not contain.

    Args:
        past: Returns the versions before *before*, newest first. Called only for words that are
            found nowhere else, because it reads the store.
        restores: Whether the document is made of parts of past versions. A part that one of them
            had with the same evidence takes none of the version that it replaces.
    """
    replaced, past_versions = _ReplacedVersion(before), _PastVersions(past)
    added: dict[str, Found] = {}
    for pointer, leaf, given in after.leaves():
        if restores and past_versions.has(pointer, leaf, given):
            continue
        kept = replaced.kept(pointer, leaf, given, said, past_versions)
        if kept != given:
            added[pointer] = kept
    return {**after.evidence, **gathered(after.value, added)} if added else after.evidence


def is_statement(type_: str, key: str, told: Founded) -> bool:
    """Return True if an entry rests on its evidence as a whole, unlike a document's fields."""
    return "" in told.evidence and key != type_ and not key.startswith(SPEAKER_MARK)


def as_statement(kept: EvidenceMap) -> EvidenceMap:
    """
    Return the evidence *kept* by what a person wrote over a statement, for the whole as well.

    A statement without one of its fields says something else, or nothing: "Ben lives in Oslo"
    leaves no "lives in Rome".
    """
    if "" in kept or not kept:
        return kept
    origins = [as_origin(tuple(found), NO_WORDS, NO_WORDS) for found in kept.values()]
    return {"": all_of(origins), **kept}


class _PastVersions:
    """The versions before the replaced one, as sources of words that return."""

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

    def has(self, pointer: str, leaf: Scalar, evidence: Found) -> bool:
        """Return True if a past version has an identical leaf with the same evidence."""
        wanted = _place_of(pointer, leaf), evidence
        return any((_place_of(at, each), said) == wanted for at, each, said in self._leaves)

    @cached_property
    def origins(self) -> Origins:
        return Origins(unusual(source_at(*each)) for each in self._leaves)


class _ReplacedVersion:
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

    def kept(
        self, pointer: str, leaf: Scalar, given: Found, said: Said, past: _PastVersions
    ) -> Found:
        """Return the evidence of a leaf of the new document, for which *given* is cited."""
        place = _place_of(pointer, leaf)
        # An unchanged leaf keeps its evidence; for a new one, look for the origin of its words.
        if place in self._same:
            before = self._same[place]
            return _kept_of_same(words_in(leaf), before, given, said) if before else given
        found = self._carried(pointer, leaf, given, said, past)
        # Without evidence of its own the value was written by hand, over what the messages say.
        if given or leaf in self._equal:
            return _lent_as_origin(found, given, words_in(leaf), said)
        words = words_in(leaf)
        dropped = self._at[pointer].words if pointer in self._at else NO_WORDS
        origin = as_origin(found, words, dropped - words - words_in_path(pointer))
        # A former value that is written again has the quotes that it had.
        return found if origin == found or past.same(pointer, leaf) else origin

    def _carried(
        self, pointer: str, leaf: Scalar, given: Found, said: Said, past: _PastVersions
    ) -> Found:
        """Return *given* with the evidence of those words of a new leaf that it does not say."""
        here = [self._at[pointer]] if pointer in self._at else []
        nearest = [*here, *self._equal.get(leaf, ())]
        names = words_in_path(pointer)
        # Where a value stands already, its own evidence tells who brought the name of its place.
        words = words_in(leaf) | (names & here[0].words if here else names)
        new = words.difference(*map(said, given), *(each.words for each in nearest))
        # Past versions are read from the store: only if a word is in none of the nearer sources.
        if new.isdisjoint(words_in(leaf)) or not self._others.lacks(new):
            return carried_over(words, given, said, nearest=nearest, others=[self._others])
        nearest += past.same(pointer, leaf)
        others = [self._others, past.origins]
        return carried_over(words, given, said, nearest=nearest, others=others)


def _lent_as_origin(found: Found, given: Found, words: Words, said: Said) -> Found:
    """
    Return the evidence *found* of a value of these *words*, without quotes of former values.

    A value that a person wrote passes on the evidence of its field's name to the next value, and
    that one its own quote to the next. Where *given* says all the words, such a quote says nothing
    of the value: its message stays as an origin, for an erase, and an undo of it leaves the value.
    """
    own = set(map(cited_message, given))
    lent = [each for each in found if cited_message(each) not in own]
    is_by_hand = any(each.quote == ORIGIN_QUOTE for each in lent)
    if not is_by_hand or not words <= NO_WORDS.union(*map(said, given)):
        return found
    return tuple(
        dict.fromkeys(replace(each, quote=ORIGIN_QUOTE) if each in lent else each for each in found)
    )


def _kept_of_same(words: Words, before: Found, given: Found, said: Said) -> Found:
    """
    Return the evidence of an unchanged leaf: those parts of *given* that support it.

    If none does, both *given* and the evidence *before* are required.
    """
    supported_before = sufficient_sets(before)
    supporting = [
        messages
        for messages in sufficient_sets(given)
        if any(one <= messages for one in supported_before)
        or is_enough(words, before, [e for e in given if cited_message(e) in messages], said)
    ]
    if len(supporting) == len(sufficient_sets(given)) > 0:
        return given
    left = tuple(e for e in given if any(cited_message(e) in each for each in supporting))
    return left or all_of([given, before])


def _place_of(pointer: str, leaf: Scalar) -> tuple[str, str, Scalar]:
    """Return a key equal for equal leaves; positions in a list are ignored."""
    return LIST_INDEX.sub("/-", pointer), type(leaf).__name__, leaf
