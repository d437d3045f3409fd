"""Records of Recollect made from other programs' memories, with times and earlier versions."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Final

from recollect.errors import UsageError
from recollect.importers.import_entries import (
    ImportedMemory,
    ImportOptions,
    in_zone,
    read_time,
    shown,
)
from recollect.records import Json, JsonObject, Scope
from recollect.stores.json_pointers import is_number
from recollect.stores.validation import check_time
from recollect.text.searchable import memory_text

CAUSE: Final = "imported"
"""The cause of every version of an imported memory."""
_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)


@dataclass(frozen=True, slots=True, kw_only=True)
class Past:
    """An earlier version of a memory, and when it was believed, in µs since 1970."""

    value: JsonObject
    believed_from: int
    believed_until: int


@dataclass(frozen=True, slots=True, kw_only=True)
class FileMemory:
    """A memory read from a file. Times are in µs since 1970; *past* is oldest first."""

    type: str
    key: str
    value: JsonObject
    text: str | None = None
    created_at: int | None = None
    updated_at: int | None = None
    valid_from: int | None = None
    valid_until: int | None = None
    expires_at: int | None = None
    evidence: Mapping[str, Json] = field(default_factory=dict)
    past: Sequence[Past] = ()


def remembered(place: str, found: FileMemory, below: Scope = ()) -> ImportedMemory:
    """Return *found* as a record with external trust: its content is unverified."""
    versions: list[dict[str, Json]] = [
        {
            **_version(number, past.value, None, {}),
            "valid_from": None,
            "valid_until": None,
            "believed_from": past.believed_from,
            "believed_until": past.believed_until,
        }
        for number, past in enumerate(found.past, start=1)
    ]
    record: dict[str, Json] = {
        "kind": "memory",
        "type": found.type,
        "key": found.key,
        **_version(len(versions) + 1, found.value, found.text, found.evidence),
        "valid_from": found.valid_from,
        "valid_until": found.valid_until,
        "expires_at": found.expires_at,
        "revisions": versions,
    }
    # One known time serves for both; without any, the store dates the memory.
    created = found.updated_at if found.created_at is None else found.created_at
    if created is not None:
        record["created_at"] = created
        record["updated_at"] = created if found.updated_at is None else found.updated_at
    return ImportedMemory(place=place, record=record, below=below)


def _version(
    number: int, value: JsonObject, text: str | None, evidence: Mapping[str, Json]
) -> dict[str, Json]:
    return {
        "version": number,
        "value": value,
        "text": memory_text(value) if text is None else text,
        "evidence": evidence,
        "trust": "external",
        "state": "active",
        "cause": CAUSE,
    }


def moment_in(row: JsonObject, name: str, reading: ImportOptions) -> int | None:
    """
    Return the time *name* of *row* in µs since 1970; ``None`` if it is missing or empty.

    The row has it as ISO 8601 text, or as seconds since 1970.

    Raises:
        UsageError: It is neither.
    """
    value = row.get(name)
    if value is None or value == "":
        return None
    if isinstance(value, str):
        return check_time(read_time(value, reading.zone)[0], f"its {name!r}")
    return check_time(from_epoch(value, name), f"its {name!r}")


def from_epoch(value: object, name: str) -> datetime:
    """
    Return *value*, in seconds since 1970, as a time in UTC; *name* is its field, for errors.

    Raises:
        UsageError: It is not a finite number, or is out of range.

    >>> from_epoch(1_700_000_000.5, "create_time").isoformat()
    '2023-11-14T22:13:20.500000+00:00'
    """
    if is_number(value) and math.isfinite(value):
        try:
            return in_zone(_EPOCH + timedelta(seconds=value), UTC)[0]
        except OverflowError:
            pass
    raise UsageError(f"its {name!r} is {shown(value)}, not a time in seconds since 1970")
