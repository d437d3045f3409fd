"""Index files: decide when a scope's index is read from a file, and write due files."""

from __future__ import annotations

from functools import partial
from typing import Final

from anyio import to_thread

from recollect.errors import StoreError
from recollect.observability.logs import kind_of, package_logger
from recollect.recall.freed_memory import return_freed_memory
from recollect.recall.index_cache import Indexes
from recollect.recall.index_file import FORM, WrongIndexFileError, map_index, size_of, write_index
from recollect.recall.scope_index import ScopeIndex, merged, refreshed
from recollect.records import Scope
from recollect.stores.change_feed import IndexFile, IndexFileDraft
from recollect.stores.contract.base import Store
from recollect.stores.plans.snapshot import StoreSnapshot
from recollect.stores.system_clock import timer_s

LOG: Final = package_logger("recollect.recall")
FILED_ENTRIES_MIN: Final = 4_096
"""Entries from which on a file pays; a smaller scope is read from the store as fast."""
UNFILED_SHARE: Final = 32
"""Rewrite the file when more than one in this many entries is missing from it."""
FILED_EVERY_S: Final = 300.0
"""
Seconds between two files of a scope.

An erase deletes the file, so that a scope with frequent erases would be written all the time.
"""
TRIES: Final = 3
"""Attempts to write a file before giving up: each fails if the scope was written to meanwhile."""


def from_file(snapshot: StoreSnapshot, index: ScopeIndex, embedder: str | None) -> ScopeIndex:
    """Return the index of a matching file if *index* was never read before; else *index*."""
    if index.epoch >= 0:  # -1: nothing was read yet
        return index
    for file in snapshot.index_files(index.scope):
        if (file.row.form, file.row.embedder) != (FORM, embedder or ""):
            continue
        try:
            return map_index(file, index.scope)
        except FileNotFoundError:
            LOG.debug("the index file %s is not there", file.path)
        except (OSError, WrongIndexFileError) as error:
            LOG.warning("the index file %s is not used: %s", file.path, error)
    return index


def needs_file(index: ScopeIndex, entries_min: int = FILED_ENTRIES_MIN) -> bool:
    """Return True if *index* has at least *entries_min* entries, and too many are in no file."""
    stored = sum(len(part.segment) for part in index.parts)
    if stored < entries_min:
        return False
    filed = sum(part.live for part in index.parts if part.segment.is_mapped)
    return (stored - filed) * UNFILED_SHARE > stored


class IndexPersistence:
    """Writes files of the large indexes of a process, in the background."""

    def __init__(
        self,
        store: Store,
        *,
        entries_min: int = FILED_ENTRIES_MIN,
        every_s: float = FILED_EVERY_S,
    ) -> None:
        self._store = store
        self._entries_min = entries_min
        self._every_s = every_s
        self._tried: dict[Scope, float] = {}

    async def write_due(self, indexes: Indexes, embedder: str) -> int:
        """Write due files with the vectors of *embedder* ("" for none); return their number."""
        if not self._store.keeps_index_files:
            return 0
        since = timer_s() - self._every_s
        self._tried = {scope: at for scope, at in self._tried.items() if at > since}
        due = [each.scope for each in indexes.latest() if needs_file(each, self._entries_min)]
        written = 0
        for scope in due:
            if scope not in self._tried:
                self._tried[scope] = timer_s()
                try:
                    written += await self._write(indexes, scope, embedder)
                # A file only saves time. Searches report a store that fails.
                except StoreError as error:
                    LOG.warning("no index file was written: %s", kind_of(error))
        # Only here: until `_write` has returned, its locals keep the replaced index alive.
        if written:
            await to_thread.run_sync(return_freed_memory)
        return written

    async def _write(self, indexes: Indexes, scope: Scope, embedder: str) -> bool:
        for _ in range(TRIES):
            generation = indexes.generation
            (index,) = indexes.take([scope]).indexes
            if index.epoch < 0:  # the cache dropped it in the meantime
                return False
            index = await self._store.read(partial(_brought_up_to_date, index=index, by=embedder))
            indexes.offer([index], generation)
            mapped = await to_thread.run_sync(self._filed, index, embedder)
            if mapped is not None:
                indexes.exchange(mapped, generation)
                return True
        return False

    def _filed(self, index: ScopeIndex, embedder: str) -> ScopeIndex | None:
        """Write a file of *index*; return the mapped index, or ``None`` if the store refused it."""
        index = without_dead(index)
        if not index.parts:
            return None
        draft = IndexFileDraft(
            cursor=index.cursor,
            embedder=embedder,
            form=FORM,
            size_bytes=size_of(index),
            write=partial(write_index, index),
        )
        file = self._store.keep_index_file(draft)
        return None if file is None else self._mapped(file, index)

    def _mapped(self, file: IndexFile, index: ScopeIndex) -> ScopeIndex | None:
        try:
            return map_index(file, index.scope)
        except (OSError, WrongIndexFileError) as error:
            LOG.warning("the index file %s is not used: %s", file.path, error)
            return None


def _brought_up_to_date(snapshot: StoreSnapshot, index: ScopeIndex, by: str) -> ScopeIndex:
    (feed,) = snapshot.feeds([index.cursor], embedder=by or None, in_blocks=True)
    return refreshed(index, feed)


def without_dead(index: ScopeIndex) -> ScopeIndex:
    """Return *index* without removed entries: a file must not keep terms of erased words."""
    is_clean = all(part.live == len(part.segment) for part in index.parts)
    return index if is_clean else merged(index)
