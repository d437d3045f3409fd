"""The results of an importer: messages, memories, records and refusals."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, tzinfo
from hashlib import blake2b
from typing import Final, TypeAlias

from recollect.errors import UsageError
from recollect.importers.times import read_time
from recollect.records import Json, JsonObject, NewMessage, Scope

_ID_BYTES: Final = 16
_SHOWN_CHARACTERS: Final = 60


@dataclass(frozen=True, slots=True, kw_only=True)
class Incoming:
    """A message to keep in *thread*; *place* says where in the file it stands."""

    place: str
    thread: str
    message: NewMessage
    is_zone_assumed: bool = False
    """Whether its time named no zone."""
    below: Scope = ()
    """Where below the scope that is imported to it belongs."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Archived:
    """A record of an export of ours, to be put back as it was; or a memory of another program."""

    place: str
    record: JsonObject
    is_remembered: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Refused:
    """A row that was not taken, and why; *is_cut* says that the file breaks off there."""

    place: str
    reason: str
    is_cut: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportedMemory:
    """
    A memory to keep, as *record* of an export of ours has it, but without a scope.

    It belongs to the scope *below* the one that is imported to. Without ``created_at`` and
    ``updated_at`` it is dated by the store.
    """

    place: str
    record: JsonObject
    below: Scope = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Changed:
    """Something that the memory has otherwise than the file, or not at all, by rule: *what*."""

    place: str
    what: str
    count: int = 1


Row: TypeAlias = Incoming | Archived | ImportedMemory | Changed | Refused


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportOptions:
    """
    Options for reading a file.

    *name* is part of the ids generated for rows without one, so that importing a file again changes
    nothing. *thread* names an unnamed conversation, which goes to the scope *below* the target
    scope. Times without a zone are in *zone*.
    """

    name: str
    thread: str
    zone: tzinfo = UTC
    below: Scope = ()


def read_moment(value: object, reading: ImportOptions) -> tuple[datetime | None, bool]:
    """Return the time of a row, if it has one, and whether its zone had to be assumed."""
    if value is None or value == "":
        return None, False
    if not isinstance(value, str):
        msg = f"its time is {shown(value)}, not text in ISO 8601 such as '2024-05-06T12:00:00Z'"
        raise UsageError(msg)
    return read_time(value, reading.zone)


def made_id(reading: ImportOptions, *place_and_content: object) -> str:
    """Return the id of a message without one: the same for the same file, place and content."""
    content = json.dumps([reading.name, *place_and_content], sort_keys=True)
    return blake2b(content.encode(), digest_size=_ID_BYTES).hexdigest()


def text_in(row: JsonObject, name: str) -> str:
    """Return a text that a row must have."""
    value = row.get(name)
    if not isinstance(value, str) or not value:
        msg = f"its {name!r} is {shown(value)}, not text"
        raise UsageError(msg)
    return value


def optional_text_in(row: JsonObject, name: str) -> str | None:
    """Return a text that a row may lack; an empty one counts as absent."""
    return text_in(row, name) if row.get(name) not in (None, "") else None


def rest_of(row: JsonObject, known: frozenset[str]) -> dict[str, Json]:
    """Return the fields that no other place is known for: they become a message's metadata."""
    given = row.get("metadata")
    named = dict(given) if isinstance(given, Mapping) else {}
    others = {name: value for name, value in row.items() if name not in known}
    return {**{name: value for name, value in others.items() if value is not None}, **named}


def pictured(text: str, caption: str | None) -> Sequence[Json] | None:
    """Return the content blocks of a message that shows a picture; ``None`` without one."""
    if caption is None:
        return None
    words: list[Json] = [{"type": "text", "text": text}] if text else []
    return [*words, {"type": "image", "caption": caption}]


def no_object(value: Json) -> str:
    """Return the message that *value* should be a JSON object."""
    return f"{'null' if value is None else shown(value)} is not a JSON object"


def shown(value: object) -> str:
    """Return *value* as an error shows it: short, and nothing in it acts on a terminal."""
    if value is None:
        return "missing"
    written = ascii(value) if isinstance(value, str) and not value.isprintable() else repr(value)
    if len(written) > _SHOWN_CHARACTERS:
        return f"{written[:_SHOWN_CHARACTERS]}…"
    return written
