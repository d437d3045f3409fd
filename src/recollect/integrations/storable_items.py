"""Convert what frameworks give to a form that every store accepts, with little loss."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from recollect.errors import LimitError, UsageError
from recollect.records import Json, NewMessage, Role
from recollect.stores.validation import (
    INTEGER_BITS_MAX,
    JSON_DEPTH_MAX,
    TEXT_CHARACTERS_MAX,
    check_object,
    readable,
)

ITEM_KINDS: Final = frozenset({
    "agent_framework", "google_adk", "llama_index", "openai_agents", "pydantic_ai", "smolagents"
})  # fmt: skip
"""The keys of a message's metadata that hold a framework's own data, and nothing of a user's."""


def _as_it_is(item: Json) -> Json:
    return item


@dataclass(frozen=True, slots=True)
class ItemForm:
    """
    How a framework's messages are stored.

    Attributes:
        kind: The key of the metadata that holds the item, one of ``ITEM_KINDS``.
        text_part: Returns a part of a message that is text, as JSON; it stands for a picture or
            other data that is too large for a store.
        read: Reads an item; it raises ``ValueError`` for what the framework does not read.
    """

    kind: str
    text_part: Callable[[str], Json] = _as_it_is
    read: Callable[[Json], object] = _as_it_is


CUTS: Final = (100_000, 10_000, 1_000, 100)
"""Characters to which the texts of an item that is too large are cut, in turn until it fits."""
CUT: Final = " […]"
"""Behind a text that was cut."""
TOO_DEEP: Final = "(nested too deeply to be kept)"
_DATA: Final = re.compile(r"(?:data:[^,]{0,200},)?[A-Za-z0-9+/_-]{5000,}={0,2}\s*")
"""A picture, or another file, in base64."""


def storable_text(text: str) -> str:
    """Return *text* without what no store accepts, cut to the longest text of a message."""
    return readable(text)[:TEXT_CHARACTERS_MAX]


def storable_message(role: Role, text: str, item: Json, form: ItemForm) -> NewMessage:
    """
    Return a message with its item, unchanged if a store accepts it.

    Otherwise characters and numbers that no store accepts are replaced; of an item that is too
    large, a text says which data were left out, and its texts are cut. An item that the framework
    could not read back is left out, and the message has its text alone: what a tool or a model
    returns must never cost a run that has ended.

    Raises:
        UsageError: The item is not JSON.
    """
    kept = storable_text(text)
    refused: UsageError | None = None
    for each in _forms_of(item, form):
        metadata = {form.kind: each}
        try:
            check_object(metadata, "metadata")
            if each is not item:
                form.read(each)
        except LimitError:
            continue
        except UsageError as error:
            if refused is not None:  # it is not for a character or a number
                raise
            refused = error
        except ValueError:
            continue
        else:
            return NewMessage(role=role, text=kept, metadata=metadata)
    return NewMessage(role=role, text=kept)


def storable_json(value: Any, *, depth: int = 1) -> Any:
    """
    Return JSON with the characters, numbers and levels replaced that no store accepts.

    *depth* is the level at which *value* will be.
    """
    if not isinstance(value, Mapping | list | tuple):
        return _storable_scalar(value)
    if depth >= JSON_DEPTH_MAX:
        return TOO_DEEP
    if isinstance(value, Mapping):
        names = (readable(each) if isinstance(each, str) else each for each in value)
        values = (storable_json(each, depth=depth + 1) for each in value.values())
        return dict(zip(names, values, strict=True))
    return [storable_json(each, depth=depth + 1) for each in value]


def _storable_scalar(value: object) -> object:
    if isinstance(value, str):
        return readable(value)
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    is_large = isinstance(value, int) and value.bit_length() >= INTEGER_BITS_MAX
    return str(value) if is_large else value


def _forms_of(item: Json, form: ItemForm) -> Iterator[Json]:
    yield item
    plain = storable_json(item, depth=2)  # level 1 is the metadata
    yield plain
    lean = _without_data(plain, form)
    yield lean
    for longest in CUTS:
        yield _cut(lean, longest)
        yield _cut(plain, longest)


def _without_data(value: Json, form: ItemForm) -> Json:
    """Return *value* with a text in the place of each part within it that holds data."""
    if isinstance(value, Mapping):
        return {name: _part_without_data(each, form) for name, each in value.items()}
    if isinstance(value, list):
        return [_part_without_data(each, form) for each in value]
    return value


def _part_without_data(part: Json, form: ItemForm) -> Json:
    if isinstance(part, Mapping):
        held = [each for each in part.values() if isinstance(each, str) and _DATA.fullmatch(each)]
        if held:
            named = part.get("media_type") or "a file"
            count = sum(map(len, held))
            return form.text_part(f"({named} of {count} characters, which was not kept)")
    return _without_data(part, form)


def _cut(value: Json, longest: int) -> Json:
    if isinstance(value, str):
        return value if len(value) <= longest else value[:longest] + CUT
    if isinstance(value, Mapping):
        return {name: _cut(each, longest) for name, each in value.items()}
    return [_cut(each, longest) for each in value] if isinstance(value, list) else value
