"""Interface that a backend implements: transactions over rows, and removal of deleted bytes."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Self, TypeVar, final

from recollect.observability.health import BackgroundTasks
from recollect.ports import Clock, Ids
from recollect.records import Scope
from recollect.stores.change_feed import PRIMARY, IndexFile, IndexFileDraft, ReadOrigin, StaleBound
from recollect.stores.checkpoint_threads import CheckpointThreads
from recollect.stores.plans.idempotency import Idempotency, idempotency_of
from recollect.stores.plans.idempotency_archive import read_secret
from recollect.stores.plans.snapshot import SnapshotQuery, StoreSnapshot
from recollect.stores.system_clock import SystemClock, SystemIds
from recollect.stores.unit_of_work import Plan, Query
from recollect.stores.validation import check_time

ResultT = TypeVar("ResultT")


class DigestSecret:
    """Cached secret of a store's digests, shared by a store and its views."""

    def __init__(self) -> None:
        self.value: bytes | None = None

    def forget(self) -> None:
        """Drop the cached secret, so that it is read again."""
        self.value = None


class Transactor(ABC):
    """Runs each plan and each query in one transaction."""

    answers_in_place: bool = False
    """Whether the store answers on any thread without an event loop; see `run_in_place`."""

    keeps_index_files: bool = False
    """Whether the store keeps indexes of large scopes in files; see `keep_index_file`."""

    def __init__(self, *, clock: Clock | None = None, ids: Ids | None = None) -> None:
        self._clock: Clock = clock or SystemClock()
        self._ids: Ids = ids or SystemIds()
        self._digests = DigestSecret()
        self.tasks = BackgroundTasks()
        """Health of this process's background tasks over the store."""
        self.address: str | None = None
        """
        Address for `open_store`; ``None`` for a store in this process's memory.

        It contains the password, if any: never log it.
        """

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.aclose()

    @final
    def now(self) -> int:
        """Return the store's current time, in microseconds since 1970."""
        return check_time(self._clock.now(), "the clock")

    @final
    def new_name(self) -> str:
        """Return a new UUIDv7 as text."""
        return self._ids.name(self._clock.now())

    @abstractmethod
    async def aclose(self) -> None:
        """Close the store; later calls raise `StoreClosedError`."""

    @abstractmethod
    async def _transact(self, plan: Plan[ResultT]) -> ResultT:
        """Run *plan* in a write transaction, apply its effect, commit, and return its result."""

    async def _change(self, action: str, scope: Scope, plan: Plan[ResultT]) -> ResultT:
        """
        Run *plan*, which changes a scope's data, like `_transact`.

        An acting store audits the change as *action* in the same transaction.
        """
        del action, scope
        return await self._transact(plan)

    @abstractmethod
    async def _read(self, query: Query[ResultT]) -> ResultT:
        """Run *query* in a read transaction: it sees one consistent snapshot."""

    async def _read_brief(self, query: Query[ResultT]) -> ResultT:
        """Run *query* as `_read` does; a lookup of a few rows by key may overtake other reads."""
        return await self._read(query)

    async def _read_snapshot(self, query: SnapshotQuery[ResultT], now: int) -> ResultT:
        """Run *query* as `_read` does, on a snapshot at the time *now*."""
        return await self._read(lambda rows: query(StoreSnapshot(rows, now)))

    async def _read_stale(
        self, query: SnapshotQuery[ResultT], now: int, bound: StaleBound
    ) -> tuple[ResultT, ReadOrigin]:
        """Run *query* as `_read_snapshot` does; a store with read replicas may ask one of them."""
        del bound
        return await self._read_snapshot(query, now), PRIMARY

    def keep_index_file(self, draft: IndexFileDraft) -> IndexFile | None:
        """
        Write a scope's index to a file beside the store; blocks the calling thread.

        Returns:
            The file; ``None`` if the store keeps none, if the scope has changed since the index was
            made, or if writing failed, which is logged.
        """
        del draft
        return None

    async def check_writable(self) -> None:  # noqa: B027 (some stores can always be written)
        """
        Raise if every write would be refused now, as on a standby; nothing is written.

        Raises:
            StoreReadOnlyError: The store may only be read.
            StoreError: The store does not answer.
        """

    @abstractmethod
    async def _clean(self) -> None:
        """Remove deleted bytes from the store's files; raise if that fails."""

    async def _erase_checkpoints(  # noqa: B027 (most stores keep no checkpoints)
        self, threads: CheckpointThreads
    ) -> None:
        """Erase the graph checkpoints of *threads* kept beside the store; raise on failure."""

    async def _checkpoint_ids(self) -> Sequence[str]:
        """Return the thread ids of all graph checkpoints kept beside the store."""
        return ()

    @final
    async def _idempotency(
        self, key: str | None, scope: Scope, *request: object
    ) -> Idempotency | None:
        """Return the stored form of a caller's *key* for a *request*; ``None`` without a key."""
        if key is None:
            return None
        return idempotency_of(await self._digest_secret(), key, scope, *request)

    async def _digest_secret(self) -> bytes:
        """Return the secret for digests: the store's own, or one adopted from another store."""
        if self._digests.value is None:
            adopted = await self._read_brief(read_secret)
            self._digests.value = await self._secret() if adopted is None else adopted
        return self._digests.value

    @abstractmethod
    async def _secret(self) -> bytes:
        """Return the store's own random secret, for keyed hashes."""
