"""Contract tests for retries after an erase: nothing runs twice, and nothing erased returns."""

from __future__ import annotations

from dataclasses import replace

import anyio
import pytest

from recollect.errors import ConflictError, GoneError
from recollect.records import DeleteMemory, NewMessage, PutMemory
from recollect.stores.contract.base import Store
from recollect.stores.digests import keyed_digest
from recollect.stores.plans.erase_targets import (
    EraseExpired,
    EraseMemory,
    EraseMessages,
    EraseScope,
    EraseSource,
    EraseTarget,
    EraseThread,
)
from recollect.stores.plans.upkeep import KEY_S
from recollect.testing.contract_base import (
    ADA,
    BOB,
    TALK,
    Contract,
    existing,
    fact,
    feed_after,
    feed_from_start,
    ids_in,
    keys_in,
    resting,
    said,
    seconds,
    tell,
)
from recollect.testing.frozen_clock import FrozenClock

PAY = NewMessage(role="user", text="pay 10")
M1 = EraseMessages(thread=TALK, messages=["m1"])


async def keep_mail(store: Store) -> None:
    """Store a message in each thread under a key, and a memory that cites one of them."""
    mail = replace(said("m1"), source="mail")
    await store.append(ADA, TALK, [mail], idempotency_key="append")
    await store.apply(ADA, [resting("home", "m1")], idempotency_key="apply")
    await store.append(ADA, "other", [said("m1")], idempotency_key="other")


async def retry_mail(store: Store) -> None:
    """Repeat the requests of `keep_mail`, and assert that their results are gone."""
    mail = replace(said("m1"), source="mail")
    with pytest.raises(GoneError):
        await store.append(ADA, TALK, [mail], idempotency_key="append")
    with pytest.raises(GoneError):
        await store.apply(ADA, [resting("home", "m1")], idempotency_key="apply")


