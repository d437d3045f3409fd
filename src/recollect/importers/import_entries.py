"""The rows that importers yield (messages, memories, refusals), and helpers to make them."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, tzinfo
from hashlib import blake2b
from typing import Final, NewType, TypeAlias, TypeVar

from recollect.errors import UsageError
from recollect.records import Json, JsonObject, Memory, NewMessage, Scope
from recollect.stores.validation import check_time
from recollect.text.coded_text import with_code

_CONTENT_FIELDS = ("value", "text", "valid_from", "valid_until")
"""The fields that make up a memory's content; the others, such as the trust, may differ."""
Difference = NewType("Difference", str)
"""A sentence of a report: what was stored differently from the file, or left out."""
OTHER_BRANCHES: Final = Difference("messages of other branches than the current one were left out")
EMPTY: Final = Difference("messages without words were left out")
REASONING: Final = Difference("parts of the model's reasoning were left out")
_ID_BYTES: Final = 16
_SHOWN_CHARACTERS: Final = 60
RoleT = TypeVar("RoleT")


@dataclass(frozen=True, slots=True, kw_only=True)
class Incoming:
    """A message to store in *thread*; *place* is its position in the file."""

    place: str
    thread: str
    message: NewMessage
    is_zone_assumed: bool = False
    """Whether its time named no zone, so that the zone of the options was used."""
    below: Scope = ()
    """The segments of its scope below the target scope."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Archived:
    """A record of a Recollect export, to be restored unchanged, or an imported memory as one."""

    place: str
    record: JsonObject
    is_remembered: bool = False
    """Whether it is a memory of another program."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Refused:
    """A row that is not stored, and why; *is_cut* means that the file breaks off there."""

    place: str
    reason: str
    is_cut: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportedMemory:
    """
    A memory to store: *record* is that of a Recollect export, but without a scope.

    It goes to the scope *below* the target scope. Without ``created_at`` and ``updated_at`` the
    store dates it.
    """

    place: str
    record: JsonObject
    below: Scope = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Changed:
    """A count of things that are stored differently from the file, or left out, by rule: *what*."""

    place: str
    what: Difference
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
        msg = with_code(
            "no_time",
            f"its time is {shown(value)}, not text in ISO 8601 such as '2024-05-06T12:00:00Z'",
            value=shown(value),
        )
        raise UsageError(msg)
    return read_time(value, reading.zone)


def made_id(reading: ImportOptions, *place_and_content: object) -> str:
    """Return an id for a message without one: the same for the same file, place and content."""
    content = json.dumps([reading.name, *place_and_content], sort_keys=True)
    return blake2b(content.encode(), digest_size=_ID_BYTES).hexdigest()


def text_in(row: JsonObject, name: str) -> str:
    """
    Return the text field *name* of a row.

    Raises:
        UsageError: It is missing, empty or not text.
    """
    value = row.get(name)
    if not isinstance(value, str) or not value:
        raise UsageError(
            with_code(
                "not_text",
                f"its {name!r} is {shown(value)}, not text",
                field=name,
                value=shown(value),
            )
        )
    return value


def optional_text_in(row: JsonObject, name: str) -> str | None:
    """
    Return the text field *name* of a row; ``None`` if it is missing or empty.

    Raises:
        UsageError: It is not text.
    """
    return text_in(row, name) if row.get(name) not in (None, "") else None


def read_role(value: object, roles: Mapping[str, RoleT], *, what: str = "role") -> RoleT:
    """
    Return the entry of *roles* for the role *value* of a row.

    Raises:
        UsageError: It is not in *roles*.
    """
    if not isinstance(value, str) or value not in roles:
        raise UsageError(
            with_code(
                "unknown_role",
                f"unknown {what} {shown(value)}: known are {', '.join(roles)}",
                value=shown(value),
                known=", ".join(roles),
            )
        )
    return roles[value]


