"""Group commit: appends that wait at the same time share a transaction."""

from __future__ import annotations

import asyncio
from threading import Lock
from typing import Any, Final

from recollect.errors import StoreClosedError
from recollect.records import Scope
from recollect.stores.foreseen_reads import AppendReads
from recollect.stores.postgres.unit_runner import ForeseenAppend, PostgresUnits
from recollect.stores.server.concurrency import StoreThreads
from recollect.stores.thread_calls import CallOutcome, ThreadCall, answer
from recollect.stores.unit_of_work import Plan

GROUP_CALLS_MAX: Final = 64
"""At most so many appends share a commit."""
RUNNERS_MAX: Final = 2
"""So many groups are carried out at the same time: one is decided while another is written."""


class GroupedAppends:
    """
    The appends that wait to be carried out together.

    Groups are served on the threads of the store, as long as any wait. A group has one append of a
    scope at most; those that come later to the same scope wait for the next group, so that their
    order stays.
    """

    def __init__(self, name: str, turns: StoreThreads, workshop: PostgresUnits) -> None:
        self._name = name
        self._turns = turns
        self._workshop = workshop
        self._turn = Lock()
        self._waiting: list[ThreadCall[ForeseenAppend]] = []
        self._busy: set[Scope] = set()
        """The scopes of the groups that are at work."""
        self._runners = 0

    def carry_out(self, plan: Plan[Any], reads: AppendReads) -> asyncio.Future[Any]:
        """
        Queue *plan*; the future's result is that of the plan, or `ALONE`.

        Raises:
            StoreClosedError: The store was closed.
        """
        self._turns.check_open()
        loop = asyncio.get_running_loop()
        future = loop.create_future()
        call = ThreadCall(ForeseenAppend(plan, reads, self._turns.late_at()), future, loop)
        with self._turn:
            self._waiting.append(call)
            starts = self._runners < RUNNERS_MAX
            self._runners += starts
        if starts:
            # Whoever comes in the same turn of the event loop goes along.
            loop.call_soon(self._start)
        return future

    def _start(self) -> None:
        if not self._is_passed_on():
            with self._turn:
                left, self._waiting = self._waiting, []
                self._runners -= 1
            for call in left:
                call.fail(StoreClosedError(f"{self._name}: this store was closed: open another"))
            answer(left)

    def _is_passed_on(self) -> bool:
        """Return True if a thread will serve what waits, False if the threads have ended."""
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
            with self._turn:
                self._busy -= {each.work.reads.scope for each in group}
            answer(group)
            # Whatever else waits for a connection comes before the next group. The last ones of a
            # store that is being closed are served here.
            if self._is_passed_on():
                return

    def _take(self) -> list[ThreadCall[ForeseenAppend]]:
        """Return the longest waiting appends, each to another scope; none ends a runner."""
        with self._turn:
            taken: dict[Scope, ThreadCall[ForeseenAppend]] = {}
            left: list[ThreadCall[ForeseenAppend]] = []
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

    def _carry_out(self, group: list[ThreadCall[ForeseenAppend]]) -> None:
        going = []
        for call in group:
            with call:
                self._turns.check_in_time(call.work.late_at)
            if not call.error and not call.future.cancelled():
                going.append(call)
        if going:
            self._workshop.carry_out_together(going)
