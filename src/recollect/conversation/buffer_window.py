"""Conversation memory that puts the last turns into the prompt."""

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

    A turn is two messages, as in LangChain. With *whole_turns* it is a user's message and
    everything up to the next one, including tool calls and their results.
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
        """Return the messages of the last *k* turns, without reading the whole thread."""
        if self.k <= 0:
            return []
        count = self.k * MESSAGES_PER_TURN
        newest = await self.talk.newest(memory, count)
        if not self.whole_turns:
            return newest
        # A turn with tool calls has more than two messages: double the window until it holds k
        # user messages, or the whole thread.
        while len(newest) == count and turns_in(newest) < self.k:
            count *= 2
            newest = await self.talk.newest(memory, count)
        return last_turns(newest, self.k)


def turns_in(messages: Sequence[AnyMessage]) -> int:
    """Return the number of turns that start among *messages*."""
    return sum(message.type == "human" for message in messages)


def last_turns(messages: Sequence[AnyMessage], count: int) -> list[AnyMessage]:
    """Return the last *count* turns of *messages*, all messages if there are fewer turns."""
    begins = [index for index, message in enumerate(messages) if message.type == "human"]
    return list(messages[begins[-count] :] if len(begins) >= count else messages)
