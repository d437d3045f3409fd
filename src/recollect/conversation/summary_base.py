"""Base of the memories that store a running summary, extended by one model call at a time."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Awaitable, Callable, Sequence
from functools import partial
from typing import Any, Final, TypeAlias, Unpack

from recollect.conversation import prompts
from recollect.conversation.base import Transcript, TranscriptMemory, Values
from recollect.conversation.document_sources import said_in, trust_of, versions_before
from recollect.conversation.model_prompt import MemoryModel, PromptChoice, checked_exactly
from recollect.conversation.prompt_parts import Entry, PromptPart, as_messages, groups_of
from recollect.conversation.thread_history import Placed, ThreadMessages
from recollect.errors import ModelError, StaleReadError, VersionConflictError
from recollect.memory.erasure_guard import guarded
from recollect.memory.facade import Recollect
from recollect.memory.thread_summary import SUMMARY_TYPE, ThreadSummary, key_of, summary_in
from recollect.messages import AnyMessage, buffer_string, message_classes
from recollect.records import DeleteMemory, EvidenceMap, PutMemory, Scope, ScopeLike
from recollect.stores.provenance import grouped
from recollect.stores.validation import to_datetime
from recollect.sync.method_pairs import method_pair
from recollect.sync.object_home import AnyRecollect

SUMMARY_VARIABLES: Final = ("summary", "new_lines")
WORKED_IN_MAX: Final = 50
"""Messages per call that extends a summary from a backlog, at most."""
TRIES_MAX: Final = 5
"""Attempts to write a summary when other writers or erases come first; then theirs stays."""


Choose: TypeAlias = Callable[[Sequence[Placed]], Awaitable[Sequence[Placed]]]
"""Chooses which unsummarised messages to summarise now: the oldest, or none."""


class Summarising(Transcript, total=False):
    """Options of `SummarizingMemory`: the prompt, and the class of a summary's message."""

    prompt: PromptChoice
    summary_message_cls: Callable[..., AnyMessage] | None


