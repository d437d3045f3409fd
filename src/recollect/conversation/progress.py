"""The reading progress of a memory's model in a thread, stored and erased with the thread."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from recollect.conversation.document_sources import said_in
from recollect.conversation.thread_history import Placed
from recollect.memory.facade import Recollect
from recollect.memory.thread_summary import key_of
from recollect.records import DeleteMemory, PutMemory, Scope

PROGRESS_TYPE: Final = "Item"


class Progress:
    """The position up to which a memory's model has read a thread, stored in the scope."""

    def __init__(self, scope: Scope, thread: str, policy: str) -> None:
        self.scope = scope
        self.thread = thread
        self.key = key_of(policy, thread)

    async def until(self, memory: Recollect) -> int | None:
        """Return the position of the last message read; ``None`` if reading has not begun."""
        kept = await memory.get(self.scope, PROGRESS_TYPE, self.key)
        until = kept.value.get("until") if kept else None
        return until if isinstance(until, int) else None

    def write(self, read: Sequence[Placed]) -> PutMemory:
        """Return the write that records *read* as read."""
        return self._write(read[-1].position, read)

    def begin(self, waiting: Sequence[Placed]) -> PutMemory:
        """Return the write that records that reading starts at *waiting*, unless it has begun."""
        return replace(self._write(waiting[0].position - 1, waiting), expected=0)

    def _write(self, until: int, messages: Sequence[Placed]) -> PutMemory:
        said = said_in(self.thread, messages)
        return PutMemory(
            type=PROGRESS_TYPE,
            key=self.key,
            value={"until": until},
            text="",
            evidence={"": said} if said else {},
            cause="read",
        )

    async def remove(self, memory: Recollect) -> None:
        """Delete the progress."""
        await memory.apply(self.scope, [DeleteMemory(type=PROGRESS_TYPE, key=self.key)])
