"""A worker that ends well: it finishes what it is at, or gives it back to the others."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from signal import Signals
from typing import TYPE_CHECKING

import anyio
from anyio import CancelScope, lowlevel
from anyio.abc import TaskStatus

from recollect.recall.budget import estimated_tokens
from recollect.recaller import Where
from recollect.records import Memory, Scope
from recollect.worker.former import Former, Result
from recollect.worker.loop import Worker
from recollect.worker.opening import Models
from recollect.worker.reading import Search

if TYPE_CHECKING:
    from recollect.app import Recollect
    from recollect.formation.config import Assistants
    from recollect.ports import Model


class EndingWorker(Worker):
    """
    A worker over an open memory that claims nothing more once it is cancelled.

    What is being formed then goes on, until `abandon` has it given back.
    """

    def __init__(
        self,
        memory: Recollect,
        model: Model | None,
        assistants: Assistants,
        concurrency: int,
        notice: Callable[[Scope, Result], None],
    ) -> None:
        former = Former(
            memory.store,
            _search_of(memory),
            Models(model),
            assistants,
            count_tokens=estimated_tokens,
        )
        name = f"worker {os.getpid()}"
        super().__init__(
            memory.store, former, assistants, name=name, concurrency=concurrency, notice=notice
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


def _search_of(memory: Recollect) -> Search:
    """Return the search by which a formation finds what is known already: recall itself."""

    async def search(scope: Scope, query: str, types: Sequence[str], limit: int) -> list[Memory]:
        where = Where(messages=False, types=types)
        found = await memory.recall(scope, query, limit=limit, where=where)
        return [each.content for each in found.entries if isinstance(each.content, Memory)]

    return search