class SummarizingMemory(TranscriptMemory):
    """
    A memory that shows a summary, followed by the messages it does not cover.

    The summary is a ``Summary`` memory in the conversation's scope: it outlives the process, and is
    erased with any of its messages. All messages stay in the thread. If the model fails or its
    answer is unusable, the turn is saved and the summary unchanged: the next save, or `flush`,
    summarises the pending messages.
    """

    policy: str = "summary"
    """The prefix of the summary's key; each kind of memory has its own summary of a thread."""

    def __init__(
        self,
        memory: AnyRecollect | None = None,
        scope: ScopeLike | None = None,
        thread: str | None = None,
        *,
        llm: object,
        given: str = "",
        prompt: PromptChoice = prompts.SUMMARY,
        summary_message_cls: Callable[..., AnyMessage] | None = None,
        **transcript: Unpack[Transcript],
    ) -> None:
        """
        Use a conversation, a model, and a prompt.

        Args:
            given: A summary of the conversation so far, used if none is stored yet.

        Raises:
            UsageError: *prompt* has other variables than ``summary`` and ``new_lines``.
        """
        super().__init__(memory, scope, thread, **transcript)
        self.prompt = checked_exactly(prompt, SUMMARY_VARIABLES)
        self.summary_message_cls = summary_message_cls or message_classes().system
        self._asking = MemoryModel(llm)
        self._kept = KeptSummary(self.scope, self.thread, self.policy)
        self._given = ThreadSummary(content=given)
        self._given_is_placed = not given

    @property
    def llm(self) -> object:
        """The model that was given."""
        return self._asking.llm

    def predict_new_summary(self, messages: Sequence[AnyMessage], existing_summary: str) -> str:
        """Return *existing_summary* extended by *messages*, without storing it."""
        return self.home.call(lambda _: self.apredict_new_summary(messages, existing_summary))

    async def apredict_new_summary(
        self, messages: Sequence[AnyMessage], existing_summary: str
    ) -> str:
        """
        Return *existing_summary* extended by *messages*, by one call, without storing it.

        Raises:
            ModelError: The model failed, or its answer is empty.
        """
        lines = buffer_string(messages, self.human_prefix, self.ai_prefix)
        text = await self._asking.ask(self.prompt, summary=existing_summary, new_lines=lines)
        if not text.strip():
            msg = "the model answered with an empty summary, so the stored one stays: try again"
            raise ModelError(msg)
        return text

    @abstractmethod
    async def due(self, waiting: Sequence[Placed]) -> Sequence[Placed]:
        """Return which *waiting* messages to summarise now, oldest first."""

    async def save(self, memory: Recollect, inputs: Values, outputs: Values) -> None:
        """
        Append both messages of a turn, then summarise the due messages.

        Raises:
            ModelError: The model failed; the turn is saved, and stays unsummarised.
        """
        # Fix the position of a given summary before this turn, which it does not cover.
        await self.summarised(memory)
        await super().save(memory, inputs, outputs)
        await self.settle(memory)

    async def settle(self, memory: Recollect) -> None:
        """Summarise the due messages."""
        await self.fold(memory, self.due)

    async def fold(
        self,
        memory: Recollect,
        choose: Choose,
        *,
        at_once: int = WORKED_IN_MAX,
    ) -> None:
        """Extend the summary while *choose* finds messages, at most *at_once* per model call."""
        lost = 0
        # Before anything is read: a summary of words that are erased while the model answers must
        # not reach the store, not even for a moment.
        guard = await guarded(memory, self.scope)
        before, waiting = await self.standing(guard)
        while lost < TRIES_MAX and (chosen := (await choose(waiting))[:at_once]):
            messages = [each.message for each in chosen]
            content = await self.apredict_new_summary(messages, before.content)
            try:
                before = await self._kept.write(guard, before, content, chosen)
            except (StaleReadError, VersionConflictError):
                # Another writer came first and may cover these messages: choose again.
                lost += 1
                guard = await guarded(memory, self.scope)
                before, waiting = await self.standing(guard)
                continue
            if not await self._kept.check(memory, self.talk, chosen):
                return
            waiting = waiting[len(chosen) :]

    async def standing(self, memory: Recollect) -> tuple[ThreadSummary, list[Placed]]:
        """Return the summary, and the unsummarised messages."""
        summary = await self.summarised(memory)
        return summary, await self.talk.after(memory, summary.until)

    async def summarised(self, memory: Recollect) -> ThreadSummary:
        """Return the stored summary, else the one given at construction."""
        kept = await self._kept.read(memory)
        if kept.version or self._given_is_placed:
            return kept if kept.version else self._given
        said = await self.talk.after(memory, 0)
        self._given = ThreadSummary(
            content=self._given.content, until=said[-1].position if said else 0
        )
        self._given_is_placed = True
        return self._given

    async def summary_text(self, memory: Recollect) -> str:
        """Return the text of the summary."""
        return (await self.summarised(memory)).content

    async def chosen(self, memory: Recollect) -> list[AnyMessage]:
        """Return the summary as a message, if there is one, and the unsummarised messages."""
        summary, waiting = await self.standing(memory)
        first = [self.summary_message_cls(content=summary.content)] if summary.content else []
        return [*first, *(each.message for each in waiting)]

    async def parts(self, memory: Recollect, inputs: Values) -> dict[str, PromptPart]:
        """Return an entry per unsummarised message, and the summary, which is dropped last."""
        summary, waiting = await self.standing(memory)
        entries = groups_of([each.message for each in waiting])
        first = self.summary_message_cls(content=summary.content) if summary.content else None
        if first is not None:
            entries = [*entries, [first]]
        return {self.memory_key: PromptPart(entries, partial(self._of_entries, first=first))}

    def _of_entries(self, entries: Sequence[Entry], first: AnyMessage | None) -> object:
        messages = as_messages(entries)
        if first is None or not messages or messages[-1] is not first:
            return self.shown(None, messages)
        return self.shown(first, messages[:-1])

    def shown(self, summary: AnyMessage | None, messages: Sequence[AnyMessage]) -> Any:
        """Return the content for the prompt: the summary, if any, and *messages*."""
        together = [*([summary] if summary is not None else []), *messages]
        if self.return_messages:
            return together
        return buffer_string(together, self.human_prefix, self.ai_prefix)

    async def rewrite(self, memory: Recollect, content: str) -> None:
        """Replace the summary's text by *content*; it covers the same messages."""
        await self._kept.write(memory, await self.summarised(memory), content, [])

    async def remove(self, memory: Recollect) -> None:
        """Remove the summary and all messages."""
        await self._kept.remove(memory)
        self._given = ThreadSummary()
        self._given_is_placed = True
        await super().remove(memory)

    async def _expand(self, memory: Recollect) -> list[AnyMessage]:
        """Return the messages that the summary covers, oldest first."""
        until = (await self.summarised(memory)).until
        return [each.message for each in await self.talk.after(memory, 0) if each.position <= until]

    expand, aexpand = method_pair(_expand)

    async def _flush(self, memory: Recollect) -> None:
        """
        Summarise all unsummarised messages.

        Raises:
            ModelError: The model failed; earlier calls' summaries are stored.
        """
        await self.finish(memory)

    flush, aflush = method_pair(_flush)

    async def finish(self, memory: Recollect) -> None:
        """Summarise all unsummarised messages."""
        await self.fold(memory, choose_all)


