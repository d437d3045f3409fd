"""Which of the known forms a file has, value by value: nobody has to name it."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, tzinfo
from itertools import chain, islice
from typing import Final

from recollect.errors import UsageError
from recollect.importers.documents import CutOffError, Scanner
from recollect.importers.entries import Archived, Reading, Refused, Row, shown
from recollect.importers.locomo import is_sample, read_sample
from recollect.importers.messages import is_message, read_message
from recollect.importers.openai import is_chat_message, read_chat_message
from recollect.importers.sources import (
    LINE_BYTES_MAX,
    Line,
    Source,
    decoded,
    read_first,
    read_lines,
)
from recollect.records import Json, JsonObject

KINDS: Final = ("thread", "message", "memory", "formation")
"""The kinds of record in an export of ours."""

_HEAD_LINES: Final = 20
_MANY: Final = (".jsonl", ".ndjson")


def read_rows(source: Source, *, zone: tzinfo = UTC, thread: str | None = None) -> Iterator[Row]:
    """
    Yield what *source* holds, in its order, reading it as a stream.

    Known are message rows with a conversation, LoCoMo's samples, chats as OpenAI's
    interface takes them, and exports of ours; as JSON Lines or as one JSON document.

    Args:
        source: An open file.
        zone: Where times without a zone are taken to be.
        thread: The thread of a chat, which has no name of its own; the file's name if
            ``None``. Several chats of one file are numbered.

    Raises:
        UsageError: The file is empty, or is in no form that is known.
    """
    reading = Reading(name=source.plain_name, thread=thread or source.stem, zone=zone)
    first = read_first(source.stream)
    if isinstance(first, bytes) and len(first) > LINE_BYTES_MAX and _opens(first):
        return _read_document(source, first, reading)
    lines = read_lines(source.stream, first)
    head = list(islice(lines, 1))
    if not head:
        msg = f"{source.name!r} is empty: there is nothing to import"
        raise UsageError(msg)
    if _is_value(head[0]):
        head += islice(lines, 1)
        is_alone = len(head) == 1 and not source.plain_name.endswith(_MANY)
        return _read_each(chain(head, lines), _Naming(reading, is_alone=is_alone))
    if isinstance(head[0], Line) and _opens(head[0].content):
        head += islice(lines, 1)
        # A row that is broken begins a file of rows all the same; a list's elements end in commas.
        if _opens(head[0].content) == "[" or not any(map(_is_value, head)):
            return _read_document(source, _begun(head), reading)
    else:
        head += islice(lines, _HEAD_LINES)
        if not any(map(_is_value, head)):
            raise UsageError(_unknown_form(source, head[0]))
    return _read_each(chain(head, lines), _Naming(reading, is_alone=False))


@dataclass(slots=True)
class _Naming:
    """Which thread the next chat of a file becomes."""

    reading: Reading
    is_alone: bool
    chats: int = 0
    messages: int = 0

    def next_chat(self) -> str:
        """Return the thread of the next chat: the file's name, numbered if it holds several."""
        self.chats += 1
        return self.reading.thread if self.is_alone else f"{self.reading.thread}-{self.chats}"


def _opens(content: bytes) -> str:
    """Return the bracket with which *content* begins; nothing if it begins otherwise."""
    first = content.removeprefix(b"\xef\xbb\xbf").lstrip()[:1]
    return first.decode() if first in (b"[", b"{") else ""


def _begun(lines: list[Line | Refused]) -> bytes:
    """Return the bytes of lines that were read already."""
    return b"\n".join(line.content for line in lines if isinstance(line, Line)) + b"\n"


def _is_value(line: Line | Refused) -> bool:
    """Say whether a line alone is a JSON object or list."""
    if isinstance(line, Refused):
        return False
    try:
        return isinstance(json.loads(decoded(line)), dict | list)
    except (ValueError, RecursionError):
        return False


def _unknown_form(source: Source, head: Line | Refused) -> str:
    if isinstance(head, Refused):
        return f"{source.name!r}, {head.place}: {head.reason}"
    if head.content.startswith((b"\xff\xfe", b"\xfe\xff")):
        return f"{source.name!r} is UTF-16: convert it to UTF-8"
    try:
        begins = shown(decoded(head)[:40])
    except UsageError as error:
        return f"{source.name!r}, {head.place}: {error}"
    return f"{source.name!r} is neither JSON Lines nor a JSON document: it begins with {begins}"


