"""Ids of messages and memories in frameworks that have one kind of entry."""

from __future__ import annotations

from urllib.parse import quote, unquote

from recollect.errors import UsageError
from recollect.records import Memory, Message
from recollect.stores.plans.erase_targets import EraseMemory, EraseMessages, EraseTarget


def entry_id(content: Message | Memory) -> str:
    """Return the id of an entry: its kind and address, such as ``memory/Note/3f2a``."""
    if isinstance(content, Message):
        address = ("message", content.thread, content.id)
    else:
        address = ("memory", content.type, content.key)
    return "/".join(quote(each, safe="") for each in address)


def is_entry_id(text: str) -> bool:
    """Return True if *text* has the form of an `entry_id`."""
    kind, *address = text.split("/")
    return kind in {"message", "memory"} and len(address) == 2


def erase_target(id_: str | None) -> EraseTarget:
    """Return what to erase for an `entry_id`."""
    parts = [unquote(each) for each in (id_ or "").split("/")]
    match parts:
        case ["message", thread, message]:
            return EraseMessages(thread=thread, messages=[message])
        case ["memory", type_, key]:
            return EraseMemory(type=type_, key=key)
    raise UsageError(f"memory_id is {id_!r}: give the id of an entry that search_memory returned")
