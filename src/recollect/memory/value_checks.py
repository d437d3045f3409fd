"""Check a value against the schema of its memory type."""

from __future__ import annotations

from collections.abc import Sequence
from difflib import get_close_matches
from typing import Final

from recollect.errors import UsageError
from recollect.formation.types import BUILTIN_TYPES, MemoryType
from recollect.formation.types.schema import violations
from recollect.records import JsonObject

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
        _check_name(type_, list(known))
        return None
    wrong = violations(found, value)
    if wrong:
        reasons = "; ".join(dict.fromkeys(wrong))
        # A reason for an unknown field names the fields already.
        names_fields = any("the fields are" in each for each in wrong)
        listed = "" if names_fields else f"; its fields are {_fields(found)}"
        raise UsageError(f"the value is no {type_}: {reasons}{listed}")
    return found


def _check_name(type_: str, known: Sequence[str]) -> None:
    """Raise if an unknown type's name is almost that of a known one."""
    plain = {name.casefold(): name for name in known}
    given = type_.casefold()
    # Of a short name two exchanged letters are less similar than NEAR: they are told by themselves.
    near = get_close_matches(given, plain, n=1, cutoff=NEAR) or [
        name for name in plain if sorted(name) == sorted(given)
    ]
    if near:
        raise UsageError(
            f"there is no type {type_!r}: did you mean {plain[near[0]]!r}? "
            "To use this name for a type of your own, define it in FormationSettings(types=…)"
        )


def _fields(type_: MemoryType) -> str:
    """Return the fields of a type as text for error messages."""
    named = type_.parameters.get("properties")
    return ", ".join(repr(each) for each in named) if isinstance(named, dict) else "any field"
