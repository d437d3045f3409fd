"""Contract tests for ids: every valid id works, and no two are confused."""

from __future__ import annotations

from uuid import UUID

from recollect.records import PutMemory, Scope
from recollect.stores.contract.base import Store
from recollect.stores.plans.erase_targets import EraseSource
from recollect.testing.contract_base import ADA, TALK, Contract, ids_in, said
from recollect.testing.truth_tables import LEGAL_IDS


class IdentityContract(Contract):
    """Valid ids, and that each identifies one object."""

    async def test_every_id_names_a_scope(self, store: Store) -> None:
        """Every valid id is a segment, and identifies a separate scope."""
        for id_ in LEGAL_IDS:
            await store.append(("users", id_), TALK, [said("m1", f"by {id_}")])

        found = {id_: await store.messages(("users", id_), TALK) for id_ in LEGAL_IDS}
        listed = (await store.scopes(prefix=("users",), limit=1_000)).rows
        assert {id_: [f"by {id_}"] for id_ in LEGAL_IDS} == {
            id_: [message.text for message in page.rows] for id_, page in found.items()
        }
        assert sorted(("users", id_) for id_ in LEGAL_IDS) == list(listed)

    async def test_every_id_names_a_thread(self, store: Store) -> None:
        """Every valid id identifies a separate thread."""
        for id_ in LEGAL_IDS:
            await store.append(ADA, id_, [said("m1", f"in {id_}")])

        found = {id_: await store.messages(ADA, id_) for id_ in LEGAL_IDS}
        listed = (await store.threads(ADA, limit=1_000)).rows
        assert {id_: [f"in {id_}"] for id_ in LEGAL_IDS} == {
            id_: [message.text for message in page.rows] for id_, page in found.items()
        }
        assert sorted(LEGAL_IDS) == [thread.id for thread in listed]

    async def test_every_id_names_a_message(self, store: Store) -> None:
        """Every valid id identifies a separate message."""
        await store.append(ADA, TALK, [said(id_) for id_ in LEGAL_IDS])

        for id_ in LEGAL_IDS[::2]:
            assert 1 == await store.remove(ADA, TALK, [id_])

        assert list(LEGAL_IDS[1::2]) == await ids_in(store)

    async def test_every_id_names_a_source(self, store: Store) -> None:
        """Every valid id identifies a separate source, and erasing it affects that source only."""
        await store.append(
            ADA, TALK, [said(f"m{at}", source=id_) for at, id_ in enumerate(LEGAL_IDS)]
        )

        erased = [await store.erase(ADA, EraseSource(source=id_)) for id_ in LEGAL_IDS[:9]]

        assert [1] * 9 == [receipt.messages for receipt in erased]
        assert [f"m{at}" for at in range(9, len(LEGAL_IDS))] == await ids_in(store)

    async def test_every_id_names_a_memory(self, store: Store) -> None:
        """Every pair of valid ids is a separate address."""
        pairs = [*((id_, "key") for id_ in LEGAL_IDS), *(("type", id_) for id_ in LEGAL_IDS)]
        writes = [PutMemory(type=t, key=k, value={"at": [t, k]}) for t, k in pairs]
        await store.apply(ADA, writes)

        found = await store.get_many(ADA, pairs)

        assert [{"at": [t, k]} for t, k in pairs] == [each.value for each in found if each]
        listed = (await store.memories(ADA, limit=1_000)).rows
        assert sorted(pairs) == [(memory.type, memory.key) for memory in listed]

    async def test_every_id_is_a_key(self, store: Store) -> None:
        """Every valid id is a separate idempotency key."""
        for at, id_ in enumerate(LEGAL_IDS):
            await store.append(ADA, TALK, [said(f"m{at}")], idempotency_key=id_)

        assert [f"m{at}" for at in range(len(LEGAL_IDS))] == await ids_in(store)

    async def test_segments_are_not_joined(self, store: Store) -> None:
        """Scopes with different segments are different, even if the joined texts are equal."""
        scopes: list[Scope] = [
            ("a", "b"), ("a/b",), ("a,b",), ("a", "b", "c"), ("a",), ('a","b',), ("a\\", "b"),
        ]  # fmt: skip
        for scope in scopes:
            await store.append(scope, TALK, [said("m1", repr(scope))])

        found = [(await store.messages(scope, TALK)).rows for scope in scopes]

        assert [[repr(scope)] for scope in scopes] == [[m.text for m in rows] for rows in found]

    async def test_new_names_are_unique(self, store: Store) -> None:
        """Return a new UUIDv7 as text."""
        names = [store.new_name() for _ in range(100)]

        assert {7} == {UUID(name).version for name in names}
        assert len(names) == len(set(names))
