"""Find the parts of a JSON text, even one that breaks off, without parsing their content."""

import json
import re
from collections.abc import Iterator
from typing import Final

_SPACE: Final = re.compile(r"[ \t\r\n]*")
_BRACKETS: Final = re.compile(r'["{}\[\]]')
_SCALAR: Final = re.compile(r"[^\s,:{}\[\]\"]+")
_CLOSES: Final = {"{": "}", "[": "]"}
_DECODER: Final = json.JSONDecoder(strict=False)


class Unfinished(Exception):  # noqa: N818
    """The text ends, or stops being JSON, before the value does."""


def end_of(text: str, start: int) -> int:
    """
    Return the end of the value at *start*, by looking at strings and brackets only.

    Works at any depth and length, as nothing is converted. A value that looks complete may still be
    rejected by a strict parser.

    Raises:
        Unfinished: The value does not end.
    """
    if text[start : start + 1] == '"':
        return _string(text, start)[1]
    if text[start : start + 1] not in _CLOSES:
        scalar = _SCALAR.match(text, start)
        if scalar is None:
            raise Unfinished
        return scalar.end()
    open_brackets: list[str] = []
    at = start
    while (found := _BRACKETS.search(text, at)) is not None:
        sign, at = found[0], found.end()
        if sign == '"':
            at = _string(text, found.start())[1]
        elif sign in _CLOSES:
            open_brackets.append(_CLOSES[sign])
        elif open_brackets.pop() != sign:
            raise Unfinished
        if not open_brackets:
            return at
    raise Unfinished


def members_of(text: str, start: int) -> Iterator[tuple[str, int, int]]:
    """
    Yield name, start and end of each member of the object at *start*, in order.

    A member whose value does not end is the last, and ends with the text.
    """
    at = _after_space(text, start + 1)
    while text[at : at + 1] == '"':
        try:
            name, at = _string(text, at)
        except Unfinished:
            return
        at = _after_space(text, at)
        if text[at : at + 1] != ":":
            return
        begin = _after_space(text, at + 1)
        try:
            end = end_of(text, begin)
        except Unfinished:
            yield name, begin, len(text)
            return
        yield name, begin, end
        at = _after_space(text, end)
        if text[at : at + 1] != ",":
            return
        at = _after_space(text, at + 1)


def elements_of(text: str, start: int) -> Iterator[tuple[int, int]]:
    """
    Yield start and end of each element of the list at *start*, in order.

    If the list does not end, or is malformed, the rest of the text is the last element.
    """
    at = _after_space(text, start + 1)
    while text[at : at + 1] != "]":
        try:
            end = end_of(text, at)
        except Unfinished:
            yield at, len(text)
            return
        yield at, end
        at = _after_space(text, end)
        if text[at : at + 1] == ",":
            at = _after_space(text, at + 1)
        elif text[at : at + 1] != "]":
            yield at, len(text)
            return


def string_in(raw: str) -> str | None:
    """Return the string that *raw* encodes as JSON; ``None`` if it does not start with one."""
    if not raw.startswith('"'):
        return None
    try:
        return _string(raw, 0)[0]
    except Unfinished:
        return None


def _string(text: str, start: int) -> tuple[str, int]:
    """Return the string at *start* and its end; raw line breaks within are accepted."""
    try:
        found, end = _DECODER.raw_decode(text, start)
    except json.JSONDecodeError:
        raise Unfinished from None
    return str(found), end


def _after_space(text: str, at: int) -> int:
    found = _SPACE.match(text, at)
    return found.end() if found else at
