"""The thread and event loop of a `SyncRecollect`; a forked child does not have them."""

from __future__ import annotations

import os
from concurrent.futures import Future
from threading import Thread
from types import TracebackType

import anyio
from anyio.from_thread import BlockingPortal


class PortalThread:
    """
    An event loop on a thread of its own; a context manager that returns its portal.

    AnyIO's `start_blocking_portal` always waits for its thread at the end, even when it is
    garbage-collected. A forked child has no such thread and would wait for ever: this class leaves
    at once there, and does not touch what the loop owned.
    """

    def __init__(self) -> None:
        self._process = os.getpid()
        self._portal: BlockingPortal | None = None
        self._thread: Thread | None = None

    def __enter__(self) -> BlockingPortal:
        started: Future[BlockingPortal] = Future()
        self._process = os.getpid()
        # A daemon thread, so that a program that forgets to leave the block can still exit.
        self._thread = Thread(target=_serve, args=(started,), name="recollect-portal", daemon=True)
        self._thread.start()
        self._portal = started.result()
        return self._portal

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        portal, thread = self._portal, self._thread
        self._portal = self._thread = None
        if self._process == os.getpid() and portal and thread:
            portal.call(portal.stop, error is not None)
            thread.join()


def _serve(started: Future[BlockingPortal]) -> None:
    """Run an event loop until its portal is stopped; set *started* once there is one."""

    async def serve() -> None:
        async with BlockingPortal() as portal:
            started.set_result(portal)
            await portal.sleep_until_stopped()

    try:
        anyio.run(serve)
    finally:
        started.cancel()  # if no loop could be started, `__enter__` must not wait for one
