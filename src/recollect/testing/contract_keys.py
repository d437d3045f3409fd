"""Contract tests for idempotency keys: a repeated request takes effect once, in a copy too."""

from __future__ import annotations

import pytest

from recollect.errors import (
    ConflictError,
    GoneError,
    VersionConflictError,
)
from recollect.records import NewMessage, Scope
from recollect.stores.contract.base import Store
from recollect.stores.in_process.store import InProcessStore
from recollect.stores.plans.erase_targets import EraseMessages, EraseScope, EraseThread
from recollect.testing.contract_base import (
    ADA,
    BOB,
    TALK,
    Contract,
    fact,
    feed_after,
    feed_from_start,
    ids_in,
    keys_in,
    said,
    tell,
)
from recollect.testing.frozen_clock import FrozenClock

BATCH = [said("m1"), said("m2")]


class IdempotencyContract(Contract):
    """Retries with an idempotency key."""

    async def test_a_repeated_append_changes_nothing(self, store: Store) -> None:
        """idempotency_key: Repeating a request with the same key changes nothing."""
        batch = [NewMessage(role="user", text="hi"), NewMessage(role="user", text="hi")]
        first = await store.append(ADA, TALK, batch, idempotency_key="k")
        feed = await feed_from_start(store)

        again = await store.append(ADA, TALK, batch, idempotency_key="k")

        assert first == again
        assert list(first) == list((await store.messages(ADA, TALK)).rows)
        assert feed.seq == (await feed_after(store, feed)).seq

    async def test_a_key_is_for_one_request(self, store: Store) -> None:
        """A key that was used for another request is refused, for appends and writes alike."""
        await store.append(ADA, TALK, [said("m1")], idempotency_key="append")
        await store.apply(ADA, [fact("home")], idempotency_key="apply")

        with pytest.raises(ConflictError):
            await store.append(ADA, "other", [said("m1")], idempotency_key="append")
        with pytest.raises(ConflictError):
            await store.append(ADA, TALK, [said("m1")], idempotency_key="apply")
        with pytest.raises(ConflictError):
            await store.apply(ADA, [fact("home", "Rome")], idempotency_key="apply")
        with pytest.raises(ConflictError):
            await store.apply(ADA, [fact("home")], idempotency_key="append")

        assert 1 == len(await store.history(ADA, "Fact", "home"))
        assert await store.thread(ADA, "other") is None

    async def test_a_key_is_of_one_scope(self, store: Store) -> None:
        """The same key in two scopes is two keys."""
        await store.append(ADA, TALK, [said("m1")], idempotency_key="k")

        await store.append(BOB, TALK, [said("m2")], idempotency_key="k")

        assert ["m2"] == await ids_in(store, scope=BOB)

    async def test_a_refused_request_uses_up_no_key(self, store: Store) -> None:
        """A request that failed may be corrected and made again under its key."""
        await tell(store, "m1")
        with pytest.raises(ConflictError):
            await store.append(ADA, TALK, [said("m1", "other")], idempotency_key="append")
        with pytest.raises(VersionConflictError):
            await store.apply(ADA, [fact("home", expected=3)], idempotency_key="apply")

        await store.append(ADA, TALK, [said("m2")], idempotency_key="append")
        await store.apply(ADA, [fact("home", expected=0)], idempotency_key="apply")

        assert ["m1", "m2"] == await ids_in(store)
        assert await store.get(ADA, "Fact", "home") is not None


async def keep_all(store: Store) -> None:
    """Store messages and memories under keys, and erase some of them."""
    await store.append(ADA, TALK, BATCH, idempotency_key="append")
    await store.append(ADA, "mail", [said("m1")], idempotency_key="mail")
    await store.apply(ADA, [fact("home"), fact("work")], idempotency_key="apply")
    await store.append(BOB, TALK, [said("m1")], idempotency_key="append")
    await store.erase(ADA, EraseThread(thread="mail"))
    await store.erase(BOB, EraseScope())


async def carry(source: Store, store: Store, scope: Scope = ADA) -> int:
    """Fill *store* with all of a scope, and with its keys."""
    await store.restore(scope, await source.archive(scope))
    known = await store.adopt_requests(scope, await source.requests(scope))
    return known + await store.adopt_requests(None, await source.requests(None))


class IdempotencyArchiveContract(Contract):
    """Recognising repeated requests that were first made to another store."""

    async def test_keys_are_known_again(self, store: Store, clock: FrozenClock) -> None:
        """
        Add keys of another store with the same secret; return how many are known.

        The entries they wrote are looked up here by name.
        """
        async with InProcessStore(clock=clock) as source:
            await keep_all(source)
            taken = await store.adopt_secret(await source.digest_secret())
            known = await carry(source, store)

        told = await store.append(ADA, TALK, BATCH, idempotency_key="append")
        applied = await store.apply(ADA, [fact("home"), fact("work")], idempotency_key="apply")
        with pytest.raises(GoneError):
            await store.append(ADA, "mail", [said("m1")], idempotency_key="mail")
        with pytest.raises(GoneError):
            await store.append(BOB, TALK, [said("m1")], idempotency_key="append")

        assert (True, 4) == (taken, known)
        assert ["m1", "m2"] == [each.id for each in told] == await ids_in(store)
        assert ["home", "work"] == [each.key for each in applied if each] == await keys_in(store)

    async def test_a_used_store_keeps_its_secret(self, store: Store) -> None:
        """
        Adopt another store's secret if this store is empty; return True if both use it now.

        Return the secret used for digests of keys and of erased names.
        """
        async with InProcessStore() as source:
            secret, digest = await source.digest_secret(), await source.keyed("Fact", "home")
            await store.append(ADA, TALK, BATCH, idempotency_key="k")
            own = await store.digest_secret()
            refused = await store.adopt_secret(secret)
            kept = await store.digest_secret()
            await store.erase(ADA, EraseScope())
            spent = await store.adopt_secret(secret)

        assert (False, False) == (refused, spent)
        assert own == kept != secret
        assert digest != await store.keyed("Fact", "home")
        assert await store.adopt_secret(own)

    async def test_a_secret_is_taken_over_once(self, store: Store) -> None:
        """A store that took a secret over keeps that one."""
        async with InProcessStore() as source, InProcessStore() as other:
            secret, digest = await source.digest_secret(), await source.keyed("Fact", "home")
            own = await store.digest_secret()
            taken = [await store.adopt_secret(secret), await store.adopt_secret(secret)]
            refused = await store.adopt_secret(await other.digest_secret())

        assert [True, True, False] == [*taken, refused]
        assert own != secret == await store.digest_secret()
        assert digest == await store.keyed("Fact", "home")
        assert [] == await store.requests(None)

    async def test_what_was_erased_since_is_gone(self, store: Store, clock: FrozenClock) -> None:
        """Data erased after a restore is gone for the backup's keys, too."""
        async with InProcessStore(clock=clock) as source:
            await source.append(ADA, TALK, BATCH, idempotency_key="k")
            await store.adopt_secret(await source.digest_secret())
            await carry(source, store)
            await tell(store, "other", thread="other")

            await store.erase(ADA, EraseMessages(thread=TALK, messages=["m1"]))
            left = await store.append(ADA, TALK, BATCH, idempotency_key="k")
            await store.erase(ADA, EraseThread(thread=TALK))
            await carry(source, store, BOB)
            again = await store.adopt_requests(ADA, await source.requests(ADA))

        with pytest.raises(GoneError):
            await store.append(ADA, TALK, BATCH, idempotency_key="k")
        assert (["m2"], 1) == ([each.id for each in left], again)
