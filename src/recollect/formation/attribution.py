"""
Attribution: find the sources of a value beyond the messages cited for it.

A model sees more than it cites: other messages, and memories with older facts. A value with words
that only those contain rests on them as well.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Final

from recollect.formation.window import Window, WindowLine
from recollect.records import Evidence, EvidenceMap, Json, JsonObject, Memory
from recollect.stores.json_pointers import Scalar, covers, is_list, leaves
from recollect.stores.kept_evidence import Founded
from recollect.stores.provenance import (
    NO_WORDS,
    Found,
    Origins,
    Said,
    Source,
    Words,
    carried_over,
    cited_at_once,
    gathered,
    grouped,
    quoted,
    source_at,
    unusual,
    words_in,
    words_in_path,
    words_of,
)
from recollect.stores.remainder import MEMORY_THREAD

CARRIED_MAX: Final = 100
"""Most messages that a derived memory names itself; its sources name the rest."""


class Exhibits:
    """The messages and memories that a model was shown, with their evidence."""

    def __init__(self, window: Window, memories: Iterable[Memory] = ()) -> None:
        self._window = window
        self._memories = tuple(memories)

    def said(self, evidence: Evidence) -> Words:
        """Return the content words of a message; of one that was not shown, of its quote."""
        return self._lines.get((evidence.thread, evidence.message)) or quoted(evidence)

    @cached_property
    def _lines(self) -> dict[tuple[str, str], Words]:
        return {(e.message.thread, e.message.id): _words_of_line(e) for e in self._window.lines}

    @cached_property
    def origins(self) -> Origins:
        """Return the messages, newest first, and then the memories, as sources of words."""
        return Origins(map(unusual, self._sources()))

    def _sources(self) -> Iterator[Source]:
        for line in reversed(self._window.lines):
            said = Evidence(thread=line.message.thread, message=line.message.id)
            yield Source(self.said(said), (said,))
        for memory in self._memories:
            for pointer, leaf, found in Founded(memory.value, memory.evidence).leaves():
                yield source_at(pointer, leaf, _messages_of(found))


def _words_of_line(line: WindowLine) -> Words:
    return words_of(line.text) | words_of(line.message.name or "")


def _messages_of(found: Found) -> Found:
    """
    Return only the messages of a derived memory's evidence, all of which are required.

    A value that takes over its words must not be removed when it is derived again or undone.
    """
    messages = [each for each in found if each.thread != MEMORY_THREAD]
    if len(messages) == len(found) or not 0 < len(messages) < CARRIED_MAX:
        return found
    return grouped(messages)


@dataclass(frozen=True, slots=True)
class SchemaWords:
    """Words that a value takes from its schema: names of fields and constants."""

    names: Words = NO_WORDS
    constants: frozenset[str] = frozenset()

    def of(self, pointer: str, leaf: Scalar) -> Words:
        """Return the words of a leaf that must have been said, including those of its names."""
        said = NO_WORDS if leaf in self.constants else words_in(leaf)
        return said | (words_in_path(pointer) - self.names)


ANY_SCHEMA: Final = SchemaWords()


def schema_words(schema: JsonObject) -> SchemaWords:
    """
    Return the words of a schema that appear in its documents.

    >>> schema_words({"properties": {"mood": {"enum": ["sunny", "grim"]}}}).of("/mood", "grim")
    frozenset()
    """
    names: set[str] = set()
    constants: set[str] = set()
    waiting: list[Json] = [schema]
    while waiting:
        part = waiting.pop()
        if isinstance(part, Mapping):
            properties = part.get("properties")
            names.update(properties if isinstance(properties, Mapping) else ())
            enum = part.get("enum")
            listed = [*(enum if is_list(enum) else ()), part.get("const"), part.get("default")]
            constants.update(each for each in listed if isinstance(each, str))
            waiting += part.values()
        elif is_list(part):
            waiting += part
    return SchemaWords(NO_WORDS.union(*map(words_of, names)), frozenset(constants))


def document_evidence(
    value: Json, cited: EvidenceMap, said: Said, schema: SchemaWords = ANY_SCHEMA
) -> dict[str, Found]:
    """
    Return the evidence of each part of a document, from *cited* by pointer.

    *value* is the document, or a value in it. A field uses those citations of the whole that
    contain one of its words, and those that contain no word of any field: an answer "yes" says no
    more.
    """
    wanted = {pointer: schema.of(pointer, leaf) for pointer, leaf in leaves(value)}
    every = tuple(dict.fromkeys(each for found in cited.values() for each in found))
    silent = {each for each in every if said(each).isdisjoint(NO_WORDS.union(*wanted.values()))}
    by_leaf = {}
    for pointer, words in wanted.items():
        own = [
            each
            for place, found in cited.items()
            if place and covers(place, pointer)
            for each in found
        ]
        general = cited.get("", ()) if "" in cited or own else every
        telling = [each for each in general if each in silent or not said(each).isdisjoint(words)]
        chosen = [*own, *telling] or general
        by_leaf[pointer] = cited_at_once(words, chosen, said)
    return gathered(value, by_leaf, whole=True) if by_leaf else {"": every} if every else {}


def entry_evidence(
    value: JsonObject,
    cited: EvidenceMap,
    exhibits: Exhibits,
    schema: SchemaWords = ANY_SCHEMA,
) -> dict[str, Found]:
    """
    Return the evidence of a new entry: *cited*, and the other sources of its words.

    An entry is one statement: a citation without a field applies to all of it.
    """
    wanted = {pointer: schema.of(pointer, leaf) for pointer, leaf in leaves(value)}
    named = {at: found for at, found in cited.items() if at and any(covers(at, p) for p in wanted)}
    rest = {p: words for p, words in wanted.items() if not any(covers(at, p) for at in named)}
    every = tuple(dict.fromkeys(each for found in cited.values() for each in found))
    parts: dict[str, tuple[Sequence[Evidence], Words]] = {
        at: (found, NO_WORDS.union(*(words for p, words in wanted.items() if covers(at, p))))
        for at, found in named.items()
    }
    if general := cited.get("") or (every if rest or not named else ()):
        parts[""] = (general, NO_WORDS.union(*(rest or wanted).values()))
    found = {
        at: carried_over(
            words, cited_at_once(words, given, exhibits.said), exhibits.said,
            others=[exhibits.origins],
        )
        for at, (given, words) in parts.items()
    }  # fmt: skip
    return {at: found[at] for at in sorted(found)}
