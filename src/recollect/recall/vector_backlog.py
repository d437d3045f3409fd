"""Background task that embeds entries without a vector."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Sequence
from contextlib import suppress
from threading import Lock
from typing import Final
from weakref import WeakValueDictionary

import anyio
from anyio import to_thread

from recollect.deferred_imports import load_modules
from recollect.errors import EmbedderError, StoreError
from recollect.observability.logs import package_logger
from recollect.ports import Embedder, Vector
from recollect.recall.strength import STRENGTH, KeptStrength, declared_strength, stored_strength
from recollect.records import Scope
from recollect.stores.contract.base import Store
from recollect.stores.in_place import has_loop
from recollect.stores.plans.embedding_backlog import Embedded, Unembedded
from recollect.stores.system_clock import timer_s

LOG: Final = package_logger("recollect.recall.vector_backlog")
EMBEDDING: Final = "embedding"
"""The name of the background task."""
SWEEP_S: Final = 5.0
"""Seconds between looks for entries that other processes or workers wrote without a vector."""
SWEPT_MAX: Final = 100
"""Scopes with a backlog that one look returns."""
RETRY_S: Final = 5.0
"""Seconds to wait after the embedder or the store failed."""
QUERIES_MAX: Final = 1_024
"""Vectors of queries that are cached."""
STRENGTH_S: Final = 60.0
"""Seconds between reads of the stored strength, which another process may have tuned."""
LOOK_AGAIN_S: Final = 0.003
"""Seconds between looks of a search that waits for vectors."""
GATHER_S: Final = 0.02
"""Seconds in which writes are gathered into one batch, unless a search waits for their vectors."""
GATHER_BELOW: Final = 64
"""Entries of a round from which the next one starts at once: there are more to embed."""


class Embedding:
    """
    Embeds the entries of a store, in batches, as they arrive.

    Any number of processes may do this on one store: a vector is stored only if its text is still
    the entry's text, and storing one again changes nothing.
    """

    def __init__(self, store: Store, embedder: Embedder) -> None:
        self._store = store
        self._embedder = embedder
        self._identity: str | None = None
        self._woken = anyio.Event()
        self._wanted = anyio.Event()
        self._searches = 0
        self._queries: OrderedDict[str, Vector | None] = OrderedDict()
        # Guards the fields below: queries are embedded on worker threads.
        self._turn = Lock()
        # One lock per scope, so that the background task and `settle` never embed the same batch.
        # Weak, so that a lock disappears when no task holds or awaits it.
        self._batches: WeakValueDictionary[int, anyio.Lock] = WeakValueDictionary()
        self._monitor = store.tasks.monitor(EMBEDDING, LOG)
        self._query_failed = False
        self._query_failures = 0
        self._answered = 0
        self._is_running = True  # the task starts with the memory, before the first search
        # A counter of this process's writes, and the number of the last one in each scope that may
        # still lack vectors.
        self._written = 0
        self._behind: dict[Scope, int] = {}
        # The scopes written here since the last round, and the ids of those with a backlog. A look
        # at all scopes takes time by their number, so that it must not follow every write.
        self._noted: set[Scope] = set()
        self._left: set[int] = set()
        self._swept_s: float | None = None
        self._declared = declared_strength(embedder)
        self._kept: KeptStrength | None = None
        self._strength_read_s: float | None = None
        self.last_error: EmbedderError | StoreError | None = None

    @property
    def known_identity(self) -> str | None:
        """The embedder's identity, ``None`` while it is unknown."""
        return self._identity

    @property
    def identity(self) -> str:
        """
        The embedder's identity.

        Raises:
            EmbedderError: The identity is not known yet: the embedder has failed so far.
        """
        if self._identity is None:
            msg = f"the embedder did not say its name yet: {self.last_error or 'it was not asked'}"
            raise EmbedderError(msg)
        return self._identity

    async def learn_identity(self) -> str:
        """
        Return the embedder's identity, fetched once on a worker thread.

        Fetching may embed a text, which blocks.

        Raises:
            EmbedderError: The embedder failed.
        """
        if self._identity is None:
            self._identity = await to_thread.run_sync(self._fetch_identity)
        return self._identity

    def _fetch_identity(self) -> str:
        return self._embedder.identity

    @property
    def strength(self) -> float:
        """The weight of its vectors: the stored one, else the declared one, else 1."""
        if self._kept is not None:
            return self._kept.strength
        return STRENGTH if self._declared is None else self._declared

    async def learn_strength(self) -> float:
        """
        Read the stored strength of this embedder, and return the one to use.

        Raises:
            EmbedderError: The embedder's identity could not be fetched.
            StoreError: The store failed; the strength stays as it was.
        """
        self._kept = await stored_strength(self._store, await self.learn_identity())
        self._strength_read_s = timer_s()
        return self.strength

    async def _keep_strength_fresh(self) -> None:
        read_s = self._strength_read_s
        if read_s is None or timer_s() - read_s >= STRENGTH_S:
            await self.learn_strength()

    def wake(self) -> None:
        """Start a round: of what was noted as written, and of all scopes if a look is due."""
        self._woken.set()

    def look_everywhere(self) -> None:
        """Look at all scopes in the next round, whoever wrote there."""
        self._swept_s = None

    def note_written(self, scope: Scope) -> None:
        """Note that *scope* may hold entries without a vector; see `caught_up`."""
        with self._turn:
            self._written += 1
            self._behind[scope] = self._written
            self._noted.add(scope)

    async def caught_up(self, scope: Scope, wait_s: float, *, below: bool = False) -> bool:
        """
        Wait at most *wait_s* seconds until everything this process wrote in *scope* has its vector.

        Returns:
            False if some vectors are still missing: the time ran out, the embedder fails, or the
            background task does not run.
        """
        if not self._is_behind(scope, below=below):
            return True
        self._searches += 1
        self._wanted.set()
        try:
            return await self._catch_up(scope, timer_s() + wait_s, below=below)
        finally:
            self._searches -= 1

    async def _catch_up(self, scope: Scope, end_s: float, *, below: bool) -> bool:
        while self._is_behind(scope, below=below):
            if not has_loop() or not self._is_running or self.last_error or timer_s() >= end_s:
                return False
            await anyio.sleep(LOOK_AGAIN_S)
        return True

    def _is_behind(self, scope: Scope, *, below: bool) -> bool:
        if not below:
            return scope in self._behind
        with self._turn:
            return any(each[: len(scope)] == scope for each in self._behind)

    def _note_embedded(self, written: int) -> None:
        """Note that every write up to the number *written* has its vectors."""
        with self._turn:
            self._behind = {each: at for each, at in self._behind.items() if at > written}

    async def run(self) -> None:
        """Embed new entries until cancelled; failures are retried after a pause."""
        self._is_running = True
        try:
            with self._monitor.running():
                await self._run()
        finally:
            self._is_running = False

    async def _run(self) -> None:
        while True:
            # Both before the store is read: a write during the round must wake the next one, and
            # must not count as embedded.
            self._woken = anyio.Event()
            written = self._written
            try:
                failures, answered = self._query_failures, self._answered
                await self._keep_strength_fresh()
                worked = await self.work_once()
                self._note_work(failures, answered)
            except (EmbedderError, StoreError) as error:
                self.last_error = error
                self._monitor.failed(error, retry_s=RETRY_S)
                self.look_everywhere()  # a scope whose name was not looked up is found again
                await anyio.sleep(RETRY_S)
                continue
            if not worked:
                self._note_embedded(written)
                with anyio.move_on_after(SWEEP_S):
                    await self._woken.wait()
            if self._answered - answered < GATHER_BELOW:
                await self._gather()

    async def _gather(self) -> None:
        """
        Let callers write for a moment before the next batch is read.

        A batch costs two reads and a commit, whatever its size: more than the append of one
        message. A caller who writes one after another would pay that for each of them.
        """
        self._wanted = anyio.Event()
        if not self._searches:
            with anyio.move_on_after(GATHER_S):
                await self._wanted.wait()

    async def work_once(self) -> bool:
        """
        Embed one batch of each scope with a backlog; return True if there was any.

        Raises:
            EmbedderError: The embedder failed for some scope; the others were processed.
        """
        failure: EmbedderError | None = None
        worked = False
        identity = await self.learn_identity()
        await self._collect_backlog(identity)
        for scope_id in sorted(self._left):
            try:
                batch = await self._embed_batch(scope_id, identity)
                worked |= batch is not None
                if batch is None or not batch.has_more:
                    self._left.discard(scope_id)  # a later write is noted, or found by a look
            except EmbedderError as error:
                failure = error
        if failure:
            raise failure
        return worked

    async def _collect_backlog(self, identity: str) -> None:
        """Add the scopes written here, and all with a backlog if the last look is old."""
        with self._turn:
            noted, self._noted = self._noted, set()
        for scope in noted:
            scope_id = await self._store.scope_id(scope)
            if scope_id is not None:
                self._left.add(scope_id)
        if self._swept_s is not None and timer_s() - self._swept_s < SWEEP_S:
            return
        # Set before the look, so that `look_everywhere` meanwhile asks for another one.
        self._swept_s = timer_s()
        found = await self._store.unembedded_scopes(identity, SWEPT_MAX)
        self._left.update(found)
        if len(found) == SWEPT_MAX:
            self.look_everywhere()

    async def settle(self, scope: Scope) -> None:
        """
        Embed everything that *scope* holds now.

        Raises:
            EmbedderError: The embedder failed.
        """
        scope_id = await self._store.scope_id(scope)
        while scope_id is not None:
            batch = await self._embed_batch(scope_id, await self.learn_identity())
            if batch is None or not batch.has_more:
                return

    async def _embed_batch(self, scope_id: int, identity: str) -> Unembedded | None:
        """Embed one batch of a scope under its lock, and return it; ``None`` if none is left."""
        async with self._batches.setdefault(scope_id, anyio.Lock()):
            # Read under the lock: what another task has just embedded is no longer in the backlog.
            batch = await self._store.unembedded(scope_id, identity)
            if batch is not None:
                await self._embed(batch)
            return batch

    async def _embed(self, batch: Unembedded) -> None:
        texts = [text for _, _, text in batch.entries]
        vectors = await self.vectors(texts) if texts else []
        self._answered += len(texts)
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
        Return the vectors of *texts*, in order; ``None`` for an unsupported language.

        Raises:
            EmbedderError: The embedder failed.
        """
        return await to_thread.run_sync(self._embedder.embed, texts)

    def _note_work(self, failures: int, answered: int) -> None:
        """
        Note that a round succeeded that began at these counts of failed queries and of answers.

        A failed query stays recorded unless the embedder answered in this round and the query
        failed before it. A round without work proves nothing, and a later failure is newer.
        """
        with self._turn:
            was_asked = self._answered > answered
            is_older = self._query_failures == failures
            if self._query_failed and not (was_asked and is_older):
                return
            self._clear()

    def _note_success(self) -> None:
        with self._turn:
            self._clear()

    def _clear(self) -> None:
        self.last_error, self._query_failed = None, False
        self._monitor.succeeded()

    def note_failure(self, error: EmbedderError, *, query: bool = True) -> None:
        """Record that the embedder failed; a *query* is then answered by words alone."""
        error.about = error.about or self._identity or ""
        with self._turn:
            self.last_error = error
            self._query_failed |= query
            self._query_failures += query
            self._monitor.failed(error, about="a query" if query else "")

    def query_vector(self, text: str) -> Vector | None:
        """Return the vector of a query, ``None`` for an unsupported language; blocking."""
        with self._turn:
            if text in self._queries:
                self._queries.move_to_end(text)
                return self._queries[text]
        # Without the lock: embedding takes milliseconds, during which others may look up vectors.
        (vector,) = self._embedder.embed([text])
        if self._query_failed:
            self._note_success()
        self._identity = self._identity or self._fetch_identity()
        with self._turn:
            self._queries[text] = vector
            if len(self._queries) > QUERIES_MAX:
                self._queries.popitem(last=False)
        return vector


async def opened_embedding(store: Store, embedder: Embedder) -> Embedding:
    """Return an `Embedding` over *store*; an unknown identity is retried later."""
    embedding = Embedding(store, embedder)
    try:
        await embedding.learn_identity()
        with suppress(StoreError):  # the background task tries again
            await embedding.learn_strength()
    except EmbedderError as error:
        embedding.note_failure(error, query=False)
    return embedding
