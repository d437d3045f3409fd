"""Decisions on memories: atomic writes, and reads by address."""

from __future__ import annotations

from dataclasses import replace

import pytest

from recollect.errors import LimitError, NotFoundError, UsageError, VersionConflictError
from recollect.stores.contract.base import Store
from recollect.stores.validation import WRITES_MAX
from recollect.testing.contract_base import (
    ADA,
    BOB,
    Contract,
    contents,
    fact,
    feed_after,
    feed_from_start,
    keep_facts,
    keys_in,
    seconds,
)
from recollect.testing.contract_memories import ENDED, GONE, NEW
from recollect.testing.frozen_clock import NOON, FrozenClock


class MemoryPlanContract(Contract):
    """Writing and reading memories."""

    async def test_writes_have_a_limit(self, store: Store) -> None:
        """writes: At most ``WRITES_MAX``."""
        writes = [fact(f"f{number}") for number in range(WRITES_MAX + 1)]

        with pytest.raises(LimitError, match="WRITES_MAX"):
            await store.apply(ADA, writes)
        await store.apply(ADA, writes[:-1])

        assert WRITES_MAX == len((await store.memories(ADA, limit=WRITES_MAX)).rows)

    async def test_writes_to_many_scopes_have_a_limit(self, store: Store) -> None:
        """writes: The writes of each scope, in order; of all together at most ``WRITES_MAX``."""
        half = [fact(f"f{number}") for number in range(WRITES_MAX // 2)]

        with pytest.raises(LimitError, match="WRITES_MAX"):
            await store.apply_each({ADA: half, BOB: [*half, fact("one")]})
        await store.apply_each({ADA: half, BOB: half})

        assert [] == await keys_in(store, NEW)
        assert len(half) == len((await store.memories(BOB, limit=WRITES_MAX)).rows)

    async def test_none_can_be_expected(self, store: Store) -> None:
        """A write that saw no memory expects version 0; to delete nothing is no error."""
        await store.apply(ADA, [replace(GONE, expected=0), GONE])
        await store.apply(ADA, [fact("home", expected=0)])

        with pytest.raises(VersionConflictError):
            await store.apply(ADA, [fact("home", expected=0)])

    async def test_only_a_memory_can_be_ended(self, store: Store) -> None:
        """NotFoundError: A memory to be ended does not exist."""
        with pytest.raises(NotFoundError, match="home"):
            await store.apply(ADA, [fact("work"), ENDED])

        assert [] == await keys_in(store)

    async def test_an_end_keeps_the_value(self, store: Store) -> None:
        """An ended memory keeps its value and stays readable and in the feed."""
        await keep_facts(store, "Oslo")
        feed = await feed_from_start(store)

        (ended,) = await store.apply(ADA, [ENDED])

        assert ended is not None
        assert ({"city": "Oslo"}, NOON, 2) == (ended.value, ended.valid_until, ended.version)
        assert [ended] == await contents(store, await feed_after(store, feed))

    async def test_an_end_lies_after_the_beginning(self, store: Store) -> None:
        """A memory cannot end before it begins."""
        await store.apply(ADA, [replace(fact("home"), valid_from=NOON)])

        with pytest.raises(UsageError, match="before it begins"):
            await store.apply(ADA, [replace(ENDED, at=NOON - seconds(1))])

    async def test_the_expired_is_in_no_answer(self, store: Store, clock: FrozenClock) -> None:
        """Expired memories are in no read, count as missing, and restart when written."""
        await store.apply(ADA, [replace(fact("home"), expires_at=clock.now() + seconds(60))])
        feed = await feed_from_start(store)
        clock.advance(60)

        assert [None] == await store.get_many(ADA, [("Fact", "home")])
        assert [] == await keys_in(store)
        assert () == await store.history(ADA, "Fact", "home")
        assert [] == await contents(store, feed)
        with pytest.raises(NotFoundError):
            await store.apply(ADA, [ENDED])
        (again,) = await store.apply(ADA, [fact("home", expected=0)])
        assert again is not None
        assert (1, clock.now()) == (again.version, again.created_at)
        assert (feed.entries[0].uid,) == (await feed_after(store, feed)).removed
