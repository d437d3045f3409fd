"""External vector store: mirrored in the background, queried by recall."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final, TypeAlias
from urllib.parse import quote

import anyio
from anyio import to_thread

from recollect.errors import (
    EmbedderError,
    LimitError,
    StoreError,
    StoreUnavailableError,
    UsageError,
)
from recollect.observability.logs import package_logger
from recollect.ports import OutsideVectors
from recollect.recall.vector_backlog import RETRY_S, SWEEP_S
from recollect.records import Scope
from recollect.side_records import DeleteSideRecord, PutSideRecord, SideRecord
from recollect.stores.contract.base import Store
from recollect.stores.pages import each_row
from recollect.stores.plans.embedding_backlog import Unembedded
from recollect.stores.plans.outside_removals import LEFT, MIRROR, OUTSIDE_SCOPE
from recollect.stores.validation import check_id

LOG: Final = package_logger("recollect.recall.outside_vectors")
OUTSIDE: Final = "outside"
"""The name of the background task."""
OutsideHits: TypeAlias = Mapping[Scope, Mapping[int, float]]
"""Hits of an outside vector store: for each scope, similarities by uid."""
HITS_MAX: Final = 100
"""Nearest entries requested from an outside store for each scope."""
SCOPES_MAX: Final = 16
"""Scopes up to which an outside store takes part in a recall: each needs a request of its own."""
ANSWER_S: Final = 2.0
"""Seconds that a recall waits for an external store before it continues without it."""
CALLS_MAX: Final = 8
"""Concurrent requests to an outside store: a hanging one must not use up all worker threads."""
REMOVED_MAX: Final = 1_000
"""Entries removed in one request."""
Failure: TypeAlias = StoreError | UsageError | EmbedderError
FAILURES: Final = (StoreError, UsageError, EmbedderError)
"""The errors that an outside store may raise."""
SCOPE_FIELD: Final = "recollect_scope"
"""The field of an outside document's metadata that names its scope."""
NAME_CHARACTERS_MAX: Final = 100
"""Characters that the name of an outside store has at most."""


def scope_name(scope: Scope) -> str:
    """Return the name of a scope in an external store: URL-quoted segments joined by ``/``."""
    return "/".join(quote(segment, safe="") for segment in scope)


