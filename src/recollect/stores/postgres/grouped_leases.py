"""Group requests for leases: those made at once in this process share a transaction."""

from __future__ import annotations

import asyncio
from functools import partial
from threading import Lock, Thread
from typing import Any, Final

from recollect.stores.call_queue import CallQueue
from recollect.stores.plans.formation import plan_claims
from recollect.stores.plans.leases import LeaseRequest
from recollect.stores.postgres.unit_runner import PostgresUnits
from recollect.stores.thread_calls import CallOutcome, ThreadCall, answer

REQUESTS_MAX: Final = 64
"""Most requests answered in one transaction."""


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
