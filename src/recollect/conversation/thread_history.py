"""Access to the messages of a conversation: a stored thread, or LangChain's history."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Awaitable, Callable, Sequence
from copy import copy
from dataclasses import dataclass, replace
from datetime import datetime
from functools import partial
from typing import Any, Final, Protocol, TypeVar, runtime_checkable

from anyio import to_thread

from recollect.conversation.thread_view import MessageCache, ThreadView
from recollect.errors import UsageError
from recollect.memory.facade import Recollect
from recollect.messages import (
    AIMessage,
    AnyMessage,
    HumanMessage,
    MessageClasses,
    MessageLike,
    add_messages,
    buffer_string,
    coerced,
    message_classes,
    message_of,
    record_of,
)
from recollect.records import Message, NewMessage, Scope, ScopeLike
from recollect.stores.validation import MESSAGES_MAX, PAGE_ROWS_MAX, POSITION_MAX, check_scope
from recollect.sync.method_pairs import method_pair, prepared_pair
from recollect.sync.object_home import AnyRecollect, Home, new_private_scope, private_memory

PRIVATE_THREAD: Final = "talk"
NO_WORDS: Final = {"type": "no words"}
"""The stored content of an empty message, as a store rejects messages without text or content."""

MadeT = TypeVar("MadeT")


@dataclass(frozen=True, slots=True)
class Placed:
    """A message at its position; *id* and *time* are ``None`` in a foreign history."""

    position: int
    message: AnyMessage
    id: str | None = None
    time: datetime | None = None


@dataclass(frozen=True, slots=True)
class LineFormatter:
    """Formats a message as a line of a transcript."""

    human_prefix: str
    ai_prefix: str

    def __call__(self, message: AnyMessage) -> str:
        """Return the line of *message*."""
        return buffer_string([message], self.human_prefix, self.ai_prefix)


class ThreadMessages(ABC):
    """The messages of one conversation, wherever they are stored."""

    @abstractmethod
    async def after(
        self, memory: Recollect, position: int, *, limit: int = POSITION_MAX
    ) -> list[Placed]:
        """Return the first *limit* messages after *position*; positions start at 1."""

    @abstractmethod
    async def all(self, memory: Recollect) -> list[AnyMessage]:
        """Return copies of all messages, oldest first."""

    @abstractmethod
    async def last(self, memory: Recollect, count: int) -> list[Placed]:
        """Return the newest *count* messages with their positions, oldest first."""

    async def newest(self, memory: Recollect, count: int) -> list[AnyMessage]:
        """Return the newest *count* messages, oldest first."""
        return [each.message for each in await self.last(memory, count)]

    @abstractmethod
    async def each(self, memory: Recollect, make: Callable[[AnyMessage], MadeT]) -> Sequence[MadeT]:
        """
        Return *make* of each message, oldest first; do not modify the result.

        A stored thread caches the results per *make*, so pass an equal callable each time.
        """

    async def text(self, memory: Recollect, human_prefix: str, ai_prefix: str) -> str:
        """Return all messages as lines of a transcript."""
        return "\n".join(await self.each(memory, LineFormatter(human_prefix, ai_prefix)))

    @abstractmethod
    async def add(self, memory: Recollect, messages: Sequence[AnyMessage]) -> None:
        """Append *messages*; up to ``MESSAGES_MAX`` of them atomically."""

    @abstractmethod
    async def clear(self, memory: Recollect) -> None:
        """Remove all messages."""


class ThreadTalk(ThreadMessages):
    """The messages of a stored thread."""

    def __init__(self, scope: Scope, thread: str) -> None:
        self.scope = scope
        self.thread = thread
        self._view = ThreadView(scope, thread)
        self._messages = MessageCache(self._view, partial(read_back, classes=message_classes()))
        self._made: dict[Callable[[AnyMessage], object], MessageCache[Any]] = {}

    async def all(self, memory: Recollect) -> list[AnyMessage]:
        await self._view.refreshed(memory.store)
        return [copy(each) for each in self._messages.current()]

    async def after(
        self, memory: Recollect, position: int, *, limit: int = POSITION_MAX
    ) -> list[Placed]:
        classes = message_classes()
        found: list[Placed] = []
        while True:
            rows = min(limit - len(found), PAGE_ROWS_MAX)
            page = await memory.messages(self.scope, self.thread, after=position, limit=rows)
            found += [
                Placed(each.position, read_back(each, classes=classes), each.id, each.time)
                for each in page.rows
            ]
            if page.cursor is None or len(found) >= limit:
                return found
            position = page.rows[-1].position

    async def last(self, memory: Recollect, count: int) -> list[Placed]:
        found: list[Message] = []
        before: int | None = None
        while len(found) < count:
            limit = min(count - len(found), PAGE_ROWS_MAX)
            page = await memory.last_messages(self.scope, self.thread, limit=limit, before=before)
            found = [*page, *found]
            if len(page) < limit:
                break
            before = page[0].position
        classes = message_classes()
        return [
            Placed(each.position, read_back(each, classes=classes), each.id, each.time)
            for each in found
        ]

    async def each(self, memory: Recollect, make: Callable[[AnyMessage], MadeT]) -> Sequence[MadeT]:
        await self._view.refreshed(memory.store)
        if make not in self._made:
            self._made[make] = MessageCache(self._view, lambda record: make(read_back(record)))
        return self._made[make].current()

    async def add(self, memory: Recollect, messages: Sequence[AnyMessage]) -> None:
        records = [storable(each) for each in messages]
        for start in range(0, len(records), MESSAGES_MAX):
            await memory.append(self.scope, self.thread, records[start : start + MESSAGES_MAX])

    async def with_ids(self, memory: Recollect) -> list[AnyMessage]:
        """Return all messages with their stored ids."""
        await self._view.refreshed(memory.store)
        classes = message_classes()
        return [read_back(each, classes=classes, with_ids=True) for each in self._view.messages]

    async def update(self, memory: Recollect, changes: Sequence[MessageLike]) -> None:
        """Apply *changes* to the thread, as `add_messages` does to a list; not atomically."""
        old = {str(each.id): each for each in await self.with_ids(memory)}
        new = {str(each.id): each for each in add_messages(list(old.values()), list(changes))}
        if gone := [id_ for id_ in old if id_ not in new]:
            await memory.remove(self.scope, self.thread, gone)
        for id_, message in new.items():
            if id_ in old and message != old[id_]:
                await memory.replace(self.scope, self.thread, storable(message))
        await self.add(memory, [each for id_, each in new.items() if id_ not in old])

    async def clear(self, memory: Recollect) -> None:
        thread = await memory.thread(self.scope, self.thread)
        if thread is not None and thread.count:
            await memory.keep(self.scope, self.thread, thread.last + 1)


def storable(message: AnyMessage) -> NewMessage:
    """Return the record of *message*; an empty one, such as a tool call's, gets `NO_WORDS`."""
    record = record_of(message)
    return record if record.text or record.content else replace(record, content=[NO_WORDS])


