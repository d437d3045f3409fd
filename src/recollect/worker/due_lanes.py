"""Find due lanes: types whose schedule has struck since their first pending message."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from datetime import datetime
from functools import partial
from typing import Final

from recollect.errors import NotFoundError, UsageError
from recollect.formation.config import Assistants
from recollect.formation.cron import has_struck
from recollect.formation.lanes import waiting_lanes
from recollect.formation.types import MemoryType
from recollect.records import Lane, Scope, Thread
from recollect.stores.contract.base import Store
from recollect.stores.pages import each_row
from recollect.stores.plans.leases import DueThread
from recollect.stores.validation import to_datetime

PAGE_THREADS: Final = 500
_Strikes = Callable[[datetime, datetime], bool]


class DueLanes:
    """
    Finds the lanes that are due in a store.

    A lane is due once its cron line has struck since its first pending message was stored. That
    time is in the store, so a strike is not missed while no worker runs.
    """

    def __init__(self, store: Store, assistants: Assistants) -> None:
        self._store = store
        self._assistants = assistants
        self._scanned_at: datetime | None = None
        self._needs_full_scan = False

    async def struck_scopes(self) -> list[Scope]:
        """
        Return the scopes in which a lane is due.

        The first scan is a full one. Later scans examine only lanes that struck since the last
        scan, unless `request_full_scan` was called.
        """
        now = to_datetime(self._store.now())
        since = None if self._needs_full_scan else self._scanned_at
        self._scanned_at, self._needs_full_scan = now, False
        found: dict[Scope, None] = {}
        async for thread in self._pending(None):
            if thread.scope not in found and await self._due_lanes(thread, now, since):
                found[thread.scope] = None
        return list(found)

    async def due_threads(self, scope: Scope) -> tuple[DueThread, ...]:
        """Return the threads of *scope* with due lanes that one formation can take together."""
        now = to_datetime(self._store.now())
        due = [
            each
            async for thread in self._pending(scope)
            for each in await self._due_lanes(thread, now, None)
        ]
        return tuple(each for each in due if _kind(each) == _kind(due[0]))

    def request_full_scan(self) -> None:
        """Make the next scan a full one, because a due lane was not formed."""
        self._needs_full_scan = True

    def _pending(self, scope: Scope | None) -> AsyncIterator[Thread]:
        return each_row(
            lambda cursor: self._store.pending(scope, cursor=cursor, limit=PAGE_THREADS)
        )

    async def _due_lanes(
        self, thread: Thread, now: datetime, since: datetime | None
    ) -> list[DueThread]:
        """Return the due lanes of a thread; types at the same position share one formation."""
        try:
            settings = self._assistants.of(thread.settings, thread.scope)
        except UsageError:
            return []  # the thread's main formation reports what is wrong with its settings
        due: dict[tuple[Lane, int], list[str]] = {}
        for type_, lane, end in waiting_lanes(thread, settings.types):
            strikes = _strikes_of(type_, settings.time_zone)
            if await self._is_due(thread, lane, strikes, now, since):
                due.setdefault((lane, end), []).append(type_.name)
        if thread.state == "paused":
            # Once resumed, the lanes are still due, although nothing strikes at that moment.
            self._needs_full_scan |= bool(due)
            return []
        return [
            DueThread(
                thread=thread.id,
                formed=lane.formed,
                last=max(lane.formed, end),
                attempts=lane.attempts,
                settings=thread.settings,
                again=lane.again,
                lanes=thread.lanes,
                types=tuple(names),
            )
            for (lane, end), names in due.items()
        ]

    async def _is_due(
        self,
        thread: Thread,
        lane: Lane,
        strikes: _Strikes | None,
        now: datetime,
        since: datetime | None,
    ) -> bool:
        if lane.not_before is not None and lane.not_before > now:
            self._needs_full_scan = True  # it is retried later, without another strike
            return False
        if strikes is None:
            return True
        # The cheap test first: it needs no read of the store.
        if since is not None and not lane.again and not strikes(since, now):
            return False
        first = min((each - 1 for each in lane.again), default=lane.formed)
        try:
            stored_at = await self._store.waiting_since(thread.scope, thread.id, first)
        except NotFoundError:
            return False  # the thread was erased meanwhile
        # A clock that ran ahead and was set back has stored it: it must not wait until that time.
        is_ahead = stored_at is not None and stored_at > now
        return stored_at is None or is_ahead or strikes(stored_at, now)


def _strikes_of(type_: MemoryType, zone: str) -> _Strikes | None:
    """Return whether a type's cron line strikes between two times; ``None`` if it has no line."""
    if type_.schedule is None:
        return None
    return partial(has_struck, type_.schedule, zone=zone)


def _kind(due: DueThread) -> tuple[object, ...]:
    return due.types, due.settings
