"""Cache of recently seen scopes, from which reads guess ids and prefetch."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterable
from threading import Lock
from typing import Final

from recollect.records import Scope
from recollect.stores.change_feed import Cursor
from recollect.stores.rows import ScopeRow

KNOWN_SCOPES_MAX: Final = 10_000
"""Most scopes in the cache; the least recently seen are dropped."""


class KnownScopes:
    """
    The scopes last seen by this process; thread-safe.

    A hint only: another process may have changed or deleted a scope since.
    """

    def __init__(self) -> None:
        self._lock = Lock()
        self._rows: OrderedDict[Scope, ScopeRow] = OrderedDict()

    def note(self, seen: Iterable[ScopeRow]) -> None:
        """Remember the state of scopes, unless a later one is known."""
        with self._lock:
            for row in seen:
                known = self._rows.pop(row.segments, row)
                is_newer = (row.id, row.epoch, row.seq) >= (known.id, known.epoch, known.seq)
                self._rows[row.segments] = row if is_newer else known
            while len(self._rows) > KNOWN_SCOPES_MAX:
                self._rows.popitem(last=False)

    def id_of(self, scope: Scope) -> int | None:
        """Return the last known id of *scope*, ``None`` if it was never seen."""
        with self._lock:
            found = self._rows.get(scope)
        return found.id if found else None

    def unchanged(self, cursors: Iterable[Cursor]) -> dict[Scope, int] | None:
        """Return the ids of the cursors' scopes; ``None`` if any is unknown or was seen later."""
        with self._lock:
            found = [(each, self._rows.get(each.scope)) for each in cursors]
        ids = {
            cursor.scope: row.id
            for cursor, row in found
            if row and (row.epoch, row.seq) == (cursor.epoch, cursor.seq)
        }
        return ids if len(ids) == len({cursor.scope for cursor, _ in found}) else None
