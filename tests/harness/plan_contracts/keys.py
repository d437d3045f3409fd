"""Decisions on idempotency keys: a repeated request takes effect once."""

from __future__ import annotations

import pytest

from recollect.errors import (
    ConflictError,
    NotFoundError,
    RepeatedRequestError,
    UsageError,
)
from recollect.records import DeleteMemory, JsonObject
from recollect.side_records import ATTACHMENT_PART, DeleteSideRecord, SideWrite
from recollect.stores.contract.base import Store
from recollect.stores.plans.erase_targets import EraseMessages
from recollect.stores.plans.upkeep import KEY_S
from recollect.testing.contract_base import (
    ADA,
    BOB,
    TALK,
    Contract,
    fact,
    feed_after,
    feed_from_start,
    ids_in,
    keep_facts,
    keys_in,
    said,
    tell,
)
from recollect.testing.frozen_clock import FrozenClock
from tests.harness.truth_tables import ILLEGAL_IDS


class IdempotencyPlanContract(Contract):
    """Retries with an idempotency key."""

    async def test_a_repeated_apply_changes_nothing(self, store: Store) -> None:
        """idempotency_key: A repeated request changes nothing and returns the current memories."""
        await store.apply(ADA, [fact("home", expected=0)], idempotency_key="k")
        now = await keep_facts(store, "Rome")

        again = await store.apply(ADA, [fact("home", expected=0)], idempotency_key="k")

        assert (now,) == again
        assert 2 == len(await store.history(ADA, "Fact", "home"))

    async def test_a_repeated_replacement_changes_nothing(self, store: Store) -> None:
        """idempotency_key: A repeated request changes nothing and returns the current message."""
        await tell(store, "m1")
        await store.replace(ADA, TALK, said("m1", "old"), idempotency_key="k")
        newer = await store.replace(ADA, TALK, said("m1", "newer"), idempotency_key="l")
        same = await store.replace(ADA, TALK, said("m1", "newer"), idempotency_key="m")
        feed = await feed_from_start(store)

        again = await store.replace(ADA, TALK, said("m1", "old"), idempotency_key="k")

        assert newer == same == again
        assert feed.seq == (await feed_after(store, feed)).seq
        with pytest.raises(ConflictError):
            await store.replace(ADA, TALK, said("m1", "other"), idempotency_key="m")
        await store.remove(ADA, TALK, ["m1"])
        with pytest.raises(NotFoundError):
            await store.replace(ADA, TALK, said("m1", "old"), idempotency_key="k")

    async def test_a_repeated_request_returns_what_is_left(self, store: Store) -> None:
        """Memories deleted since are ``None`` in the result of a repeated request."""
        await store.apply(ADA, [fact("home"), fact("work")], idempotency_key="k")
        await store.apply(ADA, [DeleteMemory(type="Fact", key="home")])

        again = await store.apply(ADA, [fact("home"), fact("work")], idempotency_key="k")

        assert (None, await store.get(ADA, "Fact", "work")) == again

    @pytest.mark.parametrize(
        ("settings", "writes"),
        [
            ({"assistant": "a", "types": [{"name": "Pet"}]}, []),
            ({"assistant": "a"}, [DeleteSideRecord(kind=ATTACHMENT_PART, key="f", thread=TALK)]),
        ],
        ids=["types of the scope", "parts of a file"],
    )
    async def test_what_is_derived_is_no_other_request(
        self, store: Store, settings: JsonObject, writes: list[SideWrite]
    ) -> None:
        """The types of the scope, or the parts of a file to be replaced, differ at a retry."""
        chosen: JsonObject = {"assistant": "a"}
        asked = [said("m1")]
        first = await store.append(ADA, TALK, asked, idempotency_key="k", settings=chosen)

        again = await store.append(
            ADA, TALK, asked, idempotency_key="k", settings=settings, writes=writes
        )

        assert first == again
        for other in ({"assistant": "b"}, {}, None):
            with pytest.raises(ConflictError):
                await store.append(ADA, TALK, asked, idempotency_key="k", settings=other)
        part = DeleteSideRecord(kind="Other", key="f", thread=TALK)
        with pytest.raises(ConflictError):
            await store.append(
                ADA, TALK, asked, idempotency_key="k", settings=chosen, writes=[part]
            )

    async def test_a_request_without_effect_uses_its_key(self, store: Store) -> None:
        """A request that stored nothing is remembered under its key, too."""
        await tell(store, "m1")
        await store.append(ADA, TALK, [said("m1")], idempotency_key="append")
        await store.apply(ADA, [], idempotency_key="apply")

        with pytest.raises(ConflictError):
            await store.append(ADA, TALK, [said("m2")], idempotency_key="append")
        with pytest.raises(ConflictError):
            await store.apply(ADA, [fact("home")], idempotency_key="apply")

    async def test_a_key_is_good_for_a_week(self, store: Store, clock: FrozenClock) -> None:
        """A key is remembered for ``KEY_S`` seconds."""
        await store.append(ADA, TALK, [said("m1")], idempotency_key="append")
        await store.apply(ADA, [fact("home", expected=0)], idempotency_key="apply")
        clock.advance(KEY_S)
        await store.append(ADA, TALK, [said("m9")], idempotency_key="another")

        with pytest.raises(ConflictError):
            await store.append(ADA, TALK, [said("m2")], idempotency_key="append")
        with pytest.raises(ConflictError):
            await store.apply(ADA, [fact("work")], idempotency_key="apply")
        clock.advance(1)
        await store.append(ADA, TALK, [said("m2")], idempotency_key="append")
        await store.apply(ADA, [fact("work")], idempotency_key="apply")

        assert ["m1", "m9", "m2"] == await ids_in(store)
        assert ["home", "work"] == await keys_in(store)

    async def test_a_key_used_again_is_good_for_another_week(
        self, store: Store, clock: FrozenClock
    ) -> None:
        """A key expires a week after its last request that was carried out."""
        await store.append(ADA, TALK, [said("m1")], idempotency_key="k")
        clock.advance(KEY_S + 1)
        await store.append(ADA, TALK, [said("m2")], idempotency_key="k")
        clock.advance(KEY_S)

        with pytest.raises(ConflictError):
            await store.append(ADA, TALK, [said("m3")], idempotency_key="k")

        assert ["m1", "m2"] == await ids_in(store)

    async def test_a_view_makes_one_change_under_its_key(self, store: Store) -> None:
        """
        Return a view of this store for one *request* under an idempotency *key*.

        The first change through the view stores the key in the same transaction, in the scope that
        it changes; a later one is refused as a repetition. *owner* separates the keys of callers
        that share a scope.
        """
        once = store.once("k", "put", owner=BOB)
        await once.apply(ADA, [fact("home")])

        with pytest.raises(RepeatedRequestError) as repeated:
            await once.apply(ADA, [fact("work")])
        with pytest.raises(ConflictError):
            await store.once("k", "other", owner=BOB).apply(ADA, [fact("work")])
        await store.once("k", "put").apply(ADA, [fact("dog")])
        await once.apply(BOB, [fact("home")])

        assert (("Fact", "home"),) == repeated.value.memories
        assert ["dog", "home"] == await keys_in(store)

    async def test_a_repetition_is_told_the_number_that_was_answered(self, store: Store) -> None:
        """If a request makes several changes, make only the last one through the view."""
        await store.append(ADA, TALK, [said("m1")])
        pausing, counted = store.once("pause", "pause"), store.once("retry", "retry")
        assert 1 == await pausing.pause(ADA, TALK)
        await counted.note_count(ADA, 7)

        with pytest.raises(RepeatedRequestError) as paused:
            await pausing.pause(ADA, TALK)
        with pytest.raises(RepeatedRequestError) as retried:
            await counted.check_not_repeated(ADA)
        await store.erase(ADA, EraseMessages(thread=TALK, messages=["m1"]))
        with pytest.raises(RepeatedRequestError) as erased:
            await counted.note_count(ADA, 8)

        assert [1, 7, 7] == [each.value.count for each in (paused, retried, erased)]

    @pytest.mark.parametrize("key", ILLEGAL_IDS, ids=ascii)
    async def test_a_key_is_an_id(self, store: Store, key: str) -> None:
        """A key that could not name anything is refused."""
        with pytest.raises(UsageError):
            await store.append(ADA, TALK, [said("m1")], idempotency_key=key)
        with pytest.raises(UsageError):
            await store.apply(ADA, [fact("home")], idempotency_key=key)

        assert await store.scope_id(ADA) is None
