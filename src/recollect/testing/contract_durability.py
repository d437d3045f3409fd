"""Contract tests for durable stores: acknowledged writes survive the process."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import replace

import pytest

from recollect.errors import ConflictError
from recollect.stores.contract.base import Store
from recollect.stores.plans.erase_targets import EraseMessages
from recollect.stores.plans.formation import Formed
from recollect.testing.contract_base import (
    ADA,
    EMBEDDER,
    TALK,
    Contract,
    claimed,
    existing,
    fact,
    feed_after,
    feed_from_start,
    ids_in,
    keep_facts,
    resting,
    said,
    tell,
)
from recollect.testing.frozen_clock import FrozenClock

Reopen = Callable[[], Awaitable[Store]]
"""Closes the store if it is open, and opens it again at the same location."""


class DurableContract(Contract):
    """
    The additional contract of a store in a file or on a server.

    Subclass it, and define, besides ``store``, a fixture ``reopen`` that closes the store and
    reopens it with the same clock, ids and durability.
    """

    async def test_what_was_written_is_there_again(self, store: Store, reopen: Reopen) -> None:
        """Its writes are durable on return (each backend says against which failures)."""
        await tell(store, "m1", "m2")
        await keep_facts(store, "Oslo", "Rome")
        before = (
            await store.thread(ADA, TALK),
            await store.messages(ADA, TALK),
            await store.history(ADA, "Fact", "home"),
            await store.archive(ADA),
        )

        again = await reopen()

        assert before == (
            await again.thread(ADA, TALK),
            await again.messages(ADA, TALK),
            await again.history(ADA, "Fact", "home"),
            await again.archive(ADA),
        )

    async def test_a_reader_goes_on_where_it_was(self, store: Store, reopen: Reopen) -> None:
        """A cursor of the feed holds beyond the life of the store that gave it."""
        await tell(store, "m1")
        await keep_facts(store, "Oslo")
        before = await feed_from_start(store)

        again = await reopen()
        unchanged = await feed_after(again, before)
        await tell(again, "m2")
        changed = await feed_after(again, before)

        assert (False, ()) == (unchanged.reset, unchanged.entries)
        assert (False, [2]) == (changed.reset, [entry.position for entry in changed.entries])

    async def test_vectors_are_there_again(self, store: Store, reopen: Reopen) -> None:
        """Vectors are as durable as their entries."""
        await tell(store, "m1")
        scope_id = existing(await store.scope_id(ADA))
        batch = existing(await store.unembedded(scope_id, EMBEDDER))
        ((uid, text_hash, _),) = batch.entries
        await store.keep_vectors(batch, EMBEDDER, [(uid, text_hash, b"\0\0\x80?\x01")])
        before = await feed_from_start(store, ADA, EMBEDDER)

        again = await reopen()

        assert before == await feed_from_start(again, ADA, EMBEDDER)
        assert [scope_id] == list(await again.unembedded_scopes("other/1"))

    async def test_a_lease_outlives_the_store(
        self, store: Store, clock: FrozenClock, reopen: Reopen
    ) -> None:
        """A worker may commit after the store was opened again; others still wait for its lease."""
        await tell(store, "m1", "m2")
        lease = await claimed(store, clock)

        again = await reopen()

        assert await again.claim("other") is None
        await again.commit(lease, [fact("home")], Formed(watermarks={TALK: 1}))
        following = existing(await again.claim("other"))
        assert (lease.fence + 1, 1) == (following.fence, following.threads[0].formed)

    async def test_a_backoff_outlives_the_store(
        self, store: Store, clock: FrozenClock, reopen: Reopen
    ) -> None:
        """A backoff survives a crash."""
        await tell(store, "m1")
        await store.release(await claimed(store, clock), failed=[TALK], retry_s=100)

        again = await reopen()

        clock.advance(99)
        assert await again.claim("worker") is None
        clock.advance(1)
        lease = existing(await again.claim("worker"))
        assert 1 == lease.threads[0].attempts

    async def test_a_key_outlives_the_store(self, store: Store, reopen: Reopen) -> None:
        """A request that is repeated after a crash is known by its key."""
        stored = await store.append(ADA, TALK, [said("m1")], idempotency_key="append")
        await store.apply(ADA, [fact("home", expected=0)], idempotency_key="apply")

        again = await reopen()

        assert stored == await again.append(ADA, TALK, [said("m1")], idempotency_key="append")
        await again.apply(ADA, [fact("home", expected=0)], idempotency_key="apply")
        with pytest.raises(ConflictError):
            await again.append(ADA, TALK, [said("m2")], idempotency_key="append")
        assert 1 == len(await again.history(ADA, "Fact", "home"))

    async def test_an_erase_outlives_the_store(
        self, store: Store, clock: FrozenClock, reopen: Reopen
    ) -> None:
        """An erase survives a crash, and so does its pending cleaning."""
        await tell(store, "m1", "m2")
        await store.apply(ADA, [resting("home", "m1")])
        receipt = await store.erase(ADA, EraseMessages(thread=TALK, messages=["m1"]))

        again = await reopen()

        assert ["m2"] == await ids_in(again)
        assert await again.get(ADA, "Fact", "home") is None
        assert [receipt] == await again.receipts(unclean=True)
        assert [replace(receipt, clean_at=clock.now())] == await again.clean()
        assert [] == await (await reopen()).receipts(unclean=True)

    async def test_numbers_are_not_given_again(self, store: Store, reopen: Reopen) -> None:
        """A reader of a scope erased before a crash starts over in the one made after it."""
        await tell(store, "m1")
        before = await feed_from_start(store)
        await store.erase(ADA, EraseMessages(thread=TALK, messages=["m1"]))

        again = await reopen()
        await tell(again, "m2")

        after = await feed_after(again, before)
        assert (True, [2]) == (after.reset, [entry.position for entry in after.entries])
