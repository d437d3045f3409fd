"""The contract, erasing: what is gone, from where, and the receipt for it."""

from __future__ import annotations

from dataclasses import replace

import pytest

from recollect.records import NewMessage, Scope
from recollect.stores.base import Store
from recollect.stores.plans.erase import (
    EraseMemory,
    EraseMessages,
    EraseReceipt,
    EraseScope,
    EraseSource,
    EraseTarget,
    EraseThread,
)
from recollect.testing.clock import FrozenClock
from recollect.testing.contract import Contract
from recollect.testing.samples import (
    ADA,
    BOB,
    TALK,
    contents,
    fact,
    feed_from_start,
    ids_in,
    keep_facts,
    keys_in,
    name_of,
    resting,
    said,
    tell,
)


def counts(receipt: EraseReceipt) -> tuple[int, int, int]:
    """Return how many messages and memories went, and how many memories lost a part."""
    return receipt.messages, receipt.memories, receipt.revised


async def names_in(store: Store, scope: Scope = ADA) -> list[str]:
    """Return the names of all that a new reader of the scope's feed gets, sorted."""
    found = await contents(store, await feed_from_start(store, scope))
    return sorted(name_of(each) for each in found)


class EraseContract(Contract):
    """How things go for good."""

    async def test_an_erase_takes_what_rests_on_it(self, store: Store) -> None:
        """Erase *target*, and what rests on it alone, from values, history and index."""
        await tell(store, "m1", "m2")
        await store.apply(ADA, [resting("home", "m1"), resting("work", "m1", "m2"), fact("pet")])

        receipt = await store.erase(ADA, EraseMessages(thread=TALK, messages=["m1"]))

        assert (1, 1, 1) == counts(receipt)
        assert ["m2"] == await ids_in(store)
        assert ["pet", "work"] == await keys_in(store)
        assert () == await store.history(ADA, "Fact", "home")
        assert ["m2", "pet", "work"] == await names_in(store)

    async def test_an_erase_is_seen_at_once(self, store: Store, clock: FrozenClock) -> None:
        """It is gone from every read when this returns."""
        start = clock.now()
        await tell(store, "m1")
        await store.apply(ADA, [resting("home", "m1")])
        feed = await feed_from_start(store)
        clock.advance(60)

        await store.erase(ADA, EraseThread(thread=TALK))

        assert await store.thread(ADA, TALK) is None
        assert () == (await store.threads(ADA)).rows
        assert () == (await store.messages(ADA, TALK)).rows
        assert () == await store.last_messages(ADA, TALK, limit=9)
        assert await store.get(ADA, "Fact", "home") is None
        assert () == (await store.memories(ADA)).rows
        assert () == await store.history(ADA, "Fact", "home")
        assert [] == await contents(store, feed)
        assert [] == (await store.past(ADA, start))[1]
        assert () == (await feed_from_start(store)).entries

    async def test_the_bytes_go_afterwards(self, store: Store, clock: FrozenClock) -> None:
        """`clean` then removes its bytes."""
        await tell(store, "m1")
        clock.advance(5)
        receipt = await store.erase(ADA, EraseThread(thread=TALK))
        clock.advance(5)

        await store.clean()

        assert receipt.clean_at is None
        assert [replace(receipt, clean_at=clock.now())] == await store.receipts()

    async def test_cleaning_returns_what_became_clean(
        self, store: Store, clock: FrozenClock
    ) -> None:
        """The receipts that became clean, with their *clean_at*."""
        await tell(store, "m1", "m2")
        first = await store.erase(ADA, EraseMessages(thread=TALK, messages=["m1"]))

        cleaned = await store.clean()
        clock.advance(60)
        second = await store.erase(ADA, EraseMessages(thread=TALK, messages=["m2"]))

        assert [replace(first, clean_at=first.erased_at)] == cleaned
        assert [replace(second, clean_at=clock.now())] == await store.clean()
        assert [] == await store.clean()

    async def test_cleaning_harms_nothing(self, store: Store) -> None:
        """Remove the bytes of everything erased so far from the store's files."""
        await tell(store, "m1", "m2")
        await keep_facts(store, "Oslo")
        await store.erase(ADA, EraseMessages(thread=TALK, messages=["m1"]))
        before = await feed_from_start(store)

        await store.clean()

        assert before == await feed_from_start(store)
        assert ["m2"] == await ids_in(store)
        assert 1 == len(await store.history(ADA, "Fact", "home"))

    async def test_receipts_are_listed(self, store: Store, clock: FrozenClock) -> None:
        """Return erase receipts by time; with *unclean* those whose bytes are not gone yet."""
        await tell(store, "m1", "m2", "m3")
        done = []
        for id_ in ("m1", "m2", "m3"):
            done.append(await store.erase(ADA, EraseMessages(thread=TALK, messages=[id_])))
            clock.advance(1)
            if id_ == "m2":
                await store.clean()

        found = await store.receipts()

        assert [receipt.id for receipt in done] == [receipt.id for receipt in found]
        assert [False, False, True] == [receipt.clean_at is None for receipt in found]
        assert [done[2]] == await store.receipts(unclean=True)

    async def test_nothing_erased_is_a_receipt_of_zeros(
        self, store: Store, clock: FrozenClock
    ) -> None:
        """An erase that found nothing has a receipt that says so."""
        targets: list[EraseTarget] = [
            EraseScope(),
            EraseScope(below=True),
            EraseThread(thread=TALK),
            EraseMessages(thread=TALK, messages=["m1"]),
            EraseMemory(type="Fact", key="home"),
            EraseSource(source="mail"),
        ]
        for known in (False, True):
            if known:
                await tell(store, "other", thread="other")
            done = [await store.erase(ADA, target) for target in targets[2 * known :]]

            assert {((0, 0, 0), clock.now())} == {(counts(r), r.erased_at) for r in done}

    async def test_a_message_is_erased(self, store: Store) -> None:
        """Erasing messages leaves the others of the thread where they are."""
        await tell(store, "m1", "m2", "m3")
        before = await store.thread(ADA, TALK)

        receipt = await store.erase(ADA, EraseMessages(thread=TALK, messages=["m2", "never", "m2"]))

        rows = (await store.messages(ADA, TALK)).rows
        assert (1, 0, 0) == counts(receipt)
        assert [("m1", 1), ("m3", 3)] == [(each.id, each.position) for each in rows]
        assert before is not None
        assert replace(before, count=2) == await store.thread(ADA, TALK)

    async def test_a_thread_is_erased(self, store: Store) -> None:
        """Erasing a thread takes its messages, and what memories owe to them alone."""
        await tell(store, "m1", "m2")
        await tell(store, "m1", thread="other")
        await store.apply(ADA, [resting("home", "m1", "m2"), resting("work", "m1", thread="other")])

        receipt = await store.erase(ADA, EraseThread(thread=TALK))

        assert (2, 1, 0) == counts(receipt)
        assert ["other"] == [thread.id for thread in (await store.threads(ADA)).rows]
        assert ["m1", "work"] == await names_in(store)

    async def test_a_thread_can_begin_anew(self, store: Store) -> None:
        """A thread of the name of an erased one has nothing of it."""
        await tell(store, "m1", "m2")
        await store.erase(ADA, EraseThread(thread=TALK))

        (message,) = await tell(store, "m2")

        thread = await store.thread(ADA, TALK)
        assert thread is not None
        assert (1, 1, 0) == (thread.last, thread.count, thread.formed)
        assert (message,) == (await store.messages(ADA, TALK)).rows

    async def test_a_memory_is_erased(self, store: Store) -> None:
        """Erasing a memory takes all its revisions, and no message."""
        await tell(store, "m1")
        await store.apply(ADA, [resting("home", "m1"), fact("home", "Rome"), fact("work")])

        receipt = await store.erase(ADA, EraseMemory(type="Fact", key="home"))

        assert (0, 1, 0) == counts(receipt)
        assert ["m1", "work"] == await names_in(store)
        assert () == await store.history(ADA, "Fact", "home")

    async def test_a_source_is_erased(self, store: Store) -> None:
        """Erasing a source takes its messages from every thread, and what rests on them alone."""
        await store.append(ADA, TALK, [said("m1", source="mail"), said("m2", source="chat")])
        await store.append(ADA, "other", [said("m1", source="mail"), said("m2")])
        await store.append(BOB, TALK, [said("m1", source="mail")])
        await store.apply(ADA, [resting("home", "m1"), resting("work", "m2", thread="other")])

        receipt = await store.erase(ADA, EraseSource(source="mail"))

        assert (2, 1, 0) == counts(receipt)
        assert ["m2"] == await ids_in(store)
        assert ["m2"] == await ids_in(store, "other")
        assert ["work"] == await keys_in(store)
        assert ["m1"] == await ids_in(store, scope=BOB)

    async def test_a_scope_is_erased(self, store: Store) -> None:
        """Erasing a scope takes everything of it, and nothing above, below or beside it."""
        others: list[Scope] = [ADA[:-1], (*ADA, "pets"), BOB, (*ADA[:-1], "ada2"), ("ada",)]
        for scope in others:
            await store.append(scope, TALK, [said("m1")])
        await tell(store, "m1", "m2")
        await keep_facts(store, "Oslo", "Rome")

        receipt = await store.erase(ADA, EraseScope())

        assert (2, 1, 0) == counts(receipt)
        assert tuple(sorted(others)) == (await store.scopes()).rows

    async def test_scopes_below_are_erased(self, store: Store) -> None:
        """With *below*, every scope that begins with its segments goes too."""
        below: list[Scope] = [("a", "b"), ("a", "b", "c"), ("a", "b", "c", "d"), ("a", "b", "%")]
        beside: list[Scope] = [("a",), ("a", "bb"), ("a", "B"), ("b", "b"), ("a", "b c"), ("ab",)]
        for scope in (*below, *beside):
            await store.append(scope, TALK, [said("m1")])

        receipt = await store.erase(("a", "b"), EraseScope(below=True))

        assert (4, 0, 0) == counts(receipt)
        assert tuple(sorted(beside)) == (await store.scopes()).rows

    async def test_a_scope_above_need_not_exist(self, store: Store) -> None:
        """The scopes below one that holds nothing are erased all the same."""
        await tell(store, "m1")

        receipt = await store.erase(ADA[:1], EraseScope(below=True))

        assert (1, 0, 0) == counts(receipt)
        assert () == (await store.scopes()).rows

    @pytest.mark.parametrize("id_", ["%", "_", "*", "..", "a%", "ad_"])
    async def test_no_name_is_a_pattern(self, store: Store, id_: str) -> None:
        """A name of special characters erases what has exactly that name."""
        await store.append(ADA, "ada", [said("ada", source="ada"), said("adx", source="adx")])
        await keep_facts(store, "Oslo", key="ada")
        targets: list[EraseTarget] = [
            EraseThread(thread=id_),
            EraseMessages(thread="ada", messages=[id_]),
            EraseMemory(type="Fact", key=id_),
            EraseSource(source=id_),
        ]

        done = [await store.erase(ADA, target) for target in targets]
        done.append(await store.erase((*ADA[:-1], id_), EraseScope(below=True)))

        assert [(0, 0, 0)] * 5 == [counts(receipt) for receipt in done]
        assert ["ada", "ada", "adx"] == await names_in(store)

    async def test_receipts_name_nothing(self, store: Store) -> None:
        """Two erases of the same name have receipts of their own, without the name."""
        await tell(store, "m1")

        one = await store.erase(ADA, EraseThread(thread=TALK))
        other = await store.erase(ADA, EraseThread(thread=TALK))

        assert one.id != other.id
        assert TALK not in repr((one, other))
        assert "ada" not in repr((one, other))

    async def test_keys_are_forgotten(self, store: Store) -> None:
        """An erase forgets what was done under keys in its scope, since their results name it."""
        await store.append(ADA, TALK, [said("m1")], idempotency_key="k")

        await store.erase(ADA, EraseMessages(thread=TALK, messages=["m1"]))

        hello = NewMessage(role="user", id="m2", text="hello")
        assert 1 == len(await store.append(ADA, TALK, [hello], idempotency_key="k"))
