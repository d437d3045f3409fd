"""Decisions on idempotency keys in restored backups and copies."""

from __future__ import annotations

import pytest

from recollect.errors import GoneError, UsageError
from recollect.records import DeleteMemory, JsonObject
from recollect.stores.contract.base import Store
from recollect.stores.in_process.store import InProcessStore
from recollect.stores.plans.erase_targets import EraseScope
from recollect.stores.plans.upkeep import KEY_S
from recollect.testing.contract_base import ADA, BOB, TALK, Contract, fact, keys_in, said
from recollect.testing.contract_keys import BATCH, carry
from recollect.testing.frozen_clock import FrozenClock


def _wrote(record: JsonObject) -> list[object]:
    wrote = record["wrote"]
    assert isinstance(wrote, list)
    return wrote


class IdempotencyArchivePlanContract(Contract):
    """Recognising repeated requests that were first made to another store."""

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
