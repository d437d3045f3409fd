"""The settings stamp of a file: its writer counts it, readers of the process take it."""

from __future__ import annotations

import math
from typing import Final

import apsw

from recollect.stores.plans.preconditions import changes_settings
from recollect.stores.system_clock import timer_s
from recollect.stores.unit_of_work import Effect

STAMP_S: Final = 1.0
"""How long a stamp is given out after the writer last looked for changes by others."""


class Stamps:
    """
    Counts the transactions that may have changed a setting.

    Commits of other connections are noticed when the next write transaction begins, by ``PRAGMA
    data_version``, which commits of the same connection do not change. During a transaction
    readers get the stamp from before it, because settings read then may predate its end.
    """

    def __init__(self) -> None:
        self.present = 0
        """The stamp as the open transaction sees it."""
        self._looked_at_s = -math.inf
        # One tuple, replaced as a whole: other threads read it without a lock.
        self._published = 0, self._looked_at_s
        self._version: int | None = None
        self._connection: apsw.Connection | None = None

    def begin(self, connection: apsw.Connection) -> None:
        """Notice commits of others, at the start of a write transaction."""
        version = int(connection.pragma("data_version"))
        self._looked_at_s = timer_s()
        if connection is not self._connection or version != self._version:
            self.present += 1
            self._connection, self._version = connection, version

    def note(self, effect: Effect) -> None:
        """Count *effect* if it may change a setting."""
        if changes_settings(effect):
            self.present += 1

    def end(self) -> None:
        """Publish the stamp after the transaction has ended."""
        self._published = self.present, self._looked_at_s

    def published(self) -> int | None:
        """Return the stamp, on any thread; ``None`` if nothing was written recently."""
        # Without writes, commits of other processes are not noticed, and the stamp may be stale.
        stamp, looked_at_s = self._published
        return stamp if timer_s() - looked_at_s <= STAMP_S else None
