"""Cache of the columns by which listings of memories are sorted."""

from __future__ import annotations

from collections import OrderedDict
from threading import Lock
from typing import TYPE_CHECKING, Final

from recollect.records import Scope

if TYPE_CHECKING:
    from recollect.server.memory_order import MemoryColumns

ROWS_MAX: Final = 2_000_000
"""Maximum memories in the cache of columns; the least recently listed scopes are evicted."""


class ColumnCache:
    """An LRU cache of columns by scope, current or as of a moment; thread-safe."""

    def __init__(self, rows_max: int = ROWS_MAX) -> None:
        self._rows_max = rows_max
        self._turn = Lock()
        self._kept: OrderedDict[tuple[Scope, int | None], MemoryColumns] = OrderedDict()
        # Counted as they come and go: a listing may keep the columns of thousands of scopes.
        self._rows = 0

    def has(self, scope: Scope, known_at: int | None = None) -> bool:
        """Return True if the columns of a scope are cached."""
        with self._turn:
            return (scope, known_at) in self._kept

    def take(self, scope: Scope, known_at: int | None = None) -> MemoryColumns | None:
        """Return the columns of a scope, ``None`` if they are not cached."""
        with self._turn:
            found = self._kept.get((scope, known_at))
            if found is not None:
                self._kept.move_to_end((scope, known_at))
            return found

    def keep(self, columns: MemoryColumns, known_at: int | None = None) -> None:
        """Cache the columns of a scope, and evict the least recently listed ones."""
        name = columns.cursor.scope, known_at
        with self._turn:
            self._drop(name)
            self._kept[name] = columns
            self._rows += len(columns)
            # The newest entry stays, even if it alone is larger: it is about to be used.
            while len(self._kept) > 1 and self._rows > self._rows_max:
                self._drop(next(iter(self._kept)))

    def forget(self, scope: Scope) -> None:
        """Drop the columns of a scope and of all scopes below it, after an erasure."""
        with self._turn:
            for name in [name for name in self._kept if name[0][: len(scope)] == scope]:
                self._drop(name)

    def _drop(self, name: tuple[Scope, int | None]) -> None:
        dropped = self._kept.pop(name, None)
        self._rows -= 0 if dropped is None else len(dropped)
