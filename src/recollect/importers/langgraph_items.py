"""Import of items of LangGraph's stores, dumped as JSON items or as rows of a store's table."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from recollect.errors import UsageError
from recollect.importers.import_entries import (
    Changed,
    Difference,
    ImportOptions,
    Refused,
    Row,
    shown,
    text_in,
)
from recollect.importers.json_stream import NESTED, is_nested
from recollect.importers.memory_records import FileMemory, moment_in, remembered
from recollect.records import Json, JsonObject, Scope
from recollect.text.coded_text import reason_of

TTL: Final = Difference("items keep their expiry time, which reading them no longer postpones")


def is_item(value: JsonObject) -> bool:
    """Return True if *value* is an item, or a row of the table ``store``."""
    return {"key", "value"} <= value.keys() and ("namespace" in value or "prefix" in value)


def read_item(value: JsonObject, place: str, reading: ImportOptions) -> Iterator[Row]:
    """Yield one item at its address: its namespace becomes a scope below the target scope."""
    try:
        below = _read_namespace(value)
        found = FileMemory(
            type="Item",
            key=text_in(value, "key"),
            value=_read_value(value.get("value")),
            created_at=moment_in(value, "created_at", reading),
            updated_at=moment_in(value, "updated_at", reading),
            expires_at=moment_in(value, "expires_at", reading),
        )
    except UsageError as error:
        yield Refused(place=place, reason=reason_of(error))
        return
    if value.get("ttl_minutes") is not None:
        yield Changed(place=place, what=TTL)
    yield remembered(place, found, below)


def _read_namespace(value: JsonObject) -> Scope:
    given = value.get("namespace", value.get("prefix"))
    if isinstance(given, str):  # the tables keep a namespace as text, joined by dots
        given = given.split(".") if given else []
    if not isinstance(given, Sequence) or not all(isinstance(each, str) for each in given):
        raise UsageError(f"its namespace is {shown(given)}, not a list of labels")
    return tuple(str(each) for each in given)


def _read_value(given: Json) -> JsonObject:
    if isinstance(given, str):  # the table of LangGraph's SQLite store keeps JSON as text
        try:
            given = json.loads(given)
        except (ValueError, RecursionError):
            raise UsageError(f"its value is {shown(given)}, which is not JSON") from None
        if is_nested(given):
            raise UsageError(NESTED)
    if not isinstance(given, Mapping):
        raise UsageError(f"its value is {shown(given)}, not a JSON object")
    return given
