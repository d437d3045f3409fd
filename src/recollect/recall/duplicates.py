"""Detect entries of an answer that only repeat an earlier one."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import Final, NamedTuple, get_args

from recollect.formation.value_identity import normalised
from recollect.recall.results import Recalled, ScopedMessage
from recollect.records import Evidence, Json, Memory, Message, Trust
from recollect.stores.field_evidence import each_evidence
from recollect.stores.json_pointers import covers, leaves
from recollect.text.analysis import fold
from recollect.text.searchable import memory_text

_RANK: Final[dict[Trust, int]] = {trust: place for place, trust in enumerate(get_args(Trust))}
_SENTENCE_END: Final = re.compile(r"(?<=[.!?;])\s+|(?<=[。！？；])|\n+")
_PLACE: Final = re.compile(r"/(?:0|[1-9][0-9]*)(?=/|$)")


class SaidAlready:
    """
    The kept entries of a ranking, to check whether another entry only repeats one of them.

    An entry can only repeat one with the same content, in the same scope, that is at least as
    trusted. Citing the same message is not enough: a sentence may hold several facts, and a forged
    memory may cite the same message as an honest one.

    - An entry of a collection repeats another with the same validity if each of its fields occurs
      there with the same quote and sentences; the other may hold more. A document repeats nothing,
      because its key identifies its owner.
    - A memory repeats a message it cites if its whole text occurs there verbatim; a message repeats
      such a memory if both have the same words. ``{"home": "Bergen"}`` is shown beside "I moved to
      Bergen", because only the memory states that it still holds.
    - With a token budget (*is_tight*), a message also repeats one that contains all its words in
      sequence.
    """

    def __init__(self, entries: Sequence[Recalled], *, is_tight: bool) -> None:
        self._entries = [_Entry(each) for each in entries]
        self._is_tight = is_tight
        self._by_message: dict[ScopedMessage, list[_Entry]] = defaultdict(list)
        self._messages: list[_Entry] = []

    def keep(self, place: int) -> None:
        """Add the entry at position *place* of the ranking to the kept ones."""
        entry = self._entries[place]
        for each in entry.messages:
            self._by_message[each].append(entry)
        if self._is_tight and isinstance(entry.content, Message):
            self._messages.append(entry)

    def says(self, place: int) -> bool:
        """Return True if the entry at *place* only repeats a kept one."""
        entry = self._entries[place]
        related = (other for each in entry.messages for other in self._by_message.get(each, ()))
        if any(other.is_trusted_for(entry) and _repeats(entry, other) for other in related):
            return True
        return (
            bool(self._messages)  # first: computing the words is slow, and only a budget needs it
            and isinstance(entry.content, Message)
            and bool(entry.words.strip())
            and any(
                other.is_trusted_for(entry) and entry.words in other.words
                for other in self._messages
            )
        )


class _CitedField(NamedTuple):
    """A leaf of a memory's value; elements of a list share one *name*."""

    name: str
    evidence: set[Evidence]
    sentences: set[str]


class _Entry:
    """A recalled entry with the derived values used for comparison, each computed lazily."""

    def __init__(self, entry: Recalled) -> None:
        self.scope = entry.scope
        self.content = entry.content
        self._text = entry.text

    @cached_property
    def trust(self) -> Trust:
        if isinstance(self.content, Memory):
            return self.content.trust
        role = self.content.role
        return role if role in {"user", "assistant"} else "external"

    @cached_property
    def messages(self) -> set[ScopedMessage]:
        """The message itself, or all messages that the memory cites."""
        if isinstance(self.content, Message):
            return {(self.scope, self.content.thread, self.content.id)}
        return {
            (self.scope, each.thread, each.message) for each in each_evidence(self.content.evidence)
        }

    @cached_property
    def words(self) -> str:
        """Its text without case, accents, punctuation and spacing."""
        return " " + " ".join(re.findall(r"\w+", fold(self._text))) + " "

    @cached_property
    def fields(self) -> tuple[_CitedField, ...]:
        """The fields of a memory, read once: it is compared with all that share a message."""
        return tuple(_fields(self.content)) if isinstance(self.content, Memory) else ()

    def is_trusted_for(self, other: _Entry) -> bool:
        """Return True if *other* is in the same scope and no more trusted."""
        return self.scope == other.scope and _RANK[self.trust] <= _RANK[other.trust]


def _repeats(entry: _Entry, kept: _Entry) -> bool:
    """Return True if one of two entries that share a message repeats the other."""
    this, other = entry.content, kept.content
    if isinstance(this, Memory):
        if isinstance(other, Memory):
            return _is_same_span(this, other) and _is_within(entry.fields, kept.fields)
        return _is_copied(this, other) and entry.words in kept.words
    if isinstance(other, Memory):
        return _is_copied(other, this) and entry.words == kept.words
    return False


def _is_copied(memory: Memory, message: Message) -> bool:
    """Return True if a memory has text, and no other time than the message."""
    is_its_time = memory.valid_from in {None, message.time}
    return is_its_time and memory.valid_until is None and bool(memory.text.strip())


def _is_same_span(memory: Memory, other: Memory) -> bool:
    """Return True if both are entries of one collection, with the same validity."""
    if memory.type != other.type or memory.is_document or other.is_document:
        return False
    return _validity(memory) == _validity(other)


def _is_within(fields: Sequence[_CitedField], others: Sequence[_CitedField]) -> bool:
    """Return True if *others* has each of *fields*, with its sentences and quote."""
    return bool(fields) and all(
        any(
            each.name == other.name
            and not each.evidence.isdisjoint(other.evidence)
            and each.sentences <= other.sentences
            for other in others
        )
        for each in fields
    )


def _validity(memory: Memory) -> tuple[object, object]:
    return memory.valid_from, memory.valid_until


def _fields(memory: Memory) -> Iterator[_CitedField]:
    for pointer, leaf in leaves(memory.value):
        evidence = {
            each
            for cited, found in memory.evidence.items()
            if covers(cited, pointer) or covers(pointer, cited)
            for each in found
        }
        yield _CitedField(_PLACE.sub("/-", pointer), evidence, _sentences(leaf))


def _sentences(leaf: Json) -> set[str]:
    words = memory_text({"": leaf}).removeprefix(": ")
    return {each for part in _SENTENCE_END.split(words) if (each := normalised(part))}
