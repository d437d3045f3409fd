"""The forms in which the frameworks' messages are stored beside a message's text."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from recollect.records import Json

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
