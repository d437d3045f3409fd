"""Cache of recently seen scopes, used to prefetch optimistically."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterable
from threading import Lock
from typing import Final

from recollect.records import Scope
from recollect.stores.rows import Cursor, ScopeRow

KNOWN_SCOPES_MAX: Final = 10_000
"""The scopes seen last are known, so many of them."""


class KnownScopes:
    """
    The scopes last seen by this process; thread-safe.

    Only a hint: every scope may have changed since, or be gone.
    """

    def __init__(self) -> None:
        self._turn = Lock()
        self._rows: OrderedDict[Scope, ScopeRow] = OrderedDict()

    def note(self, seen: Iterable[ScopeRow]) -> None:
        """Remember scopes as they are now."""
        with self._turn:
            for row in seen:
                known = self._rows.pop(row.segments, row)
                is_newer = (row.id, row.epoch, row.seq) >= (known.id, known.epoch, known.seq)
                self._rows[row.segments] = row if is_newer else known
            while len(self._rows) > KNOWN_SCOPES_MAX:
                self._rows.popitem(last=False)

    def id_of(self, scope: Scope) -> int | None:
        """Return the id that *scope* had when it was last seen, ``None`` if it was not."""
        with self._turn:
            found = self._rows.get(scope)
        return found.id if found else None

    def unchanged(self, cursors: Iterable[Cursor]) -> dict[Scope, int] | None:
        """Return the ids of the cursors' scopes; ``None`` if one is unknown or has moved on."""
        with self._turn:
            found = [(each, self._rows.get(each.scope)) for each in cursors]
        ids = {
            cursor.scope: row.id
            for cursor, row in found
            if row and (row.epoch, row.seq) == (cursor.epoch, cursor.seq)
        }
        return ids if len(ids) == len({cursor.scope for cursor, _ in found}) else None
