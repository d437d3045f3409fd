"""The one thread that claims: workers that ask at the same time are served together."""

from __future__ import annotations

import asyncio
from functools import partial
from threading import Lock, Thread
from typing import Any, Final

from recollect.stores.call_queue import CallQueue
from recollect.stores.plans.formation import Claim, plan_claims
from recollect.stores.postgres.unit_runner import PostgresUnits
from recollect.stores.thread_calls import CallOutcome, ThreadCall, answer

CLAIMS_MAX: Final = 64
"""At most so many claims are one transaction."""


class Claimer:
    """
    Claims for whoever asks, in the order in which they came.

    Who comes while a transaction is under way waits for the next one, together with all others who
    do: what is due is then looked for once, and written by one commit. Other processes are not
    waited for; their claims skip what this one has locked.
    """

    def __init__(self, name: str, workshop: PostgresUnits) -> None:
        self._workshop = workshop
        self._line: CallQueue[Claim] = CallQueue(name)
        self._starting = Lock()
        self._thread: Thread | None = None

    def claim(self, claim: Claim) -> asyncio.Future[Any]:
        """
        Put *claim* in line; the answer is a lease, ``None`` if nothing is due.

        Raises:
            StoreClosedError: The claimer was closed.
        """
        future = self._line.join(claim)
        with self._starting:
            if self._thread is None:
                self._thread = Thread(
                    target=self._serve, name="recollect-postgres-claimer", daemon=True
                )
                self._thread.start()
        return future

    def close(self) -> None:
        """Take in no more claims; the thread serves who waits, and ends."""
        self._line.close(threads=1)

    def join(self) -> None:
        """Wait until the thread has ended."""
        if self._thread:
            self._thread.join()

    def _serve(self) -> None:
        ended = False
        while not ended and (first := self._line.take()):
            more, ended = self._line.take_more(CLAIMS_MAX - 1)
            self._claim([call for call in (first, *more) if not call.future.cancelled()])

    def _claim(self, calls: list[ThreadCall[Claim]]) -> None:
        if not calls:
            return
        group = CallOutcome()
        with group:
            plan = partial(plan_claims, claims=[call.work for call in calls])
            group.result = self._workshop.carry_out(plan)
        for number, call in enumerate(calls):
            if group.error:
                call.fail(group.error)
            else:
                call.result = group.result[number]
        answer(calls)
