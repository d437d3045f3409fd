"""The threads that run units of work, one per connection."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Protocol, TypeVar

from recollect.errors import StoreClosedError, StoreUnavailableError
from recollect.stores.exit_wait import waited_for
from recollect.stores.system_clock import timer_s

ResultT = TypeVar("ResultT")


class Place(Protocol):
    """The address of a server, its number of connections, and the wait for one."""

    @property
    def name(self) -> str:
        """The display name, for errors."""

    @property
    def connections_max(self) -> int:
        """The most units of work at a time."""

    @property
    def turn_wait_s(self) -> float:
        """The longest wait for a connection, in seconds."""


class StoreThreads:
    """The threads of a store; they belong to the process that opened it."""

    def __init__(self, place: Place, name: str) -> None:
        self._place = place
        self.process = os.getpid()
        self._threads: ThreadPoolExecutor | None = ThreadPoolExecutor(
            place.connections_max, thread_name_prefix=name
        )

    async def run(self, work: Callable[[], ResultT]) -> ResultT:
        """
        Run *work*, a whole unit of work, on a thread.

        If the caller is cancelled, the thread still finishes the work and keeps its connection.

        Raises:
            StoreClosedError: The store was closed, or belongs to another process.
            StoreUnavailableError: All connections were busy for too long.
        """
        threads = self.check_open()
        late_at = self.late_at()
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(threads, self._in_turn, work, late_at)

    def _in_turn(self, work: Callable[[], ResultT], late_at: float) -> ResultT:
        self.check_in_time(late_at)
        try:
            return work()
        except StopIteration as error:
            # A future refuses StopIteration: it would end the coroutine that awaits it.
            raise RuntimeError(f"a plan or query raised {error!r}") from error

    def late_at(self) -> float:
        """Return the deadline, by the timer, of a call that begins to wait for a connection now."""
        return timer_s() + self._place.turn_wait_s

    def check_in_time(self, late_at: float) -> None:
        """
        Check that the deadline *late_at* has not passed.

        Raises:
            StoreUnavailableError: It has passed: all connections were busy for too long.
        """
        if timer_s() > late_at:
            raise StoreUnavailableError(
                f"{self._place.name}: all {self._place.connections_max} connections were busy "
                f"for {self._place.turn_wait_s:g} s: try again, or raise connections_max"
            )

    @property
    def is_over(self) -> bool:
        """Whether the store was closed."""
        return self._threads is None

    async def end(self) -> bool:
        """Finish all queued calls and end the threads; return False if they had ended before."""
        self.check_process()
        threads, self._threads = self._threads, None
        if threads is None:
            return False
        await waited_for(threads.shutdown)
        return True

    def check_open(self) -> ThreadPoolExecutor:
        """Return the threads; raise if they have ended."""
        self.check_process()
        if self._threads is None:
            raise StoreClosedError(f"{self._place.name}: this store was closed: open another")
        return self._threads

    def check_process(self) -> None:
        """Raise `StoreClosedError` in another process than the one that opened the store."""
        if os.getpid() != self.process:
            raise StoreClosedError(
                f"{self._place.name}: this store belongs to process {self.process}, which "
                "opened it: open it after the fork, in the process that uses it"
            )