class RetryContract(Contract):
    """Retries after an erase."""

    async def test_an_erase_leaves_other_keys(self, store: Store) -> None:
        """An erase leaves the keys of unaffected requests."""
        await tell(store, "m1")
        (first,) = await store.append(ADA, "bills", [PAY], idempotency_key="pay")
        await store.apply(ADA, [fact("home", "Oslo")], idempotency_key="move")
        (newer,) = await store.apply(ADA, [fact("home", "Rome")])
        await store.erase(ADA, M1)
        feed = await feed_from_start(store)

        again = await store.append(ADA, "bills", [PAY], idempotency_key="pay")
        moved = await store.apply(ADA, [fact("home", "Oslo")], idempotency_key="move")

        assert (first,) == again
        assert (newer,) == moved
        assert 1 == len(await ids_in(store, "bills"))
        assert feed.seq == (await feed_after(store, feed)).seq

    @pytest.mark.parametrize(
        "target",
        [M1, EraseThread(thread=TALK), EraseSource(source="mail")],
        ids=lambda target: type(target).__name__,
    )
    async def test_what_was_erased_is_not_kept_again(
        self, store: Store, target: EraseTarget
    ) -> None:
        """GoneError: Everything stored under the key has been erased since; nothing is stored."""
        await keep_mail(store)
        await store.erase(ADA, target)
        feed = await feed_from_start(store)

        await retry_mail(store)

        assert [] == await ids_in(store)
        assert [] == await keys_in(store)
        assert feed.seq == (await feed_after(store, feed)).seq
        assert 1 == len(await store.append(ADA, "other", [said("m1")], idempotency_key="other"))

    @pytest.mark.parametrize("below", [False, True])
    async def test_keys_outlive_their_scope(self, store: Store, below: bool) -> None:  # noqa: FBT001
        """GoneError: Everything written under the key has been erased since; nothing is written."""
        await keep_mail(store)
        await store.append(BOB, TALK, [said("m1")], idempotency_key="append")
        await store.erase(ADA[:2] if below else ADA, EraseScope(below=below))

        await retry_mail(store)
        assert await store.scope_id(ADA) is None
        await store.append(ADA, "new", [said("m2")], idempotency_key="new")
        await retry_mail(store)

        assert ["m2"] == await ids_in(store, "new")
        assert [] == await ids_in(store)
        assert (not below) == bool(await ids_in(store, scope=BOB))

    async def test_keys_outlive_an_emptied_scope(self, store: Store) -> None:
        """A scope whose last messages were erased behaves like one erased whole."""
        await store.append(ADA, TALK, [said("m1")], idempotency_key="k")
        await store.erase(ADA, EraseThread(thread=TALK))

        with pytest.raises(GoneError):
            await store.append(ADA, TALK, [said("m1")], idempotency_key="k")

        assert await store.scope_id(ADA) is None

    async def test_a_retry_is_answered_with_what_is_left(self, store: Store) -> None:
        """If part of the result was erased, a retry returns the rest."""
        batch = [said("m1"), said("m2")]
        await store.append(ADA, TALK, batch, idempotency_key="append")
        writes = [fact("home"), fact("work")]
        await store.apply(ADA, writes, idempotency_key="apply")
        await store.erase(ADA, M1)
        await store.erase(ADA, EraseMemory(type="Fact", key="home"))

        told = await store.append(ADA, TALK, batch, idempotency_key="append")
        applied = await store.apply(ADA, writes, idempotency_key="apply")

        assert ["m2"] == [each.id for each in told] == await ids_in(store)
        assert (None, await store.get(ADA, "Fact", "work")) == applied
        assert ["work"] == await keys_in(store)

    async def test_a_request_is_gone_with_its_last_part(self, store: Store) -> None:
        """A request whose parts were erased one by one is gone, like one erased at once."""
        batch = [said("m1"), said("m2"), said("m3")]
        await store.append(ADA, TALK, batch, idempotency_key="k")
        for id_ in ("m2", "m1", "m3"):
            await store.erase(ADA, EraseMessages(thread=TALK, messages=[id_]))

        with pytest.raises(GoneError):
            await store.append(ADA, TALK, batch, idempotency_key="k")

    @pytest.mark.parametrize("target", [M1, EraseThread(thread=TALK), EraseScope()], ids=repr)
    async def test_an_erased_replacement_is_gone(self, store: Store, target: EraseTarget) -> None:
        """GoneError: The message stored under the key was erased since; nothing is stored."""
        await tell(store, "m1")
        await store.replace(ADA, TALK, said("m1", "secret"), idempotency_key="k")
        await store.erase(ADA, target)
        await tell(store, "m1")

        with pytest.raises(GoneError):
            await store.replace(ADA, TALK, said("m1", "secret"), idempotency_key="k")

        (left,) = (await store.messages(ADA, TALK)).rows
        assert "the words of m1" == left.text

    async def test_a_memory_written_anew_is_not_overwritten(self, store: Store) -> None:
        """A retry neither restores an erased memory nor changes the one that replaced it."""
        await tell(store, "m1")
        await store.apply(ADA, [fact("home", "Oslo")], idempotency_key="k")
        await store.erase(ADA, EraseMemory(type="Fact", key="home"))
        await store.apply(ADA, [fact("home", "Rome")])

        with pytest.raises(GoneError):
            await store.apply(ADA, [fact("home", "Oslo")], idempotency_key="k")

        memory = existing(await store.get(ADA, "Fact", "home"))
        assert (1, {"city": "Rome"}) == (memory.version, memory.value)

    async def test_what_expired_is_gone(self, store: Store, clock: FrozenClock) -> None:
        """A memory that was erased after its expiry is gone as well."""
        await tell(store, "m1")
        put = replace(fact("home"), expires_at=clock.now() + seconds(60))
        await store.apply(ADA, [put], idempotency_key="k")
        clock.advance(61)
        await store.erase(ADA, EraseExpired())

        with pytest.raises(GoneError):
            await store.apply(ADA, [put], idempotency_key="k")

    async def test_an_emptied_request_is_not_gone(self, store: Store) -> None:
        """Data removed or deleted, but not erased, is missing in the result."""
        await tell(store, "m1", "m2")
        await store.append(ADA, TALK, [said("m3")], idempotency_key="append")
        await store.apply(ADA, [fact("home")], idempotency_key="apply")
        await store.remove(ADA, TALK, ["m3"])
        await store.apply(ADA, [DeleteMemory(type="Fact", key="home")])
        await store.erase(ADA, M1)

        assert () == await store.append(ADA, TALK, [said("m3")], idempotency_key="append")
        assert (None,) == await store.apply(ADA, [fact("home")], idempotency_key="apply")

    @pytest.mark.parametrize("target", [M1, EraseScope()], ids=["messages", "scope"])
    async def test_a_gone_key_is_for_one_request(self, store: Store, target: EraseTarget) -> None:
        """
        A key that was used before an erase is refused for another request, as ever.

        ConflictError: The key was used for a different request.
        """
        await store.append(ADA, TALK, [said("m1")], idempotency_key="k")
        await store.erase(ADA, target)

        with pytest.raises(ConflictError):
            await store.append(ADA, TALK, [said("m2")], idempotency_key="k")

        assert [] == await ids_in(store)

    @pytest.mark.parametrize("target", [M1, EraseScope()], ids=["messages", "scope"])
    async def test_a_gone_key_is_good_for_a_week(
        self, store: Store, clock: FrozenClock, target: EraseTarget
    ) -> None:
        """The key of an erased request is kept for ``KEY_S`` after the erase."""
        await tell(store, "m9", thread="other")
        await store.append(ADA, TALK, [said("m1")], idempotency_key="k")
        clock.advance(KEY_S)
        await store.erase(ADA, target)
        clock.advance(KEY_S)
        with pytest.raises(GoneError):
            await store.append(ADA, TALK, [said("m1")], idempotency_key="k")
        clock.advance(1)

        await store.append(ADA, TALK, [said("m1")], idempotency_key="k")

        assert ["m1"] == await ids_in(store)

    @pytest.mark.parametrize("target", [M1, EraseScope()], ids=["messages", "scope"])
    async def test_a_retry_beside_an_erase_keeps_nothing(
        self, store: Store, target: EraseTarget
    ) -> None:
        """A retry that runs concurrently with an erase leaves nothing behind."""
        await store.append(ADA, TALK, [said("m1")], idempotency_key="k")
        outcomes: list[str] = []

        async def retry() -> None:
            try:
                kept = await store.append(ADA, TALK, [said("m1")], idempotency_key="k")
            except GoneError:
                outcomes.append("gone")
            else:
                outcomes.append("".join(each.id for each in kept))

        async with anyio.create_task_group() as group:
            for number in range(8):
                group.start_soon(retry)
                if number == 4:
                    group.start_soon(store.erase, ADA, target)
        await retry()

        assert {"gone", "m1"} >= set(outcomes)
        assert "gone" == outcomes[-1]
        assert [] == await ids_in(store)

    async def test_keys_are_kept_as_digests(self, store: Store) -> None:
        """A key is stored only as a digest, keyed with the store's secret."""
        batch = [NewMessage(role="user", text="hello", source="mail")]
        await store.append(ADA, TALK, batch, idempotency_key="my-words")
        await store.apply(ADA, [PutMemory(type="Fact", key="home", value={})], idempotency_key="k")

        found = await store.requests(ADA)

        secret = await store.digest_secret()
        names = {keyed_digest(secret, "key", ADA, each).hex() for each in ("my-words", "k")}
        assert names == {each["key"] for each in found}
        assert "my-words" not in repr(found)
