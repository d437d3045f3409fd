"""
Compute what remains of a memory when messages in its evidence are erased; pure.

A field is removed when no sufficient part of its evidence is left; so is the whole document when
its own evidence (the empty pointer) is gone. An ungrouped message is sufficient, and so is a group
of which no message is erased. Fields without evidence stay. Evidence for a field covers everything
inside it.

A field derived from other memories cites these as well, in the thread ``MEMORY_THREAD``. It
combines all of them, so it is removed as soon as one of them is.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from typing import Final, TypeAlias

from recollect.records import Json, JsonObject

MERGED: Final = "merged into "
"""Beginning of the cause of a version that ended because another memory took over its content."""
REDUCED: Final = "erase"
"""Cause of the version that an erase left of another one, in whose place and time it stands."""
_PLACE: Final = re.compile("0|[1-9][0-9]{0,8}")

_STATEMENTS: Final = (
    (frozenset({"content"}), frozenset({"content", "context"})),
    (
        frozenset({"subject", "predicate", "object"}),
        frozenset({"subject", "predicate", "object", "object_type", "several"}),
    ),
    (
        frozenset({"input", "output"}),
        frozenset({"input", "output", "reason", "score", "tags"}),
    ),
)
"""
Fields without which a note, a fact or an example says nothing, and all fields that it may have.

The stores do not know the types; values of this form are notes, facts and examples, whatever their
type.
"""

MEMORY_THREAD: Final = "memory:"
"""Reserved thread id under which evidence cites versions of memories (`version_name`)."""
ORIGIN_QUOTE: Final = ""
"""
Quote of evidence that is only the origin of some words of a value, and no longer states it.

