"""The last turns go into the prompt."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, Unpack

from recollect.conversation.base import Transcript, TranscriptMemory
from recollect.memory.facade import Recollect
from recollect.messages import AnyMessage
from recollect.records import ScopeLike
from recollect.sync.object_home import AnyRecollect

MESSAGES_PER_TURN: Final = 2


class ConversationBufferWindowMemory(TranscriptMemory):
    """
    Puts the last *k* turns into the prompt; the thread keeps all of them.

    A turn is two messages, as in the original. With *whole_turns* it is a person's message and
    whatever follows it, tool calls and their results among them.
    """

    def __init__(
        self,
        memory: AnyRecollect | None = None,
        scope: ScopeLike | None = None,
        thread: str | None = None,
        *,
        k: int = 5,
        whole_turns: bool = False,
        **transcript: Unpack[Transcript],
    ) -> None:
        super().__init__(memory, scope, thread, **transcript)
        self.k = k
        self.whole_turns = whole_turns

    async def chosen(self, memory: Recollect) -> list[AnyMessage]:
        """Return the messages of the last turns; reads no more of the thread than these."""
        if self.k <= 0:
            return []
        count = self.k * MESSAGES_PER_TURN
        newest = await self.talk.newest(memory, count)
        if not self.whole_turns:
            return newest
        while len(newest) == count and turns_in(newest) < self.k:
            count *= 2
            newest = await self.talk.newest(memory, count)
        return last_turns(newest, self.k)


def turns_in(messages: Sequence[AnyMessage]) -> int:
    """Return the number of turns that start among *messages*."""
    return sum(message.type == "human" for message in messages)


def last_turns(messages: Sequence[AnyMessage], count: int) -> list[AnyMessage]:
    """Return *messages* from where the last *count* turns begin; all, if there are fewer."""
    begins = [index for index, message in enumerate(messages) if message.type == "human"]
    return list(messages[begins[-count] :] if len(begins) >= count else messages)
