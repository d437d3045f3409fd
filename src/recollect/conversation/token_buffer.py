"""The newest messages that fit into a number of tokens go into the prompt."""

from __future__ import annotations

from typing import Final, Unpack

from recollect.app import Recollect
from recollect.conversation.base import Transcript, TranscriptMemory
from recollect.conversation.counting import counter_of, newest_that_fit
from recollect.conversation.pairs import past_results
from recollect.home import AnyRecollect
from recollect.messages import AnyMessage
from recollect.ports import TokenCounter
from recollect.records import Scope

READ_AT_ONCE: Final = 32


class ConversationTokenBufferMemory(TranscriptMemory):
    """
    Puts the newest messages within *max_token_limit* tokens into the prompt.

    The thread keeps all of them. Tokens are counted by *count_tokens*, by *llm* where it has a
    count of its own, or estimated. With *whole_pairs* the result of a tool never stands there
    without the call that asked for it.
    """

    def __init__(
        self,
        memory: AnyRecollect | None = None,
        scope: Scope | None = None,
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
        self._wanted = READ_AT_ONCE  # about as many as fitted the last time

    async def chosen(self, memory: Recollect) -> list[AnyMessage]:
        """Return the newest messages that fit; reads little more of the thread than these."""
        count = counter_of(self.llm, self.count_tokens)
        while True:
            newest = await self.talk.newest(memory, self._wanted)
            fitting = await newest_that_fit(newest, self.max_token_limit, count)
            if len(newest) < self._wanted or len(fitting) < len(newest):
                self._wanted = max(READ_AT_ONCE, len(fitting) + READ_AT_ONCE // 2)
                cut = len(newest) - len(fitting)
                return newest[past_results(newest, cut) :] if self.whole_pairs else fitting
            self._wanted *= 2
