"""A chain's memory in a store: named values beside a conversation."""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import datetime, timedelta
from hashlib import blake2b
from typing import Any, Final
from urllib.parse import quote

from recollect.conversation.chain_memory import ChainMemory
from recollect.conversation.json_form import json_of
from recollect.conversation.openai_messages import ChatMessageHistory, MessageType, message_for
from recollect.conversation.thread_history import ChatHistory
from recollect.errors import UsageError
from recollect.formation.succession import holds_from
from recollect.memory.facade import Recollect
from recollect.messages import AnyMessage
from recollect.records import (
    DeleteMemory,
    Evidence,
    EvidenceMap,
    Json,
    Memory,
    PutMemory,
    Scope,
    ScopeLike,
)
from recollect.stores.validation import PAGE_ROWS_MAX, WRITES_MAX, check_text, to_datetime
from recollect.sync.method_pairs import method_pair
from recollect.sync.object_home import AnyRecollect, Home

TYPE: Final = "Item"
EXPIRE_S_MAX: Final = 3_155_760_000
"""The longest lifetime of a value in seconds: a hundred years."""
QUOTED_CHARACTERS_MAX: Final = 120
"""Characters of a quoted part of an address, at most; a longer part is replaced by a digest."""
OF_THREAD: Final = "@item"
"""
The message that values cite as evidence, so that erasing their thread erases them.

No caller can choose such an id for a message, so it never names a real one.
"""


class KeyValueMemory(ChainMemory):
    """
    Named values and a conversation, stored in *scope*; the conversation is the thread *thread*.

    The values belong to the conversation and are erased with it; with *shared* they belong to the
    scope, and all its conversations see them. A value lasts until it is replaced or, with
    *expire_s*, for that many seconds; replaced values are not kept as history. Recall finds values
    by their words. Without a memory everything lives in this process only.
    """

    def __init__(
        self,
        memory: AnyRecollect | None = None,
        scope: ScopeLike | None = None,
        thread: str | None = None,
        *,
        expire_s: float | None = None,
        shared: bool = False,
    ) -> None:
        """
        Use a thread of *memory*, which is created with its first message.

        Raises:
            UsageError: A memory without scope or thread is given, or these without a memory; or
                *expire_s* is not a positive number.
        """
        self.chat_memory = ChatHistory(memory, scope, thread)
        self.expire_s = _checked(expire_s)
        self.shared = shared

    @property
    def home(self) -> Home:
        """The bridge to the Recollect memory that stores everything."""
        return self.chat_memory.home

    @property
    def scope(self) -> Scope:
        """The scope of the values and of the conversation."""
        return self.chat_memory.scope

    async def _load_conversation(self, memory: Recollect) -> ChatMessageHistory:
        """Return a copy of the conversation, oldest message first."""
        return ChatMessageHistory(await self.chat_memory.talk.all(memory))

    async def _save_conversation(
        self, memory: Recollect, /, message: str, message_type: MessageType, **fields: Json
    ) -> None:
        """
        Append a message.

        Args:
            fields: ``name`` and ``conversational_message`` of a function message,
                ``function_call`` of the model's; others are stored with the message.

        Raises:
            MissingKeyError: A function message has no name.
        """
        said: list[AnyMessage] = [message_for(message, message_type, fields)]
        await self.chat_memory.talk.add(memory, said)

    async def _load(self, memory: Recollect, key: str | None = None, default: object = None) -> Any:
        """Return the value at *key*, or *default*; without a key, all values by key."""
        if key is None:
            found = [each for each in await self._all(memory) if holds_from(each, _now(memory))]
            return {str(each.value["key"]): each.value["value"] for each in found}
        value = await memory.get(self.scope, TYPE, self._address(key))
        # A person may have rejected or ended it.
        if value is None or not holds_from(value, _now(memory)):
            return default
        return value.value["value"]

    async def _save(
        self, memory: Recollect, key: str, value: object, *, expire_s: float | None = None
    ) -> None:
        """
        Store *value* at *key*, and replace an earlier one.

        Args:
            expire_s: Lifetime in seconds; by default that of the memory.

        Raises:
            UsageError: The key is not a non-empty string, or JSON cannot express the value.
            LimitError: The value is larger than a store takes.
        """
        address = self._address(key)
        lasts_s = self.expire_s if expire_s is None else _checked(expire_s)
        put = PutMemory(
            type=TYPE,
            key=address,
            value={"key": key, "value": json_of(value, f"the value of {key!r}")},
            expires_at=None if lasts_s is None else _now(memory) + timedelta(seconds=lasts_s),
            evidence=self._evidence(),
            trust="external",  # a program wrote it, and the author of its content is unknown
        )
        # Delete the earlier value in the same write: a replaced value leaves no version behind.
        await memory.apply(self.scope, [DeleteMemory(type=TYPE, key=address), put])

    async def _clear(self, memory: Recollect) -> None:
        """Remove the values and the messages; memories formed from these stay until `erase`."""
        gone = [DeleteMemory(type=TYPE, key=each.key) for each in await self._all(memory)]
        for start in range(0, len(gone), WRITES_MAX):
            await memory.apply(self.scope, gone[start : start + WRITES_MAX])
        await self.chat_memory.talk.clear(memory)

    load_memory, aload_memory = method_pair(_load, "load_memory")
    save_memory, asave_memory = method_pair(_save, "save_memory")
    load_conversation, aload_conversation = method_pair(_load_conversation)
    save_conversation, asave_conversation = method_pair(_save_conversation)
    clear, aclear = method_pair(_clear)

    async def _all(self, memory: Recollect) -> list[Memory]:
        """Return the values under this memory's prefix in any state, ordered by address."""
        found: list[Memory] = []
        prefix = self._prefix
        # A cursor is the last (type, key) read: start at the prefix, and stop where it ends.
        cursor: str | None = json.dumps([TYPE, prefix])
        while cursor is not None:
            page = await memory.memories(self.scope, type_=TYPE, cursor=cursor, limit=PAGE_ROWS_MAX)
            here = [each for each in page.rows if each.key.startswith(prefix)]
            found += here
            cursor = page.cursor if len(here) == len(page.rows) else None
        return found

    @property
    def _prefix(self) -> str:
        return "shared/" if self.shared else thread_prefix(self.chat_memory.thread)

    def _address(self, key: str) -> str:
        return f"{self._prefix}{quoted_part(checked_key(key))}"

    def _evidence(self) -> EvidenceMap:
        if self.shared:
            return {}
        return {"": [Evidence(thread=self.chat_memory.thread, message=OF_THREAD)]}


