"""Another embedder beside the one in use: its vectors are made first, then it is switched to."""

from __future__ import annotations

from collections.abc import Sequence

import anyio
from anyio import to_thread

from recollect.embedders import EmbedderChoice, open_embedder
from recollect.embedding import Embedding
from recollect.errors import NotFoundError, UsageError
from recollect.index import Indexes
from recollect.outside import Outside
from recollect.ports import TokenCounter, Vector
from recollect.recaller import Recaller
from recollect.stores.base import Store


async def build_vectors(embedding: Embedding) -> None:
    """
    Give every entry of a store a vector of *embedding*'s, beside those that it has.

    It can be stopped at any time and called again: what was made is kept.

    Raises:
        EmbedderError: The embedder failed.
        StoreError: The store failed.
    """
    await embedding.learn_identity()
    while await embedding.work_once():
        pass


class Reembedding:
    """What a `Recollect` does to change its embedder while it is in use."""

    store: Store
    _indexes: Indexes
    _embedding: Embedding | None
    _recaller: Recaller | None
    _count_tokens: TokenCounter
    _outside: Outside | None
    _earlier: Embedding | None = None
    _working: anyio.CancelScope | None = None

    async def reembed(self, embedder: EmbedderChoice) -> str:
        """
        Make all vectors of another embedder, then recall by it; return its name.

        Until then every recall works with the embedder in use and all its vectors, and from
        then on every recall with the new one: no answer mixes the two. What is written
        meanwhile has no vector of the new one at first, and is found by its words as ever.
        The vectors of the one in use stay, so that `undo_reembed` goes back at once; it makes
        none of them any more. Open the memory with the new embedder from then on, and every
        other process that uses the store.

        Raises:
            UsageError: It is the embedder in use, or none.
            EmbedderError: It failed; the one in use stays in use.
        """
        opened = await to_thread.run_sync(open_embedder, embedder)
        if opened is None:
            msg = f"{embedder!r} is no embedder to change to: open the memory with 'none' instead"
            raise UsageError(msg)
        new = Embedding(self.store, opened)
        identity = await new.learn_identity()
        if self._embedding is not None and identity == await self._embedding.learn_identity():
            msg = f"{identity!r} is the embedder in use: its vectors are made as entries come"
            raise UsageError(msg)
        await build_vectors(new)
        self._earlier, self._embedding = self._embedding, new
        self._switch()
        return identity

    async def undo_reembed(self) -> str:
        """
        Go back to the embedder that was in use before `reembed`; return its name.

        What was written since gets its vectors first.

        Raises:
            NotFoundError: None was in use before, or this process did not change it.
            EmbedderError: It failed; the one in use stays in use.
        """
        if self._earlier is None:
            msg = "there is no embedder to go back to: reembed() did not replace one here"
            raise NotFoundError(msg)
        await build_vectors(self._earlier)
        back = self._earlier
        self._earlier, self._embedding = self._embedding, back
        self._switch()
        return back.identity

    def _switch(self) -> None:
        """Let every recall that begins from now on take the embedder that is now in use."""
        self._indexes = Indexes()
        if self._recaller is not None:
            self._recaller.hand_over(
                Recaller(
                    self.store, self._indexes, self._embedding, self._count_tokens, self._outside
                )
            )
        if self._working is not None:
            self._working.cancel()

    async def _keep_embedded(self) -> None:
        """Embed what comes, with the embedder in use at the time."""
        while True:
            with anyio.CancelScope() as self._working:
                if self._embedding is None:
                    await anyio.sleep_forever()
                else:
                    await self._embedding.run()

    async def _vectors_in_use(self, texts: Sequence[str]) -> Sequence[Vector | None]:
        """Return vectors of the embedder in use; ``None`` for each if there is none."""
        return await self._embedding.vectors(texts) if self._embedding else [None] * len(texts)
