"""Contract tests for idempotency keys in restored backups and copies."""

from __future__ import annotations

import pytest

from recollect.errors import GoneError, UsageError
from recollect.records import DeleteMemory, JsonObject, Scope
from recollect.stores.contract.base import Store
from recollect.stores.in_process.store import InProcessStore
from recollect.stores.plans.erase_targets import EraseMessages, EraseScope, EraseThread
from recollect.stores.plans.upkeep import KEY_S
from recollect.testing.contract_base import Contract
from recollect.testing.contract_samples import ADA, BOB, TALK, fact, ids_in, keys_in, said, tell
from recollect.testing.frozen_clock import FrozenClock

BATCH = [said("m1"), said("m2")]


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

    async def test_what_is_gone_stays_gone(self, store: Store, clock: FrozenClock) -> None:
        """Keys marked as gone here stay so."""
        async with InProcessStore(clock=clock) as source:
            await source.append(ADA, TALK, BATCH, idempotency_key="k")
            await store.adopt_secret(await source.digest_secret())
            await carry(source, store)
            await store.erase(ADA, EraseScope())
            await store.adopt_requests(ADA, await source.requests(ADA))

        with pytest.raises(GoneError):
            await store.append(ADA, TALK, BATCH, idempotency_key="k")

    async def test_keys_of_an_emptied_scope_are_known_again(
        self, store: Store, clock: FrozenClock
    ) -> None:
        """A keyed write that was deleted is not written again in a copy."""
        async with InProcessStore(clock=clock) as source:
            await source.apply(ADA, [fact("home")], idempotency_key="k")
            await source.apply(ADA, [DeleteMemory(type="Fact", key="home")])
            await source.append(BOB, TALK, [said("other")])
            await store.adopt_secret(await source.digest_secret())
            await carry(source, store, BOB)

        again = await store.apply(ADA, [fact("home")], idempotency_key="k")

        assert ((None,), []) == (again, await keys_in(store))

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

    async def test_old_keys_stay_behind(self, store: Store, clock: FrozenClock) -> None:
        """
        Return a record for each valid idempotency key of a scope.

        ``None`` returns the keys of scopes that were erased whole or are empty.
        """
        await store.append(ADA, TALK, [said("m1")], idempotency_key="old")
        clock.advance(KEY_S + 1)
        await store.append(BOB, TALK, [said("m1")], idempotency_key="new")
        await store.append(BOB, TALK, [said("m2")])

        bobs = await store.requests(BOB)
        await store.erase(BOB, EraseScope())

        assert [] == await store.requests(ADA)
        assert [[TALK, "m1"]] == [name for each in bobs for name in _wrote(each)]
        assert [] == await store.requests(BOB)
        assert [None] == [each["wrote"] for each in await store.requests(None)]

    @pytest.mark.parametrize("name", ["kind", "key", "digest", "wrote", "kept_at"])
    async def test_a_record_of_a_key_is_checked(self, store: Store, name: str) -> None:
        """UsageError: A record is malformed."""
        await store.append(ADA, TALK, [said("m1")], idempotency_key="k")
        (record,) = await store.requests(ADA)

        for wrong in ({**record, name: 7.5}, {n: each for n, each in record.items() if n != name}):
            with pytest.raises(UsageError):
                await store.adopt_requests(ADA, [wrong])


def _wrote(record: JsonObject) -> list[object]:
    wrote = record["wrote"]
    assert isinstance(wrote, list)
    return wrote
