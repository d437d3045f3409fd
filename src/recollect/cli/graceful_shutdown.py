"""A worker that ends well: it finishes what it is at, or gives it back to the others."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from signal import Signals

import anyio
from anyio import CancelScope, lowlevel
from anyio.abc import TaskStatus

from recollect.formation.config import Assistants
from recollect.records import Scope
from recollect.stores.contract.base import Store
from recollect.worker.formation_run import Former, Result
from recollect.worker.loop import Worker
from recollect.worker.worker_options import CONCURRENCY, Notice, tell_nobody


class EndingWorker(Worker):
    """
    A worker that claims nothing more once it is cancelled.

    What is being formed then goes on, until `abandon` has it given back.
    """

    def __init__(
        self,
        store: Store,
        former: Former,
        assistants: Assistants,
        *,
        name: str,
        concurrency: int = CONCURRENCY,
        notice: Notice = tell_nobody,
    ) -> None:
        super().__init__(
            store, former, assistants, name=name, concurrency=concurrency, notice=notice
        )
        self._under_way: set[CancelScope] = set()
        self._ended = anyio.Event()

    async def run_once(self, scope: Scope | None = None) -> Result | None:
        """Form one lease to its end, even if this is cancelled; see `Worker.run_once`."""
        await lowlevel.checkpoint()
        with self._finished():
            return await super().run_once(scope)
        return None

    async def run_lane(self, scope: Scope) -> Result | None:
        """Form one lease to its end, even if this is cancelled; see `Worker.run_lane`."""
        await lowlevel.checkpoint()
        with self._finished():
            return await super().run_lane(scope)
        return None

    @contextmanager
    def _finished(self) -> Iterator[None]:
        """Let what is done go on when the worker is cancelled, until `abandon`."""
        with CancelScope(shield=True) as under_way:
            self._under_way.add(under_way)
            try:
                yield
            finally:
                self._under_way.discard(under_way)
                self._ended.set()
                self._ended = anyio.Event()

    async def at_rest(self) -> None:
        """Wait until nothing is being formed."""
        while self._under_way:
            await self._ended.wait()

    def abandon(self) -> None:
        """Give back what is being formed."""
        for each in list(self._under_way):
            each.cancel()


async def ended_by(
    signals: Sequence[Signals],
    worker: EndingWorker,
    scope: CancelScope,
    grace_s: float,
    *,
    task_status: TaskStatus[None] = anyio.TASK_STATUS_IGNORED,
) -> None:
    """
    End *worker* at the first of *signals*: cancel *scope*, and what is left after *grace_s*.

    It has started when the signals are heard.
    """
    with anyio.open_signal_receiver(*signals) as received:
        task_status.started()
        async for _ in received:
            break
    scope.cancel()
    with anyio.move_on_after(grace_s, shield=True):
        await worker.at_rest()
    worker.abandon()
