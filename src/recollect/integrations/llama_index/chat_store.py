"""A chat store for LlamaIndex: each key is a thread, whose messages are stored unchanged."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextvars import ContextVar
from typing import Final, TypeVar

from llama_index.core.llms import ChatMessage, MessageRole
from llama_index.core.storage.chat_store.base_db import AsyncDBChatStore, MessageStatus
from pydantic import PrivateAttr
from pydantic_core import PydanticSerializationError

from recollect.errors import UsageError
from recollect.integrations.storable_items import ItemForm
from recollect.integrations.thread_items import ThreadItems
from recollect.memory.facade import Recollect
from recollect.records import Json, Message, Role, Scope, ScopeLike
from recollect.stores.pages import each_row
from recollect.stores.validation import PAGE_ROWS_MAX, check_scope
from recollect.sync.object_home import AnyRecollect, Home

FORM: Final = ItemForm(
    "llama_index",
    text_part=lambda text: {"block_type": "text", "text": text},
    read=ChatMessage.model_validate,
)
SESSION: Final = "session_id"
"""The key under which LlamaIndex notes the session in messages that it gives to a block."""
STORED_THREAD: Final[ContextVar[tuple[AnyRecollect, Scope, str] | None]] = ContextVar(
    "recollect_stored_thread", default=None
)
"""Memory, scope and thread that a `RecollectChatStore` visited last in this task."""
_ROLES: Final[Mapping[MessageRole, Role]] = {
    MessageRole.USER: "user",
    MessageRole.SYSTEM: "system",
    MessageRole.DEVELOPER: "system",
    MessageRole.TOOL: "tool",
    MessageRole.FUNCTION: "tool",
}
ResultT = TypeVar("ResultT")
ARCHIVED: Final = "llama_index_archived"
"""The key of a thread's state with the position of the last archived message."""


class RecollectChatStore(AsyncDBChatStore):
    """
    The ``chat_store`` of LlamaIndex's ``Memory``: a key is a thread of *scope*.

    Archived messages are no longer sent to the model, but stay in the thread, where they are formed
    and recalled like all others. The index of a message is its position.
    """

    _home: Home = PrivateAttr()
    _scope: Scope = PrivateAttr()

    def __init__(self, memory: AnyRecollect, scope: ScopeLike) -> None:
        """Create a store over an open memory; one of `open_sync` works on any event loop."""
        super().__init__()
        self._home = Home(memory)
        self._scope = check_scope(scope)

    async def get_messages(
        self,
        key: str,
        status: MessageStatus | None = MessageStatus.ACTIVE,
        limit: int | None = None,
        offset: int | None = None,
    ) -> list[ChatMessage]:
        """Return the messages of a status (``None`` for all), oldest first."""
        start = offset or 0
        end = None if limit is None else start + limit
        found = await self._visit(key, lambda thread: thread.read(status))
        return [message_of(*each) for each in found[start:end]]

    async def count_messages(
        self, key: str, status: MessageStatus | None = MessageStatus.ACTIVE
    ) -> int:
        """Return the number of messages of a status (``None`` for all)."""
        return len(await self._visit(key, lambda thread: thread.read(status)))

    async def add_message(
        self, key: str, message: ChatMessage, status: MessageStatus = MessageStatus.ACTIVE
    ) -> None:
        """Append a message."""
        await self.add_messages(key, [message], status)

    async def add_messages(
        self, key: str, messages: list[ChatMessage], status: MessageStatus = MessageStatus.ACTIVE
    ) -> None:
        """Append messages atomically."""
        _check_active(status)
        items = items_of(messages)
        await self._visit(key, lambda thread: thread.items.append(items))

    async def set_messages(
        self, key: str, messages: list[ChatMessage], status: MessageStatus = MessageStatus.ACTIVE
    ) -> None:
        """Replace all messages: append the new ones, then remove the old ones."""
        _check_active(status)
        items = items_of(messages)

        async def replace(thread: _Thread) -> None:
            old = await thread.read(None)
            await thread.items.append(items)
            await thread.items.remove(old)

        await self._visit(key, replace)

    async def delete_message(self, key: str, idx: int) -> ChatMessage | None:
        """Remove the message at a position, and return it; ``None`` if there is none."""

        async def delete(thread: _Thread) -> ChatMessage | None:
            found = [each for each in await thread.read(None) if each[0].position == idx]
            await thread.items.remove(found)
            return message_of(*found[0]) if found else None

        return await self._visit(key, delete)

    async def delete_messages(self, key: str, status: MessageStatus | None = None) -> None:
        """Remove the messages of a status (``None`` for all); memories formed from them stay."""

        async def delete(thread: _Thread) -> None:
            await thread.items.remove(await thread.read(status))

        await self._visit(key, delete)

    async def delete_oldest_messages(self, key: str, n: int) -> list[ChatMessage]:
        """Remove the oldest *n* active messages, and return them."""

        async def delete(thread: _Thread) -> list[ChatMessage]:
            oldest = (await thread.read(MessageStatus.ACTIVE))[:n]
            await thread.items.remove(oldest)
            return [message_of(*each) for each in oldest]

        return await self._visit(key, delete)

    async def archive_oldest_messages(self, key: str, n: int) -> list[ChatMessage]:
        """Archive the oldest *n* active messages, and return them."""

        async def archive(thread: _Thread) -> list[ChatMessage]:
            oldest = (await thread.read(MessageStatus.ACTIVE))[:n]
            await thread.archive(oldest)
            return [message_of(*each) for each in oldest]

        return await self._visit(key, archive)

    async def get_keys(self) -> list[str]:
        """Return the threads of the scope that have messages, as LlamaIndex's own stores do."""

        async def list_threads(memory: Recollect) -> list[str]:
            rows = each_row(
                lambda cursor: memory.threads(self._scope, cursor=cursor, limit=PAGE_ROWS_MAX)
            )
            return [each.id async for each in rows if each.count]

        return await self._home.visit(list_threads)

    @classmethod
    def class_name(cls) -> str:
        """Return the class name for LlamaIndex's serialisation."""
        return "RecollectChatStore"

    async def _visit(self, key: str, act: Callable[[_Thread], Awaitable[ResultT]]) -> ResultT:
        STORED_THREAD.set((self._home.memory, self._scope, key))
        return await self._home.visit(lambda memory: act(_Thread(memory, self._scope, key)))


