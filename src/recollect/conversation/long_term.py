"""A chain's memory of documents, of which only those relevant to a query are shown."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from recollect.conversation.chain_steps import INTERMEDIATE_STEPS
from recollect.conversation.document_search import (
    DocumentSearch,
    FoundDocument,
    are_documents,
    shown,
)
from recollect.conversation.key_value import BufferMemory
from recollect.conversation.openai_messages import ChatMessageHistory
from recollect.errors import UsageError
from recollect.records import Scope
from recollect.sync.object_home import AnyRecollect

_MISSING: Final = object()


class LongTermMemory(BufferMemory):
    """
    Values and a conversation, and documents that are found by a query.

    What is saved goes to *long_term_memory* if it is a list of documents, else to its key. A key
    with a value gives that value; any other is a query to the documents.
    """

    def __init__(
        self,
        memory: AnyRecollect | None = None,
        scope: Scope | None = None,
        thread: str | None = None,
        *,
        long_term_memory: DocumentSearch,
        similarity_min: float | None = None,
        conversation_history: ChatMessageHistory | None = None,
        kv_memory: Mapping[str, Any] | None = None,
    ) -> None:
        """
        Use a search for the documents, and a thread of *memory* for the rest.

        Args:
            similarity_min: Documents less similar to a query are not returned; by default there is
                no minimum.
        """
        super().__init__(
            memory,
            scope,
            thread,
            conversation_history=conversation_history,
            kv_memory=kv_memory,
        )
        self.long_term_memory = long_term_memory
        self.similarity_min = similarity_min

    def load_memory(self, key: str | None = None, default: Any = None, *, top_k: int = 1) -> Any:
        """
        Return the value at *key*, else the texts that *key* finds, else *default*.

        At most *top_k* texts, as lines ``Doc 0: …``. Without a key, all values by key. The
        intermediate steps of a chain are never searched for.
        """
        kept = super().load_memory(key, _MISSING)
        if kept is not _MISSING:
            return kept
        if not _is_query(key):
            return default
        return self._shown(self.long_term_memory.search(str(key), top_k)) or default

    async def aload_memory(
        self, key: str | None = None, default: Any = None, *, top_k: int = 1
    ) -> Any:
        """Return the same as `load_memory`."""
        kept = await super().aload_memory(key, _MISSING)
        if kept is not _MISSING:
            return kept
        if not _is_query(key):
            return default
        return self._shown(await self.long_term_memory.asearch(str(key), top_k)) or default

    def load_value(self, key: str, default: Any = None) -> Any:
        """Return the value that is kept at exactly *key*, or *default*; nothing is searched."""
        return super().load_memory(key, default)

    async def aload_value(self, key: str, default: Any = None) -> Any:
        """Return the same as `load_value`."""
        return await super().aload_memory(key, default)

    def save_memory(self, key: str, value: Any, *, expire_s: float | None = None) -> None:
        """
        Keep *value* at *key*; a list of documents is added to the search instead.

        Raises:
            UsageError: A list has documents and something else.
        """
        if are_documents(value):
            self.long_term_memory.add_docs(value)
        else:
            super().save_memory(key, value, expire_s=expire_s)

    async def asave_memory(self, key: str, value: Any, *, expire_s: float | None = None) -> None:
        """Async variant of `save_memory`."""
        if are_documents(value):
            await self.long_term_memory.aadd_docs(value)
        else:
            await super().asave_memory(key, value, expire_s=expire_s)

    def clear(self) -> None:
        """Remove the values, the messages, and all documents of the search."""
        super().clear()
        self.long_term_memory.clear_index()

    async def aclear(self) -> None:
        """Async variant of `clear`."""
        await super().aclear()
        await self.long_term_memory.aclear_index()

    def _shown(self, found: Sequence[FoundDocument]) -> str:
        return shown([each for each in found if self._is_near(each)])

    def _is_near(self, found: FoundDocument) -> bool:
        if self.similarity_min is None:
            return True
        if found.similarity is None:
            msg = (
                f"{type(self.long_term_memory).__name__} tells no similarity, so none can be the "
                "least: leave similarity_min out"
            )
            raise UsageError(msg)
        return found.similarity >= self.similarity_min


def _is_query(key: str | None) -> bool:
    return bool(key and key.strip()) and key != INTERMEDIATE_STEPS
