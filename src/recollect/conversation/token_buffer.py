"""Conversation memory that puts the newest messages within a token limit into the prompt."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, Unpack

from recollect.conversation.base import Transcript, TranscriptMemory
from recollect.conversation.thread_history import LineFormatter
from recollect.conversation.token_counts import (
    Cost,
    Count,
    Estimate,
    counter_of,
    first_that_fits,
    newest_that_fit,
)
from recollect.memory.facade import Recollect
from recollect.messages import AnyMessage
from recollect.messages.pairs import past_results
from recollect.ports import TokenCounter
from recollect.records import ScopeLike
from recollect.sync.object_home import AnyRecollect

READ_AT_ONCE: Final = 32
"""Messages in the first read of a thread."""
HELD_FROM: Final = 512
"""Keep a current copy of the thread if more messages than this fitted the last time."""


class ConversationTokenBufferMemory(TranscriptMemory):
    """
    Puts the newest messages within *max_token_limit* tokens into the prompt.

    The thread keeps all messages. Tokens are counted by *count_tokens*, by *llm* if it can count,
    or estimated. With *whole_pairs*, a tool's result is never shown without its call.
    """

    def __init__(
        self,
        memory: AnyRecollect | None = None,
        scope: ScopeLike | None = None,
        thread: str | None = None,
        *,
        llm: object = None,
        max_token_limit: int = 2000,
        count_tokens: TokenCounter | None = None,
        whole_pairs: bool = False,
        **transcript: Unpack[Transcript],
    ) -> None:
        super().__init__(memory, scope, thread, **transcript)
        self.llm = llm
        self.max_token_limit = max_token_limit
        self.count_tokens = count_tokens
        self.whole_pairs = whole_pairs
        self._wanted = READ_AT_ONCE
        """Messages to read: somewhat more than fitted the last time."""

    async def chosen(self, memory: Recollect) -> list[AnyMessage]:
        """Return the newest messages that fit, reading little more of the thread than these."""
        count = counter_of(self.llm, self.count_tokens)
        if held := self._held(count):
            costs = await self.talk.each(memory, held)
            first = self._first(costs)
            messages = (await self.talk.all(memory))[: len(costs)]
            return messages[past_results(messages, first) if self.whole_pairs else first :]
        while True:
            newest = await self.talk.newest(memory, self._wanted)
            fitting = await newest_that_fit(newest, self.max_token_limit, count)
            if len(newest) < self._wanted or len(fitting) < len(newest):
                self._wanted = max(READ_AT_ONCE, len(fitting) + READ_AT_ONCE // 2)
                cut = len(newest) - len(fitting)
                return newest[past_results(newest, cut) :] if self.whole_pairs else fitting
            self._wanted *= 2

    async def transcript(self, memory: Recollect) -> str:
        """Return the chosen messages as a transcript."""
        held = self._held(counter_of(self.llm, self.count_tokens))
        if held is None or self.whole_pairs:
            return await super().transcript(memory)
        lines = await self.talk.each(memory, held)
        return "\n".join(line for line, _ in lines[self._first(lines) :])

    def _held(self, count: Count) -> CostedLine | None:
        """Return the function whose results to cache; ``None`` if reading messages is cheaper."""
        if self._wanted <= HELD_FROM or not isinstance(count, Estimate):
            return None
        return CostedLine(LineFormatter(self.human_prefix, self.ai_prefix), count.of)

    def _first(self, lines: Sequence[tuple[str, int]]) -> int:
        """Return the index of the first of the newest *lines* that fit."""
        costs = (cost for _, cost in reversed(lines))
        first = first_that_fits(costs, self.max_token_limit, lines)
        self._wanted = max(READ_AT_ONCE, len(lines) - first + READ_AT_ONCE // 2)
        return first


@dataclass(frozen=True, slots=True)
class CostedLine:
    """Formats a message as a line of the transcript, and counts its tokens."""

    line: LineFormatter
    cost: Cost

    def __call__(self, message: AnyMessage) -> tuple[str, int]:
        """Return the line and the tokens of *message*."""
        return self.line(message), self.cost(message)
