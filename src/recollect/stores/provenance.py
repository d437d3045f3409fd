"""
Provenance: which messages the words of a value came from; pure.

A value rests on every message that a word of it came from. What it says beyond the messages
that are cited for it was carried over: from what stood there before, from another part of the
document, or from something else that its writer saw. It then rests on the evidence of that as
well, as one group: erasing any message of the group takes the value, because nobody can tell
its words apart.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from typing import Final, TypeAlias

from recollect.records import Evidence, EvidenceMap, Json, JsonObject
from recollect.stores.json_pointers import Scalar, covers, is_list, join_pointer, leaves
from recollect.stores.remainder import MEMORY_THREAD, split_pointer
from recollect.text.analysis import terms_of

Words: TypeAlias = frozenset[str]
Said: TypeAlias = Callable[[Evidence], Words]
"""The content words of the message that evidence names, as far as they are known."""
Found: TypeAlias = tuple[Evidence, ...]

_INDEX: Final = re.compile(r"/\d+(?=/|$)")
NO_WORDS: Final[Words] = frozenset()
_REMEMBERED_CHARACTERS_MAX: Final = 2_000
_FRAME: Final = frozenset(terms_of("user users person 用户"))
"""How models name the speaker, whoever it is."""
_USUAL: Final = frozenset(
    terms_of(
        "like love enjoy prefer want need use try have own get go come live move stay work study "
        "visit travel plan start stop make take give keep find see know think feel say tell ask "
        "talk mention call name be become seem good great new old big small many more current "
        "currently often always never usually recently home city place time day week month year "
        "thing people friend family job interest interested favourite favorite "
        "喜欢 想要 需要 使用 住在 搬到 工作 学习 计划 开始 告诉 提到 叫做 名字 现在 经常 目前"
    )
)
"""Words in which models say anything: that two memories share one shows nothing."""


@dataclass(frozen=True, slots=True)
class Source:
    """Where words may have come from: the content *words* there, and what they rest on."""

    words: Words
    evidence: Found


class Origins:
    """The sources in which words are looked for, in order; the first that has a word counts."""

    def __init__(self, sources: Iterable[Source] = ()) -> None:
        self._sources = tuple(sources)
        self._first: dict[str, int] = {}
        for at, source in enumerate(self._sources):
            for word in source.words:
                self._first.setdefault(word, at)

    def lacks(self, words: Words) -> bool:
        """Return True if one of *words* is in no source."""
        return any(word not in self._first for word in words)

    def of(self, words: Words) -> Iterator[Source]:
        """Yield the sources of *words*, as few as there must be."""
        missing = {word for word in words if word in self._first}
        while missing:
            source = self._sources[min(map(self._first.__getitem__, missing))]
            missing -= source.words
            yield source


def words_of(text: str) -> Words:
    """
    Return the content words of a text: without function words, endings and case.

    Of Chinese, and other scripts without spaces, these are characters and pairs of them.

    >>> sorted(words_of("The user was nursing in Oslo"))
    ['nurs', 'oslo']
    """
    if len(text) > _REMEMBERED_CHARACTERS_MAX:
        return frozenset(terms_of(text)) - _FRAME
    return _remembered(text)


@lru_cache(maxsize=20_000)
def _remembered(text: str) -> Words:
    return frozenset(terms_of(text)) - _FRAME


def words_in(value: Json) -> Words:
    """Return the content words of a text or number; a truth value and null have none."""
    if isinstance(value, str):
        return words_of(value)
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    return words_of(str(value)) if is_number else NO_WORDS


def words_on_the_way(pointer: str) -> Words:
    """
    Return the content words of the names on the way to the value at *pointer*.

    >>> sorted(words_on_the_way("/pets/0/Miso"))
    ['miso', 'pet']
    """
    names = (step for step in split_pointer(pointer) if not step.isdecimal())
    return NO_WORDS.union(*map(words_of, names))


def quoted(evidence: Evidence) -> Words:
    """Return what is known of a message that is not at hand: the words of its quote."""
    return words_of(evidence.quote) if evidence.quote else NO_WORDS


def source_at(pointer: str, value: Json, evidence: Found) -> Source:
    """
    Return the value at *pointer* as a source.

    A name on the way there counts if the messages say it: `city` is that of a field, `Miso` may
    be that of a cat.
    """
    names = words_on_the_way(pointer) & NO_WORDS.union(*map(quoted, evidence))
    return Source(words_in(value) | names, evidence)


def unusual(source: Source) -> Source:
    """Return *source* without the words in which models say anything."""
    return replace(source, words=source.words - _USUAL)


def cited_at_once(words: Words, cited: Sequence[Evidence], said: Said) -> Found:
    """
    Return what was cited at once for a value of these words.

    Where each message says as much of it as all together, each is enough; else they are a group.
    """
    by_message: dict[tuple[str, str], Words] = {}
    for each in cited:
        place = each.thread, each.message
        by_message[place] = by_message.get(place, NO_WORDS) | (said(each) & words)
    every = NO_WORDS.union(*by_message.values())
    if every and all(each == every for each in by_message.values()):
        return tuple(dict.fromkeys(cited))
    return grouped(cited)


def carried_over(
    words: Words,
    given: Sequence[Evidence],
    said: Said,
    *,
    nearest: Sequence[Source] = (),
    others: Sequence[Origins] = (),
) -> Found:
    """
    Return what a value of these words rests on, for which *given* is cited.

    Each word that the cited messages do not say is looked for in what stood there before
    (*nearest*), and then in *others*.
    """
    missing = words.difference(*map(said, given))
    sources: list[Source] = []
    for origins in (Origins(nearest), *others):
        if missing:
            found = list(origins.of(missing))
            missing = missing.difference(*(each.words for each in found))
            sources += found
    needed = [each.evidence for each in sources if not _is_implied(each.evidence, given)]
    return all_of([given, *needed])


def _is_implied(needed: Sequence[Evidence], given: Sequence[Evidence]) -> bool:
    """Return True if whatever is enough of *given* holds something that is enough of *needed*."""
    wanted = _alternatives(needed)
    return bool(given) and all(
        any(one <= other for one in wanted) for other in _alternatives(given)
    )


def _alternatives(evidence: Sequence[Evidence]) -> list[set[tuple[str, str]]]:
    """Return the sets of messages of which each is enough."""
    found = [{_message(each)} for each in evidence if not each.group]
    groups: dict[int, set[tuple[str, str]]] = {}
    for each in evidence:
        if each.group:
            groups.setdefault(each.group, set()).add(_message(each))
    return [*found, *groups.values()]


def is_enough(
    words: Words, before: Sequence[Evidence], again: Sequence[Evidence], said: Said
) -> bool:
    """
    Return True if *again* says as much of a value of these words as *before* has to.

    That is all of it, usual words apart: who said what of a group is not known, and of a message
    often no more than a quote. A value that has no word of what is quoted for it is in words of
    its maker's own: there it is believed. So it is of messages of which no word is known.
    """
    anew = NO_WORDS.union(*map(said, again))
    if any(each.group for each in before):
        return words <= anew
    known = [quoted(each) | said(each) for each in before]
    in_own_words = all(known) and words.isdisjoint(NO_WORDS.union(*known))
    return not anew or in_own_words or (words - _USUAL or words) <= anew


def said_again(
    words: Words, before: Sequence[Evidence], again: Sequence[Evidence], said: Said
) -> Found:
    """
    Return what an unchanged value of these words rests on, for which *again* is cited anew.

    What rested on no message, because a person wrote it, does not begin to.
    """
    if not before or not again:
        return tuple(before)
    return either_of(before, again) if is_enough(words, before, again, said) else tuple(before)


def all_of(parts: Iterable[Sequence[Evidence]]) -> Found:
    """
    Return the evidence of what needs each of *parts*: if these are several, one group of all.

    >>> tea, cat = (Evidence(thread="t", message=name) for name in ("tea", "cat"))
    >>> [each.group for each in all_of([[tea], [cat]])], [each.group for each in all_of([[tea]])]
    ([1, 1], [0])
    """
    needed = list(dict.fromkeys(tuple(each) for each in parts if each))
    if len(needed) < 2:
        return needed[0] if needed else ()
    return grouped([each for part in needed for each in part])


def grouped(evidence: Sequence[Evidence]) -> Found:
    """
    Return *evidence* as one group: all of it is needed.

    Memories are in no group: what names them goes with any of them.
    """
    places = {_message(each) for each in evidence}
    number = 1 if len(places) > 1 else 0
    return tuple(
        dict.fromkeys(
            replace(each, group=0 if each.thread == MEMORY_THREAD else number) for each in evidence
        )
    )


def either_of(*parts: Sequence[Evidence]) -> Found:
    """
    Return the evidence of what needs one of *parts* alone, each message and quote once.

    A group that holds all of another group, or a message that is enough, is left out.
    """
    every = [(at, each) for at, part in enumerate(parts) for each in part]
    alone = {_message(each) for _, each in every if not each.group}
    groups: dict[tuple[int, int], set[tuple[str, str]]] = {}
    for at, each in every:
        if each.group:
            groups.setdefault((at, each.group), set()).add(_message(each))
    kept: list[tuple[int, int]] = []
    for name, places in groups.items():
        if alone.isdisjoint(places) and not any(groups[each] <= places for each in kept):
            kept = [*(each for each in kept if not places < groups[each]), name]
    numbers = {name: number for number, name in enumerate(kept, start=1)}
    return tuple(
        dict.fromkeys(
            replace(each, group=numbers[at, each.group]) if each.group else each
            for at, each in every
            if not each.group or (at, each.group) in numbers
        )
    )


def evidence_at(pointer: str, evidence: EvidenceMap) -> Found:
    """Return what the whole of the value at *pointer* rests on: its own, and what it is in."""
    return all_of(found for place, found in evidence.items() if covers(place, pointer))


def gathered(value: Json, by_leaf: Mapping[str, Found], *, whole: bool = False) -> dict[str, Found]:
    """
    Return the evidence of leaves as that of whole parts, where all of a part rest on the same.

    Then erasing a message takes the part, and no empty rest of it stays. That of the document
    itself is named only with *whole*.
    """
    found: dict[str, Found] = {}

    def gather(part: Json, at: str) -> set[Found]:
        inner = [(at + join_pointer([step]), each) for step, each in _parts_of(part)]
        if not inner:
            is_leaf = not isinstance(part, Mapping) and not is_list(part)
            found[at] = by_leaf.get(at, ()) if is_leaf else ()
            return {found[at]} if is_leaf else set()
        kinds = set[Found]().union(*(gather(each, pointer) for pointer, each in inner))
        if len(kinds) == 1 and (at or whole):
            for pointer, _ in inner:
                found.pop(pointer, None)
            (found[at],) = kinds
        return kinds

    gather(value, "")
    return {pointer: each for pointer, each in found.items() if each}


def _parts_of(value: Json) -> Iterable[tuple[str | int, Json]]:
    if isinstance(value, Mapping):
        return value.items()
    return enumerate(value) if is_list(value) else ()


def _message(evidence: Evidence) -> tuple[str, str]:
    return evidence.thread, evidence.message


@dataclass(frozen=True, slots=True)
class Founded:
    """A document, and the evidence of its parts."""

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
    Return what a document rests on of which all was said again, as *again* cites.

    What rested on no message, because a person wrote it, does not begin to.
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
    Return the evidence of a document that takes the place of another.

    It is its own, and that of the parts of *before* which it holds unchanged, or of which it
    took words over that its own messages do not say.

    Args:
        past: Gives the versions before *before*, newest first: words of theirs may come back. It
            is called for words that are nowhere else.
    """
    stands, old = _Standing(before), _Past(past)
    added: dict[str, Found] = {}
    for pointer, leaf, given in after.leaves():
        kept = stands.kept(pointer, leaf, given, said, old)
        if kept != given:
            added[pointer] = kept
    return {**after.evidence, **gathered(after.value, added)} if added else after.evidence


class _Past:
    """What a document said once, as the source of what it says again."""

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
        """Return the newest version of a leaf that was just the same, if there is one."""
        found = self._same.get(_place_of(pointer, leaf))
        return [found] if found else []

    @cached_property
    def origins(self) -> Origins:
        """Return all that was said once as sources of words."""
        return Origins(unusual(source_at(*each)) for each in self._leaves)


class _Standing:
    """A document that another takes the place of, as the source of what that says."""

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
        """Return what a leaf of the new document rests on, for which *given* is cited."""
        place = _place_of(pointer, leaf)
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
    """Return what a leaf rests on that stays the same: what is *given*, as far as it says it."""
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
    """Return what two leaves have in common that are the same; places in a list are alike."""
    return _INDEX.sub("/-", pointer), type(leaf).__name__, leaf
