"""The loop of a worker: claim, form, and rest until something is due."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from datetime import datetime
from typing import Final

import anyio

from recollect.errors import (
    LeaseLostError,
    ModelUnavailableError,
    StoreClosedError,
    StoreError,
    UsageError,
)
from recollect.formation.config import Assistants
from recollect.formation.schedule import has_struck
from recollect.records import Scope, Thread
from recollect.stores.base import Store
from recollect.stores.formation import DEAF
from recollect.stores.validate import to_datetime
from recollect.worker.breaker import Breaker
from recollect.worker.former import LEASE_S, Former, Result

POLL_S: Final = 1.0
"""So often a worker looks for what is due, whatever it hears."""
SCHEDULE_EVERY_S: Final = 30.0
PAGE_THREADS: Final = 500


class Worker:
    """
    Forms what is due in a store, several scopes at a time.

    Any number of workers, of any processes, share a store. *name* tells them apart on
    leases. *notice* is told of every formation that ended.
    """

    def __init__(
        self,
        store: Store,
        former: Former,
        assistants: Assistants,
        *,
        name: str,
        concurrency: int = 4,
        notice: Callable[[Scope, Result], None] = lambda *_: None,
    ) -> None:
        self._store = store
        self._former = former
        self._assistants = assistants
        self._name = name
        self._concurrency = concurrency
        self._notice = notice
        self._woken = anyio.Event()
        self._checked = to_datetime(store.now())
        self.breaker = Breaker()

    def wake(self) -> None:
        """Look at once whether something is due."""
        self._woken.set()
        self._woken = anyio.Event()

    async def run(self) -> None:
        """Work until cancelled; a store that is away is tried again."""
        with self._listening():
            async with anyio.create_task_group() as group:
                group.start_soon(self._keep_schedules)
                for _ in range(self._concurrency):
                    group.start_soon(self._work)

    @contextmanager
    def _listening(self) -> Iterator[None]:
        """Look at once when the store hears of something due; looking anyway finds the rest."""
        loop = asyncio.get_running_loop()

        def heard() -> None:
            with suppress(RuntimeError):  # the loop was closed: nobody works any more
                loop.call_soon_threadsafe(self.wake)

        try:
            listening = self._store.listen(heard)
        except StoreClosedError:
            listening = DEAF
        try:
            yield
        finally:
            listening.close()

    async def run_once(self, scope: Scope | None = None) -> Result | None:
        """
        Form one lease of what is due, of *scope* or of any; ``None`` if nothing is, or may be.

        Nothing is claimed while the breaker is open.
        """
        if self.breaker.is_open(self._now()):
            return None
        lease = await self._store.claim(self._name, lease_s=LEASE_S, scope=scope)
        if lease is None:
            return None
        result = await self._former.form(lease)
        self._note(result)
        self._notice(lease.scope, result)
        return result

    async def drain(self, scope: Scope | None = None) -> list[Result]:
        """Form until nothing is due any more; return how each formation ended."""
        results = []
        while (result := await self.run_once(scope)) is not None:
            results.append(result)
        return results

    async def keep_schedules(self) -> int:
        """Make due what a cron line says since the last look; return how many threads."""
        since, self._checked = self._checked, self._now()
        struck = 0
        cursor: str | None = None
        while True:
            page = await self._store.pending(cursor=cursor, limit=PAGE_THREADS)
            for thread in page.rows:
                if self._has_struck(thread, since):
                    struck += await self._store.signal(thread.scope, thread.id)
            cursor = page.cursor
            if cursor is None:
                return struck

    def _has_struck(self, thread: Thread, since: datetime) -> bool:
        try:
            line = self._assistants.of(thread.settings).schedule
            return line is not None and has_struck(line, since, self._checked)
        except UsageError:
            return False  # its formation will say what is wrong with its settings

    async def _work(self) -> None:
        while True:
            woken = self._woken  # who is woken while it claims looks again
            try:
                result = await self.run_once()
            except StoreClosedError:
                return
            except (StoreError, LeaseLostError):
                result = None  # a store that is away, full or damaged may be mended
            if result is None:
                with anyio.move_on_after(POLL_S):
                    await woken.wait()

    async def _keep_schedules(self) -> None:
        while True:
            await anyio.sleep(SCHEDULE_EVERY_S)
            try:
                await self.keep_schedules()
            except StoreClosedError:
                return
            except StoreError:
                continue

    def _note(self, result: Result) -> None:
        if result.outage is not None:
            after_s = (
                result.outage.retry_after_s
                if isinstance(result.outage, ModelUnavailableError)
                else None
            )
            self.breaker = self.breaker.after_outage(self._now(), str(result.outage), after_s)
        elif result.end in {"formed", "given up", "retried"}:
            self.breaker = self.breaker.after_success()

    def _now(self) -> datetime:
        return to_datetime(self._store.now())