def _read_each(lines: Iterator[Line | Refused], naming: _Naming) -> Iterator[Row]:
    for line in lines:
        if isinstance(line, Refused):
            yield line
            continue
        try:
            value = json.loads(decoded(line))
        except UsageError as error:
            yield Refused(place=line.place, reason=str(error))
        except (ValueError, RecursionError) as error:
            yield _unreadable(line, error)
        else:
            yield from _read_value(value, line.place, naming)


def _unreadable(line: Line, error: Exception) -> Refused:
    if not line.is_whole:
        reason = (
            "the file ends in the middle of this line: it was cut off; get a whole copy and "
            "import it again"
        )
        return Refused(place=line.place, reason=reason, is_cut=True)
    return Refused(place=line.place, reason=f"it is not JSON ({error})")


def _read_document(source: Source, begun: bytes, reading: Reading) -> Iterator[Row]:
    """Yield the rows of one JSON document, element by element."""
    scanner = Scanner(source.stream, begun)
    naming = _Naming(reading, is_alone=True)
    number = 0
    try:
        if scanner.next_character() == "[":
            naming = _Naming(reading, is_alone=False)
            for number, value in enumerate(scanner.elements(), start=1):
                yield from _read_element(value, f"element {number}", naming)
        else:
            whole: dict[str, Json] = {}
            for name in scanner.fields():
                if name == "messages" and scanner.next_character() == "[":
                    chat = naming.next_chat()
                    for number, value in enumerate(scanner.elements(), start=1):
                        yield from _read_message(value, f"message {number}", chat, naming, number)
                else:
                    whole[name] = scanner.value()
            if not naming.chats:
                yield from _read_value(whole, "the document", naming)
        if not scanner.is_at_end():
            reason = "something follows the end of the document: write one JSON value a line"
            yield Refused(place="the end", reason=reason, is_cut=True)
    except CutOffError as error:
        place = f"after element {number}" if number else "the document"
        yield Refused(place=place, reason=f"{error}; what came before was kept", is_cut=True)


def _read_element(value: Json, place: str, naming: _Naming) -> Iterator[Row]:
    """Yield the rows of an element of a list; messages without a chat around them are one chat."""
    if isinstance(value, Mapping) and _is_of_chat(value):
        naming.messages += 1
        yield from _read_message(value, place, naming.reading.thread, naming, naming.messages)
    else:
        yield from _read_value(value, place, naming)


def _read_value(value: Json, place: str, naming: _Naming) -> Iterator[Row]:
    """Yield the rows of one value, by what it looks like."""
    if isinstance(value, list):
        yield from _read_list(value, place, naming)
    elif not isinstance(value, dict):
        yield Refused(place=place, reason=f"{shown(value)} is not a JSON object")
    elif value.get("kind") in KINDS and "scope" in value:
        yield Archived(place=place, record=value)
    elif is_message(value):
        yield from _read_row(value, place, naming.reading)
    elif is_sample(value):
        yield from read_sample(value, place, naming.reading)
    elif isinstance(value.get("messages"), list):
        yield from _read_chat(value["messages"], place, naming)
    elif is_chat_message(value):
        yield from _read_element(value, place, naming)
    else:
        names = ", ".join(map(shown, [*value][:6]))
        reason = f"it is in no form that is known: it has the fields {names or '(none)'}"
        yield Refused(place=place, reason=reason)


def _read_list(values: list[Json], place: str, naming: _Naming) -> Iterator[Row]:
    if any(isinstance(each, Mapping) and _is_of_chat(each) for each in values):
        yield from _read_chat(values, place, naming)
        return
    for number, value in enumerate(values, start=1):
        yield from _read_value(value, f"{place}, element {number}", naming)


def _is_of_chat(value: JsonObject) -> bool:
    return is_chat_message(value) and not is_message(value)


def _read_chat(values: list[Json], place: str, naming: _Naming) -> Iterator[Row]:
    chat = naming.next_chat()
    for number, value in enumerate(values, start=1):
        yield from _read_message(value, f"{place}, message {number}", chat, naming, number)


def _read_row(value: JsonObject, place: str, reading: Reading) -> Iterator[Row]:
    try:
        yield read_message(value, place, reading)
    except UsageError as error:
        yield Refused(place=place, reason=str(error))


def _read_message(
    value: Json, place: str, chat: str, naming: _Naming, number: int
) -> Iterator[Row]:
    try:
        yield read_chat_message(value, place, naming.reading, thread=chat, index=number)
    except UsageError as error:
        yield Refused(place=place, reason=str(error))
