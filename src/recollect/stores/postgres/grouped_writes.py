"""Group commit: small writes of many scopes that wait at the same time share one transaction."""

from __future__ import annotations

import asyncio
from threading import Lock
from typing import Any, Final

from recollect.errors import StoreClosedError
from recollect.records import Scope
from recollect.stores.foreseen_reads import ForeseenReads
from recollect.stores.postgres.unit_runner import ForeseenWrite, PostgresUnits
from recollect.stores.remote.concurrency import StoreThreads
from recollect.stores.thread_calls import CallOutcome, ThreadCall, answer
from recollect.stores.unit_of_work import Plan

GROUP_CALLS_MAX: Final = 64
"""Most writes in one commit."""
RUNNERS_MAX: Final = 2
"""Groups in progress at a time: one runs its plans while the other waits for the server."""


class GroupedWrites:
    """
    Collects waiting writes and commits them in groups, on the threads of the store.

    A group has at most one write to a scope. Later writes to the same scope wait for the next
    group, which keeps their order.
    """

    def __init__(self, name: str, turns: StoreThreads, workshop: PostgresUnits) -> None:
        self._name = name
        self._turns = turns
        self._workshop = workshop
        self._lock = Lock()
        self._waiting: list[ThreadCall[ForeseenWrite]] = []
        self._busy: set[Scope] = set()
        """The scopes of the groups in progress."""
        self._runners = 0

    def carry_out(self, plan: Plan[Any], reads: ForeseenReads) -> asyncio.Future[Any]:
        """
        Queue *plan*; the future returns the plan's result, or `ALONE`.

        Raises:
            StoreClosedError: The store is closed.
        """
        self._turns.check_open()
        loop = asyncio.get_running_loop()
        future = loop.create_future()
        call = ThreadCall(ForeseenWrite(plan, reads, self._turns.late_at()), future, loop)
        with self._lock:
            self._waiting.append(call)
            starts = self._runners < RUNNERS_MAX
            self._runners += starts
        if starts:
            # Start later, so that writes made in the same pass of the event loop join the group.
            loop.call_soon(self._start)
        return future

    def _start(self) -> None:
        if not self._try_submit():
            with self._lock:
                left, self._waiting = self._waiting, []
                self._runners -= 1
            for call in left:
                call.fail(StoreClosedError(f"{self._name}: this store was closed: open another"))
            answer(left)

    def _try_submit(self) -> bool:
        """Start a runner on a thread of the store; return False if the threads have ended."""
        try:
            self._turns.check_open().submit(self._serve)
        except (RuntimeError, StoreClosedError):
            return False
        return True

    def _serve(self) -> None:
        while group := self._take():
            outcome = CallOutcome()
            with outcome:
                self._carry_out(group)
            if outcome.error:
                for call in group:
                    call.fail(outcome.error)
            with self._lock:
                self._busy -= {each.work.reads.scope for each in group}
            answer(group)
            # Queue again behind other calls, so that groups do not starve them. If the store is
            # being closed, no thread can be had: serve the rest here.
            if self._try_submit():
                return

    def _take(self) -> list[ThreadCall[ForeseenWrite]]:
        """Return the writes that waited longest, one per scope; an empty list ends the runner."""
        with self._lock:
            taken: dict[Scope, ThreadCall[ForeseenWrite]] = {}
            left: list[ThreadCall[ForeseenWrite]] = []
            for call in self._waiting:
                scope = call.work.reads.scope
                is_next = scope not in taken and scope not in self._busy
                if is_next and len(taken) < GROUP_CALLS_MAX:
                    taken[scope] = call
                else:
                    left.append(call)
            self._waiting = left
            self._busy |= taken.keys()
            self._runners -= not taken
            return [*taken.values()]

    def _carry_out(self, group: list[ThreadCall[ForeseenWrite]]) -> None:
        going = []
        for call in group:
            with call:
                self._turns.check_in_time(call.work.late_at)
            if not call.error and not call.future.cancelled():
                going.append(call)
        if going:
            self._workshop.carry_out_together(going)
