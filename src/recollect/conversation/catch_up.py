"""Shared parts of memories that read turns: one reader at a time, nothing left unread."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from contextlib import suppress
from typing import Final, Unpack

from recollect.conversation.base import ChatMemory, Conversation, Values
from recollect.conversation.buffer_window import MESSAGES_PER_TURN, turns_in
from recollect.conversation.progress import Progress
from recollect.conversation.thread_history import Placed
from recollect.errors import UsageError, VersionConflictError
from recollect.memory.facade import Recollect
from recollect.records import ScopeLike
from recollect.stores.plans.erase_targets import EraseMessages
from recollect.sync.method_pairs import method_pair
from recollect.sync.object_home import AnyRecollect

READ_MAX: Final = 50
"""So many messages are read together, when many have waited."""


class ReadingMemory(ChatMemory):
    """
    A memory that a model reads turns for, as they come or *every_turns* of them together.

    How far it has read is kept beside the thread. A model that fails leaves the turn kept and
    nothing learnt of it: the next save, or `flush`, reads it with what came after.
    """

    policy: str
    """The prefix of the key of its progress."""

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
            msg = f"every_turns={every_turns}: read at least 1 turn at a time"
            raise UsageError(msg)
        self.every_turns = every_turns
        self._progress = Progress(self.scope, self.thread, self.policy)

    @abstractmethod
    async def learn(self, memory: Recollect, piece: Sequence[Placed], *, is_saved: bool) -> None:
        """
        Read *piece*, and keep what was learnt together with the progress.

        Args:
            is_saved: Whether its last turn is the one that is saved now.
        """

    async def save(self, memory: Recollect, inputs: Values, outputs: Values) -> None:
        """
        Append both sides of a turn, and learn of it what is due.

        Raises:
            ModelError: The model failed; the turn is kept, and waits.
        """
        is_first = await self._progress.until(memory) is None
        before = await self.talk.newest(memory, 1) if is_first else []
        await super().save(memory, inputs, outputs)
        if is_first:
            await self._begin(memory, is_begun=bool(before))
        waiting = await self.waiting(memory)
        if turns_in([each.message for each in waiting]) >= self.every_turns:
            await self._read(memory, waiting, is_saved=True)

    async def finish(self, memory: Recollect) -> None:
        """Read all turns that wait."""
        await self._read(memory, await self.waiting(memory), is_saved=False)

    async def _flush(self, memory: Recollect) -> None:
        """
        Read all turns that wait.

        Raises:
            ModelError: The model failed; they still wait.
        """
        await self.finish(memory)

    flush, aflush = method_pair(_flush)

    async def remove(self, memory: Recollect) -> None:
        """Remove all messages, and how far they were read."""
        await self._progress.remove(memory)
        await super().remove(memory)

    async def waiting(self, memory: Recollect) -> list[Placed]:
        """Return the messages that were not read yet, oldest first."""
        return await self.talk.after(memory, await self._progress.until(memory) or 0)

    async def _begin(self, memory: Recollect, *, is_begun: bool) -> None:
        """
        Record where reading starts, so that a failed first turn is read later.

        When reading turn by turn, earlier messages are skipped, as in the original.
        """
        waiting = await self.talk.after(memory, 0)
        if is_begun and self.every_turns == 1:
            waiting = waiting[-MESSAGES_PER_TURN:]
        if waiting:
            with suppress(VersionConflictError):  # another writer has begun meanwhile
                await memory.apply(self.scope, [self._progress.begin(waiting[:MESSAGES_PER_TURN])])

    async def _read(self, memory: Recollect, waiting: Sequence[Placed], *, is_saved: bool) -> None:
        for start in range(0, len(waiting), READ_MAX):
            piece = waiting[start : start + READ_MAX]
            is_last = start + READ_MAX >= len(waiting)
            await self.learn(memory, piece, is_saved=is_saved and is_last)
            await self._check(memory, piece)

    async def _check(self, memory: Recollect, piece: Sequence[Placed]) -> None:
        """Revert what was derived from messages of *piece* erased during the model's answer."""
        before, count = piece[0].position - 1, len(piece)
        there = {each.id for each in await self.talk.after(memory, before, limit=count)}
        if gone := [each.id for each in piece if each.id and each.id not in there]:
            await memory.erase(self.scope, EraseMessages(thread=self.thread, messages=gone))
