"""Streaming reader of JSON documents: yields a list's elements or an object's fields in order."""

from __future__ import annotations

import codecs
import json
from collections.abc import Iterable, Iterator
from typing import BinaryIO, Final

from recollect.errors import UsageError
from recollect.importers.input_files import DAMAGE, LINE_BYTES_MAX, explain_damage
from recollect.records import Json
from recollect.stores.validation import JSON_DEPTH_MAX
from recollect.text.coded_text import with_code

_CHUNK_BYTES: Final = 1 << 16
_SPACE: Final = " \t\r\n"
_DECODER: Final = json.JSONDecoder()
LEVELS_MAX: Final = 4 * JSON_DEPTH_MAX
"""The nesting limit of a line or list element: that of a stored value, with room around it."""
NESTED: Final = with_code(
    "nested",
    f"it is nested more than {LEVELS_MAX} levels deep (LEVELS_MAX), as no known form is: take it "
    "out of the file",
    limit=LEVELS_MAX,
)
"""The reason with which a value that is nested too deeply is refused."""
CUT: Final = with_code(
    "cut_document",
    "the document ends before it is complete: it was cut off; get a whole copy and import it again",
)
"""The reason with which a document that ends too early is refused."""


def is_nested(value: object) -> bool:
    """Return True if *value* has more than ``LEVELS_MAX`` levels."""
    # Level by level instead of recursively, so that no depth exhausts the stack.
    level = [value]
    for _ in range(LEVELS_MAX):
        level = [each for container in level for each in _children(container)]
        if not level:
            return False
    return True


def _children(value: object) -> Iterable[object]:
    if isinstance(value, dict):
        return value.values()
    return value if isinstance(value, list) else ()


class CutOffError(UsageError):
    """The document ends before it is complete, or is broken."""


class EndError(CutOffError):
    """The document ends where more should follow."""


class Scanner:
    """
    Reads one JSON document from a stream and returns its values in order.

    It holds at most one value at a time, of about ``LINE_BYTES_MAX`` characters at most.
    """

    def __init__(self, stream: BinaryIO, begun: bytes) -> None:
        self._stream = stream
        self._decoder = codecs.getincrementaldecoder("utf-8")()
        self._text = ""
        self._at = 0
        self._is_at_end = False
        self._lines_dropped = 0
        self._columns_dropped = 0
        self._feed(begun.removeprefix(b"\xef\xbb\xbf"))

    def next_character(self) -> str:
        """Return the next character that is not whitespace, without consuming it."""
        while True:
            while self._at < len(self._text):
                if self._text[self._at] not in _SPACE:
                    return self._text[self._at]
                self._at += 1
            if not self._more():
                raise EndError(CUT)

    def consume(self, expected: str) -> None:
        """Consume the next character, which must be one of *expected*."""
        found = self.next_character()
        if found not in expected:
            raise self._broken(f"{found!a} where one of {expected!r} should be", self._at)
        self._at += 1

    def value(self) -> Json:
        """Consume and return the next value."""
        self.next_character()
        wanted = _CHUNK_BYTES
        while True:
            try:
                value, end = _DECODER.raw_decode(self._text, self._at)
            except (ValueError, RecursionError) as error:
                failure: ValueError | RecursionError | None = error
            else:
                # A number at the end of the buffer may continue.
                if end < len(self._text) or self._is_at_end:
                    self._at = end
                    found: Json = value
                    return found
                failure = None
            if isinstance(failure, RecursionError):
                raise CutOffError(NESTED)
            if len(self._text) - self._at > LINE_BYTES_MAX:
                raise CutOffError(_explain_size(len(self._text) - self._at))
            begins = self._at
            if not self._more(wanted):
                raise self._explained(failure, begins)
            wanted *= 2  # each retry decodes from the value's start: doubling keeps retries few

    def is_at_end(self) -> bool:
        """Return True if nothing but whitespace follows."""
        try:
            self.next_character()
        except EndError:
            return True
        return False

    def elements(self) -> Iterator[Json]:
        """Yield the elements of the list that follows."""
        for _ in self._each("[", "]"):
            yield self.value()

    def fields(self) -> Iterator[str]:
        """Yield the field names of the object that follows; the caller must consume each value."""
        for _ in self._each("{", "}"):
            name = self.value()
            self.consume(":")
            yield str(name)

    def _each(self, opens: str, closes: str) -> Iterator[None]:
        """Yield once before each part of a list or an object, and consume the signs between."""
        self.consume(opens)
        if self.next_character() == closes:
            self.consume(closes)
            return
        while True:
            yield
            if self.next_character() == closes:
                self.consume(closes)
                return
            self.consume(f",{closes}")

    def _more(self, wanted: int = _CHUNK_BYTES) -> bool:
        """Read about *wanted* more bytes; return False at the end of the stream."""
        if self._is_at_end:
            return False
        try:
            content = self._stream.read(wanted)
        except DAMAGE as error:
            raise CutOffError(explain_damage(error)) from error
        if not content:
            self._is_at_end = True
        self._feed(content)
        return bool(content)

    def _feed(self, content: bytes) -> None:
        """Append *content* to the buffer, and drop what was consumed; empty content is the end."""
        try:
            text = self._decoder.decode(content, final=not content)
        except UnicodeDecodeError as error:
            msg = f"the document is not UTF-8 from here on ({error.reason}): convert it to UTF-8"
            raise CutOffError(with_code("not_utf8", msg)) from error
        line, column = self._place(self._at)
        self._lines_dropped, self._columns_dropped = line - 1, column - 1
        self._text = self._text[self._at :] + text
        self._at = 0

    def _place(self, at: int) -> tuple[int, int]:
        """Return the line and column in the document of the character at *at* in the buffer."""
        breaks = self._text.count("\n", 0, at)
        column = at - self._text.rfind("\n", 0, at) if breaks else self._columns_dropped + at + 1
        return self._lines_dropped + breaks + 1, column

    def _broken(self, fault: str, at: int) -> CutOffError:
        line, column = self._place(at)
        msg = f"the document is broken at line {line}, column {column}: {fault}"
        return CutOffError(with_code("broken_document", msg, line=line, column=column))

    def _explained(self, failure: ValueError | None, begins: int) -> CutOffError:
        """
        Return the error for a value at the end of the stream; ``None`` if it may continue.

        It began at *begins* in the buffer that was decoded, and begins the buffer since.
        """
        if failure is None or _is_at_end(failure):
            return CutOffError(CUT)
        if not isinstance(failure, json.JSONDecodeError):
            return self._broken(str(failure), self._at)
        fault = failure.msg.removesuffix(" at")
        return self._broken(fault[:1].lower() + fault[1:], failure.pos - begins)


def _is_at_end(failure: ValueError) -> bool:
    """Return True if decoding failed because the text ended."""
    if not isinstance(failure, json.JSONDecodeError):
        return False
    # The place of a string without an end is its beginning.
    return failure.pos >= len(failure.doc) or failure.msg.startswith("Unterminated string")


def _explain_size(characters: int) -> str:
    return with_code(
        "limit",
        f"a value has more than {LINE_BYTES_MAX} characters, the limit LINE_BYTES_MAX",
        limit_name="LINE_BYTES_MAX",
        actual=characters,
        limit=LINE_BYTES_MAX,
    )
