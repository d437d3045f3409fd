"""The worker's loop: claim due threads, form them, and wait for more."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from copy import copy
from dataclasses import dataclass, field, replace
from datetime import datetime
from logging import ERROR
from typing import Final, Self, TypeVar

import anyio

from recollect.errors import (
    LeaseLostError,
    ModelError,
    ModelUnavailableError,
    NotFoundError,
    StoreClosedError,
    StoreError,
    UsageError,
)
from recollect.formation.config import Assistants
from recollect.formation.cron import has_struck
from recollect.observability.health import TaskMonitor
from recollect.observability.logs import package_logger, scope_tag
from recollect.records import Scope, Thread
from recollect.stores.contract.base import Store
from recollect.stores.contract.formation import DEAF
from recollect.stores.pages import each_row
from recollect.stores.plans.leases import Lease
from recollect.stores.unit_of_work import Proviso
from recollect.stores.validation import to_datetime
from recollect.worker.circuit_breaker import Breaker
from recollect.worker.due_lanes import PAGE_THREADS, DueLanes
from recollect.worker.formation_result import FormationResult
from recollect.worker.former import Former
from recollect.worker.lease_renewal import claim_or_release
from recollect.worker.worker_options import (
    CONCURRENCY,
    FORMATION,
    SCHEDULE_EVERY_S,
    FormationCallback,
    check_concurrency,
    tell_nobody,
)

LOG: Final = package_logger("recollect.worker")
SCHEDULES: Final = "schedules"
"""Name of the background task that watches cron schedules."""
POLL_S: Final = 1.0
"""Interval at which a worker looks for due threads, even without a notification."""

WorkerT = TypeVar("WorkerT", bound="Worker")


@dataclass(slots=True, kw_only=True)
class _WorkerState:
    """The mutable state of a worker, shared with all its views (`Worker.acting`)."""

    checked: datetime | None = None
    """When the cron lines of threads were last looked at, to the end."""
    breaker: Breaker = field(default_factory=Breaker)
    woken: anyio.Event = field(default_factory=anyio.Event)
    claim_failed: bool = False


class Worker:
    """
    Forms due threads of a store, several scopes at a time.

    Any number of workers, in any number of processes, can share a store. *name* identifies this
    one on leases. *notice* is called with every finished formation.

    An open memory with a model has one, as ``memory.worker``:

    >>> import asyncio
    >>> import recollect
    >>> async def main():
    ...     ended = asyncio.Event()
    ...     async with recollect.open(
    ...         "memory:",
    ...         embedder="none",
    ...         model="rules",
    ...         formation=recollect.FormationSettings(debounce=recollect.Debounce(quiet_s=0)),
    ...         notice=lambda scope, result: ended.set(),
    ...     ) as memory:
    ...         await memory.append("ada", "chat", "I live in Turku.")
    ...         memory.worker.wake()  # do not wait for the next poll
    ...         await ended.wait()
    ...         return (await memory.get("ada", "User", "User")).value
    >>> asyncio.run(main())
    {'home': 'Turku'}
    """

    def __init__(
        self,
        store: Store,
        former: Former,
        assistants: Assistants,
        *,
        name: str,
        concurrency: int = CONCURRENCY,
        notice: FormationCallback = tell_nobody,
    ) -> None:
        self._store = store
        self._former = former
        self._assistants = assistants
        self._name = name
        self._concurrency = check_concurrency(concurrency)
        self._notice = notice
        self._due_lanes = DueLanes(store, assistants)
        self._state = _WorkerState()
        self._monitor = store.tasks.monitor(FORMATION, LOG)
        self._schedules = store.tasks.monitor(SCHEDULES, LOG)

    @property
    def breaker(self) -> Breaker:
        """The circuit breaker of the model."""
        return self._state.breaker

    @breaker.setter
    def breaker(self, breaker: Breaker) -> None:
        self._state.breaker = breaker

    def acting(self, actor: str, *, proviso: Proviso | None = None) -> Self:
        """Return a view of this worker that forms, and is audited, as *actor*."""
        view = copy(self)  # a shallow copy: everything mutable is in the shared `_state`
        view._former = self._former.acting(actor, proviso)  # noqa: SLF001 (a copy of this one)
        return view

    def made_as(self, kind: type[WorkerT]) -> WorkerT:
        """Return a worker of another class, *kind*, with the same configuration."""
        return kind(
            self._store,
            self._former,
            self._assistants,
            name=self._name,
            concurrency=self._concurrency,
            notice=self._notice,
        )

    def wake(self) -> None:
        """Look for due threads at once."""
        # A set event stays set: later waits need a new one.
        self._state.woken.set()
        self._state.woken = anyio.Event()

    async def run(self) -> None:
        """Work until cancelled; retry while the store is unavailable."""
        with self._monitor.running(), self._schedules.running(), self._listening():
            async with anyio.create_task_group() as group:
                group.start_soon(self._keep_schedules)
                for _ in range(self._concurrency):
                    group.start_soon(self._work)

    @contextmanager
    def _listening(self) -> Iterator[None]:
        """Wake on the store's notifications; polling finds whatever these miss."""
        loop = asyncio.get_running_loop()

        def heard() -> None:  # called on a thread of the store
            with suppress(RuntimeError):  # the loop is closed, and this worker has ended
                loop.call_soon_threadsafe(self.wake)

        try:
            listening = self._store.listen(heard)
        except StoreClosedError:
            listening = DEAF
        try:
            yield
        finally:
            listening.close()

    async def run_once(self, scope: Scope | None = None) -> FormationResult | None:
        """
        Claim due threads, of *scope* or of any scope, and form them under one lease.

        ``None`` if nothing is due, or the circuit breaker is open.
        """
        if self.breaker.is_open(self._now()):
            return None
        lease = await claim_or_release(self._store, self._name, scope=scope)
        return None if lease is None else await self._form(lease)

    async def _form(self, lease: Lease) -> FormationResult:
        """Form the threads of *lease*; record and report the result."""
        result = await self._former.form(lease)
        self._note(lease.scope, result)
        self._notice(lease.scope, result)
        return result

    async def run_lane(self, scope: Scope) -> FormationResult | None:
        """
        Form the due lanes of *scope* under one lease.

        ``None`` if no lane is due, another worker holds the scope, or the circuit breaker is open.
        """
        if self.breaker.is_open(self._now()):
            return None
        lease = await claim_or_release(self._store, self._name, scope=scope, idle=True)
        if lease is None:
            return None
        try:
            # Under the lease, since another worker may have formed them before the claim.
            threads = await self._due_lanes.due_threads(scope)
        except BaseException:
            await self._former.give_back(lease)
            raise
        if not threads:
            await self._former.give_back(lease)
            return None
        return await self._form(replace(lease, threads=threads))

    async def drain(self, scope: Scope | None = None) -> list[FormationResult]:
        """
        Form until nothing is due; return the result of each formation.

        This includes types with a schedule of their own, if it has struck.
        """
        results = []
        while (result := await self.run_once(scope)) is not None:
            results.append(result)
        return results + await self.form_struck(scope)

    async def form_struck(self, scope: Scope | None = None) -> list[FormationResult]:
        """Form the lanes of types whose schedule has struck."""
        results: list[FormationResult] = []
        is_done = False
        try:
            scopes = await self._due_lanes.struck_scopes() if scope is None else [scope]
            is_done = all([await self._form_lanes(each, results) for each in scopes])
        finally:
            if not is_done:  # also after an error: a lane that stays due strikes no second time
                self._due_lanes.request_full_scan()
        return results

    async def _form_lanes(self, scope: Scope, results: list[FormationResult]) -> bool:
        """Form the due lanes of a scope; return True if none is left."""
        while await self._due_lanes.due_threads(scope):
            result = await self.run_lane(scope)
            if result is None:
                return False
            results.append(result)
            if result.end not in {"formed", "dead"}:
                return False
        return True

    async def keep_schedules(self) -> int:
        """
        Make threads due whose cron line has struck since the last call; return how many.

        The first call counts from the time at which the pending messages were stored, so that a
        strike is not missed while no worker runs.
        """
        since, now = self._state.checked, self._now()
        struck = 0
        async for thread in each_row(
            lambda cursor: self._store.pending(cursor=cursor, limit=PAGE_THREADS)
        ):
            with suppress(NotFoundError):  # it was erased since it was listed
                if await self._has_struck(thread, since, now):
                    struck += await self._store.signal(thread.scope, thread.id)
        # Not before: the next call must find the strikes that an error kept from this one.
        self._state.checked = now
        return struck

    async def _has_struck(self, thread: Thread, since: datetime | None, now: datetime) -> bool:
        try:
            settings = self._assistants.of(thread.settings, thread.scope)
        except UsageError:
            return False  # its formation reports what is wrong with its settings
        line = settings.schedule
        if line is None:
            return False
        if since is None:
            if thread.attempts or (thread.due is not None and thread.due <= now):
                return False  # it is due already, or waits after a failure
            since = await self._store.waiting_since(thread.scope, thread.id, thread.formed)
        return since is not None and has_struck(line, since, now, zone=settings.time_zone)

    async def _work(self) -> None:
        while True:
            # Taken before the claim, so that a wake during it is not missed.
            woken = self._state.woken
            try:
                result = await self.run_once()
            except StoreClosedError:
                return
            except (StoreError, LeaseLostError) as error:
                result = None  # keep polling: an unavailable, full or damaged store may be repaired
                self._state.claim_failed = True
                self._monitor.failed(error, retry_s=POLL_S)
            else:
                self._note_claimed()
            if result is None:
                with anyio.move_on_after(POLL_S):
                    await woken.wait()

    async def _keep_schedules(self) -> None:
        while True:
            await anyio.sleep(SCHEDULE_EVERY_S)
            try:
                await self.keep_schedules()
                await self.form_struck()
                self._schedules.succeeded()
            except StoreClosedError:
                return
            except (StoreError, LeaseLostError) as error:
                self._schedules.failed(error, retry_s=SCHEDULE_EVERY_S)

    def _note_claimed(self) -> None:
        """Record that the store answers again."""
        # Only after a failed claim: a formation that fails for another reason stays failed.
        if self._state.claim_failed:
            self._state.claim_failed = False
            self._monitor.succeeded()

    def _note(self, scope: Scope, result: FormationResult) -> None:
        note_result(self._monitor, scope, result)
        if result.outage is not None:
            after_s = (
                result.outage.retry_after_s
                if isinstance(result.outage, ModelUnavailableError)
                else None
            )
            self.breaker = self.breaker.after_outage(self._now(), str(result.outage), after_s)
        elif result.end in {"formed", "dead", "failed"}:  # the model answered, well or badly
            self.breaker = self.breaker.after_success()

    def _now(self) -> datetime:
        return to_datetime(self._store.now())


def note_result(monitor: TaskMonitor, scope: Scope, result: FormationResult) -> None:
    """Record and log how a formation ended, as an error if a message was given up."""
    LOG.debug(
        "formation in %r: %s, %d outcomes: %s",
        *(scope, result.end, len(result.outcomes), result.reason),
    )
    if result.end == "formed":
        monitor.succeeded()
    elif result.end == "dead":
        error = result.error or ModelError(result.reason)
        about = f"{scope_tag(scope)}, and its message is given up until it is retried"
        monitor.failed(error, about=about, level=ERROR)
    elif result.error is not None or result.end == "failed":
        error = result.error or ModelError(result.reason)
        monitor.failed(error, retry_s=result.retry_s, about=scope_tag(scope))