def trace_branch(leaf: str, parents: Mapping[str, Json]) -> tuple[Sequence[str], Json]:
    """
    Return the ids from the root of a message tree to *leaf*, and the parent that the root names.

    The root is the first message whose parent is not among *parents*.

    Raises:
        UsageError: The parents form a circle.
    """
    found: dict[str, None] = {}
    at: Json = leaf
    while isinstance(at, str) and at in parents:
        if at in found:
            raise UsageError(
                with_code("circle", f"its messages go in a circle at {shown(at)}: export it again")
            )
        found[at] = None
        at = parents[at]
    return tuple(reversed(found)), at


def changes(place: str, counts: Counter[Difference]) -> Iterator[Changed]:
    """Yield a row for each sentence of *counts* that was counted at least once."""
    for what, count in (+counts).items():
        yield Changed(place=place, what=what, count=count)


def rest_of(row: JsonObject, known: frozenset[str]) -> dict[str, Json]:
    """Return a message's metadata: that of its row, and the row's fields that are not *known*."""
    given = row.get("metadata")
    named = dict(given) if isinstance(given, Mapping) else {}
    others = {name: value for name, value in row.items() if name not in known}
    return {**{name: value for name, value in others.items() if value is not None}, **named}


def text_blocks(text: str) -> list[Json]:
    """Return *text* as a list of one content block; an empty list if it is empty."""
    return [{"type": "text", "text": text}] if text else []


def pictured(text: str, caption: str | None) -> Sequence[Json] | None:
    """Return the content blocks of a message with a captioned picture; ``None`` without one."""
    if caption is None:
        return None
    return [*text_blocks(text), {"type": "image", "caption": caption}]


def no_object(value: Json) -> str:
    """Return the error text for a *value* that should be a JSON object."""
    return with_code(
        "no_object",
        f"{'null' if value is None else shown(value)} is not a JSON object",
        value="null" if value is None else shown(value),
    )


def bad_content(said: str, value: Json) -> UsageError:
    """Return the refusal of a message for its content *value*."""
    return UsageError(with_code("bad_content", said, value=shown(value)))


def shown(value: object) -> str:
    """Return *value* for an error text: shortened, and without characters that act on terminals."""
    if value is None:
        return "missing"
    written = ascii(value) if isinstance(value, str) and not value.isprintable() else repr(value)
    if len(written) > _SHOWN_CHARACTERS:
        return f"{written[:_SHOWN_CHARACTERS]}…"
    return written


def read_time(text: str, zone: tzinfo) -> tuple[datetime, bool]:
    """
    Return the time of an ISO 8601 *text* in UTC, and True if it named no zone and *zone* was used.

    Raises:
        UsageError: It is not ISO 8601, or lies outside the years 1 to 9999 in UTC.

    >>> read_time("2024-05-06T12:00:00", UTC)
    (datetime.datetime(2024, 5, 6, 12, 0, tzinfo=datetime.timezone.utc), True)
    """
    try:
        time = datetime.fromisoformat(text.strip())
    except ValueError as error:
        msg = with_code(
            "no_time",
            f"its time {text[:40]!a} is not ISO 8601, such as '2024-05-06T12:00:00Z'",
            value=ascii(text[:40]),
        )
        raise UsageError(msg) from error
    return in_zone(time, zone)


def in_zone(time: datetime, zone: tzinfo) -> tuple[datetime, bool]:
    """
    Return *time* in UTC, and True if it named no zone and was taken to be in *zone*.

    Raises:
        UsageError: It lies outside the years 1 to 9999 in UTC.
    """
    is_assumed = time.tzinfo is None
    zoned = time.replace(tzinfo=zone) if is_assumed else time
    try:
        return zoned.astimezone(UTC), is_assumed
    except OverflowError as error:
        msg = with_code(
            "time_out_of_range",
            f"its time {time.isoformat()} lies outside the years 1 to 9999 in UTC",
            value=time.isoformat(),
        )
        raise UsageError(msg) from error


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
