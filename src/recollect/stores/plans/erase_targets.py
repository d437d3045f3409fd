"""Erase targets: what a caller wants erased, and the receipt for it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import TypeAlias

from recollect.errors import UsageError
from recollect.stores.validation import check_id, check_ids, check_position


@dataclass(frozen=True, slots=True, kw_only=True)
class EraseScope:
    """
    Everything in a scope; with *below*, also in every scope below it.

    >>> import recollect
    >>> with recollect.open_sync("memory:", embedder="none") as memory:
    ...     kept = memory.append(("acme", "ada"), "chat", "We moved.")
    ...     memory.erase("acme", EraseScope(below=True)).messages
    1
    """

    below: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class EraseThread:
    """
    A thread with its messages, and everything derived from them alone.

    >>> import recollect
    >>> with recollect.open_sync("memory:", embedder="none") as memory:
    ...     kept = memory.append("ada", "chat", "We moved.")
    ...     memory.erase("ada", EraseThread(thread="chat")).messages
    1
    """

    thread: str


@dataclass(frozen=True, slots=True, kw_only=True)
class EraseMessages:
    """
    Some messages of a thread, and everything derived from them alone.

    >>> import recollect
    >>> with recollect.open_sync("memory:", embedder="none") as memory:
    ...     first, second = memory.append("ada", "chat", ["We moved.", "It rains."])
    ...     erased = memory.erase("ada", EraseMessages(thread="chat", messages=[first.id]))
    ...     [each.text for each in memory.messages("ada", "chat").rows]
    ['It rains.']
    """

    thread: str
    messages: Sequence[str]


@dataclass(frozen=True, slots=True, kw_only=True)
class EraseMemory:
    """
    One memory with all its revisions; with *expected*, only if it is at that version.

    >>> import recollect
    >>> with recollect.open_sync("memory:", embedder="none") as memory:
    ...     note = memory.remember("ada", "The boat is red.")
    ...     memory.erase("ada", EraseMemory(type="Note", key=note.key)).memories
    1
    """

    type: str
    key: str
    expected: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class EraseQuotedMemory(EraseMemory):
    """
    One memory with the messages of *thread* that any of its revisions quotes.

    For a thread in which messages are stored for the memories that quote them, and for nothing
    else: once the memory is gone, no later erase could tell which of them were its own.
    """

    thread: str


@dataclass(frozen=True, slots=True, kw_only=True)
class EraseSource:
    """
    All messages and findings from one source, and everything derived from them alone.

    >>> import recollect
    >>> mail = recollect.NewMessage(role="tool", text="Your parcel is late.", source="mail/17")
    >>> with recollect.open_sync("memory:", embedder="none") as memory:
    ...     kept = memory.append("ada", "chat", mail)
    ...     memory.erase("ada", EraseSource(source="mail/17")).messages
    1
    """

    source: str


@dataclass(frozen=True, slots=True, kw_only=True)
class EraseExpired:
    """
    Expired memories: all, or of some *types*; with *below*, in every scope below too.

    Expired side records of every kind go as well. Reads never return what has expired; this removes
    it from the store, with its history. If there is nothing to remove, no receipt is stored.

    >>> import recollect
    >>> with recollect.open_sync("memory:", embedder="none") as memory:
    ...     memory.erase("ada", EraseExpired(below=True)).memories
    0
    """

    types: Sequence[str] = ()
    below: bool = False


EraseTarget: TypeAlias = (
    EraseScope | EraseThread | EraseMessages | EraseMemory | EraseSource | EraseExpired
)


@dataclass(frozen=True, slots=True, kw_only=True)
class EraseReceipt:
    """
    The result of an erase.

    From *erased_at* on no read returns any of it; it is no earlier than the times of what was
    erased, even if the clock was set back. *clean_at* is when its bytes were removed from
    the store's files as well; ``None`` while that is pending.

    >>> import recollect
    >>> with recollect.open_sync("memory:", embedder="none") as memory:
    ...     kept = memory.append("ada", "chat", "We moved.")
    ...     receipt = memory.erase("ada", EraseScope())
    ...     receipt in memory.receipts(), receipt.clean_at is not None
    (True, True)
    """

    id: str
    messages: int
    memories: int
    revised: int
    """Memories that lost some fields and keep the rest."""
    erased_at: datetime
    clean_at: datetime | None


def check_target(target: EraseTarget) -> EraseTarget:
    """Return *target*, its names as plain texts; raise if one is invalid."""
    match target:
        case EraseScope():
            return target
        case EraseExpired(types=types):
            return replace(target, types=check_ids(types, "a memory's type"))
        case EraseThread(thread=thread):
            return replace(target, thread=check_id(thread, "a thread id"))
        case EraseMessages(thread=thread, messages=messages):
            thread, ids = check_id(thread, "a thread id"), check_ids(messages, "a message id")
            return replace(target, thread=thread, messages=ids)
        case EraseMemory(type=type_, key=key, expected=expected):
            type_, key = check_id(type_, "a memory's type"), check_id(key, "a memory's key")
            if expected is not None and check_position(expected, "a version") < 1:
                raise UsageError(f"an erase expects version {expected}; versions begin at 1")
            return replace(target, type=type_, key=key)
        case EraseSource(source=source):
            return replace(target, source=check_id(source, "a message's source"))
    msg = f"{target!r} is no erase target: give an EraseScope, EraseThread or the like"
    raise UsageError(msg)
