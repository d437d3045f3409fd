"""Settings that were read, kept in this process as long as none has changed."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Final, Generic, TypeVar

from recollect.stores.contract.base import Store

ValueT = TypeVar("ValueT")

STANDING_MAX: Final = 10_000
"""So many values are kept; with one more, all are let go."""


class SettingsCache(Generic[ValueT]):
    """
    Values read under the present `Store.settings_stamp`, by name.

    A value may be old when it is got: use it only for a change that is carried out under the
    stamp that comes with it, or for what may be refused once more.
    """

    def __init__(self, store: Store) -> None:
        self._store = store
        self._stamp = -1
        self._kept: dict[Hashable, ValueT] = {}

    def get(self, name: Hashable) -> tuple[ValueT, int] | None:
        """Return a value and the stamp under which it was read; ``None`` if there is none."""
        if name not in self._kept or self._store.settings_stamp() != self._stamp:
            return None
        return self._kept[name], self._stamp

    def keep(self, name: Hashable, value: ValueT, stamp: int | None) -> None:
        """Keep a value that was read after *stamp* was taken."""
        if stamp is None or stamp < self._stamp:
            return
        if stamp > self._stamp or len(self._kept) >= STANDING_MAX:
            self._kept.clear()
            self._stamp = stamp
        self._kept[name] = value