class _Thread:
    """The items of one thread, and the position up to which they are archived."""

    def __init__(self, memory: Recollect, scope: Scope, key: str) -> None:
        self.items = ThreadItems(memory, scope, key, FORM)
        self._memory = memory
        self._scope = scope
        self._key = key

    async def read(self, status: MessageStatus | None) -> list[tuple[Message, Json]]:
        state = await self._memory.state(self._scope, self._key) if status else {}
        archived = state.get(ARCHIVED, 0)
        if not isinstance(archived, int):
            archived = 0
        if status is MessageStatus.ACTIVE:
            return await self.items.read(after=archived)
        found = await self.items.read()
        return [each for each in found if status is None or each[0].position <= archived]

    async def archive(self, items: list[tuple[Message, Json]]) -> None:
        if items:
            state = {ARCHIVED: items[-1][0].position}
            await self._memory.set_state(self._scope, self._key, state)


def _check_active(status: MessageStatus) -> None:
    if status is not MessageStatus.ACTIVE:
        msg = f"status is {status!r}: add messages as active, and archive_oldest_messages later"
        raise UsageError(msg)


def items_of(messages: Sequence[ChatMessage]) -> list[tuple[Role, str, Json]]:
    """
    Return role, text and JSON of each message.

    Raises:
        UsageError: A message holds something that JSON cannot express.
    """
    found: list[tuple[Role, str, Json]] = []
    for each in messages:
        try:
            item = each.model_dump(mode="json")
        except (PydanticSerializationError, ValueError) as error:
            msg = f"a message of LlamaIndex is not JSON, and nothing was stored: {error}"
            raise UsageError(msg) from error
        item["additional_kwargs"].pop(SESSION, None)
        found.append((_ROLES.get(each.role, "assistant"), each.content or "", item))
    return found


def message_of(message: Message, kept: Json) -> ChatMessage:
    """Return the stored message, or a new one for a message that another framework stored."""
    if isinstance(kept, Mapping):
        return ChatMessage.model_validate(kept)
    return ChatMessage(role=MessageRole(message.role), content=message.text)
