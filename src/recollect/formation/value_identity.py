"""Equality of values: normalised words, and keys made from them."""

from __future__ import annotations

import hashlib
import itertools
import re
import unicodedata
from collections.abc import Iterable, Iterator, Mapping
from typing import Final

from recollect.records import SPEAKER_MARK, Json, JsonObject
from recollect.stores.json_pointers import leaves
from recollect.stores.proposal_names import target_name
from recollect.text.searchable import memory_text

_DIGEST_BYTES: Final = 10
_BETWEEN_WORDS: Final = re.compile(r"[\W_]+")
_SIGNS: Final = frozenset("%\u2030")
_SIGN_CATEGORIES: Final = frozenset({"Sc", "Sm", "So"})
_MARK_CATEGORIES: Final = frozenset({"Mc", "Mn"})
_SELECTORS: Final = frozenset(map(chr, (*range(0xFE00, 0xFE10), *range(0xE0100, 0xE01F0))))
_UNSEEN: Final = _SELECTORS | frozenset("\u034f\u17b4\u17b5\u180b\u180c\u180d\u180f")
"""Marks that only change how the sign before them looks."""
_INDEX: Final = re.compile(r"/(?:\d+|-)(?=/|$)")


def normalised(text: str) -> str:
    """
    Return *text* as it is compared: in lower case, without accents of form, without punctuation.

    Signs that make another word of one stay: those of sums, money and moods.

    >>> normalised("Loves  Tea!"), normalised("TEA, 茶")
    ('loves tea', 'tea 茶')
    >>> normalised("C++, not C"), normalised("-5 to 5 %")
    ('c++ not c', '-5 to 5%')
    """
    folded = unicodedata.normalize("NFKC", text).casefold().replace("\u2212", "-")
    return " ".join(_BETWEEN_WORDS.sub(_signs_in, folded).split())


def _signs_in(between: re.Match[str]) -> str:
    """Return the characters between two words that belong to one of them."""
    run, end = between[0], between.end()
    if run.isspace():
        return " "
    marks = "".join(itertools.takewhile(_is_mark, run)) if between.start() else ""
    run = run[len(marks) :]
    if not run:
        return marks
    kept = "".join(
        each for each in run if each in _SIGNS or unicodedata.category(each) in _SIGN_CATEGORIES
    )
    if run.startswith("#") and between.start():
        kept = f"#{kept}"
    is_negative = run.endswith("-") and between.string[end : end + 1].isdecimal()
    has_before = between.start() and len(run) == 1
    return f"{marks}{kept} -" if is_negative and not has_before else f"{marks}{kept} "


def _is_mark(character: str) -> bool:
    """Return True if it is a vowel or the like of the letter before it: in Hindi, Tamil or Thai."""
    is_none = character.isascii() or character in _UNSEEN
    return not is_none and unicodedata.category(character) in _MARK_CATEGORIES


def same_text(one: JsonObject, other: JsonObject) -> bool:
    """Return True if two documents say the same in the same words."""
    return normalised(memory_text(one)) == normalised(memory_text(other))


def content_key(value: JsonObject) -> str:
    """Return the key of a collection's entry with this value: equal words, equal key."""
    return _digest("", normalised(memory_text(value)))


def owner_of(type_: str, key: str) -> str:
    """
    Return the owner of rejected fields: an entry's key; ``""`` for a type's single document.

    >>> owner_of("User", "User"), owner_of("Note", "n1")
    ('', 'n1')
    """
    return "" if key == type_ else key


def field_key(pointer: str, leaf: Json, owner: str = "") -> str:
    """Return the key of a refused value of one field; list indexes are ignored."""
    words = normalised(memory_text({"value": leaf}))
    of = (owner,) if owner else ()
    return f"field-{_digest(_INDEX.sub('/-', pointer), words, *of)}"


def field_keys(value: Json, at: str = "", owner: str = "") -> Iterator[tuple[str, str]]:
    """Yield the pointer and key of every leaf of *value*, whose own pointer is *at*."""
    for pointer, leaf in leaves(value):
        yield at + pointer, field_key(at + pointer, leaf, owner)


def refusing_keys(type_: str, key: str, value: JsonObject) -> set[str]:
    """Return the keys that would identify the value of a memory if it were formed again."""
    fields = {each for _, each in field_keys(value, owner=owner_of(type_, key))}
    if key == type_:
        return fields
    # A program may have put a collection entry under such a key: it matches both.
    return {key, content_key(value)} | (fields if key.startswith(SPEAKER_MARK) else set())


def changing_keys(type_: str, key: str, value: JsonObject, known: JsonObject) -> set[str]:
    """Return the keys that identify the changes of *value* to the memory *known*."""
    owner = owner_of(type_, key)
    keys = [{key for _, key in field_keys(each, owner=owner)} for each in (value, known)]
    if owner:
        for found, each in zip(keys, (value, known), strict=True):
            found.add(content_key(each))
    return keys[0] - keys[1]


def proposal_key(key: str, version: int, value: JsonObject) -> str:
    """
    Return the key of a proposal to replace a memory's *version* by *value*.

    A key too long for this is shortened to its beginning and a digest.
    """
    return f"{target_name(key)}~{version}~{content_key(value)}"


def same_in(one: JsonObject, other: JsonObject, names: Iterable[str]) -> bool:
    """Return True if two documents agree in the fields *names*; one that both lack is alike."""
    return all(
        normalised(memory_text({"value": one.get(name)}))
        == normalised(memory_text({"value": other.get(name)}))
        for name in names
    )


def required_fields(schema: JsonObject) -> tuple[str, ...]:
    """Return the fields that a schema demands, in its order."""
    required = schema.get("required")
    properties = schema.get("properties")
    if not isinstance(required, list) or not isinstance(properties, Mapping):
        return ()
    return tuple(name for name in properties if name in required)


def leading_fields(schema: JsonObject) -> tuple[str, ...]:
    """
    Return the fields of a schema, in its order, up to the last that it demands.

    >>> note = {"properties": {"context": {}, "content": {}, "mood": {}}, "required": ["content"]}
    >>> leading_fields(note)
    ('context', 'content')
    """
    required, properties = required_fields(schema), schema.get("properties")
    names = tuple(properties) if isinstance(properties, Mapping) else ()
    return names[: names.index(required[-1]) + 1] if required else ()


def _digest(*parts: str) -> str:
    hashed = hashlib.blake2b("\0".join(parts).encode(), digest_size=_DIGEST_BYTES)
    return hashed.hexdigest()
