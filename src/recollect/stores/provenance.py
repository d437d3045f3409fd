"""
Provenance: find which messages the words of a value came from; pure.

A value depends on every message that supplied one of its words. Words that the cited messages do
not contain were carried over: from the former value, from another part of the document, or from
something else its writer saw. The value then depends on that evidence as well, as one group:
erasing any message of the group removes the value, because its words cannot be told apart.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final, TypeAlias

from recollect.records import Evidence, EvidenceMap, Json
from recollect.stores.json_pointers import covers, is_list, is_number, join_pointer
from recollect.stores.remainder import MEMORY_THREAD, ORIGIN_QUOTE, split_pointer
from recollect.text.analysis import terms_of
from recollect.text.word_caches import word_cache

Words: TypeAlias = frozenset[str]
Said: TypeAlias = Callable[[Evidence], Words]
"""A function that returns the known content words of the message that evidence names."""
Found: TypeAlias = tuple[Evidence, ...]

LIST_INDEX: Final = re.compile(r"/\d+(?=/|$)")
"""A list index in a JSON pointer."""
NO_WORDS: Final[Words] = frozenset()
_REMEMBERED_CHARACTERS_MAX: Final = 2_000
_FRAME: Final = frozenset(terms_of("user users person 用户"))
"""Words by which models refer to any speaker: they show no origin."""
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
"""Words that models use in any answer: two memories that share one need no common origin."""


@dataclass(frozen=True, slots=True)
class Source:
    """A possible origin of words: its content *words*, and its evidence."""

    words: Words
    evidence: Found


class Origins:
    """The sources searched for words, in order; the first that contains a word counts."""

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
        """Yield sources that together contain the known ones of *words*, first ones first."""
        missing = {word for word in words if word in self._first}
        while missing:
            source = self._sources[min(map(self._first.__getitem__, missing))]
            missing -= source.words
            yield source


def words_of(text: str) -> Words:
    """
    Return the content words of a text: without function words, endings and case.

    For Chinese and other scripts without spaces, these are characters and pairs of them.

    >>> sorted(words_of("The user was nursing in Oslo"))
    ['nurs', 'oslo']
    """
    # Not cached if long: 20,000 whole documents would fill the memory.
    if len(text) > _REMEMBERED_CHARACTERS_MAX:
        return frozenset(terms_of(text)) - _FRAME
    return _remembered(text)


@word_cache(maxsize=20_000)
def _remembered(text: str) -> Words:
    return frozenset(terms_of(text)) - _FRAME


def words_in(value: Json) -> Words:
    """Return the content words of a text or number; none for booleans and null."""
    if isinstance(value, str):
        return words_of(value)
    return words_of(str(value)) if is_number(value) else NO_WORDS


def words_in_path(pointer: str) -> Words:
    """
    Return the content words of the names in the path *pointer*.

    >>> sorted(words_in_path("/pets/0/Miso"))
    ['miso', 'pet']
    """
    names = (step for step in split_pointer(pointer) if not step.isdecimal())
    return NO_WORDS.union(*map(words_of, names))


def quoted(evidence: Evidence) -> Words:
    """Return the words of a quote: all that is known of a message that cannot be read."""
    return words_of(evidence.quote) if evidence.quote else NO_WORDS


def source_at(pointer: str, value: Json, evidence: Found) -> Source:
    """
    Return the value at *pointer* as a source of words.

    A name in the path counts if the messages contain it: `city` is the name of a field, but `Miso`
    may be the name of a cat. It also counts if a message is only an origin of words (`as_origin`):
    the quote is lost that would tell.
    """
    names = words_in_path(pointer)
    if all(each.quote != ORIGIN_QUOTE for each in evidence):
        names &= NO_WORDS.union(*map(quoted, evidence))
    return Source(words_in(value) | names, evidence)


def as_origin(evidence: Found, words: Words, dropped: Words) -> Found:
    """
    Return the evidence that a value keeps of the one that a person wrote it over.

    A quote is kept if it has a word of the value and says none that was *dropped*; otherwise the
    message is only the origin of some words, or of the name of the field: the quote of "every 7
    days" does not support "every 12 days".

    Args:
        words: The words of the value itself, without the names in its path.
        dropped: The words of the former value that the new one lacks.
    """
    return tuple(
        dict.fromkeys(
            each if _supports(each, words, dropped) else replace(each, quote=ORIGIN_QUOTE)
            for each in evidence
        )
    )


def _supports(each: Evidence, words: Words, dropped: Words) -> bool:
    said = quoted(each)
    is_quote = bool(said) and not each.is_finding and each.thread != MEMORY_THREAD
    return not is_quote or (said.isdisjoint(dropped) and not said.isdisjoint(words))


def unusual(source: Source) -> Source:
    """Return *source* without words that models use in any answer."""
    return replace(source, words=source.words - _USUAL)


def cited_at_once(words: Words, cited: Sequence[Evidence], said: Said) -> Found:
    """
    Return the evidence of a value of these words for which all of *cited* are given together.

    If each message contains as many of the words as all together, each supports it alone; otherwise
    they form a group.
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
    Return the full evidence of a value of these words, for which *given* is cited.

    Words that the cited messages do not contain are looked for in the former value (*nearest*),
    then in *others*.
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
    """Return True if every sufficient set of *given* contains a sufficient set of *needed*."""
    wanted = sufficient_sets(needed)
    return bool(given) and all(
        any(one <= other for one in wanted) for other in sufficient_sets(given)
    )


