"""Recollect as a measured system: opened, filled and queried like in an application."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import AsyncExitStack
from typing import Final
from zlib import crc32

from benchmarks.conversation_files import BenchmarkConversation, BenchmarkMessage, BenchmarkQuestion
from recollect.memory.facade import Recollect
from recollect.ports import Embedder, Vector
from recollect.records import Message as Kept
from recollect.records import NewMessage, Role, Scope
from recollect.stores.locator import open_store

_SCOPE: Final[Scope] = ("bench",)
_THREAD: Final = "conversation"
_BATCH: Final = 1_000
RANKED_MAX: Final = 200
"""Entries requested per query: more than any figure needs, few enough for a fair time."""


class PartialEmbedder:
    """
    An embedder that leaves a share of the entries without a vector, selected by their texts.

    Queries are always embedded. It shows what recall is worth while vectors are pending.
    """

    def __init__(self, embedder: Embedder, missing_percent: int) -> None:
        self._embedder = embedder
        self._missing_percent = missing_percent
        self.is_asking = False

    @property
    def identity(self) -> str:
        """Identity of the embedder, with the share left out."""
        return f"{self._embedder.identity}/without {self._missing_percent} %"

    @property
    def dimensions(self) -> int:
        """Length of each vector."""
        return self._embedder.dimensions

    def embed(self, texts: Sequence[str]) -> Sequence[Vector | None]:
        """Embed *texts*, except the left-out share of entries."""
        vectors = self._embedder.embed(texts)
        if self.is_asking:
            return vectors
        return [
            None if self._is_missing(text) else vector
            for text, vector in zip(texts, vectors, strict=True)
        ]

    def _is_missing(self, text: str) -> bool:
        return crc32(text.encode("utf-8", "replace")) % 100 < self._missing_percent


class RecollectSystem:
    """A store in process memory that holds one conversation in one scope."""

    def __init__(self, embedder: Embedder | None, *, missing_percent: int = 0) -> None:
        self._embedder = embedder
        self._partial = None
        if embedder and missing_percent:
            self._partial = self._embedder = PartialEmbedder(embedder, missing_percent)
        self._exit = AsyncExitStack()
        self._memory: Recollect | None = None

    @property
    def name(self) -> str:
        """Name the system."""
        return "recollect"

    async def load(self, conversation: BenchmarkConversation) -> None:
        """Store *conversation*, and wait until it is embedded and indexed."""
        await self.close()
        if self._partial:
            self._partial.is_asking = False
        memory = Recollect(open_store("memory:"), embedder=self._embedder or "none")
        await self._exit.enter_async_context(memory)
        self._memory = memory
        worded = [each for each in conversation.messages if each.text or each.image_caption]
        for batch in _batches([new_message(each) for each in worded]):
            await memory.append(_SCOPE, _THREAD, batch)
        await memory.settled(_SCOPE)
        await memory.recall(_SCOPE, "warm", limit=1)

    async def rank(self, question: BenchmarkQuestion) -> Sequence[str]:
        """Return the ids of the messages recalled, best first."""
        if self._memory is None:
            return []
        if self._partial:
            self._partial.is_asking = True
        recall = await self._memory.recall(
            _SCOPE, question.text, limit=RANKED_MAX, asked_at=question.asked
        )
        return [each.content.id for each in recall.entries if isinstance(each.content, Kept)]

    async def close(self) -> None:
        """Drop the conversation."""
        self._memory = None
        await self._exit.aclose()
        self._exit = AsyncExitStack()


_ROLES: Final[dict[str, Role]] = {
    "user": "user",
    "assistant": "assistant",
    "system": "system",
    "tool": "tool",
    "device": "tool",
}


def new_message(message: BenchmarkMessage) -> NewMessage:
    """Return a benchmark's message in the form that an application appends."""
    is_named = message.role not in ("user", "assistant", "system", "tool")
    caption = message.image_caption
    return NewMessage(
        role=_ROLES.get(message.role, "user"),
        text=message.text,
        id=message.message_id,
        name=message.speaker if is_named else None,
        time=message.time,
        session=message.session_id,
        content=[{"type": "image", "caption": caption}] if caption else None,
    )


def _batches(messages: Sequence[NewMessage]) -> Iterator[Sequence[NewMessage]]:
    for start in range(0, len(messages), _BATCH):
        yield messages[start : start + _BATCH]
