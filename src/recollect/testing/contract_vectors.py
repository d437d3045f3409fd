"""Contract tests for vectors: stored after the entry, for exactly its text."""

from __future__ import annotations

import pytest

from recollect.stores.contract.base import Store
from recollect.stores.plans.embedding_backlog import EMBED_ENTRIES_MAX, Unembedded
from recollect.stores.plans.erase_targets import EraseMessages, EraseScope
from recollect.testing.contract_base import (
    ADA,
    BOB,
    EMBEDDER,
    TALK,
    Contract,
    existing,
    feed_after,
    feed_from_start,
    keep_facts,
    said,
    tell,
)

VECTOR = b"\0\0\x80?\x7f\x81"
"""A stored vector: the scale 1.0, and two components."""


async def batch_of(store: Store) -> Unembedded:
    """Return the next batch of Ada's entries."""
    scope_id = existing(await store.scope_id(ADA))
    return existing(await store.unembedded(scope_id, EMBEDDER))


async def embed(store: Store, batch: Unembedded, vector: bytes = VECTOR) -> int:
    """Give every entry of *batch* the same vector, and return how many were stored."""
    done = [(uid, text_hash, vector) for uid, text_hash, _ in batch.entries]
    return await store.keep_vectors(batch, EMBEDDER, done)


async def vectors_in(store: Store, embedder: str | None = EMBEDDER) -> list[bytes | None]:
    """Return the vectors of Ada's entries, as a new reader gets them."""
    return [entry.vector for entry in (await feed_from_start(store, ADA, embedder)).entries]


class VectorContract(Contract):
    """Vectors of entries."""

    async def test_scopes_with_work_are_named(self, store: Store) -> None:
        """Return ids of scopes with changes that the embedder has not processed."""
        await tell(store, "m1")
        await store.append(BOB, TALK, [said("m1")])
        ada, bob = await store.scope_id(ADA), await store.scope_id(BOB)

        assert {ada, bob} == set(await store.unembedded_scopes(EMBEDDER))
        assert 1 == len(await store.unembedded_scopes(EMBEDDER, 1))
        await embed(store, await batch_of(store))
        assert [bob] == list(await store.unembedded_scopes(EMBEDDER))
        assert {ada, bob} == set(await store.unembedded_scopes("other/1"))

    async def test_entries_to_embed_are_counted(self, store: Store) -> None:
        """Return how many entries the embedder has not processed, counted up to *limit*."""
        await tell(store, "m1", "m2")
        await store.append(BOB, TALK, [said("m1")])
        before = await store.unembedded_count(EMBEDDER)
        some = await store.unembedded_count(EMBEDDER, limit=2)
        await embed(store, await batch_of(store))

        assert (3, 2, 1) == (before, some, await store.unembedded_count(EMBEDDER))

    async def test_a_scope_has_an_id(self, store: Store) -> None:
        """Return the id of a scope, ``None`` if it is empty."""
        await tell(store, "m1")
        first = await store.scope_id(ADA)

        await store.erase(ADA, EraseScope())
        gone = await store.scope_id(ADA)
        await tell(store, "m1")
        again = await store.scope_id(ADA)

        assert (False, None) == (first is None, gone)
        assert None not in (first, again)
        assert first != again

    async def test_entries_to_embed_are_returned(self, store: Store) -> None:
        """Return the next entries of a scope to embed, ``None`` if there are none."""
        await store.append(ADA, TALK, [said("m1", "hello")])
        await keep_facts(store, "Oslo")
        scope_id = existing(await store.scope_id(ADA))

        batch = await batch_of(store)
        await embed(store, batch)

        assert {"hello", "city: Oslo"} == {text for _, _, text in batch.entries}
        feed = await feed_from_start(store)
        assert {each.uid for each in feed.entries} == {uid for uid, _, _ in batch.entries}
        assert await store.unembedded(scope_id, EMBEDDER) is None
        assert await store.unembedded(scope_id + 1_000, EMBEDDER) is None

    async def test_vectors_are_kept(self, store: Store) -> None:
        """Store vectors of a batch for texts that have not changed; return how many."""
        await tell(store, "m1", "m2")
        batch = await batch_of(store)
        await store.replace(ADA, TALK, said("m2", "better"))

        kept = await embed(store, batch)

        assert 1 == kept
        assert {VECTOR, None} == set(await vectors_in(store))
        rest = await batch_of(store)
        assert ["better"] == [text for _, _, text in rest.entries]
        assert 1 == await embed(store, rest)
        assert [VECTOR, VECTOR] == await vectors_in(store)

    async def test_a_vector_is_of_one_embedder(self, store: Store) -> None:
        """A feed gives the vectors of the embedder asked for, and no others."""
        await tell(store, "m1")
        await embed(store, await batch_of(store))

        assert [VECTOR] == await vectors_in(store)
        assert [None] == await vectors_in(store, "other/1")
        assert [None] == await vectors_in(store, None)

    async def test_a_vector_is_a_change_but_no_version(self, store: Store) -> None:
        """A vector raises the seq of its entry, not its version."""
        memory = await keep_facts(store, "Oslo")
        start = await feed_from_start(store)

        await embed(store, await batch_of(store))

        after = await feed_after(store, start)
        assert [start.seq + 1] == [entry.seq for entry in after.entries]
        assert memory == await store.get(ADA, "Fact", "home")

    async def test_another_text_needs_another_vector(self, store: Store) -> None:
        """A vector belongs to a text: the same text needs no new one."""
        await keep_facts(store, "Oslo")
        await embed(store, await batch_of(store))

        await keep_facts(store, "Rome")
        changed = await vectors_in(store)
        await embed(store, await batch_of(store))

        assert [None] == changed
        assert [VECTOR] == await vectors_in(store)

    async def test_a_text_may_not_be_understood(self, store: Store) -> None:
        """An empty vector means that there is none, and the entry is not returned again."""
        await tell(store, "m1")
        scope_id = existing(await store.scope_id(ADA))

        await embed(store, await batch_of(store), b"")

        assert [b""] == await vectors_in(store)
        assert await store.unembedded(scope_id, EMBEDDER) is None

    async def test_batches_have_a_limit(self, store: Store) -> None:
        """A batch has ``EMBED_ENTRIES_MAX`` entries at most; all of them have every entry once."""
        ids = [f"m{number}" for number in range(EMBED_ENTRIES_MAX + 9)]
        await tell(store, *ids[:9])
        await store.append(ADA, "other", [said(each) for each in ids])
        scope_id = existing(await store.scope_id(ADA))

        sizes = []
        while batch := await store.unembedded(scope_id, EMBEDDER):
            sizes.append(len(batch.entries))
            await embed(store, batch)

        assert len(ids) + 9 == sum(sizes)
        assert EMBED_ENTRIES_MAX == max(sizes)
        assert [VECTOR] * (len(ids) + 9) == await vectors_in(store)

    @pytest.mark.parametrize("whole", [True, False])
    async def test_the_erased_keeps_no_vector(self, store: Store, *, whole: bool) -> None:
        """A vector that arrives after its entry was erased, or its scope, is not kept."""
        await tell(store, "m1")
        batch = await batch_of(store)

        target = EraseScope() if whole else EraseMessages(thread=TALK, messages=["m1"])
        await store.erase(ADA, target)

        assert 0 == await embed(store, batch)
        assert [] == await vectors_in(store)
