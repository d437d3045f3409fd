"""A chain's memory of values, a conversation, and searchable documents."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from recollect.conversation.chain_steps import INTERMEDIATE_STEPS
from recollect.conversation.document_search import (
    DocumentSearch,
    FoundDocument,
    are_documents,
    numbered_documents,
)
from recollect.conversation.key_value import BufferMemory
from recollect.conversation.openai_messages import ChatMessageHistory
from recollect.errors import UsageError
from recollect.records import ScopeLike
from recollect.sync.method_pairs import PairCall, delegated_pair
from recollect.sync.object_home import AnyRecollect

_MISSING: Final = object()


class LongTermMemory(BufferMemory):
    """
    Named values, a conversation, and documents that are found by a query.

    A saved list of documents goes to *long_term_memory*, any other value to its key. Loading a key
    returns its value, if there is one; otherwise the key is a query for documents.
    """

    def __init__(
        self,
        memory: AnyRecollect | None = None,
        scope: ScopeLike | None = None,
        thread: str | None = None,
        *,
        long_term_memory: DocumentSearch,
        similarity_min: float | None = None,
        conversation_history: ChatMessageHistory | None = None,
        kv_memory: Mapping[str, object] | None = None,
    ) -> None:
        """
        Use a search for the documents, and a thread of *memory* for everything else.

        Args:
            similarity_min: The least similarity to a query of a returned document; by default
                there is no minimum.
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

    async def _load_memory(
        self, call: PairCall, key: str | None = None, default: object = None, *, top_k: int = 1
    ) -> Any:
        """
        Return the value at *key*, else the texts that *key* finds, else *default*.

        At most *top_k* texts are returned, as lines ``Doc 0: …``. Without a key, all values by
        key. The key of a chain's intermediate steps is never a query.
        """
        kept = await call(super().load_memory, super().aload_memory, key, _MISSING)
        if kept is not _MISSING:
            return kept
        if not (key and key.strip()) or key == INTERMEDIATE_STEPS:
            return default
        search = self.long_term_memory
        return self._shown(await call(search.search, search.asearch, str(key), top_k)) or default

    async def _load_value(self, call: PairCall, key: str, default: object = None) -> Any:
        """Return the value stored at exactly *key*, or *default*, without any search."""
        return await call(super().load_memory, super().aload_memory, key, default)

    async def _save_memory(
        self, call: PairCall, key: str, value: Any, *, expire_s: float | None = None
    ) -> None:
        """
        Store *value* at *key*; add a list of documents to the search instead.

        Raises:
            UsageError: A list mixes documents and other values.
        """
        if are_documents(value):
            search = self.long_term_memory
            await call(search.add_docs, search.aadd_docs, value)
        else:
            keep, akeep = super().save_memory, super().asave_memory
            await call(keep, akeep, key, value, expire_s=expire_s)

    async def _clear_all(self, call: PairCall) -> None:
        """Remove the values, the messages, and all documents of the search."""
        await call(super().clear, super().aclear)
        await call(self.long_term_memory.clear_index, self.long_term_memory.aclear_index)

    load_memory, aload_memory = delegated_pair(_load_memory)
    load_value, aload_value = delegated_pair(_load_value)
    save_memory, asave_memory = delegated_pair(_save_memory)
    clear, aclear = delegated_pair(_clear_all, "clear")

    def _shown(self, found: Sequence[FoundDocument]) -> str:
        return numbered_documents([each for each in found if self._is_near(each)])

    def _is_near(self, found: FoundDocument) -> bool:
        if self.similarity_min is None:
            return True
        if found.similarity is None:
            raise UsageError(
                f"{type(self.long_term_memory).__name__} returns no similarity to compare: "
                "omit similarity_min"
            )
        return found.similarity >= self.similarity_min
