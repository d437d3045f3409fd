"""Per-scope locks: serialise concurrent writers of a scope."""

from __future__ import annotations

from weakref import WeakValueDictionary

from anyio import Lock

from recollect.records import Scope


class ScopeLocks:
    """
    The write locks of the scopes of one memory, shared by all its callers.

    An agent calls several tools at once. Without locks, these would cause each other version
    conflicts, and the last of many would run out of retries.

    >>> locks = ScopeLocks()
    >>> locks.of(("users", "ada")) is locks.of(("users", "bob"))
    False
    """

    def __init__(self) -> None:
        self._locks: WeakValueDictionary[Scope, Lock] = WeakValueDictionary()

    def of(self, scope: Scope) -> Lock:
        """Return the lock of *scope*; keep a reference to it, since unused locks are dropped."""
        return self._locks.setdefault(scope, Lock())