class Outside:
    """
    Mirrors the entries of a store into an external vector store, and searches it.

    The mirror's progress is recorded in the store, as for an embedder's vectors. Any number of
    processes may mirror one store: repeated work changes nothing.
    """

    def __init__(self, store: Store, vectors: OutsideVectors) -> None:
        self.name = check_id(vectors.name, "the name of an outside store")
        if len(self.name) > NAME_CHARACTERS_MAX:
            what = "characters of the name of an outside store"
            raise LimitError(what, len(self.name), NAME_CHARACTERS_MAX, "NAME_CHARACTERS_MAX")
        self._store = store
        self._vectors = vectors
        self.known_identity = f"outside:{self.name}"
        """The name under which the store records the mirror's progress."""
        self._woken = anyio.Event()
        # One batch at a time: an entry that is erased while it is mirrored must be removed after it
        # was added, not before.
        self._turn = anyio.Lock()
        self._asking = anyio.CapacityLimiter(CALLS_MAX)
        # Mirrored entries of scopes that were erased during the call, still to be removed.
        self._strays: set[int] = set()
        self._monitor = store.tasks.monitor(OUTSIDE, LOG)
        self._query_failed = False
        self.last_error: Failure | None = None

    async def open(self) -> None:
        """
        Check that the external store is usable, and register it in the store.

        Raises:
            UsageError: The external store is unsuitable. An unreachable one is retried later
                instead.
        """
        try:
            await to_thread.run_sync(self._vectors.check)
        except (StoreError, EmbedderError) as error:
            self._note(error)
        if await self._store.side_record(OUTSIDE_SCOPE, MIRROR, self.name) is None:
            await self._store.apply(
                OUTSIDE_SCOPE, [PutSideRecord(kind=MIRROR, key=self.name, value={})]
            )

    def wake(self) -> None:
        """Signal that something was written."""
        self._woken.set()

    async def run(self) -> None:
        """Mirror new entries until cancelled; failures are retried after a pause."""
        with self._monitor.running():
            await self._run()

    async def _run(self) -> None:
        while True:
            self._woken = anyio.Event()
            try:
                worked = await self.work_once()
                # A round without work did not call the outside store, and proves nothing about a
                # query that failed before.
                if worked or not self._query_failed:
                    self._note_success()
            except FAILURES as error:
                self._note(error, retry_s=RETRY_S)
                await anyio.sleep(RETRY_S)
                continue
            if not worked:
                with anyio.move_on_after(SWEEP_S):
                    await self._woken.wait()

    def _note_success(self) -> None:
        self.last_error, self._query_failed = None, False
        self._monitor.succeeded()

    def _note(self, error: Failure, *, retry_s: float | None = None, query: bool = False) -> None:
        self.last_error = error
        self._query_failed |= query
        self._monitor.failed(error, retry_s=retry_s, about="a query" if query else "")

    async def work_once(self) -> bool:
        """
        Remove erased entries, and mirror one batch of each scope that has a backlog.

        Returns:
            True if there was any work.

        Raises:
            StoreError: The external store failed.
        """
        await self.remove_left()
        scopes = await self._store.unembedded_scopes(self.known_identity)
        for scope_id in scopes:
            await self._next(scope_id)
        return bool(scopes)

    async def settle(self, scope: Scope) -> None:
        """
        Mirror everything that *scope* holds now.

        Raises:
            StoreError: The external store failed.
        """
        scope_id = await self._store.scope_id(scope)
        while scope_id is not None and await self._next(scope_id):
            pass

    async def _next(self, scope_id: int) -> bool:
        async with self._turn:
            batch = await self._store.unembedded(scope_id, self.known_identity)
            if batch is not None:
                # An erase may leave an entry both rewritten (in the batch) and marked for removal:
                # remove first, or the new text would be removed with the old.
                await self._remove_left()
                await self._mirror(batch)
            return batch is not None

    async def _mirror(self, batch: Unembedded) -> None:
        entries = [(uid, text) for uid, _, text in batch.entries if text.strip()]
        await self._remove([*batch.removed, *(uid for uid, _, _ in batch.entries)])
        if entries:
            await to_thread.run_sync(self._vectors.add, batch.scope, entries)
        done = [(uid, text_hash, b"") for uid, text_hash, _ in batch.entries]
        kept = await self._store.keep_vectors(batch, self.known_identity, done)
        LOG.debug("mirrored %d of %d entries of %r", kept, len(done), batch.scope)
        if kept < len(done) and await self._store.scope_id(batch.scope) != batch.scope_id:
            # The scope was erased during the call, so that no feed will name these entries again.
            # A single entry that was erased is in the scope's feed, and needs nothing here.
            self._strays.update(uid for uid, _ in entries)
            await self._remove_strays()

    async def _remove(self, uids: Sequence[int]) -> None:
        for start in range(0, len(uids), REMOVED_MAX):
            part = uids[start : start + REMOVED_MAX]
            await to_thread.run_sync(self._vectors.remove, part)

    async def _remove_strays(self) -> None:
        await self._remove(sorted(self._strays))
        self._strays.clear()

    async def remove_left(self) -> None:
        """
        Remove entries that were erased from the store, then the records of them.

        Raises:
            StoreError: The external store failed; the records are kept.
        """
        async with self._turn:
            await self._remove_left()

    async def _remove_left(self) -> None:
        await self._remove_strays()
        async for each in each_row(
            lambda cursor: self._store.side_records(OUTSIDE_SCOPE, LEFT, cursor=cursor)
        ):
            if each.value.get("store") == self.name:
                await self._remove(_uids_of(each))
                gone = DeleteSideRecord(kind=LEFT, key=each.key)
                await self._store.apply(OUTSIDE_SCOPE, [gone])

    async def try_remove_left(self) -> None:
        """Like `remove_left`, but record a failure in *last_error* instead of raising."""
        try:
            await self.remove_left()
        except FAILURES as error:
            self._note(error)

    async def search(self, scopes: Sequence[Scope], query: str) -> OutsideHits | None:
        """Return the nearest entries of each scope; ``None`` on failure or timeout."""
        if len(scopes) > SCOPES_MAX:
            return None
        with anyio.move_on_after(ANSWER_S):
            try:
                found = await to_thread.run_sync(
                    self._search, scopes, query, abandon_on_cancel=True, limiter=self._asking
                )
            except FAILURES as error:
                self._note(error, query=True)
                return None
            if self._query_failed:
                self._note_success()
            return found
        msg = f"the outside store {self.name!r} did not answer within {ANSWER_S:g} s (ANSWER_S)"
        self._note(StoreUnavailableError(msg), query=True)
        return None

    def _search(self, scopes: Sequence[Scope], query: str) -> OutsideHits:
        return {scope: dict(self._vectors.search(scope, query, HITS_MAX)) for scope in scopes}


def _uids_of(left: SideRecord) -> list[int]:
    uids = left.value.get("uids")
    return [int(str(each)) for each in uids] if isinstance(uids, list | tuple) else []


async def opened_outside(store: Store, vectors: OutsideVectors) -> Outside:
    """
    Return an `Outside` that mirrors *store* into *vectors*.

    Raises:
        UsageError: The external store is unsuitable.
    """
    outside = Outside(store, vectors)
    await outside.open()
    return outside
