"""Delay the end of a program until native code in its threads has returned."""

from __future__ import annotations

import atexit
import os
from threading import Condition
from typing import Final

from recollect.errors import EmbedderError

END_S: Final = 10.0
"""The most seconds that the end of a program waits."""


class NativeCalls:
    """
    A context for calls of native code, for which the end of the program waits.

    A thread that returns from such a call after the interpreter has ended is terminated, and
    unwinding C++ frames that way aborts the whole process.
    """

    def __init__(self) -> None:
        self._begin()
        # The threads do not survive a fork: a child starts with no running calls.
        if hasattr(os, "register_at_fork"):
            os.register_at_fork(after_in_child=self._begin)
        atexit.register(self.end)

    def _begin(self) -> None:
        self._turn = Condition()
        self._running = 0
        self._is_over = False

    def __enter__(self) -> None:
        with self._turn:
            if self._is_over:
                raise EmbedderError("the program is ending: no text can be embedded any more")
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
