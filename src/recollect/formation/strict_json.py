"""Strict JSON: reject text that another parser could read differently."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Final, NoReturn

from recollect.records import Json
from recollect.stores.validation import JSON_DEPTH_MAX

TEXT_CHARACTERS_MAX: Final = 1_000_000
NUMBER_CHARACTERS_MAX: Final = 32


class NotJsonError(ValueError):
    """The text is not strict JSON; the message has the position and the reason."""


def read_json(text: str) -> Json:
    """
    Parse *text* as JSON, strictly.

    Raises:
        NotJsonError: The text is not JSON (RFC 8259), has duplicate fields, NaN, an infinity, a
            number of more than ``NUMBER_CHARACTERS_MAX`` characters, NUL or a lone surrogate, or is
            too deep or too long.
    """
    if len(text) > TEXT_CHARACTERS_MAX:
        msg = f"it has {len(text)} characters; at most {TEXT_CHARACTERS_MAX} are read"
        raise NotJsonError(msg)
    _check_depth(text)
    try:
        value: Json = _DECODER.decode(text)
    except NotJsonError:
        raise
    except ValueError as error:
        msg = f"it is no JSON: {error}"
        raise NotJsonError(msg) from None
    # Without an escape as \u0000 only a character of the text itself can be one that is refused.
    if "\\u" in text or not text.isascii():
        _check_characters(value)
    return value


def _check_depth(text: str) -> None:
    """Reject depth before parsing: a recursive parser may not survive it."""
    if text.count("[") + text.count("{") <= JSON_DEPTH_MAX:
        return
    depth, is_quoted, is_escaped = 0, False, False
    for character in text:
        if is_escaped:
            is_escaped = False
        elif is_quoted:
            is_escaped = character == "\\"
            is_quoted = character != '"'
        elif character == '"':
            is_quoted = True
        elif character in "[{":
            depth += 1
            if depth > JSON_DEPTH_MAX:
                msg = f"it is nested more than {JSON_DEPTH_MAX} levels deep"
                raise NotJsonError(msg)
        elif character in "]}":
            depth -= 1


def _check_characters(value: Json) -> None:
    """Reject text that no store can hold, including names of fields."""
    if isinstance(value, str):
        if "\0" in value:
            msg = "it contains a NUL"
            raise NotJsonError(msg)
        try:
            value.encode()
        except UnicodeEncodeError:
            msg = "it contains half of a surrogate pair"
            raise NotJsonError(msg) from None
    elif isinstance(value, Mapping):
        for name, each in value.items():
            _check_characters(name)
            _check_characters(each)
    elif isinstance(value, list):
        for each in value:
            _check_characters(each)


def _object(pairs: list[tuple[str, Json]]) -> dict[str, Json]:
    found: dict[str, Json] = {}
    for name, value in pairs:
        if name in found:
            msg = f"it names the field {name!r} twice"
            raise NotJsonError(msg)
        found[name] = value
    return found


def _refuse_constant(name: str) -> NoReturn:
    msg = f"it contains {name}, which is not JSON"
    raise NotJsonError(msg)


def _integer(text: str) -> int:
    _check_number(text)
    return int(text)


def _number(text: str) -> float:
    _check_number(text)
    number = float(text)
    if number in (float("inf"), float("-inf")):
        msg = f"the number {text} is too large"
        raise NotJsonError(msg)
    return number


def _check_number(text: str) -> None:
    if len(text) > NUMBER_CHARACTERS_MAX:
        msg = f"it contains a number of {len(text)} characters"
        raise NotJsonError(msg)


_DECODER: Final = json.JSONDecoder(
    object_pairs_hook=_object,
    parse_constant=_refuse_constant,
    parse_int=_integer,
    parse_float=_number,
)
