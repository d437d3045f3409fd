"""Conversation memory that puts a summary and the newest messages into the prompt."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Final, Unpack

from recollect.conversation.summary_base import Summarising, SummarizingMemory
from recollect.conversation.thread_history import Placed
from recollect.conversation.token_counts import counter_of, newest_that_fit
from recollect.errors import UsageError
from recollect.memory.facade import Recollect
from recollect.messages.pairs import whole_cut
from recollect.ports import TokenCounter
from recollect.records import ScopeLike
from recollect.stores.validation import POSITION_MAX
from recollect.sync.method_pairs import method_pair
from recollect.sync.object_home import AnyRecollect

AT_ONCE: Final = POSITION_MAX
"""Messages per call, at most: one call summarises all messages over the limit."""


class ConversationSummaryBufferMemory(SummarizingMemory):
    """
    Puts a summary and the newest *max_token_limit* tokens into the prompt.

    When a turn is saved, one call summarises the messages that no longer fit. Nothing is removed
    from the thread: the summary records the last position that it covers. With a limit of 0
    everything is summarised. With *whole_pairs*, a tool's result is summarised together with its
    call. Tokens are counted by *count_tokens*, by *llm* if it can count, or estimated; the
    summary's own tokens do not count.
    """

    policy = "summary buffer"

    def __init__(
        self,
        memory: AnyRecollect | None = None,
        scope: ScopeLike | None = None,
        thread: str | None = None,
        *,
        llm: object,
        max_token_limit: int = 2000,
        moving_summary_buffer: str = "",
        count_tokens: TokenCounter | None = None,
        whole_pairs: bool = False,
        **summarising: Unpack[Summarising],
    ) -> None:
        """
        Use a conversation and a model.

        Args:
            moving_summary_buffer: A summary of a conversation before this one's messages.

        Raises:
            UsageError: The limit is negative, or the prompt is invalid.
        """
        super().__init__(memory, scope, thread, llm=llm, given=moving_summary_buffer, **summarising)
        if max_token_limit < 0:
            msg = f"max_token_limit={max_token_limit}: give 0 to summarise everything, or more"
            raise UsageError(msg)
        # Unlike a given `buffer`, this summary covers none of the stored messages.
        self._given_is_placed = True
        self.max_token_limit = max_token_limit
        self.whole_pairs = whole_pairs
        self.count_tokens = count_tokens

    @property
    def moving_summary_buffer(self) -> str:
        """The summary of the messages that are not shown."""
        return self.home.call(self.summary_text)

    @moving_summary_buffer.setter
    def moving_summary_buffer(self, text: str) -> None:
        self.home.call(partial(self.rewrite, content=text))

    async def amoving_summary_buffer(self) -> str:
        """Async variant of `moving_summary_buffer`."""
        return await self.home.visit(self.summary_text)

    async def due(self, waiting: Sequence[Placed]) -> Sequence[Placed]:
        """Return the oldest messages, as many as exceed the limit."""
        messages = [each.message for each in waiting]
        count = counter_of(self.llm, self.count_tokens)
        fitting = await newest_that_fit(messages, self.max_token_limit, count)
        cut = len(messages) - len(fitting)
        return waiting[: whole_cut(messages, cut) if self.whole_pairs else cut]

    async def settle(self, memory: Recollect) -> None:
        """Summarise the messages that no longer fit, by one call."""
        await self.fold(memory, self.due, at_once=AT_ONCE)

    async def _prune(self, memory: Recollect) -> None:
        """
        Summarise the messages that no longer fit.

        Raises:
            ModelError: The model failed; the messages that do not fit are still shown.
        """
        await self.settle(memory)

    prune, aprune = method_pair(_prune)
