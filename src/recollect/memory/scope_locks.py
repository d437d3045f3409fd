"""Turns: calls that write in one scope at the same time do so one after the other."""

from __future__ import annotations

from weakref import WeakValueDictionary

from anyio import Lock

from recollect.records import Scope


class ScopeLocks:
    """
    The locks of the scopes in which somebody writes, for one memory and all who act by it.

    An agent calls several tools at once. Each would find that another had written meanwhile, and
    of many the last would give up.
    """

    def __init__(self) -> None:
        self._locks: WeakValueDictionary[Scope, Lock] = WeakValueDictionary()

    def of(self, scope: Scope) -> Lock:
        """Return the lock of *scope*, which lasts as long as somebody has it or waits for it."""
        return self._locks.setdefault(scope, Lock())