def sufficient_sets(evidence: Sequence[Evidence]) -> list[set[tuple[str, str]]]:
    """Return the sets of messages that support a value: each ungrouped one, and each group."""
    found = [{cited_message(each)} for each in evidence if not each.group]
    groups: dict[int, set[tuple[str, str]]] = {}
    for each in evidence:
        if each.group:
            groups.setdefault(each.group, set()).add(cited_message(each))
    return [*found, *groups.values()]


def is_enough(
    words: Words, before: Sequence[Evidence], again: Sequence[Evidence], said: Said
) -> bool:
    """
    Return True if *again* supports a value of these words as well as *before* does.

    It has to contain all words except common ones: which message of a group said what is unknown,
    and often only a quote of a message is known. A value that shares no word with its quotes is in
    its writer's own words and is accepted; so is one whose messages have no known words.
    """
    said_now = NO_WORDS.union(*map(said, again))
    if any(each.group for each in before):
        return words <= said_now
    known = [quoted(each) | said(each) for each in before]
    in_own_words = all(known) and words.isdisjoint(NO_WORDS.union(*known))
    return not said_now or in_own_words or (words - _USUAL or words) <= said_now


def reaffirmed_evidence(
    words: Words, before: Sequence[Evidence], again: Sequence[Evidence], said: Said
) -> Found:
    """
    Return the evidence of an unchanged value, for which *again* is cited as well.

    A value without evidence was written by a person, and stays without.
    """
    if not before or not again:
        return tuple(before)
    return either_of(before, again) if is_enough(words, before, again, said) else tuple(before)


def all_of(parts: Iterable[Sequence[Evidence]]) -> Found:
    """
    Return evidence that requires each of *parts*: one group if these are several.

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
    Return *evidence* as one group, all of which is required.

    Memories are never grouped: a value that cites memories is removed with any of them.
    """
    places = {cited_message(each) for each in evidence}
    number = 1 if len(places) > 1 else 0
    return tuple(
        dict.fromkeys(
            replace(each, group=0 if each.thread == MEMORY_THREAD else number) for each in evidence
        )
    )


def either_of(*parts: Sequence[Evidence]) -> Found:
    """
    Return evidence that requires any one of *parts*, without duplicates.

    A group that contains another group, or a sufficient message, is omitted.
    """
    every = [(at, each) for at, part in enumerate(parts) for each in part]
    alone = {cited_message(each) for _, each in every if not each.group}
    groups: dict[tuple[int, int], set[tuple[str, str]]] = {}
    for at, each in every:
        if each.group:
            groups.setdefault((at, each.group), set()).add(cited_message(each))
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


def words_alone(evidence: EvidenceMap) -> dict[str, Found]:
    """
    Return *evidence* without the findings of agents, wherever words suffice beside them.

    >>> told = Evidence(thread="t", message="m")
    >>> found = Evidence(thread="t", message="f", kind="agent")
    >>> kept = words_alone({"/port": [found, told], "/host": [found]})
    >>> [each.message for each in kept["/port"]], [each.message for each in kept["/host"]]
    (['m'], ['f'])
    """
    kept: dict[str, Found] = {}
    for pointer, cited in evidence.items():
        broken = {each.group for each in cited if each.is_finding} - {0}
        said = [e for e in cited if not e.is_finding and e.group not in broken]
        kept[pointer] = tuple(said or cited)
    return kept


def evidence_at(pointer: str, evidence: EvidenceMap) -> Found:
    """Return the evidence of the whole value at *pointer*: its own and its containers'."""
    return all_of(found for place, found in evidence.items() if covers(place, pointer))


def gathered(value: Json, by_leaf: Mapping[str, Found], *, whole: bool = False) -> dict[str, Found]:
    """
    Return the evidence of leaves, moved up to parts whose leaves have equal evidence.

    Erasing a message then removes the part instead of leaving an empty one. The document itself
    gets evidence only with *whole*.
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


def cited_message(evidence: Evidence) -> tuple[str, str]:
    """Return the (thread, message) that evidence cites."""
    return evidence.thread, evidence.message
