"""A summary of what was said long ago, and the newest messages as they are, go into the prompt."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Final, Unpack

from recollect.conversation.summary_base import Summarising, SummarizingMemory
from recollect.conversation.thread_history import Placed
from recollect.conversation.token_counts import counter_of, newest_that_fit
from recollect.errors import UsageError
from recollect.memory.facade import Recollect
from recollect.messages.cut_points import whole_cut
from recollect.ports import TokenCounter
from recollect.records import Scope
from recollect.stores.validation import POSITION_MAX
from recollect.sync.method_pairs import method_pair
from recollect.sync.object_home import AnyRecollect

AT_ONCE: Final = POSITION_MAX
"""All messages over the limit are worked in by one call, however many they are."""


class ConversationSummaryBufferMemory(SummarizingMemory):
    """
    Puts the newest messages within *max_token_limit* tokens into the prompt, after a summary.

    What no longer fits when a turn is saved is worked into the summary by one call. Nothing is
    removed from the thread: a position says up to where the summary goes. With a limit of 0
    everything is summarised. With *whole_pairs* a tool's result goes into the summary together
    with the call that asked for it. Tokens are counted by *count_tokens*, by *llm* where it has
    a count of its own, or estimated; those of the summary are not among them.
    """

    policy = "summary buffer"

    def __init__(
        self,
        memory: AnyRecollect | None = None,
        scope: Scope | None = None,
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
        Take a conversation and a model.

        Args:
            moving_summary_buffer: A summary of what was said before the conversation's messages.

        Raises:
            UsageError: The limit is negative, or the prompt is none.
        """
        super().__init__(memory, scope, thread, llm=llm, given=moving_summary_buffer, **summarising)
        if max_token_limit < 0:
            msg = f"max_token_limit={max_token_limit}: give 0 to summarise everything, or more"
            raise UsageError(msg)
        self._given_is_placed = True
        self.max_token_limit = max_token_limit
        self.whole_pairs = whole_pairs
        self.count_tokens = count_tokens

    @property
    def moving_summary_buffer(self) -> str:
        """The summary of what is not shown as messages."""
        return self.home.call(self.summary_text)

    @moving_summary_buffer.setter
    def moving_summary_buffer(self, text: str) -> None:
        self.home.call(partial(self.rewrite, content=text))

    async def amoving_summary_buffer(self) -> str:
        """Return the same as `moving_summary_buffer`."""
        return await self.home.visit(self.summary_text)

    async def due(self, waiting: Sequence[Placed]) -> Sequence[Placed]:
        """Return the oldest, without which the others fit."""
        messages = [each.message for each in waiting]
        count = counter_of(self.llm, self.count_tokens)
        fitting = await newest_that_fit(messages, self.max_token_limit, count)
        cut = len(messages) - len(fitting)
        return waiting[: whole_cut(messages, cut) if self.whole_pairs else cut]

    async def settle(self, memory: Recollect) -> None:
        """Work in what no longer fits."""
        await self.fold(memory, self.due, at_once=AT_ONCE)

    async def _prune(self, memory: Recollect) -> None:
        """
        Work what no longer fits into the summary.

        Raises:
            ModelError: The model failed; what did not fit is still shown.
        """
        await self.settle(memory)

    prune, aprune = method_pair(_prune)
