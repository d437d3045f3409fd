"""Run a coroutine from synchronous code, inside or outside of a running event loop."""

from __future__ import annotations

import os
from collections.abc import Awaitable, Callable
from threading import Lock
from typing import Final, TypeVar

from anyio.from_thread import BlockingPortal

from recollect.sync.portal import PortalThread

ResultT = TypeVar("ResultT")

_starting: Final = Lock()
_portals: Final[dict[int, tuple[PortalThread, BlockingPortal]]] = {}


def waited(function: Callable[[], Awaitable[ResultT]]) -> ResultT:
    """
    Run *function* on an event loop in another thread, and return its result.

    The process has one such loop, so that model clients can reuse their connections.
    """
    return _portal().call(function)


def _portal() -> BlockingPortal:
    # By process id: a thread does not survive a fork.
    with _starting:
        if os.getpid() not in _portals:
            thread = PortalThread()
            _portals[os.getpid()] = thread, thread.__enter__()
        return _portals[os.getpid()][1]
