"""Convert a program's values to JSON that reads the same from every store."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from enum import Enum
from typing import cast

from recollect.records import Json
from recollect.stores.validation import JSON_DEPTH_MAX, encode_json


def json_of(value: object, what: str) -> Json:
    """
    Return *value* in the form that JSON has for it.

    An object with ``model_dump()`` or ``dict()`` (a pydantic model such as an agent's action)
    and a dataclass become objects of their fields, tuples lists, an enumeration its value.
    *what* says in the error what it was to be.

    Raises:
        UsageError: JSON cannot express it.
        LimitError: It is larger or deeper than the store takes.

    >>> from dataclasses import dataclass
    >>> @dataclass
    ... class Action:
    ...     tool: str
    ...     inputs: tuple[int, ...]
    >>> json_of({"step": Action("add", (1, 2))}, "an example")
    {'step': {'tool': 'add', 'inputs': [1, 2]}}
    """
    plain = cast("Json", _plain(value, depth=0))
    encode_json(plain, what)
    return plain


def _plain(value: object, depth: int) -> object:
    if depth > JSON_DEPTH_MAX:
        return value  # the check that follows tells it; what contains itself has no end
    fields = _fields_of(value)
    if isinstance(fields, Enum):
        return fields.value
    if isinstance(fields, Mapping):
        return {key: _plain(each, depth + 1) for key, each in fields.items()}
    if isinstance(fields, Sequence) and not isinstance(fields, str | bytes | bytearray):
        return [_plain(each, depth + 1) for each in fields]
    return fields


def _fields_of(value: object) -> object:
    """Return the fields of an object that tells them; anything else as it is."""
    if isinstance(value, type | Mapping | str):
        return value
    if callable(dump := getattr(value, "model_dump", None)):
        return dump(mode="json")
    if dataclasses.is_dataclass(value):
        names = [each.name for each in dataclasses.fields(value)]
        return {name: getattr(value, name) for name in names}
    if callable(dump := getattr(value, "dict", None)):
        return dump()
    return value
