"""In-process cache of store settings, invalidated by a version stamp."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Final, Generic, TypeVar

from recollect.stores.contract.base import Store

ValueT = TypeVar("ValueT")

VALUES_MAX: Final = 10_000
"""Most cached values; one more clears the cache."""


class SettingsCache(Generic[ValueT]):
    """
    Values read under the current `Store.settings_stamp`, by name.

    A value may be stale: use it only for a change that is committed under the stamp returned with
    it, or where a wrong refusal does no harm.
    """

    def __init__(self, store: Store) -> None:
        self._store = store
        self._stamp = -1
        self._kept: dict[Hashable, ValueT] = {}

    def get(self, name: Hashable) -> tuple[ValueT, int] | None:
        """Return a value and the stamp it was read under; ``None`` if it is not cached."""
        if name not in self._kept or self._store.settings_stamp() != self._stamp:
            return None
        return self._kept[name], self._stamp

    def keep(self, name: Hashable, value: ValueT, stamp: int | None) -> None:
        """Cache a value that was read after *stamp* was taken."""
        # Read under an older stamp, the value may miss a change that the cache already knows of.
        if stamp is None or stamp < self._stamp:
            return
        # A newer stamp means that settings changed: everything cached before is stale.
        if stamp > self._stamp or len(self._kept) >= VALUES_MAX:
            self._kept.clear()
            self._stamp = stamp
        self._kept[name] = value
