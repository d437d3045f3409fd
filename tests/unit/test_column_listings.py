"""Listings of memories below a scope: only changed scopes are read, and the cache stays small."""

from collections.abc import Sequence
from functools import partial
from typing import Any

import pytest

import recollect
from recollect.memory.facade import Recollect
from recollect.server.column_cache import ColumnCache
from recollect.server.column_listings import _read_now
from recollect.server.memory_listings import ListingFilter, ListingRequest, MemoryListing
from recollect.server.memory_order import MemoryColumns, columns_of
from recollect.stores.change_feed import Cursor, MemorySummaries
from recollect.stores.plans.snapshot import StoreSnapshot

pytestmark = pytest.mark.anyio

NAMES = ("ada", "bob", "eve")


async def listing(memory: Recollect, cache: ColumnCache, **asked: Any) -> MemoryListing:
    """Return the listing of all memories below the users."""
    wanted = ListingFilter(now=memory.store.now())
    request = ListingRequest(wanted=wanted, below=True, order="newest", **asked)
    query = partial(_read_now, scope=("users",), asked=request, cache=cache)
    found, _ = await memory.store.read(query)
    return found


async def test_only_changed_scopes_are_read_again(monkeypatch: pytest.MonkeyPatch) -> None:
    read: list[str] = []
    feeds = StoreSnapshot.feeds

    def counted(self: StoreSnapshot, cursors: Sequence[Cursor], **options: Any) -> Any:
        read.extend(each.scope[-1] for each in cursors)
        return feeds(self, cursors, **options)

    async with recollect.open("memory:", embedder="none", worker=False) as memory:
        for name in NAMES:
            await memory.put(("users", name), "Note", "n", {"content": name})
        cache = ColumnCache()
        monkeypatch.setattr(StoreSnapshot, "feeds", counted)
        first = await listing(memory, cache)
        again = await listing(memory, cache)
        assert (3, [], first) == (again.total, read, again)

        await memory.put(("users", "bob"), "Note", "other", {"content": "other"})
        await memory.put(("users", "zoe"), "Note", "n", {"content": "zoe"})
        later = await listing(memory, cache)

        assert (5, ["bob"]) == (later.total, read)
        assert {("users", each) for each in (*NAMES, "zoe")} == {s for s, _ in later.places}

        filtered = await listing(memory, cache, filter={"content": "other"})
        assert 1 == filtered.total


def columns(name: str, rows: int, seq: int = 1) -> MemoryColumns:
    """Return the columns of so many notes."""
    nothing = [None] * rows
    found = MemorySummaries(
        uid=range(1, rows + 1),
        type=["Note"] * rows,
        state=["active"] * rows,
        time=[0] * rows,
        valid_from=nothing,
        valid_until=nothing,
        expires_at=nothing,
        updated_at=[0] * rows,
    )
    return columns_of(Cursor(scope=(name,), seq=seq, epoch=1), found)


async def test_what_was_listed_longest_ago_is_evicted() -> None:
    """Columns kept anew, and forgotten ones, count once and no more."""
    cache = ColumnCache(rows_max=10)
    for seq in range(5):
        cache.keep(columns("ada", 4, seq))
    cache.keep(columns("bob", 4))
    cache.keep(columns("eve", 4))
    assert [False, True, True] == [cache.has((name,)) for name in NAMES]

    cache.forget(("bob",))
    cache.keep(columns("ada", 6))
    assert [True, False, True] == [cache.has((name,)) for name in NAMES]

    cache.keep(columns("bob", 12))
    assert [False, True, False] == [cache.has((name,)) for name in NAMES]