A person wrote the value over what the message says, and kept some of its words: these go when it
is erased, but it neither supports the value nor dates it.
"""
SOURCE_THREAD: Final = "source:"
"""Reserved thread id under which links name the sources of findings."""

Cited: TypeAlias = (
    tuple[str, str, str | None]
    | tuple[str, str, str | None, int]
    | tuple[str, str, str | None, int, str]
    | tuple[str, str, str | None, int, str, Sequence[Json] | None]
    | tuple[str, str, str | None, int, str, Sequence[Json] | None, str]
)
"""
Evidence as it is stored: thread, message, quote; its group, if it is in one; the kind of a finding;
the lines of a file; the source of a finding.
"""
Sources: TypeAlias = Mapping[str, tuple[Cited, ...]]
"""Evidence by JSON pointer."""


@dataclass(frozen=True, slots=True)
class Remainder:
    """The remaining value of a version, and its remaining evidence."""

    value: JsonObject
    evidence: Sources


def remainder_of(
    value: JsonObject, evidence: Sources, erased: AbstractSet[tuple[str, str]]
) -> Remainder | None:
    """
    Return what remains of a version without the *erased* messages, ``None`` if nothing does.

    >>> both = {"/city": (("t", "m1", "Oslo"),), "/pet": (("t", "m2", None),)}
    >>> remainder_of({"city": "Oslo", "pet": "cat"}, both, {("t", "m1")})
    Remainder(value={'pet': 'cat'}, evidence={'/pet': (('t', 'm2', None),)})
    """
    left = {pointer: _left_of(found, erased) for pointer, found in evidence.items()}
    unfounded = unfounded_places(evidence, erased)
    if "" in unfounded:
        return None
    remaining: Json = value
    kept: Sources = {pointer: found for pointer, found in left.items() if found is not None}
    # Later list items first, so that removing one does not move those still to be removed.
    for pointer in sorted(unfounded, key=_from_behind, reverse=True):
        path = split_pointer(pointer)
        remaining = _without(remaining, path)
        kept = dict(_shifted(kept, path, in_list=_is_list_item(value, path)))
    if not isinstance(remaining, Mapping) or (unfounded and not remaining):
        return None
    return None if lost_statement(value, remaining) else Remainder(remaining, kept)


def lost_statement(value: JsonObject, left: Mapping[str, Json]) -> bool:
    """
    Return True if a note, fact or example lost what it states: *left* of *value* says nothing.

    >>> note = {"context": "at home", "content": "I whistle"}
    >>> lost_statement(note, {"context": "at home"}), lost_statement(note, {"content": "I whistle"})
    (True, False)
    """
    return any(
        needed <= value.keys() <= allowed and not needed <= left.keys()
        for needed, allowed in _STATEMENTS
    )


def unfounded_places(evidence: Sources, erased: AbstractSet[tuple[str, str]]) -> set[str]:
    """Return the pointers whose evidence is not sufficient any more without the *erased*."""
    return {pointer for pointer, found in evidence.items() if _left_of(found, erased) is None}


def _left_of(
    found: tuple[Cited, ...], erased: AbstractSet[tuple[str, str]]
) -> tuple[Cited, ...] | None:
    """Return the remaining evidence of a field, ``None`` if it is not sufficient."""
    gone = [each for each in found if (each[0], each[1]) in erased]
    broken = {group_of(each) for each in gone} - {0}
    # A group beside the memories that a field was derived from supports the words that these lack.
    needed = gone if not broken else found
    if any(each[0] == MEMORY_THREAD for each in needed):
        return None
    left = tuple(
        each for each in found if (each[0], each[1]) not in erased and group_of(each) not in broken
    )
    return None if gone and not left else left


def remaining_messages(
    evidence: Sources, erased: AbstractSet[tuple[str, str]]
) -> set[tuple[str, str]]:
    """
    Return the remaining messages in the evidence of fields removed with the *erased*.

    Only quoted messages count: a quote states the value, or a part of it.

    >>> both = (("t", "m1", "a nurse", 1), ("t", "m2", "in Oslo", 1))
    >>> remaining_messages({"/job": both}, {("t", "m1")})
    {('t', 'm2')}
    """
    lost = [split_pointer(at) for at, found in evidence.items() if _left_of(found, erased) is None]
    return {
        (each[0], each[1])
        for pointer, found in evidence.items()
        if any(split_pointer(pointer)[: len(path)] == path for path in lost)
        for each in found
        if each[2] and (each[0], each[1]) not in erased
    }


def group_of(cited: Cited) -> int:
    """Return the group of stored evidence, 0 if it is sufficient alone."""
    return 0 if len(cited) == 3 else cited[3]


def version_name(type_: str, key: str, version: int) -> str:
    """
    Return the name by which evidence cites a version of a memory.

    >>> version_name("Note", "tea/1", 3)
    'Note/tea/1@3'
    """
    return f"{type_.replace('~', '~0').replace('/', '~1')}/{key}@{version}"


def named_version(name: str) -> tuple[str, str, int] | None:
    """
    Return the type, key and version encoded in *name*, ``None`` if it is malformed.

    >>> named_version("Note/tea/1@3"), named_version("m17")
    (('Note', 'tea/1', 3), None)
    """
    address, _, version = name.rpartition("@")
    type_, slash, key = address.partition("/")
    if not (type_ and slash and key and _PLACE.fullmatch(version)):
        return None
    return type_.replace("~1", "/").replace("~0", "~"), key, int(version)


def cited_version(thread: str, name: str) -> tuple[str, str, int] | None:
    """Return the type, key and version that evidence cites, ``None`` if it cites a message."""
    return named_version(name) if thread == MEMORY_THREAD else None


def merged_into(type_: str, key: str) -> str:
    """Return the cause for ending a memory that was merged into the one at (type, key)."""
    return f"{MERGED}{type_}/{key}"


def split_pointer(pointer: str) -> tuple[str, ...]:
    """
    Return the steps of a JSON pointer (RFC 6901).

    >>> split_pointer("/pets/0/na~1me")
    ('pets', '0', 'na/me')
    """
    if not pointer:
        return ()
    return tuple(step.replace("~1", "/").replace("~0", "~") for step in pointer[1:].split("/"))


def _place(step: str) -> int:
    """Return the list index that *step* names (RFC 6901), -1 if it is not one."""
    return int(step) if _PLACE.fullmatch(step) else -1


def _from_behind(pointer: str) -> tuple[tuple[int, str], ...]:
    """Return a sort key by which later list items and inner fields come after earlier ones."""
    return tuple((_place(s), s) for s in split_pointer(pointer))


def _without(value: Json, path: tuple[str, ...]) -> Json:
    """Return *value* without the value at *path*; unchanged if there is none."""
    if not path:
        return None
    head, rest = path[0], path[1:]
    if isinstance(value, Mapping):
        if head not in value:
            return value
        if not rest:
            return {name: each for name, each in value.items() if name != head}
        return {n: _without(each, rest) if n == head else each for n, each in value.items()}
    if isinstance(value, list | tuple) and 0 <= _place(head) < len(value):
        at = _place(head)
        middle = [] if not rest else [_without(value[at], rest)]
        return [*value[:at], *middle, *value[at + 1 :]]
    return value


def _is_list_item(value: Json, path: tuple[str, ...]) -> bool:
    """Return True if *path* is an existing list element of *value*."""
    for step in path[:-1]:
        if isinstance(value, Mapping):
            value = value.get(step)
        elif isinstance(value, list | tuple) and 0 <= _place(step) < len(value):
            value = value[_place(step)]
        else:
            return False
    return isinstance(value, list | tuple) and 0 <= _place(path[-1]) < len(value)


def _shifted(
    evidence: Sources, removed: tuple[str, ...], *, in_list: bool
) -> Iterable[tuple[str, tuple[Cited, ...]]]:
    """Yield *evidence* without that inside *removed*; indexes of later list items move down."""
    depth = len(removed)
    for pointer, found in evidence.items():
        path = split_pointer(pointer)
        if path[:depth] == removed:
            continue
        if in_list and path[: depth - 1] == removed[:-1] and len(path) >= depth:
            at = _place(path[depth - 1])
            if at > _place(removed[-1]):
                path = (*path[: depth - 1], str(at - 1), *path[depth:])
        yield "".join("/" + s.replace("~", "~0").replace("/", "~1") for s in path), found
