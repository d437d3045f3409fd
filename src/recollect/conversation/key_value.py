"""A chain's memory over our store: values by key, beside its conversation."""

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
"""A hundred years; what is to last longer does not expire."""
QUOTED_CHARACTERS_MAX: Final = 120
"""A longer part of an address is a digest there; the value has the key in full."""
OF_THREAD: Final = "@item"
"""No message has such an id that anybody chose: it makes the thread's erasure take the values."""


class KeyValueMemory(ChainMemory):
    """
    Named values beside a conversation: both are kept in *scope*, the conversation is *thread*.

    The values belong to the conversation and are erased with it; with *shared* they belong to
    the scope, and all its conversations see them. A value is there until it is replaced or,
    with *expire_s*, so many seconds after it was saved; no earlier one is kept. Recall finds
    values by their words. Without a memory everything lives in this process only.
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
        """The bridge to the memory that stores it."""
        return self.chat_memory.home

    @property
    def scope(self) -> Scope:
        """The scope of the values and of the conversation."""
        return self.chat_memory.scope

    async def _load_conversation(self, memory: Recollect) -> ChatMessageHistory:
        """Return the conversation as it is now, oldest message first; a copy."""
        return ChatMessageHistory(await self.chat_memory.talk.all(memory))

    async def _save_conversation(
        self, memory: Recollect, /, message: str, message_type: MessageType, **fields: Json
    ) -> None:
        """
        Append a message.

        Args:
            fields: ``name`` and ``conversational_message`` of a function's, ``function_call`` of
                the model's; others are kept with the message.

        Raises:
            MissingKeyError: It is a function's and has no name.
        """
        said: list[AnyMessage] = [message_for(message, message_type, fields)]
        await self.chat_memory.talk.add(memory, said)

    async def _load(self, memory: Recollect, key: str | None = None, default: object = None) -> Any:
        """Return the value at *key*, or *default*; without a key, all values by key."""
        if key is None:
            return {str(each.value["key"]): each.value["value"] for each in await self._all(memory)}
        found = await memory.get(self.scope, TYPE, self._address(key))
        return default if found is None else found.value["value"]

    async def _save(
        self, memory: Recollect, key: str, value: object, *, expire_s: float | None = None
    ) -> None:
        """
        Keep *value* at *key*, in the place of the one that is there.

        Args:
            expire_s: After how many seconds it is gone; by default as for all values.

        Raises:
            UsageError: The key is not text of at least one character, or JSON cannot express
                the value.
            LimitError: The value is larger than the store takes.
        """
        address = self._address(key)
        lasts_s = self.expire_s if expire_s is None else _checked(expire_s)
        put = PutMemory(
            type=TYPE,
            key=address,
            value={"key": key, "value": json_of(value, f"the value of {key!r}")},
            expires_at=None if lasts_s is None else _now(memory) + timedelta(seconds=lasts_s),
            evidence=self._evidence(),
            trust="external",  # whoever said it: a program kept it
        )
        # What it replaces goes first: of what a program overwrites no history is kept.
        await memory.apply(self.scope, [DeleteMemory(type=TYPE, key=address), put])

    async def _clear(self, memory: Recollect) -> None:
        """Remove the values and the messages; what was formed of these stays until `erase`."""
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
        """Return the values, by address: those whose addresses begin as ours do."""
        found: list[Memory] = []
        prefix = self._prefix
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
    AutoChain's default memory: values and conversation of this process only, unless told where.

    It may begin with a *conversation_history* and with values, *kv_memory*; over a memory that
    is awaited it begins with neither.
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
    Return *key* if something can be kept at it.

    Raises:
        UsageError: It is not text of at least one character.
    """
    if not isinstance(key, str) or not key:
        msg = f"a value is kept at a key, text of at least one character; not {key!r}"
        raise UsageError(msg)
    return check_text(key, "a key")


def thread_prefix(thread: str) -> str:
    """Return the prefix of the keys of a conversation's values."""
    return f"thread/{quoted_part(thread)}/"


def quoted_part(text: str) -> str:
    """Return *text* as a part of an address: no two texts have the same one."""
    quoted = quote(text, safe="")
    if len(quoted) <= QUOTED_CHARACTERS_MAX:
        return quoted
    return f"={blake2b(text.encode(), digest_size=24).hexdigest()}"


def _checked(expire_s: float | None) -> float | None:
    if expire_s is not None and not 0 < expire_s <= EXPIRE_S_MAX:
        msg = (
            f"a value is kept for more than 0 and at most {EXPIRE_S_MAX} seconds (EXPIRE_S_MAX), "
            f"not {expire_s!r}; give None for always"
        )
        raise UsageError(msg)
    return expire_s


def _now(memory: Recollect) -> datetime:
    return to_datetime(memory.store.now())
