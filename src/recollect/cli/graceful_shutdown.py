"""Graceful shutdown of a worker: finish the work in progress, or release its leases."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from signal import Signals
from typing import Unpack

import anyio
from anyio import CancelScope, lowlevel
from anyio.abc import TaskStatus

from recollect.formation.config import Assistants
from recollect.records import Scope
from recollect.stores.contract.base import Store
from recollect.worker.formation_result import FormationResult
from recollect.worker.former import Former
from recollect.worker.loop import Worker
from recollect.worker.worker_options import WorkerOptions


class GracefulWorker(Worker):
    """
    A worker that claims nothing more once it is cancelled.

    Formations in progress continue until they end, or until `abandon` releases their leases.
    """

    def __init__(
        self,
        store: Store,
        former: Former,
        assistants: Assistants,
        **options: Unpack[WorkerOptions],
    ) -> None:
        super().__init__(store, former, assistants, **options)
        self._under_way: set[CancelScope] = set()
        self._ended = anyio.Event()

    async def run_once(self, scope: Scope | None = None) -> FormationResult | None:
        """Form one lease to its end, even if this is cancelled; see `Worker.run_once`."""
        await lowlevel.checkpoint()  # a cancelled worker stops here, before it claims a lease
        with self._shielded():
            return await super().run_once(scope)
        return None

    async def run_lane(self, scope: Scope) -> FormationResult | None:
        """Form one lease to its end, even if this is cancelled; see `Worker.run_lane`."""
        await lowlevel.checkpoint()
        with self._shielded():
            return await super().run_lane(scope)
        return None

    @contextmanager
    def _shielded(self) -> Iterator[None]:
        """Shield work in progress from the worker's cancellation, until `abandon`."""
        with CancelScope(shield=True) as under_way:
            self._under_way.add(under_way)
            try:
                yield
            finally:
                self._under_way.discard(under_way)
                self._ended.set()
                self._ended = anyio.Event()

    async def wait_until_idle(self) -> None:
        """Wait until no formation is in progress."""
        while self._under_way:
            await self._ended.wait()

    def abandon(self) -> None:
        """Release the leases of work in progress."""
        for each in list(self._under_way):
            each.cancel()


async def shut_down_on(
    signals: Sequence[Signals],
    worker: GracefulWorker,
    scope: CancelScope,
    grace_s: float,
    *,
    task_status: TaskStatus[None] = anyio.TASK_STATUS_IGNORED,
) -> None:
    """
    Shut *worker* down at the first of *signals*.

    Cancel *scope*, wait *grace_s* seconds for work in progress, and release the rest. *task_status*
    reports the start once the signal handlers are installed.
    """
    with anyio.open_signal_receiver(*signals) as received:
        task_status.started()
        async for _ in received:
            break
    scope.cancel()
    with anyio.move_on_after(grace_s, shield=True):
        await worker.wait_until_idle()
    worker.abandon()
