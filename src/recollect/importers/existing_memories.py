"""Comparison of an imported memory with one that is already stored."""

from __future__ import annotations

from collections.abc import Mapping

from recollect.importers.import_entries import shown
from recollect.records import JsonObject, Memory, Scope
from recollect.stores.validation import check_time

_CONTENT_FIELDS = ("value", "text", "valid_from", "valid_until")
"""The fields that make up a memory's content; the others, such as the trust, may differ."""


def is_different(record: JsonObject, other: JsonObject | Memory) -> bool:
    """Return True if the content of *record* differs from that of *other*."""
    return any(record.get(name) != _content_field(other, name) for name in _CONTENT_FIELDS)


def _content_field(other: JsonObject | Memory, name: str) -> object:
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


def describe(record: JsonObject) -> str:
    """Return a memory's name for messages: an entity or fact by its text, others by their key."""
    if record["type"] not in {"Entity", "Fact"}:
        return f"{record['type']}/{record['key']}"
    value = record["value"]
    name = value.get("name") if isinstance(value, Mapping) else None
    return f"{record['type']} {shown(name or record['text'])}"


def with_scope(record: JsonObject, scope: Scope) -> JsonObject:
    """Return *record* with *scope* as its scope."""
    return {**record, "scope": list(scope)}
