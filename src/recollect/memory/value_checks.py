"""Check a value and a key against their memory type."""

from __future__ import annotations

from collections.abc import Sequence
from difflib import get_close_matches
from typing import Final

from recollect.errors import UsageError
from recollect.formation.types import BUILTIN_TYPES, MemoryType
from recollect.formation.types.schema import violations
from recollect.records import SPEAKER_MARK, JsonObject

NEAR: Final = 0.8
"""Similarity (`difflib`'s ratio, ignoring case) from which a name counts as a misspelling."""


def check_document(types: Sequence[MemoryType], type_: str, value: JsonObject) -> MemoryType | None:
    """
    Return the type whose schema *value* fits, ``None`` if the type is unknown.

    Known are *types*, which apply in the scope, and the built-in ones. An unknown type is accepted,
    unless its name looks like a misspelt known one.

    Raises:
        UsageError: The value does not fit; or the type's name looks misspelt, and the message
            suggests one.
    """
    known = {each.name: each for each in (*BUILTIN_TYPES, *types)}
    found = known.get(type_)
    if found is None:
        check_type_name(type_, list(known))
        return None
    wrong = violations(found, value)
    if wrong:
        reasons = "; ".join(dict.fromkeys(wrong))
        # A reason for an unknown field names the fields already.
        names_fields = any("the fields are" in each for each in wrong)
        listed = "" if names_fields else f"; its fields are {_fields(found)}"
        raise UsageError(f"the value is no {type_}: {reasons}{listed}")
    return found


def check_key(types: Sequence[MemoryType], type_: str, key: str, expected: int | None) -> None:
    """
    Refuse a new memory where formation would not look for one of its type.

    A type of *types* that is patched is one document, under the type's name or, where several
    users speak, under a speaker's mark; entries of a collection have other keys. One memory
    elsewhere would stop the formation of the whole scope (`UpdateModeError`). Where *expected*
    names a version, the memory exists already, and is not refused its next one.

    Raises:
        UsageError: It would; the message names the key to use.
    """
    mode = next((each.update_mode for each in types if each.name == type_), None)
    if mode is None or expected:
        return
    is_document = key == type_ or key.startswith(SPEAKER_MARK)
    if mode == "patch" and not is_document:
        raise UsageError(
            f"{type_} is one document in each scope, and its key is {type_!r}, not {key!r}: write "
            "it there; for each of several users name a scope of theirs"
        )
    if mode == "insert" and key == type_:
        raise UsageError(
            f"{type_} is a collection, and its name is no key of an entry: give another key"
        )


def check_type_name(type_: str, known: Sequence[str]) -> None:
    """
    Refuse an unknown type's name that is almost that of a known one.

    Raises:
        UsageError: It is; the message names the known one.
    """
    near = near_type_name(type_, known)
    if near is not None:
        raise UsageError(
            f"there is no type {type_!r}: did you mean {near!r}? "
            "To use this name for a type of your own, define it in FormationSettings(types=…)"
        )


def near_type_name(type_: str, known: Sequence[str]) -> str | None:
    """Return the *known* name that *type_* is almost, ``None`` if there is none."""
    plain = {name.casefold(): name for name in known}
    given = type_.casefold()
    # Of a short name two exchanged letters are less similar than NEAR: they are told by themselves.
    near = get_close_matches(given, plain, n=1, cutoff=NEAR) or [
        name for name in plain if sorted(name) == sorted(given)
    ]
    return plain[near[0]] if near else None


def _fields(type_: MemoryType) -> str:
    """Return the fields of a type as text for error messages."""
    named = type_.parameters.get("properties")
    return ", ".join(repr(each) for each in named) if isinstance(named, dict) else "any field"
