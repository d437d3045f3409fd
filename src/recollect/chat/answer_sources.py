"""
References from an answer to the memories and messages that its prompt had.

They are kept with the answer, so that a page can show them later. They hold digests in place of
keys and thread names, which may be words of what is erased later.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from recollect.formation.field_names import FIELD_NAMES, spoken_field
from recollect.recall.context import Context
from recollect.records import Json, JsonObject, Memory, Message, Scope

USED: Final = "used"
"""The answer's metadata with its references."""
USED_MAX: Final = 12
_QUOTED_CHARACTERS_MIN: Final = 4
"""Fewer characters stand in any answer."""
_ENDS: Final = " .。…!！?？"
_NAMES: Final = re.compile(r"(?:user_)?name: ")
_FORMER: Final = re.compile(r"(.*?): .* \([^():]*(?:until |before|至|之前)[^():]*: (.+)\)")
"""A profile's field with its former value."""
_FNV_OFFSET: Final = 0xCBF29CE484222325
_FNV_PRIME: Final = 0x100000001B3
_64_BITS: Final = (1 << 64) - 1


def name_digest(name: str) -> str:
    """
    Return 16 hexadecimal digits that stand for a name: FNV-1a of its UTF-8 bytes.

    The page computes it as well, in `web/src/lib/answer_sources.ts`.

    >>> name_digest("Fact/home")
    'a44987c40a274fa7'
    """
    digest = _FNV_OFFSET
    for byte in name.encode():
        digest = ((digest ^ byte) * _FNV_PRIME) & _64_BITS
    return f"{digest:016x}"


def references_of(known: Context, answer: str, scope: Scope) -> list[Json]:
    """Return references to what the prompt had, first those that the *answer* quotes."""
    said = answer.casefold()
    shown: list[tuple[Memory | Message, tuple[str, ...]]] = [
        (each.memory, each.fields) for each in known.profile if each.memory.scope == scope
    ]
    shown += [
        (each.entry.content, (each.text,)) for each in known.entries if each.entry.scope == scope
    ]
    marked = [(_quotes(said, lines), content) for content, lines in shown]
    first = sorted(marked, key=lambda each: not each[0])[:USED_MAX]
    return [_reference(content, is_quoted=is_quoted) for is_quoted, content in first]


def quoted_documents(known: Context, answer: str) -> list[Memory]:
    """Return the documents of a prompt, which every prompt has, that the *answer* quotes."""
    said = answer.casefold()
    return [each.memory for each in known.profile if _quotes(said, each.fields)]


def _quotes(said: str, lines: tuple[str, ...]) -> bool:
    return any(words in said for words in _words_of(lines))


def _words_of(lines: tuple[str, ...]) -> Iterator[str]:
    """Yield the words by which an answer may quote the lines that the prompt showed."""
    for line in lines:
        told = line.removeprefix("- ")
        # A field may end with its former value, which an answer may quote as well, a memory with
        # its time, in brackets.
        without = [told, told.rpartition(" (")[0], told.partition(" (")[0]]
        if former := _FORMER.match(told):
            without.append(": ".join(former.groups()))
        # Before the words of a message stands its speaker, before a value its field. A name stands
        # in many answers that do not quote the profile.
        values = () if _NAMES.match(told) else (each.partition(": ")[2] for each in without)
        # The rule model says the usual fields by their names in the language of the answer.
        spoken = (spoken_field(each, to) for each in without for to in FIELD_NAMES)
        for words in (*without, *spoken, *values):
            plain = words.strip(_ENDS).casefold()
            if len(plain) >= _QUOTED_CHARACTERS_MIN:
                yield plain


def _reference(content: Memory | Message, *, is_quoted: bool) -> JsonObject:
    quoted: JsonObject = {"quoted": True} if is_quoted else {}
    if isinstance(content, Message):
        return {"thread": name_digest(content.thread), "position": content.position, **quoted}
    return {"type": content.type, "key": name_digest(content.key), **quoted}
