"""Opening and closing a memory, with a block and without."""

from __future__ import annotations

from typing import NoReturn, Self

from recollect.errors import UsageError
from recollect.memory.audit_access import AuditMethods
from recollect.memory.host_task import HostTask
from recollect.memory.runtime import MemoryRuntime


class LifespanMethods(AuditMethods):
    """The methods of `Recollect` that open and close it."""

    _runtime: MemoryRuntime
    _host: HostTask

    async def __aenter__(self) -> Self:
        self._check_not_view()
        await self._runtime.open()
        return self

    async def __aexit__(self, *error: object) -> None:
        await self._runtime.aclose()

    # Without these, Python's own error for ``with`` names neither of the two ways out.

    def __enter__(self) -> NoReturn:
        raise UsageError(
            "this memory is entered with 'async with'; where nothing is awaited, use "
            "'with recollect.open_sync(...)'"
        )

    def __exit__(self, *error: object) -> None:
        """Do nothing: `__enter__` always raises."""

    async def open(self) -> Self:
        """
        Open the memory without a block, on asyncio; any task of the loop may `close` it.

        The background work runs in a task of its own. Prefer ``async with`` where a block fits:
        an error in the background ends that block at once, while here only `close` raises it.

        Raises:
            UsageError: It is open, it is a view, or the event loop is not asyncio's.
        """
        self._check_not_view()
        await self._host.start()
        return self

    async def close(self) -> None:
        """
        End the background work and close the store; nothing happens if it is not open.

        Raises:
            UsageError: Another task entered it with ``async with``, and is to leave that block.
        """
        self._check_not_view()
        await self._host.stop()
        # Nothing is left to do here after `open`; within ``async with`` this closes the memory.
        await self._runtime.aclose()
