"""Conversations and questions of a benchmark, read from JSON Lines."""

from __future__ import annotations

import gzip
import json
import lzma
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import IO, Final, cast

from recollect.errors import UsageError

_SUFFIXES: Final = ("", ".gz", ".xz")


@dataclass(frozen=True, slots=True, kw_only=True)
class BenchmarkMessage:
    """One row of a conversation; *time* is in UTC, since the sets name no zone."""

    message_id: str
    session_id: str
    seq: int
    time: datetime
    speaker: str
    role: str
    text: str
    image_caption: str | None = None
    source: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class BenchmarkConversation:
    """The messages that its questions are about, in order."""

    conversation_id: str
    messages: tuple[BenchmarkMessage, ...]

    def kept_before(self, question: BenchmarkQuestion) -> tuple[BenchmarkMessage, ...]:
        """Return the messages of the sessions before that of *question*."""
        if question.asked_in is None:
            return self.messages
        for asking in self.messages:
            if asking.message_id == question.asked_in:
                break
        else:
            msg = (
                f"question {question.question_id!r} was asked in message {question.asked_in!r}, "
                f"which conversation {self.conversation_id!r} lacks: check the set's files"
            )
            raise UsageError(msg)
        began = next(
            at for at, each in enumerate(self.messages) if each.session_id == asking.session_id
        )
        return self.messages[:began]


@dataclass(frozen=True, slots=True)
class RowFields:
    """One parsed row with typed access; *place* is its file and line, for errors."""

    place: str
    values: Mapping[str, object]

    def text(self, name: str) -> str:
        """Return a required text."""
        value = self.values.get(name)
        if not isinstance(value, str):
            raise self._wrong(name, "a text")
        return value

    def optional_text(self, name: str) -> str | None:
        """Return a text, `None` if absent, null or empty."""
        return self.text(name) if self.values.get(name) else None

    def texts(self, name: str) -> tuple[str, ...]:
        """Return a list of texts; empty if absent or null."""
        value = self.values.get(name)
        if value is None:
            return ()
        if not isinstance(value, list) or not all(isinstance(each, str) for each in value):
            raise self._wrong(name, "a list of texts")
        return tuple(value)

    def number(self, name: str) -> int:
        """Return a required integer."""
        value = self.values.get(name)
        if not isinstance(value, int) or isinstance(value, bool):
            raise self._wrong(name, "a whole number")
        return value

    def flag(self, name: str) -> bool:
        """Return a boolean; false if absent or null."""
        value = self.values.get(name) or False
        if not isinstance(value, bool):
            raise self._wrong(name, "true or false")
        return value

    def rows(self, name: str) -> tuple[RowFields, ...]:
        """Return a list of nested rows; empty if absent or null."""
        value = self.values.get(name) or []
        if not isinstance(value, list) or not all(isinstance(each, dict) for each in value):
            raise self._wrong(name, "a list of objects")
        return tuple(RowFields(f"{self.place}, {name}", each) for each in value)

    def time(self, name: str) -> datetime:
        """Return an ISO 8601 time in UTC; one without a zone is taken to be UTC."""
        written = self.text(name)
        try:
            time = datetime.fromisoformat(written)
        except ValueError as error:
            raise self._wrong(name, "an ISO 8601 time") from error
        return time.replace(tzinfo=UTC) if time.tzinfo is None else time.astimezone(UTC)

    def optional_time(self, name: str) -> datetime | None:
        """Return a time, `None` if absent or null."""
        return self.time(name) if self.values.get(name) else None

    def _wrong(self, name: str, expected: str) -> UsageError:
        found = self.values.get(name)
        msg = f"{self.place}: {name!r} is {found!r:.80}, not {expected}: repair the file"
        return UsageError(msg)


@dataclass(frozen=True, slots=True, kw_only=True)
class BenchmarkQuestion:
    """
    One question, with its evidence and answer.

    *evidence* and *evidence_sessions* hold ids without repetition. *asked_in* names
    the message that is the question itself, where a set asks in the middle of its talk.
    *context* is the talk before the question as (speaker, text); *extras* the whole row.
    """

    question_id: str
    conversation_id: str
    text: str
    category: str
    evidence: tuple[str, ...]
    evidence_sessions: tuple[str, ...] = ()
    asked: datetime | None = None
    asked_in: str | None = None
    is_unanswerable: bool = False
    context: tuple[tuple[str, str], ...] = ()
    extras: RowFields = field(default_factory=lambda: RowFields("a question", {}))


def locate(folder: Path, name: str) -> Path | None:
    """Return the file called *name* in *folder*, plain or compressed, or `None`."""
    for suffix in _SUFFIXES:
        path = folder / f"{name}{suffix}"
        if path.is_file():
            return path
    return None


def read_fields(folder: Path, name: str) -> Iterator[RowFields]:
    """
    Yield the rows of a JSON Lines file, one at a time; empty lines are skipped.

    Args:
        folder: Where the file is.
        name: Its name without ``.gz`` or ``.xz``.

    Raises:
        UsageError: There is no such file, or a line is not a JSON object.
    """
    path = locate(folder, name)
    if path is None:
        msg = f"{str(folder)!r} has no {name!r} (plain, .gz or .xz): name the set's folder"
        raise UsageError(msg)
    with _open(path) as lines:
        for number, line in enumerate(lines, start=1):
            if line.strip():
                yield _parse(line, f"{path.name} line {number}")


def _open(path: Path) -> IO[str]:
    if path.suffix == ".gz":
        return gzip.open(path, "rt", encoding="utf-8")
    if path.suffix == ".xz":
        return cast("IO[str]", lzma.open(path, "rt", encoding="utf-8"))
    return path.open(encoding="utf-8")


def _parse(line: str, place: str) -> RowFields:
    try:
        values = json.loads(line)
    except ValueError as error:
        msg = f"{place} is not JSON ({error}): repair the file"
        raise UsageError(msg) from error
    if not isinstance(values, dict):
        msg = f"{place} is not a JSON object: repair the file"
        raise UsageError(msg)
    return RowFields(place, values)
