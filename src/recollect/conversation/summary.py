"""Conversation memory that puts a summary of the conversation into the prompt."""

from __future__ import annotations

from asyncio import Task, get_running_loop
from collections.abc import Sequence
from functools import partial
from typing import Any, Final, Self, Unpack

from recollect.conversation.summary_base import Summarising, SummarizingMemory, choose_all
from recollect.conversation.thread_history import ChatHistory, ForeignHistory, Placed
from recollect.conversation.token_counts import counter_of
from recollect.errors import RecollectError, UsageError
from recollect.memory.facade import Recollect
from recollect.messages import AnyMessage, kind_of, text_of
from recollect.observability.logs import package_logger
from recollect.ports import TokenCounter
from recollect.records import ScopeLike
from recollect.sync.object_home import AnyRecollect

LOG: Final = package_logger("recollect.conversation")
SUMMARISING: Final = "summarising"
"""The name of the background task."""


class ConversationSummaryMemory(SummarizingMemory):
    """
    Puts a running summary into the prompt, updated by one model call per turn.

    With *every_turns* or *every_tokens* the model is called when that many turns or tokens have
    come since the last call; with *background* a save does not wait for it. In both cases messages
    not summarised yet follow the summary in the prompt. `flush` summarises the rest.
    """

    def __init__(
        self,
        memory: AnyRecollect | None = None,
        scope: ScopeLike | None = None,
        thread: str | None = None,
        *,
        llm: object,
        buffer: str = "",
        every_turns: int = 1,
        every_tokens: int | None = None,
        count_tokens: TokenCounter | None = None,
        background: bool = False,
        **summarising: Unpack[Summarising],
    ) -> None:
        """
        Use a conversation and a model.

        Args:
            buffer: A summary of the conversation so far, used if none is stored yet.

        Raises:
            UsageError: *every_turns* or *every_tokens* is below 1, or the prompt is invalid.
        """
        super().__init__(memory, scope, thread, llm=llm, given=buffer, **summarising)
        if every_turns < 1 or (every_tokens is not None and every_tokens < 1):
            msg = f"every_turns={every_turns}, every_tokens={every_tokens}: give at least 1"
            raise UsageError(msg)
        self.every_turns = every_turns
        self.every_tokens = every_tokens
        self.background = background
        self.failure: RecollectError | None = None
        """The error of the last background summary, whose messages are still unsummarised."""
        self._count = counter_of(llm, count_tokens)
        self._task: Task[None] | None = None

    @classmethod
    def from_messages(
        cls,
        llm: object,
        chat_memory: ChatHistory | ForeignHistory,
        *,
        summarize_step: int = 2,
        **options: object,
    ) -> Self:
        """
        Summarise an existing conversation, *summarize_step* messages per call; return its memory.

        Messages that a stored summary covers already are not summarised again.

        Raises:
            UsageError: *summarize_step* is below 1.
        """
        made = cls._over(llm, chat_memory, summarize_step, options)
        made.home.call(partial(made.fold, choose=choose_all, at_once=summarize_step))
        return made

    @classmethod
    async def afrom_messages(
        cls,
        llm: object,
        chat_memory: ChatHistory | ForeignHistory,
        *,
        summarize_step: int = 2,
        **options: object,
    ) -> Self:
        """Async variant of `from_messages`."""
        made = cls._over(llm, chat_memory, summarize_step, options)
        await made.home.visit(partial(made.fold, choose=choose_all, at_once=summarize_step))
        return made

    @classmethod
    def _over(
        cls,
        llm: object,
        chat_memory: ChatHistory | ForeignHistory,
        summarize_step: int,
        options: dict[str, Any],
    ) -> Self:
        if summarize_step < 1:
            msg = f"summarize_step={summarize_step}: summarise at least 1 message per call"
            raise UsageError(msg)
        return cls(llm=llm, chat_memory=chat_memory, **options)

    @property
    def buffer(self) -> str:
        """The summary."""
        return self.home.call(self.summary_text)

    @buffer.setter
    def buffer(self, text: str) -> None:
        self.home.call(partial(self.rewrite, content=text))

    async def abuffer(self) -> str:
        """Async variant of `buffer`."""
        return await self.home.visit(self.summary_text)

    async def transcript(self, memory: Recollect) -> str:
        """Return the summary followed by the unsummarised messages."""
        summary, waiting = await self.standing(memory)
        return await super().transcript(memory) if waiting else summary.content

    async def chosen(self, memory: Recollect) -> list[AnyMessage]:
        """Return the summary as a message, empty if there is none, and unsummarised messages."""
        return await super().chosen(memory) or [self.summary_message_cls(content="")]

    def shown(self, summary: AnyMessage | None, messages: Sequence[AnyMessage]) -> Any:
        """Return the content for the prompt: a lone summary without prefix, as LangChain does."""
        if summary is not None and not messages and not self.return_messages:
            return text_of(summary)
        if summary is None and not messages and self.return_messages:
            return [self.summary_message_cls(content="")]
        return super().shown(summary, messages)

    async def due(self, waiting: Sequence[Placed]) -> Sequence[Placed]:
        """Return all of *waiting* if enough has come since the last call, else nothing."""
        if self.every_tokens is not None:
            tokens = await self._count([each.message for each in waiting]) if waiting else 0
            return waiting if tokens >= self.every_tokens else ()
        turns = sum(kind_of(each.message) == "human" for each in waiting)
        return waiting if turns >= self.every_turns else ()

    async def settle(self, memory: Recollect) -> None:
        """Summarise the due messages, in the background if so configured."""
        if not self.background:
            await super().settle(memory)
        elif self._task is None or self._task.done():
            # The task runs on the memory's event loop, and ends with it. Keep a reference: the
            # loop holds only a weak one.
            self._task = get_running_loop().create_task(self._in_background(memory))

    async def finish(self, memory: Recollect) -> None:
        """Wait for the background task, then summarise all remaining messages."""
        if self._task is not None:
            await self._task
        await super().finish(memory)
        self.failure = None

    async def _in_background(self, memory: Recollect) -> None:
        monitor = memory.tasks.monitor(SUMMARISING, LOG, on_demand=True)
        try:
            # Messages saved while the model answered may be due by now.
            while await self.due((await self.standing(memory))[1]):
                await self.fold(memory, self.due)
            self.failure = None
            monitor.succeeded()
        except RecollectError as error:
            self.failure = error
            monitor.failed(error)
