"""Contract tests for idempotency keys: a repeated request takes effect once."""

from __future__ import annotations

import pytest

from recollect.errors import (
    ConflictError,
    VersionConflictError,
)
from recollect.records import NewMessage
from recollect.stores.contract.base import Store
from recollect.testing.contract_base import (
    ADA,
    BOB,
    TALK,
    Contract,
    fact,
    feed_after,
    feed_from_start,
    ids_in,
    said,
    tell,
)


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
