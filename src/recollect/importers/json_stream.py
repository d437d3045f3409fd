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
        self._feed(begun.removeprefix(b"\xef\xbb\xbf"))

    def next_character(self) -> str:
        """Return the next character that is not whitespace, without consuming it."""
        while True:
            while self._at < len(self._text):
                if self._text[self._at] not in _SPACE:
                    return self._text[self._at]
                self._at += 1
            if not self._more():
                raise EndError("the document ends before it is complete: it was cut off")

    def consume(self, expected: str) -> None:
        """Consume the next character, which must be one of *expected*."""
        found = self.next_character()
        if found not in expected:
            raise CutOffError(f"the document has {found!a} where one of {expected!r} should be")
        self._at += 1

    def value(self) -> Json:
        """Consume and return the next value."""
        self.next_character()
        wanted = _CHUNK_BYTES
        while True:
            try:
                value, end = _DECODER.raw_decode(self._text, self._at)
            except (ValueError, RecursionError) as error:
                failure: ValueError | RecursionError = error
            else:
                # A number at the end of the buffer may continue.
                if end < len(self._text) or self._is_at_end:
                    self._at = end
                    found: Json = value
                    return found
                failure = ValueError("it is not complete")
            if isinstance(failure, RecursionError):
                raise CutOffError(NESTED)
            if len(self._text) - self._at > LINE_BYTES_MAX:
                msg = f"a value has more than {LINE_BYTES_MAX} characters, the limit LINE_BYTES_MAX"
                raise CutOffError(msg)
            if not self._more(wanted):
                raise CutOffError(f"the document is broken or was cut off here ({failure})")
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
        self.consume("[")
        if self.next_character() == "]":
            self.consume("]")
            return
        while True:
            yield self.value()
            if self.next_character() == "]":
                self.consume("]")
                return
            self.consume(",]")

    def fields(self) -> Iterator[str]:
        """Yield the field names of the object that follows; the caller must consume each value."""
        self.consume("{")
        if self.next_character() == "}":
            self.consume("}")
            return
        while True:
            name = self.value()
            self.consume(":")
            yield str(name)
            if self.next_character() == "}":
                self.consume("}")
                return
            self.consume(",}")

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
            raise CutOffError(msg) from error
        self._text = self._text[self._at :] + text
        self._at = 0
