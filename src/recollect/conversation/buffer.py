"""Conversation memory that puts the whole conversation into the prompt."""

from __future__ import annotations

from typing import Unpack

from recollect.conversation.base import Transcript, TranscriptMemory
from recollect.errors import LimitError
from recollect.memory.facade import Recollect
from recollect.messages import AnyMessage, buffer_string
from recollect.ports import TokenCounter
from recollect.records import ScopeLike
from recollect.sync.object_home import AnyRecollect
from recollect.text.token_estimate import estimated_tokens


class ConversationBufferMemory(TranscriptMemory):
    """
    Puts the whole conversation into the prompt.

    With *max_token_limit*, loading a longer conversation raises `LimitError` before a provider
    rejects the prompt; *count_tokens* counts the tokens of the transcript.
    """

    def __init__(
        self,
        memory: AnyRecollect | None = None,
        scope: ScopeLike | None = None,
        thread: str | None = None,
        *,
        max_token_limit: int | None = None,
        count_tokens: TokenCounter = estimated_tokens,
        **transcript: Unpack[Transcript],
    ) -> None:
        super().__init__(memory, scope, thread, **transcript)
        self.max_token_limit = max_token_limit
        self.count_tokens = count_tokens

    async def chosen(self, memory: Recollect) -> list[AnyMessage]:
        """
        Return all messages.

        Raises:
            LimitError: They have more tokens than *max_token_limit*.
        """
        messages = await self.talk.all(memory)
        if self.max_token_limit is not None:
            self._check(buffer_string(messages, self.human_prefix, self.ai_prefix))
        return messages

    async def transcript(self, memory: Recollect) -> str:
        """
        Return all messages as a transcript.

        Raises:
            LimitError: It has more tokens than *max_token_limit*.
        """
        text = await self.talk.text(memory, self.human_prefix, self.ai_prefix)
        self._check(text)
        return text

    def _check(self, text: str) -> None:
        if self.max_token_limit is None:
            return
        tokens = self.count_tokens(text)
        if tokens > self.max_token_limit:
            what = (
                "tokens of the whole conversation (a token buffer or a summary buffer memory shows "
                "what fits)"
            )
            raise LimitError(what, tokens, self.max_token_limit, "max_token_limit")
