"""JSON documents read piece by piece: a list's elements, or an object's, as they come."""

from __future__ import annotations

import codecs
import json
from collections.abc import Iterable, Iterator
from typing import BinaryIO, Final

from recollect.errors import UsageError
from recollect.importers.input_files import DAMAGE, LINE_BYTES_MAX, explain_damage
from recollect.records import Json
from recollect.stores.validation import JSON_DEPTH_MAX

_CHUNK_BYTES: Final = 1 << 16
_SPACE: Final = " \t\r\n"
_DECODER: Final = json.JSONDecoder()
LEVELS_MAX: Final = 4 * JSON_DEPTH_MAX
"""Of a line, or an element of a list: what a store takes, and room for what stands around it."""
NESTED: Final = (
    f"it is nested more than {LEVELS_MAX} levels deep (LEVELS_MAX), as no known form is: take it "
    "out of the file"
)


def is_nested(value: object) -> bool:
    """Return True if *value* has more than ``LEVELS_MAX`` levels, however many they are."""
    level = [value]
    for _ in range(LEVELS_MAX):
        level = [each for held in level for each in _inside(held)]
        if not level:
            return False
    return True


def _inside(value: object) -> Iterable[object]:
    if isinstance(value, dict):
        return value.values()
    return value if isinstance(value, list) else ()


class CutOffError(UsageError):
    """The document ends, or breaks, before it is complete."""


class EndError(CutOffError):
    """Nothing follows where something should."""


class Scanner:
    """
    Reads one JSON document from a stream and hands out its values in order.

    At most one value is held at a time, of at most ``LINE_BYTES_MAX`` characters.
    """

    def __init__(self, stream: BinaryIO, begun: bytes) -> None:
        self._stream = stream
        self._decoder = codecs.getincrementaldecoder("utf-8")()
        self._text = ""
        self._at = 0
        self._is_at_end = False
        self._feed(begun.removeprefix(b"\xef\xbb\xbf"))

    def next_character(self) -> str:
        """Return the next character that is not space, without passing it."""
        while True:
            while self._at < len(self._text):
                if self._text[self._at] not in _SPACE:
                    return self._text[self._at]
                self._at += 1
            if not self._more():
                msg = "the document ends before it is complete: it was cut off"
                raise EndError(msg)

    def pass_over(self, expected: str) -> None:
        """Pass the next character, which must be one of *expected*."""
        found = self.next_character()
        if found not in expected:
            msg = f"the document has {found!a} where one of {expected!r} should be"
            raise CutOffError(msg)
        self._at += 1

    def value(self) -> Json:
        """Return the next value."""
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
                msg = NESTED
                raise CutOffError(msg)
            if len(self._text) - self._at > LINE_BYTES_MAX:
                msg = f"a value has more than {LINE_BYTES_MAX} characters, the limit LINE_BYTES_MAX"
                raise CutOffError(msg)
            if not self._more(wanted):
                msg = f"the document is broken or was cut off here ({failure})"
                raise CutOffError(msg)
            wanted *= 2  # so that a long value is not decoded from its start too often

    def is_at_end(self) -> bool:
        """Return True if nothing but space follows."""
        try:
            self.next_character()
        except EndError:
            return True
        return False

    def elements(self) -> Iterator[Json]:
        """Yield the elements of the list that comes next."""
        self.pass_over("[")
        if self.next_character() == "]":
            self.pass_over("]")
            return
        while True:
            yield self.value()
            if self.next_character() == "]":
                self.pass_over("]")
                return
            self.pass_over(",]")

    def fields(self) -> Iterator[str]:
        """Yield the names of the object that comes next; the caller takes each value."""
        self.pass_over("{")
        if self.next_character() == "}":
            self.pass_over("}")
            return
        while True:
            name = self.value()
            self.pass_over(":")
            yield str(name)
            if self.next_character() == "}":
                self.pass_over("}")
                return
            self.pass_over(",}")

    def _more(self, wanted: int = _CHUNK_BYTES) -> bool:
        """Read about *wanted* bytes more; return True if there were any."""
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
        try:
            text = self._decoder.decode(content, final=not content)
        except UnicodeDecodeError as error:
            msg = f"the document is not UTF-8 from here on ({error.reason}): convert it to UTF-8"
            raise CutOffError(msg) from error
        self._text = self._text[self._at :] + text
        self._at = 0
