"""The conversation memories as LangChain's classic `BaseMemory`, under LangChain's names."""

from __future__ import annotations

import warnings
from typing import Any, ClassVar, Final, NoReturn, Self, TypeAlias

from langchain_classic.base_memory import BaseMemory
from pydantic import PrivateAttr

from recollect import conversation
from recollect.conversation.thread_history import ChatHistory, ForeignHistory
from recollect.sync.method_pairs import PairCall, delegated_pair

AnyHistory: TypeAlias = ChatHistory | ForeignHistory

InMemoryEntityStore = conversation.InMemoryEntityStore

_HISTORY: Final = "recollect.integrations.langchain.RecollectChatMessageHistory"
_ENTITIES: Final = "ConversationEntityMemory(memory, scope, thread), which keeps its entities"
_INSTEAD: Final = {
    "ConversationStringBufferMemory": "ConversationBufferMemory",
    "ConversationVectorStoreTokenBufferMemory": "CombinedMemory of a token buffer and a retriever",
    "RedisEntityStore": _ENTITIES,
    "SQLiteEntityStore": _ENTITIES,
    "UpstashRedisEntityStore": _ENTITIES,
}
"""The replacements for names of ``langchain_classic.memory`` that this module lacks."""


class ClassicMemory(BaseMemory):
    """
    A conversation memory wrapped as one of LangChain's, for a chain that requires these.

    Reading and setting its attributes reads and sets those of the wrapped memory.
    """

    _behind: conversation.BaseMemory = PrivateAttr()

    def __init__(self, memory: conversation.BaseMemory) -> None:
        """Wrap *memory*, a `recollect.conversation.BaseMemory`."""
        with warnings.catch_warnings():
            # LangChain's base class warns at construction that it is deprecated.
            warnings.simplefilter("ignore")
            super().__init__()
        self._behind = memory

    @property
    def behind(self) -> conversation.BaseMemory:
        """The wrapped memory."""
        return self._behind

    @property
    def memory_variables(self) -> list[str]:
        """The keys that `load_memory_variables` returns."""
        return self._behind.memory_variables

    async def _load_variables(self, call: PairCall, inputs: dict[str, Any]) -> dict[str, Any]:
        """Return the variables for the next prompt."""
        behind = self._behind
        return await call(behind.load_memory_variables, behind.aload_memory_variables, inputs)

    async def _save_context(
        self, call: PairCall, inputs: dict[str, Any], outputs: dict[str, str]
    ) -> None:
        """Save one turn."""
        await call(self._behind.save_context, self._behind.asave_context, inputs, outputs)

    async def _clear(self, call: PairCall) -> None:
        """Remove everything that the memory has saved."""
        await call(self._behind.clear, self._behind.aclear)

    load_memory_variables, aload_memory_variables = delegated_pair(
        _load_variables, "load_memory_variables"
    )
    save_context, asave_context = delegated_pair(_save_context)
    clear, aclear = delegated_pair(_clear)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            return super().__getattr__(name)  # type: ignore[misc]  # pydantic's, for private names
        return getattr(self._behind, name)

    def __setattr__(self, name: str, value: object) -> None:
        if name.startswith("_"):
            super().__setattr__(name, value)
        else:
            setattr(self._behind, name, behind_of(value))


def behind_of(value: object) -> Any:
    """Return *value* with every wrapper replaced by its memory, in lists as well."""
    if isinstance(value, ClassicMemory):
        return value.behind
    return [behind_of(each) for each in value] if isinstance(value, list) else value


class _Named(ClassicMemory):
    """A wrapper that takes the parameters of *kind*, and creates the memory that it wraps."""

    kind: ClassVar[type[conversation.BaseMemory]]

    def __init__(self, *args: object, **parameters: object) -> None:
        given = [behind_of(each) for each in args]
        named = {name: behind_of(each) for name, each in parameters.items()}
        super().__init__(self.kind(*given, **named))

    @classmethod
    def wrapping(cls, memory: conversation.BaseMemory) -> Self:
        """Return an instance of this class that wraps *memory*."""
        made = cls.__new__(cls)
        ClassicMemory.__init__(made, memory)
        return made


class ConversationBufferMemory(_Named):
    """See `recollect.conversation.ConversationBufferMemory`."""

    kind = conversation.ConversationBufferMemory
    __init__ = _Named.__init__


class ConversationBufferWindowMemory(_Named):
    """See `recollect.conversation.ConversationBufferWindowMemory`."""

    kind = conversation.ConversationBufferWindowMemory
    __init__ = _Named.__init__


class ConversationTokenBufferMemory(_Named):
    """See `recollect.conversation.ConversationTokenBufferMemory`."""

    kind = conversation.ConversationTokenBufferMemory
    __init__ = _Named.__init__


class ConversationSummaryMemory(_Named):
    """See `recollect.conversation.ConversationSummaryMemory`."""

    kind = conversation.ConversationSummaryMemory
    __init__ = _Named.__init__

    @classmethod
    def from_messages(cls, llm: object, chat_memory: AnyHistory, **options: Any) -> Self:
        """See `recollect.conversation.ConversationSummaryMemory.from_messages`."""
        return cls.wrapping(cls.kind.from_messages(llm, chat_memory, **options))

    @classmethod
    async def afrom_messages(cls, llm: object, chat_memory: AnyHistory, **options: Any) -> Self:
        """See `recollect.conversation.ConversationSummaryMemory.from_messages`."""
        return cls.wrapping(await cls.kind.afrom_messages(llm, chat_memory, **options))


class ConversationSummaryBufferMemory(_Named):
    """See `recollect.conversation.ConversationSummaryBufferMemory`."""

    kind = conversation.ConversationSummaryBufferMemory
    __init__ = _Named.__init__


class ConversationEntityMemory(_Named):
    """See `recollect.conversation.ConversationEntityMemory`."""

    kind = conversation.ConversationEntityMemory
    __init__ = _Named.__init__


class ConversationKGMemory(_Named):
    """See `recollect.conversation.ConversationKGMemory`."""

    kind = conversation.ConversationKGMemory
    __init__ = _Named.__init__


class VectorStoreRetrieverMemory(_Named):
    """See `recollect.conversation.VectorStoreRetrieverMemory`."""

    kind = conversation.VectorStoreRetrieverMemory
    __init__ = _Named.__init__


class CombinedMemory(_Named):
    """See `recollect.conversation.CombinedMemory`."""

    kind = conversation.CombinedMemory
    __init__ = _Named.__init__


class ReadOnlySharedMemory(_Named):
    """See `recollect.conversation.ReadOnlySharedMemory`."""

    kind = conversation.ReadOnlySharedMemory
    __init__ = _Named.__init__


class SimpleMemory(_Named):
    """See `recollect.conversation.SimpleMemory`."""

    kind = conversation.SimpleMemory
    __init__ = _Named.__init__


def __getattr__(name: str) -> NoReturn:
    # An AttributeError would lose its text where a name is imported by ``from``.
    instead = _HISTORY if name.endswith("ChatMessageHistory") else _INSTEAD.get(name)
    if instead is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    raise ImportError(
        f"there is no {name} in {__name__}: use {instead}; what langchain_classic.memory has under"
        " this name keeps nothing in the store",
        name=__name__,
    )