def read_back(
    record: Message, *, classes: MessageClasses | None = None, with_ids: bool = False
) -> AnyMessage:
    """Return the message of a *record* made by `storable`; *with_ids* keeps its stored id."""
    if record.content is not None and list(record.content) == [NO_WORDS]:
        record = replace(record, content=[])
    return message_of(record, classes=classes, with_ids=with_ids)


@runtime_checkable
class ForeignHistory(Protocol):
    """The methods needed of LangChain's chat message histories."""

    @property
    def messages(self) -> list[AnyMessage]:
        """All messages, oldest first."""
        ...

    def add_messages(self, messages: Sequence[AnyMessage]) -> None:
        """Append *messages*."""
        ...

    def clear(self) -> None:
        """Remove all messages."""
        ...


class ForeignTalk(ThreadMessages):
    """The messages of a foreign history, accessed in a worker thread."""

    def __init__(self, history: ForeignHistory) -> None:
        self._history = history

    async def all(self, memory: Recollect) -> list[AnyMessage]:
        return await to_thread.run_sync(lambda: list(self._history.messages))

    async def after(
        self, memory: Recollect, position: int, *, limit: int = POSITION_MAX
    ) -> list[Placed]:
        found = await self.all(memory)
        if position > len(found):
            position = 0  # the history was cleared and started again: all of it is new
        numbered = [Placed(number, each) for number, each in enumerate(found, 1)]
        return numbered[position:][:limit]

    async def last(self, memory: Recollect, count: int) -> list[Placed]:
        return (await self.after(memory, 0))[-count:] if count > 0 else []

    async def each(self, memory: Recollect, make: Callable[[AnyMessage], MadeT]) -> Sequence[MadeT]:
        return [make(message) for message in await self.all(memory)]

    async def add(self, memory: Recollect, messages: Sequence[AnyMessage]) -> None:
        await to_thread.run_sync(self._history.add_messages, list(messages))

    async def clear(self, memory: Recollect) -> None:
        await to_thread.run_sync(self._history.clear)


