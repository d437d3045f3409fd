"""Vectors after the acknowledgement: a background task that embeds what has no vector yet."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Sequence
from threading import Lock
from typing import Final

import anyio
from anyio import to_thread

from recollect.deferred_imports import load_modules
from recollect.errors import EmbedderError, StoreError
from recollect.observability.logs import package_logger
from recollect.ports import Embedder, Vector
from recollect.records import Scope
from recollect.stores.contract.base import Store
from recollect.stores.plans.changes import Embedded, Unembedded

LOG: Final = package_logger("recollect.recall.vector_backlog")
EMBEDDING: Final = "embedding"
"""The name of the background task."""
SWEEP_S: Final = 5.0
"""How often the store is asked for what other processes wrote without a vector."""
RETRY_S: Final = 5.0
QUERIES_MAX: Final = 1_024


class Embedding:
    """
    Embeds the entries of a store, in batches, as they come.

    Any number of processes may do so on one store: a vector is kept only if its text is
    still the entry's text, and equal work done twice changes nothing.
    """

    def __init__(self, store: Store, embedder: Embedder) -> None:
        self._store = store
        self._embedder = embedder
        self._identity: str | None = None
        self._woken = anyio.Event()
        self._queries: OrderedDict[str, Vector | None] = OrderedDict()
        self._turn = Lock()
        self._monitor = store.tasks.monitor(EMBEDDING, LOG)
        self._query_failed = False
        self.last_error: EmbedderError | StoreError | None = None

    @property
    def known_identity(self) -> str | None:
        """The embedder's name, ``None`` as long as it could not be learned."""
        return self._identity

    @property
    def identity(self) -> str:
        """
        Name the embedder.

        Raises:
            EmbedderError: It was not learned yet, because the embedder failed so far.
        """
        if self._identity is None:
            msg = f"the embedder did not say its name yet: {self.last_error or 'it was not asked'}"
            raise EmbedderError(msg)
        return self._identity

    async def learn_identity(self) -> str:
        """
        Return the embedder's name, asked for once, on a worker thread: it may have to embed.

        Raises:
            EmbedderError: It failed.
        """
        if self._identity is None:
            self._identity = await to_thread.run_sync(self._asked_identity)
        return self._identity

    def _asked_identity(self) -> str:
        return self._embedder.identity

    def wake(self) -> None:
        """Say that something was written."""
        self._woken.set()

    async def run(self) -> None:
        """Embed whatever comes, until cancelled; a failure waits and is tried again."""
        with self._monitor.running():
            await self._run()

    async def _run(self) -> None:
        while True:
            self._woken = anyio.Event()
            try:
                worked = await self.work_once()
                # Without work the embedder was not asked, and may still fail for queries.
                if worked or not self._query_failed:
                    self._note_success()
            except (EmbedderError, StoreError) as error:
                self.last_error = error
                self._monitor.failed(error, retry_s=RETRY_S)
                await anyio.sleep(RETRY_S)
                continue
            if not worked:
                with anyio.move_on_after(SWEEP_S):
                    await self._woken.wait()

    async def work_once(self) -> bool:
        """
        Embed one batch of each scope that waits; say whether there was any.

        Raises:
            EmbedderError: It failed for some scope; the others were served.
        """
        failure: EmbedderError | None = None
        identity = await self.learn_identity()
        scopes = await self._store.unembedded_scopes(identity)
        for scope_id in scopes:
            batch = await self._store.unembedded(scope_id, identity)
            try:
                if batch:
                    await self._embed(batch)
            except EmbedderError as error:
                failure = error
        if failure:
            raise failure
        return bool(scopes)

    async def settle(self, scope: Scope) -> None:
        """
        Embed all that *scope* holds now.

        Raises:
            EmbedderError: The embedder failed.
        """
        scope_id = await self._store.scope_id(scope)
        while scope_id is not None:
            batch = await self._store.unembedded(scope_id, await self.learn_identity())
            if batch is None:
                return
            await self._embed(batch)

    async def _embed(self, batch: Unembedded) -> None:
        texts = [text for _, _, text in batch.entries]
        vectors = await to_thread.run_sync(self._embedder.embed, texts) if texts else []
        if len(vectors) != len(texts):
            msg = f"{self.identity} gave {len(vectors)} vectors for {len(texts)} texts"
            raise EmbedderError(msg)
        await load_modules("recollect.stores.vector_codec")
        from recollect.stores.vector_codec import encode_vector

        done: list[Embedded] = [
            (uid, text_hash, encode_vector(vector))
            for (uid, text_hash, _), vector in zip(batch.entries, vectors, strict=True)
        ]
        kept = await self._store.keep_vectors(batch, self.identity, done)
        LOG.debug("embedded %d of %d entries of %r", kept, len(done), batch.scope)

    async def vectors(self, texts: Sequence[str]) -> Sequence[Vector | None]:
        """
        Return the vectors of *texts*, in order; ``None`` for one that is not understood.

        Raises:
            EmbedderError: The embedder failed.
        """
        return await to_thread.run_sync(self._embedder.embed, texts)

    def _note_success(self) -> None:
        self.last_error, self._query_failed = None, False
        self._monitor.succeeded()

    def note_failure(self, error: EmbedderError, *, query: bool = True) -> None:
        """Record that the embedder failed for a *query*, which is answered by words alone."""
        self.last_error = error
        self._query_failed |= query
        self._monitor.failed(error, about="a query" if query else "")

    def query_vector(self, text: str) -> Vector | None:
        """Return the vector of a query, ``None`` if it is not understood; blocking."""
        with self._turn:
            if text in self._queries:
                self._queries.move_to_end(text)
                return self._queries[text]
        (vector,) = self._embedder.embed([text])
        if self._query_failed:
            self._note_success()
        self._identity = self._identity or self._asked_identity()
        with self._turn:
            self._queries[text] = vector
            if len(self._queries) > QUERIES_MAX:
                self._queries.popitem(last=False)
        return vector


async def opened_embedding(store: Store, embedder: Embedder) -> Embedding:
    """Return what embeds; an embedder that cannot say its name yet is asked again later."""
    embedding = Embedding(store, embedder)
    try:
        await embedding.learn_identity()
    except EmbedderError as error:
        embedding.note_failure(error, query=False)
    return embedding
