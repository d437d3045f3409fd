"""
Group commit: writes of many scopes that wait at the same time share one transaction.

So do the requests for leases that are made at the same time.
"""

from __future__ import annotations

import asyncio
from functools import partial
from threading import Lock, Thread
from typing import Any, Final

from recollect.errors import StoreClosedError
from recollect.records import Scope
from recollect.stores.call_queue import CallQueue
from recollect.stores.foreseen_reads import ForeseenReads
from recollect.stores.plans.formation import plan_claims
from recollect.stores.plans.leases import LeaseRequest
from recollect.stores.postgres.unit_runner import ForeseenWrite, PostgresUnits
from recollect.stores.remote.concurrency import StoreThreads
from recollect.stores.thread_calls import CallOutcome, ThreadCall, answer
from recollect.stores.unit_of_work import Plan

REQUESTS_MAX: Final = 64
"""Most requests answered in one transaction."""
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


class GroupedLeases:
    """
    Answers requests for leases on its own thread, in order of arrival.

    Those that arrive during a transaction share the next one: due threads are looked up once and
    leased in one commit. Requests of other processes do not wait; they skip locked rows.
    """

    def __init__(self, name: str, workshop: PostgresUnits) -> None:
        self._workshop = workshop
        self._line: CallQueue[LeaseRequest] = CallQueue(name)
        self._starting = Lock()
        self._thread: Thread | None = None

    def claim(self, request: LeaseRequest) -> asyncio.Future[Any]:
        """
        Queue *request*; the future returns a lease, or ``None`` if nothing is due.

        Raises:
            StoreClosedError: The store is closed.
        """
        future = self._line.join(request)
        with self._starting:
            if self._thread is None:
                self._thread = Thread(
                    target=self._serve, name="recollect-postgres-leases", daemon=True
                )
                self._thread.start()
        return future

    def close(self) -> None:
        """Refuse further requests; the thread answers the queued ones and ends."""
        self._line.close(threads=1)

    def join(self) -> None:
        """Wait until the thread has ended."""
        if self._thread:
            self._thread.join()

    def _serve(self) -> None:
        ended = False
        while not ended and (first := self._line.take()):
            more, ended = self._line.take_more(REQUESTS_MAX - 1)
            self._answer([call for call in (first, *more) if not call.future.cancelled()])

    def _answer(self, calls: list[ThreadCall[LeaseRequest]]) -> None:
        if not calls:
            return
        group = CallOutcome()
        with group:
            plan = partial(plan_claims, requests=[call.work for call in calls])
            group.result = self._workshop.carry_out(plan)
        for number, call in enumerate(calls):
            if group.error:
                call.fail(group.error)
            else:
                call.result = group.result[number]
        answer(calls)