async def choose_all(waiting: Sequence[Placed]) -> Sequence[Placed]:
    """Return all *waiting* messages."""
    return waiting


class KeptSummary:
    """
    The one stored summary of a thread.

    Each version cites the messages added to it, and earlier versions: erasing a message erases
    every summary that covers it, as its words cannot be separated out.
    """

    def __init__(self, scope: Scope, thread: str, policy: str) -> None:
        self.scope = scope
        self.thread = thread
        self.key = key_of(policy, thread)

    async def read(self, memory: Recollect) -> ThreadSummary:
        """Return the current version."""
        kept = await memory.get(self.scope, SUMMARY_TYPE, self.key)
        return summary_in(kept, to_datetime(memory.store.now()))

    async def write(
        self, memory: Recollect, before: ThreadSummary, content: str, worked_in: Sequence[Placed]
    ) -> ThreadSummary:
        """
        Write the version after *before*, which covers *worked_in* as well, and return it.

        Raises:
            VersionConflictError: Another writer changed or erased it since *before* was read.
        """
        until = max([before.until, *(each.position for each in worked_in)])
        # Nothing can be derived from a version that a person rejected, or has not approved yet:
        # begin without it.
        version = 0 if before.is_withheld else before.version
        put = PutMemory(
            type=SUMMARY_TYPE,
            key=self.key,
            value={"content": content, "until": until},
            text=content,
            expected=version,
            evidence=self._evidence(version, worked_in),
            trust=trust_of(worked_in),
            cause=f"summarised up to message {until}",
        )
        removal = DeleteMemory(type=SUMMARY_TYPE, key=self.key, expected=before.version)
        *_, kept = await memory.apply(self.scope, [removal, put] if before.is_withheld else [put])
        return ThreadSummary(
            content=content, until=until, version=kept.version if kept else version + 1
        )

    async def remove(self, memory: Recollect) -> None:
        """Delete the summary with all its versions."""
        await memory.apply(self.scope, [DeleteMemory(type=SUMMARY_TYPE, key=self.key)])

    async def check(
        self, memory: Recollect, talk: ThreadMessages, worked_in: Sequence[Placed]
    ) -> bool:
        """
        Return True if *worked_in* still exist; if not, delete the summary and return False.

        A model takes seconds: a removal between reading the messages and writing their summary
        must win. An erase is noticed by the write itself (`guarded`).
        """
        before, count = worked_in[0].position - 1, len(worked_in)
        there = await talk.after(memory, before, limit=count)
        if [each.position for each in there] == [each.position for each in worked_in]:
            return True
        await self.remove(memory)
        return False

    def _evidence(self, version: int, worked_in: Sequence[Placed]) -> EvidenceMap:
        back = versions_before(SUMMARY_TYPE, self.key, version)
        found = {"": back, "/content": grouped(said_in(self.thread, worked_in))}
        return {pointer: each for pointer, each in found.items() if each}