class ChatHistory:
    """
    The messages of one thread, with the methods of LangChain's chat message histories.

    Without a memory the history is in this process, in a scope of its own. Returned messages are
    copies.
    """

    def __init__(
        self,
        memory: AnyRecollect | None = None,
        scope: ScopeLike | None = None,
        thread: str | None = None,
    ) -> None:
        """
        Use a thread of *memory*, which is created with its first message.

        Raises:
            UsageError: A memory without scope or thread is given, or these without a memory.
        """
        if (memory is None) != (scope is None) or (memory is None) != (thread is None):
            named = {"memory": memory, "scope": scope, "thread": thread}
            given = " and ".join(name for name, each in named.items() if each is not None)
            raise UsageError(
                f"of memory, scope and thread there is only {given}: give all three, or none for "
                "a conversation in this process"
            )
        is_private = memory is None
        if memory is None:
            memory, scope, thread = private_memory(), new_private_scope(self), PRIVATE_THREAD
        self.is_private = is_private
        """Whether the conversation lives in this process only."""
        self.home = Home(memory)
        self.talk = ThreadTalk(check_scope(scope) if scope else (), thread or "")

    @property
    def scope(self) -> Scope:
        """The scope of the thread."""
        return self.talk.scope

    @property
    def thread(self) -> str:
        """The id of the thread."""
        return self.talk.thread

    @property
    def messages(self) -> list[AnyMessage]:
        """All messages, oldest first."""
        return self.home.call(self.talk.all)

    async def aget_messages(self) -> list[AnyMessage]:
        """Return all messages, oldest first."""
        return await self.home.visit(self.talk.all)

    def _add_messages(
        self, messages: Sequence[MessageLike]
    ) -> Callable[[Recollect], Awaitable[None]]:
        """
        Append *messages*: message objects, (role, text) pairs or texts.

        Up to ``MESSAGES_MAX`` messages are appended atomically.
        """
        return partial(self.talk.add, messages=[coerced(each) for each in messages])

    add_messages, aadd_messages = prepared_pair(_add_messages)

    @property
    def identified_messages(self) -> list[AnyMessage]:
        """All messages with their stored ids, by which `update` changes them."""
        return self.home.call(self.talk.with_ids)

    async def aidentified_messages(self) -> list[AnyMessage]:
        """Async variant of `identified_messages`."""
        return await self.home.visit(self.talk.with_ids)

    async def _update(self, memory: Recollect, changes: Sequence[MessageLike]) -> None:
        """
        Apply *changes* to the thread, as `recollect.messages.add_messages` does to a list.

        A message with a stored id replaces that one, a `RemoveMessage` removes one, any other is
        appended. Removals come first, then replacements, then new messages. Each step is atomic,
        and repeating a failed call completes it.

        Raises:
            UsageError: A removal names an unknown id; nothing is changed.
        """
        await self.talk.update(memory, changes)

    update, aupdate = method_pair(_update)

    def add_message(self, message: MessageLike) -> None:
        """Append one message."""
        self.add_messages([message])

    def add_user_message(self, message: MessageLike) -> None:
        """Append a user message, given as text or as a message."""
        self.add_messages([HumanMessage(message) if isinstance(message, str) else message])

    def add_ai_message(self, message: MessageLike) -> None:
        """Append a message of the model, given as text or as a message."""
        self.add_messages([AIMessage(message) if isinstance(message, str) else message])

    async def _clear(self, memory: Recollect) -> None:
        """Remove all messages; memories formed from them stay until `erase` removes them too."""
        await self.talk.clear(memory)

    clear, aclear = method_pair(_clear)

    def __str__(self) -> str:
        return buffer_string(self.messages)
