"""Whether a memory of a file is there already, and the record of it if it is not."""

from __future__ import annotations

from collections.abc import Mapping

from recollect.importers.import_entries import shown
from recollect.records import JsonObject, Memory, Scope
from recollect.stores.validation import check_time

_SAID = ("value", "text", "valid_from", "valid_until")


def differing(record: JsonObject, other: JsonObject | Memory) -> bool:
    """Return True if what *record* says of the world is not what *other* says."""
    return [record.get(name) for name in _SAID] != [_said(other, name) for name in _SAID]


def _said(other: JsonObject | Memory, name: str) -> object:
    if not isinstance(other, Memory):
        return other.get(name)
    match name:
        case "value":
            return other.value
        case "text":
            return other.text
        case _:
            at = other.valid_from if name == "valid_from" else other.valid_until
            return None if at is None else check_time(at, name)


def named(record: JsonObject) -> str:
    """Return a memory as a sentence names it: an entity or a fact by its words, not by its key."""
    if record["type"] not in {"Entity", "Fact"}:
        return f"{record['type']}/{record['key']}"
    value = record["value"]
    name = value.get("name") if isinstance(value, Mapping) else None
    return f"{record['type']} {shown(name or record['text'])}"


def written(record: JsonObject, scope: Scope) -> JsonObject:
    """Return *record* as one of an export of *scope*."""
    return {**record, "scope": list(scope)}
