"""`OnePerProcess`: a client with connections that a forked child must not share with its parent."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Final, Generic, TypeVar

ClientT = TypeVar("ClientT")


class OnePerProcess(Generic[ClientT]):
    """
    Opens a client at once, and another one in each forked child that uses it.

    A child has its parent's sockets: if both wrote to one, each could read the other's answer.
    """

    def __init__(self, opened: Callable[[], ClientT]) -> None:
        self._open: Final = opened
        # By process id. That of a parent is kept: closing it would write to the parent's sockets.
        self._clients = {os.getpid(): opened()}

    def get(self) -> ClientT:
        """Return the client of this process."""
        process = os.getpid()
        if process not in self._clients:
            self._clients[process] = self._open()
        return self._clients[process]
