"""The stamp of a file's settings: counted by its writer, read by this process."""

from __future__ import annotations

import math
from typing import Final

import apsw

from recollect.stores.plans.preconditions import changes_settings
from recollect.stores.system_clock import timer_s
from recollect.stores.unit_of_work import Effect

STAMP_S: Final = 1.0
"""So long after the writer last looked for others' changes a stamp is given."""


class Stamps:
    """
    Counts the transactions after which a setting may be another one.

    Those of other connections are noticed when the next transaction begins, by ``PRAGMA
    data_version``, which no commit of the same connection changes. While a transaction goes on,
    readers are given the stamp of before: what they read then may be older than its end.
    """

    def __init__(self) -> None:
        self.present = 0
        """The stamp as the transaction that is open sees it."""
        self._looked_at_s = -math.inf
        self._told = 0, self._looked_at_s
        self._version: int | None = None
        self._connection: apsw.Connection | None = None

    def begin(self, connection: apsw.Connection) -> None:
        """Notice, in a transaction that has just begun to write, what others committed."""
        version = int(connection.pragma("data_version"))
        self._looked_at_s = timer_s()
        if connection is not self._connection or version != self._version:
            self.present += 1
            self._connection, self._version = connection, version

    def note(self, effect: Effect) -> None:
        """Record what the transaction writes."""
        if changes_settings(effect):
            self.present += 1

    def end(self) -> None:
        """Publish the stamp, now that the transaction is over."""
        self._told = self.present, self._looked_at_s

    def told(self) -> int | None:
        """Return the stamp, from any thread; ``None`` if nothing was written lately."""
        stamp, looked_at_s = self._told
        return stamp if timer_s() - looked_at_s <= STAMP_S else None