class BufferMemory(KeyValueMemory):
    """
    AutoChain's default memory: values and a conversation, in this process unless a memory is given.

    It may start with a *conversation_history* and the values *kv_memory*, which an asynchronous
    memory cannot.
    """

    def __init__(
        self,
        memory: AnyRecollect | None = None,
        scope: ScopeLike | None = None,
        thread: str | None = None,
        *,
        conversation_history: ChatMessageHistory | None = None,
        kv_memory: Mapping[str, object] | None = None,
    ) -> None:
        super().__init__(memory, scope, thread)
        if conversation_history is not None:
            self.chat_memory.add_messages(conversation_history.messages)
        for key, value in (kv_memory or {}).items():
            self.save_memory(key, value)


def checked_key(key: object) -> str:
    """
    Return *key* if it is valid.

    Raises:
        UsageError: It is not a non-empty string.
    """
    if not isinstance(key, str) or not key:
        raise UsageError(f"the key is {key!r}: give text of at least one character")
    return check_text(key, "a key")


def thread_prefix(thread: str) -> str:
    """Return the prefix of the keys of a conversation's values."""
    return f"thread/{quoted_part(thread)}/"


def quoted_part(text: str) -> str:
    """Return *text* percent-encoded as part of an address, or its digest if that is too long."""
    quoted = quote(text, safe="")
    if len(quoted) <= QUOTED_CHARACTERS_MAX:
        return quoted
    return f"={blake2b(text.encode(), digest_size=24).hexdigest()}"


def _checked(expire_s: float | None) -> float | None:
    if expire_s is not None and not 0 < expire_s <= EXPIRE_S_MAX:
        raise UsageError(
            f"expire_s is {expire_s!r}: give more than 0 and at most {EXPIRE_S_MAX} seconds "
            "(EXPIRE_S_MAX), or None to keep the value for ever"
        )
    return expire_s


def _now(memory: Recollect) -> datetime:
    return to_datetime(memory.store.now())
