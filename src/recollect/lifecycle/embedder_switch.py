"""Change a memory's embedder while in use: compute all new vectors first, then switch."""

from __future__ import annotations

from collections.abc import Sequence

import anyio
from anyio import to_thread

from recollect.embedders import EmbedderChoice, open_embedder
from recollect.errors import NotFoundError, UsageError
from recollect.ports import TokenCounter, Vector
from recollect.recall.outside_vectors import Outside
from recollect.recall.recaller import Recaller
from recollect.recall.rerank_order import Reranking
from recollect.recall.vector_backlog import Embedding
from recollect.stores.contract.base import Store


async def build_vectors(embedding: Embedding) -> None:
    """
    Embed every entry of a store with *embedding*, beside its existing vectors.

    It can be cancelled at any time and called again: finished vectors are kept.

    Raises:
        EmbedderError: The embedder failed.
        StoreError: The store failed.
    """
    await embedding.learn_identity()
    while await embedding.work_once():
        pass


class EmbedderSwitch:
    """The embedder of a memory, and the components that are rebuilt when it is replaced."""

    def __init__(self, store: Store, count_tokens: TokenCounter) -> None:
        self.store = store
        self.embedding: Embedding | None = None
        self.earlier: Embedding | None = None
        self.recaller: Recaller | None = None
        self.outside: Outside | None = None
        self.reranking: Reranking | None = None
        self._count_tokens = count_tokens
        self._working: anyio.CancelScope | None = None

    async def reembed(self, embedder: EmbedderChoice) -> str:
        """Embed everything with *embedder*, then switch to it; see `Recollect.reembed`."""
        opened = await to_thread.run_sync(open_embedder, embedder)
        if opened is None:
            msg = f"cannot change to {embedder!r}: open the memory with embedder='none' instead"
            raise UsageError(msg)
        new = Embedding(self.store, opened)
        identity = await new.learn_identity()
        if self.embedding is not None and identity == await self.embedding.learn_identity():
            msg = f"{identity!r} is already in use: new entries get their vectors by themselves"
            raise UsageError(msg)
        await build_vectors(new)
        await new.learn_strength()
        self.earlier, self.embedding = self.embedding, new
        self._switch()
        return identity

    async def undo_reembed(self) -> str:
        """Switch back to the former embedder; see `Recollect.undo_reembed`."""
        if self.earlier is None:
            msg = "there is no embedder to go back to: this process has not called reembed()"
            raise NotFoundError(msg)
        await build_vectors(self.earlier)  # for entries written since the switch
        back = self.earlier
        self.earlier, self.embedding = self.embedding, back
        self._switch()
        return back.identity

    def new_recaller(self) -> Recaller:
        """Return a recaller for the embedder now in use."""
        return Recaller(
            self.store, self.embedding, self._count_tokens, self.outside, self.reranking
        )

    async def keep_embedded(self) -> None:
        """Embed new entries with the embedder in use, until cancelled."""
        # `_switch` cancels the inner scope, so that the loop goes on with the new embedder.
        while True:
            with anyio.CancelScope() as self._working:
                if self.embedding is None:
                    await anyio.sleep_forever()
                else:
                    await self.embedding.run()

    async def vectors_in_use(self, texts: Sequence[str]) -> Sequence[Vector | None]:
        """Return vectors of the embedder in use; ``None`` for each if there is none."""
        return await self.embedding.vectors(texts) if self.embedding else [None] * len(texts)

    def _switch(self) -> None:
        """Make every recall that starts from now on use the current embedder."""
        if self.recaller is not None:
            successor = self.new_recaller()
            self.recaller.hand_over(successor)
            self.recaller = successor
        if self._working is not None:
            self._working.cancel()
