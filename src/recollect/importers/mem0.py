"""Import of mem0's memories, from ``get_all`` and its exports, with their earlier versions."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from datetime import date, timedelta
from itertools import pairwise
from typing import Final

from recollect.errors import UsageError
from recollect.importers.import_entries import (
    Changed,
    Difference,
    ImportOptions,
    Refused,
    Row,
    optional_text_in,
    text_in,
)
from recollect.importers.json_stream import NESTED, is_nested
from recollect.importers.memory_records import FileMemory, Past, moment_in, remembered
from recollect.records import Json, JsonObject, Scope
from recollect.text.coded_text import reason_of, with_code

OWNERS: Final = (
    ("user_id", "users"),
    ("agent_id", "agents"),
    ("app_id", "apps"),
    ("run_id", "runs"),
    ("session_id", "runs"),
)
"""The fields that name the owner of a memory, each with the scope segment before the owner's id."""

UNLED: Final = Difference(
    "memories whose history does not end in their current text were taken without it"
)
DELETED: Final = Difference("memories that mem0 had deleted were left out")
CONTEXT: Final = "remembered by mem0"
"""The ``context`` of every note that is made from a memory of mem0."""


def is_memory(value: JsonObject) -> bool:
    """Return True if *value* is one memory of mem0."""
    return isinstance(value.get("memory"), str) and "id" in value


def is_history(value: JsonObject) -> bool:
    """Return True if *value* is one row of a memory's history."""
    return "memory_id" in value and "event" in value and "new_memory" in value


def is_document(value: JsonObject) -> bool:
    """Return True if *value* is a page of memories, which may be empty, or have a history."""
    rows = _rows_of(value)
    return rows is not None and (
        not rows or any(isinstance(each, Mapping) and is_memory(each) for each in rows)
    )


def _rows_of(value: JsonObject) -> list[Json] | None:
    rows = value.get("results", value.get("memories"))
    return rows if isinstance(rows, list) else None


def read_document(value: JsonObject, place: str, reading: ImportOptions) -> Iterator[Row]:
    """Yield the memories of a page, with their earlier versions from its ``history``."""
    rows = _rows_of(value) or ()
    by_memory: dict[str, list[Json]] = {}
    history = value.get("history")
    for each in history if isinstance(history, list) else ():
        if isinstance(each, Mapping) and isinstance(each.get("memory_id"), str | int):
            by_memory.setdefault(str(each["memory_id"]), []).append(each)
    for number, each in enumerate(rows, start=1):
        where = f"{place}, memory {number}"
        if not isinstance(each, Mapping) or not is_memory(each):
            yield Refused(
                place=where,
                reason=with_code("no_memory_row", "it is no memory: it needs 'id' and 'memory'"),
            )
            continue
        past = by_memory.pop(str(each["id"]), None)
        whole = {**each, "history": past} if past else each
        if is_nested(whole):
            yield Refused(place=where, reason=NESTED)
        else:
            yield from read_memory(whole, where, reading)
    if by_memory:
        yield Changed(place=place, what=DELETED, count=len(by_memory))


def refuse_history(place: str) -> Refused:
    """Return the refusal of a row of history without its memory."""
    reason = (
        "it is a row of mem0's history without its memory: put these rows into the list "
        "'history' of the memory, or of the document that has its 'results'"
    )
    return Refused(place=place, reason=reason)


def read_memory(value: JsonObject, place: str, reading: ImportOptions) -> Iterator[Row]:
    """
    Yield one memory, in the scope below the target scope that its ids name.

    It is a note or, if it has metadata or categories, an item with these as fields.
    """
    value = _with_text_ids(value)
    try:
        found, has_full_history = _read_memory_row(value, reading)
        below = _read_owner(value)
    except UsageError as error:
        yield Refused(place=place, reason=reason_of(error))
        return
    if not has_full_history:
        yield Changed(place=place, what=UNLED)
    yield remembered(place, found, below)


def _with_text_ids(value: JsonObject) -> JsonObject:
    names = ("id", *(name for name, _ in OWNERS))
    return {**value, **{name: str(value[name]) for name in names if type(value.get(name)) is int}}


def _read_owner(value: JsonObject) -> Scope:
    """Return the scope segments of a memory's owners; of ids with the same segment, the first."""
    segments: list[str] = []
    for name, kind in OWNERS:
        owner = optional_text_in(value, name)
        if owner is not None and kind not in segments[::2]:
            segments += (kind, owner)
    return tuple(segments)


def _read_memory_row(value: JsonObject, reading: ImportOptions) -> tuple[FileMemory, bool]:
    """Return a memory, and False if it has a history that does not end in its current text."""
    text, about = text_in(value, "memory"), _read_extra(value)
    history = value.get("history")
    created_at = moment_in(value, "created_at", reading)
    updated_at = moment_in(value, "updated_at", reading)
    texts = _read_history(history, reading) if isinstance(history, list) else []
    has_full_history = not history or (bool(texts) and texts[-1][1] == text)
    past = _past_versions(texts, about) if has_full_history else ()
    if past:
        created_at = past[0].believed_from
        updated_at = past[-1].believed_until
    found = FileMemory(
        type="Item" if about else "Note",
        key=text_in(value, "id"),
        value=_make_value(text, about),
        text=text if about else None,
        created_at=created_at,
        updated_at=updated_at,
        expires_at=_read_expiry(value, reading),
        past=past,
    )
    return found, has_full_history


def _read_expiry(value: JsonObject, reading: ImportOptions) -> int | None:
    """Return the moment after which a memory is gone; a day counts to its end, as in mem0."""
    written = value.get("expiration_date")
    if isinstance(written, str) and len(written) == len("2026-05-01"):
        with suppress(ValueError, OverflowError):
            after = date.fromisoformat(written) + timedelta(days=1)
            value = {"expiration_date": after.isoformat()}
    return moment_in(value, "expiration_date", reading)


def _read_extra(value: JsonObject) -> dict[str, Json]:
    """Return the metadata and the categories of a memory, those that are not empty."""
    found = {name: value.get(name) for name in ("metadata", "categories")}
    return {name: each for name, each in found.items() if each}


def _make_value(text: str, about: JsonObject) -> JsonObject:
    return {"content": text, **about} if about else {"context": CONTEXT, "content": text}


def _read_history(history: Sequence[Json], reading: ImportOptions) -> list[tuple[int, str]]:
    """Return the texts in a history, each with its time in µs since 1970, oldest first."""
    texts: list[tuple[int, str]] = []
    for row in history:
        if not isinstance(row, Mapping) or not isinstance(row.get("new_memory"), str):
            continue
        at = moment_in(row, "updated_at", reading)
        at = moment_in(row, "created_at", reading) if at is None else at
        if at is None:
            raise UsageError("a row of its history has neither 'created_at' nor 'updated_at'")
        texts.append((at, str(row["new_memory"])))
    return sorted(texts, key=lambda each: each[0])


def _past_versions(texts: Sequence[tuple[int, str]], about: JsonObject) -> tuple[Past, ...]:
    """Return a version for each text but the last, oldest first; each ends when the next begins."""
    return tuple(
        Past(value=_make_value(words, about), believed_from=at, believed_until=until)
        for (at, words), (until, _) in pairwise(texts)
    )
