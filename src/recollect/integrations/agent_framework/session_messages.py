"""Convert Agent Framework's messages to items of a thread, and append each of them once."""

from __future__ import annotations

from collections.abc import Mapping, MutableMapping, Sequence
from itertools import takewhile
from typing import Any, Final
from uuid import uuid4

from agent_framework import Message

from recollect.integrations.item_forms import ItemForm
from recollect.integrations.thread_items import Item, ThreadItems
from recollect.records import Json, Role
from recollect.records import Message as KeptMessage

APPENDED: Final = "recollect_appended"
"""The key of a provider's state with the ids of what a run began with."""
NEWEST: Final = 100
"""The newest messages of a thread among which to look for a message appended before."""
_ROLES: Final[Mapping[str, Role]] = {"user": "user", "system": "system", "tool": "tool"}


def _read(kept: Json) -> Message:
    return Message.from_dict(dict(kept)) if isinstance(kept, Mapping) else Message("user", [])


FORM: Final = ItemForm(
    "agent_framework", text_part=lambda text: {"type": "text", "text": text}, read=_read
)


async def append_input(
    items: ThreadItems, messages: Sequence[Message], state: MutableMapping[str, Any]
) -> None:
    """
    Append what the user says at the start of a run, unless the run is tried again.

    Their ids are noted in *state*, that of the provider in the session.
    """
    asked = list(takewhile(lambda each: each.role == "user", messages))
    _name(asked)
    if not await items.append_input([_item_of(each) for each in asked]):
        # The messages stand for those in the thread, so that `append_new` finds them there.
        for message, kept in zip(asked, await items.read(len(asked)), strict=False):
            message.message_id = _id_of(kept[1]) or message.message_id
    state[APPENDED] = [each.message_id for each in asked]


async def append_new(
    items: ThreadItems,
    messages: Sequence[Message],
    state: MutableMapping[str, Any] | None = None,
) -> None:
    """
    Append the messages whose ids are not among the thread's newest items, atomically.

    What `append_input` appended stays away if it was erased during the run: *state* has its ids.
    """
    known = {_id_of(item) for _, item in await items.read(NEWEST)}
    known.update((state or {}).get(APPENDED, ()))
    new = [each for each in messages if each.message_id is None or each.message_id not in known]
    _name(new)
    await items.append([_item_of(each) for each in new])


def message_of(message: KeptMessage, kept: Json) -> Message:
    """Return the stored message, or a new one for a message that another framework stored."""
    if isinstance(kept, Mapping):
        return _read(kept)
    role = "user" if message.role == "tool" else message.role
    return Message(role, [message.text])


def _name(messages: Sequence[Message]) -> None:
    """Give each message an id, by which it is known to be in the thread already."""
    for each in messages:
        each.message_id = each.message_id or uuid4().hex


def _id_of(item: Json) -> str | None:
    named = item.get("message_id") if isinstance(item, Mapping) else None
    return named if isinstance(named, str) else None


def _item_of(message: Message) -> Item:
    """Return role, text and JSON of a message; the text of a tool message is its result."""
    returned = (getattr(each, "result", None) for each in message.contents)
    text = message.text or "\n".join(each for each in returned if isinstance(each, str))
    return _ROLES.get(message.role, "assistant"), text, message.to_dict()
