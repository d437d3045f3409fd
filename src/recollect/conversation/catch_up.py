"""Base of memories whose model reads the turns, and catches up after a failure."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Final, Unpack

from recollect.conversation.base import ChatMemory, Conversation, Values
from recollect.conversation.buffer_window import MESSAGES_PER_TURN, turns_in
from recollect.conversation.key_value import OF_THREAD
from recollect.conversation.thread_history import Placed
from recollect.errors import StaleReadError, UsageError, VersionConflictError
from recollect.memory.erasure_guard import guarded
from recollect.memory.facade import Recollect
from recollect.memory.thread_summary import key_of
from recollect.messages import AnyMessage, buffer_string
from recollect.records import DeleteMemory, Evidence, PutMemory, Scope, ScopeLike
from recollect.stores.plans.erase_targets import EraseMessages
from recollect.sync.method_pairs import method_pair
from recollect.sync.object_home import AnyRecollect

READ_MAX: Final = 50
"""Messages per reading of a backlog, at most."""
TRIES_MAX: Final = 5
"""Attempts to read turns when something is erased meanwhile."""
PROGRESS_TYPE: Final = "Item"


class ReadingMemory(ChatMemory):
    """
    A memory whose model reads each turn as it is saved, or *every_turns* of them together.

    The position up to which it has read is stored beside the thread. If the model fails, the turn
    is still saved and stays unread: the next save, or `flush`, reads it with the later ones.
    """

    policy: str
    """The prefix of the key under which its progress is stored."""
    human_prefix: str
    ai_prefix: str
    k: int
    """How many of the last turns go into the prompt."""

    def __init__(
        self,
        memory: AnyRecollect | None = None,
        scope: ScopeLike | None = None,
        thread: str | None = None,
        *,
        every_turns: int = 1,
        **conversation: Unpack[Conversation],
    ) -> None:
        super().__init__(memory, scope, thread, **conversation)
        if every_turns < 1:
            raise UsageError(f"every_turns={every_turns}: read at least 1 turn at a time")
        self.every_turns = every_turns
        self._progress = Progress(self.scope, self.thread, self.policy)

    async def recent(self, memory: Recollect) -> list[AnyMessage]:
        """Return the messages of the last *k* turns."""
        return await self.talk.newest(memory, self.k * MESSAGES_PER_TURN) if self.k > 0 else []

    def lines(self, messages: Sequence[AnyMessage]) -> str:
        """Return messages as lines that begin with *human_prefix* or *ai_prefix*."""
        return buffer_string(messages, self.human_prefix, self.ai_prefix)

    @abstractmethod
    async def learn(self, memory: Recollect, piece: Sequence[Placed], *, is_saved: bool) -> None:
        """
        Read *piece*, and store its results and the progress in one write.

        Args:
            is_saved: Whether the last turn of *piece* is the one being saved.
        """

    async def save(self, memory: Recollect, inputs: Values, outputs: Values) -> None:
        """
        Append both messages of a turn, then read the unread turns if enough have come.

        Raises:
            ModelError: The model failed; the turn is saved, and stays unread.
        """
        is_first = await self._progress.until(memory) is None
        before = await self.talk.newest(memory, 1) if is_first else []
        await super().save(memory, inputs, outputs)
        if is_first:
            await self._begin(memory, is_begun=bool(before))
        await self._read(memory, is_saved=True, turns_min=self.every_turns)

    async def finish(self, memory: Recollect) -> None:
        """Read all unread turns."""
        await self._read(memory, is_saved=False)

    async def _flush(self, memory: Recollect) -> None:
        """
        Read all unread turns.

        Raises:
            ModelError: The model failed; the turns stay unread.
        """
        await self.finish(memory)

    flush, aflush = method_pair(_flush)

    async def remove(self, memory: Recollect) -> None:
        """Remove all messages, and the reading progress."""
        await self._progress.remove(memory)
        await super().remove(memory)

    async def waiting(self, memory: Recollect) -> list[Placed]:
        """Return the unread messages, oldest first."""
        return await self.talk.after(memory, await self._progress.until(memory) or 0)

    async def _begin(self, memory: Recollect, *, is_begun: bool) -> None:
        """
        Record where reading starts, so that a first turn whose reading fails is read later.

        A memory that reads turn by turn skips the messages before it, as LangChain's does.
        """
        waiting = await self.talk.after(memory, 0)
        if is_begun and self.every_turns == 1:
            waiting = waiting[-MESSAGES_PER_TURN:]
        if waiting:
            # A concurrent writer may have recorded a start already: keep that one.
            with suppress(VersionConflictError):
                await memory.apply(self.scope, [self._progress.begin(waiting[:MESSAGES_PER_TURN])])

    async def _read(self, memory: Recollect, *, is_saved: bool, turns_min: int = 0) -> None:
        """
        Read all unread turns, unless there are fewer than *turns_min*.

        After ``TRIES_MAX`` erases during the model's answers they stay unread.
        """
        for _ in range(TRIES_MAX):
            # Before any message is read: what the model makes of one that is erased while it
            # answers must not reach the store, not even for a moment.
            guard = await guarded(memory, self.scope)
            waiting = await self.waiting(guard)
            if turns_in([each.message for each in waiting]) < turns_min:
                return
            try:
                await self._learn_all(guard, waiting, is_saved=is_saved)
            except StaleReadError:
                # The names of the load before may be of an erased message, and of a turn half may
                # be left: read what there is.
                is_saved, turns_min = False, 0
                continue
            return

    async def _learn_all(
        self, memory: Recollect, waiting: Sequence[Placed], *, is_saved: bool
    ) -> None:
        for start in range(0, len(waiting), READ_MAX):
            piece = waiting[start : start + READ_MAX]
            is_last = start + READ_MAX >= len(waiting)
            await self.learn(memory, piece, is_saved=is_saved and is_last)
            await self._check(memory, piece)

    async def _check(self, memory: Recollect, piece: Sequence[Placed]) -> None:
        """Revert results from messages that were removed while the model answered."""
        before, count = piece[0].position - 1, len(piece)
        there = {each.id for each in await self.talk.after(memory, before, limit=count)}
        if gone := [each.id for each in piece if each.id and each.id not in there]:
            await memory.erase(self.scope, EraseMessages(thread=self.thread, messages=gone))


class Progress:
    """The position up to which a memory's model has read a thread, stored in the scope."""

    def __init__(self, scope: Scope, thread: str, policy: str) -> None:
        self.scope = scope
        self.key = key_of(policy, thread)
        self._thread = thread

    async def until(self, memory: Recollect) -> int | None:
        """Return the position of the last message read; ``None`` if reading has not begun."""
        kept = await memory.get(self.scope, PROGRESS_TYPE, self.key)
        until = kept.value.get("until") if kept else None
        return until if isinstance(until, int) else None

    def write(self, read: Sequence[Placed]) -> PutMemory:
        """Return the write that records *read* as read."""
        return self._write(read[-1].position)

    def begin(self, waiting: Sequence[Placed]) -> PutMemory:
        """Return the write that records that reading starts at *waiting*, unless it has begun."""
        return replace(self._write(waiting[0].position - 1), expected=0)

    def _write(self, until: int) -> PutMemory:
        # Where it rested on what was read, an erase of that would have the next read skip what is
        # not read yet.
        thread = Evidence(thread=self._thread, message=OF_THREAD)
        return PutMemory(
            type=PROGRESS_TYPE,
            key=self.key,
            value={"until": until},
            text="",
            evidence={"": [thread]},
            cause="read",
        )

    async def remove(self, memory: Recollect) -> None:
        """Delete the progress."""
        await memory.apply(self.scope, [DeleteMemory(type=PROGRESS_TYPE, key=self.key)])
