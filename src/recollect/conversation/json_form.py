"""Convert a program's values to JSON, so that every store returns them alike."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from enum import Enum
from typing import cast

from recollect.records import Json
from recollect.stores.validation import JSON_DEPTH_MAX, encode_json


def json_of(value: object, what: str) -> Json:
    """
    Return *value* as JSON.

    An object with ``model_dump()`` or ``dict()`` (such as a pydantic model) and a dataclass become
    an object of their fields, a tuple a list, an enum member its value. *what* names the value in
    errors.

    Raises:
        UsageError: JSON cannot express the value.
        LimitError: The value is larger or deeper than a store takes.

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
        return value  # a cycle never ends; `encode_json` reports the depth
    fields = _fields_of(value)
    if isinstance(fields, Enum):
        return fields.value
    if isinstance(fields, Mapping):
        return {key: _plain(each, depth + 1) for key, each in fields.items()}
    if isinstance(fields, Sequence) and not isinstance(fields, str | bytes | bytearray):
        return [_plain(each, depth + 1) for each in fields]
    return fields


def _fields_of(value: object) -> object:
    """Return the fields of a model or dataclass; any other value unchanged."""
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
