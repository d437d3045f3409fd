"""The end of a program while one of its threads is in native code."""

from __future__ import annotations

import atexit
import os
from threading import Condition
from typing import Final

from recollect.errors import EmbedderError

END_S: Final = 10.0
"""So long the end of a program waits at most."""


class NativeCalls:
    """
    Calls of native code, each made within this context: the end of the program waits for them.

    A thread that comes back from such a call when the interpreter has ended is stopped there,
    and C++ that is stopped aborts the whole process.
    """

    def __init__(self) -> None:
        self._begin()
        if hasattr(os, "register_at_fork"):  # a child has none of these threads
            os.register_at_fork(after_in_child=self._begin)
        atexit.register(self.end)

    def _begin(self) -> None:
        self._turn = Condition()
        self._running = 0
        self._is_over = False

    def __enter__(self) -> None:
        with self._turn:
            if self._is_over:
                msg = "the program ends: nothing is embedded any more"
                raise EmbedderError(msg)
            self._running += 1

    def __exit__(self, *error: object) -> None:
        with self._turn:
            self._running -= 1
            self._turn.notify_all()

    def end(self) -> None:
        """Reject new calls, and wait for running ones."""
        with self._turn:
            self._is_over = True
            self._turn.wait_for(lambda: not self._running, END_S)
