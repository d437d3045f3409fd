"""Contract tests for `said_at`: the time of the newest message that a memory cites."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

from recollect.records import (
    DeleteMemory,
    EndMemory,
    Evidence,
    Memory,
    NewMessage,
    PutMemory,
    Scope,
)
from recollect.stores.contract.base import Store
from recollect.stores.plans.erase_targets import EraseMessages, EraseThread
from recollect.stores.remainder import MEMORY_THREAD, version_name
from recollect.stores.rows import MICROSECONDS
from recollect.testing.contract_base import (
    ADA,
    BOB,
    TALK,
    Contract,
    existing,
    feed_after,
    feed_from_start,
    resting,
)
from recollect.testing.frozen_clock import NOON, FrozenClock

MAY, JUNE, JULY = (NOON - timedelta(days=days) for days in (1_000, 900, 800))
NOBODY: Scope = ("acme", "users", "nobody")
LINES = {"m1": MAY, "m2": JUNE, "m3": JULY}


def line(id_: str, time: datetime | None = None) -> NewMessage:
    """Return a message with a time long ago."""
    return NewMessage(role="user", id=id_, text=f"the words of {id_}", time=time or LINES[id_])


async def tell_of_old(store: Store) -> None:
    """Append three messages out of order of their times."""
    await store.append(ADA, TALK, [line("m1"), line("m3"), line("m2")])


async def said_at(store: Store, *messages: str, key: str = "home") -> datetime | None:
    """Store a fact that cites *messages*; return its `said_at`."""
    (memory,) = await store.apply(ADA, [resting(key, *messages)])
    assert memory is not None
    return memory.said_at


async def stored(store: Store, key: str = "home") -> Memory:
    """Return a fact as read from the store."""
    return existing(await store.get(ADA, "Fact", key))


async def times_in_feed(store: Store) -> dict[int, int]:
    """Return the times of the memories in the feed of Ada's scope."""
    feed = await feed_from_start(store)
    return {each.uid: each.time for each in feed.entries if each.kind == "memory"}


def microseconds(moment: datetime) -> int:
    """Return a time in microseconds, as in the feed."""
    return round(moment.timestamp()) * MICROSECONDS


class SaidTimeContract(Contract):
    """The time at which a memory was said."""

    async def test_the_newest_words_count(self, store: Store) -> None:
        """A memory's *said_at* is set to the time of the newest message among its evidence."""
        await tell_of_old(store)

        assert MAY == await said_at(store, "m1")
        assert JULY == await said_at(store, "m1", "m3", "m2")
        assert JUNE == await said_at(store, "m2")
        assert JUNE == (await stored(store)).said_at
        assert JUNE == (await store.memories(ADA)).rows[0].said_at

    async def test_what_rests_on_nothing_known_has_no_such_time(self, store: Store) -> None:
        """A memory without evidence, or of unknown messages, has no *said_at*."""
        await tell_of_old(store)

        assert await said_at(store) is None
        assert await said_at(store, "m9") is None
        assert MAY == await said_at(store, "m9", "m1")
        (elsewhere,) = await store.apply(ADA, [resting("home", "m1", thread="other")])
        assert elsewhere is not None
        assert elsewhere.said_at is None
        assert elsewhere.updated_at == elsewhere.time

    async def test_the_feed_tells_the_time(self, store: Store) -> None:
        """An entry's time is when it begins to be true, else when it was said, else written."""
        await tell_of_old(store)
        dated = replace(resting("dated", "m1"), valid_from=JULY)
        await store.apply(ADA, [dated, resting("said", "m2"), resting("written")])

        written = (await stored(store, "written")).updated_at
        assert sorted(map(microseconds, (JULY, JUNE, written))) == sorted(
            (await times_in_feed(store)).values()
        )

    async def test_words_and_memory_come_at_once(self, store: Store) -> None:
        """A memory that is written together with its messages gets their time."""
        await store.append(ADA, TALK, [line("m1")], writes=[resting("home", "m1")])
        assert MAY == (await stored(store)).said_at

        await store.append(ADA, TALK, [line("m2")], writes=[resting("home", "m1", "m2")])
        assert JUNE == (await stored(store)).said_at
        again = [line("m1"), line("m2")]
        await store.append(ADA, TALK, again, writes=[resting("home", "m1")])
        assert MAY == (await stored(store)).said_at

    async def test_an_end_says_nothing_new(self, store: Store, clock: FrozenClock) -> None:
        """Ending a memory, or removing a message that it cites, keeps the time."""
        await tell_of_old(store)
        await said_at(store, "m1", "m2")
        clock.advance(60)

        await store.apply(ADA, [EndMemory(type="Fact", key="home", at=clock.now())])
        assert JUNE == (await stored(store)).said_at
        await store.remove(ADA, TALK, ["m2"])
        assert JUNE == (await stored(store)).said_at

    async def test_erased_words_take_their_time_along(self, store: Store) -> None:
        """After an erase it is the time of the newest remaining message."""
        await tell_of_old(store)
        await store.append(ADA, "other", [line("m2")])
        found = [Evidence(thread=TALK, message=each) for each in ("m1", "m3")]
        found.append(Evidence(thread="other", message="m2"))
        write = PutMemory(type="Fact", key="home", value={"a": 1}, evidence={"/a": found})
        await store.apply(ADA, [write])
        assert JULY == (await stored(store)).said_at

        feed = await feed_from_start(store)
        await store.erase(ADA, EraseMessages(thread=TALK, messages=["m3"]))
        assert JUNE == (await stored(store)).said_at
        changed = (await feed_after(store, feed)).entries
        assert microseconds(JUNE) in {each.time for each in changed}

        await store.erase(ADA, EraseThread(thread="other"))
        assert MAY == (await stored(store)).said_at

    async def test_a_message_with_another_time_moves_the_memory(self, store: Store) -> None:
        """Replacing a message by one with another time moves the memories citing it."""
        await tell_of_old(store)
        await said_at(store, "m1")
        await said_at(store, "m1", "m3", key="both")
        feed = await feed_from_start(store)

        await store.replace(ADA, TALK, line("m1", JUNE))
        assert JUNE == (await stored(store)).said_at
        assert 1 == (await stored(store)).version
        assert JULY == (await stored(store, "both")).said_at
        changed = (await feed_after(store, feed)).entries
        assert [microseconds(JUNE)] == [each.time for each in changed if each.kind == "memory"]

    async def test_a_derived_memory_is_as_old_as_its_sources(self, store: Store) -> None:
        """A memory that cites memories has their time."""
        await tell_of_old(store)
        await said_at(store, "m1", key="one")
        await said_at(store, "m3", key="other")
        names = [version_name("Fact", each, 1) for each in ("one", "other")]
        found = [Evidence(thread=MEMORY_THREAD, message=each) for each in names]
        made = resting("made", "m1")
        both = replace(made, evidence={"": [found[0]], "/city": found[1:]})

        (memory,) = await store.apply(ADA, [both])
        assert memory is not None
        assert JULY == memory.said_at
        put, parts = {"a": 1, "b": 2}, {"/a": found[:1], "/b": found[1:]}
        await store.apply(ADA, [replace(made, key="parts", value=put, evidence=parts)])
        await store.apply(ADA, [DeleteMemory(type="Fact", key="other")])
        left = await stored(store, "parts")
        assert ({"a": 1}, MAY) == (left.value, left.said_at)

    async def test_what_a_person_wrote_over_is_as_new_as_that_write(self, store: Store) -> None:
        """One with a part written over what a message says has none."""
        await tell_of_old(store)
        said = [Evidence(thread=TALK, message="m1", quote="the words of m1")]
        over = [Evidence(thread=TALK, message="m2", quote="")]
        write = PutMemory(
            type="User", key="User", value={"a": 1, "b": 2}, evidence={"/a": said, "/b": over}
        )
        (memory,) = await store.apply(ADA, [write])

        assert memory is not None
        assert (None, memory.updated_at) == (memory.said_at, memory.time)
        assert microseconds(memory.updated_at) in (await times_in_feed(store)).values()
        await store.erase(ADA, EraseMessages(thread=TALK, messages=["m2"]))
        assert MAY == existing(await store.get(ADA, "User", "User")).said_at

    async def test_an_archive_keeps_the_time(self, store: Store) -> None:
        """A restored memory keeps its time, even from an archive without it."""
        await tell_of_old(store)
        await said_at(store, "m2")
        await store.remove(ADA, TALK, ["m2"])
        await said_at(store, "m1", key="other")
        records: list[dict[str, Any]] = [dict(each) for each in await store.archive(ADA)]
        assert {microseconds(JUNE), microseconds(MAY)} == {
            each["said_at"] for each in records if each["kind"] == "memory"
        }
        await store.restore(BOB, records)
        untold = [{k: v for k, v in each.items() if k != "said_at"} for each in records]
        await store.restore(NOBODY, untold)

        exact = existing(await store.get(BOB, "Fact", "home"))
        assert JUNE == exact.said_at
        reckoned = (await store.memories(NOBODY)).rows
        assert [None, MAY] == [each.said_at for each in reckoned]
        assert 0 == await store.restore(ADA, untold)

    async def test_the_past_was_as_old_as_its_words(self, store: Store, clock: FrozenClock) -> None:
        """A past version has the time of its own evidence."""
        await tell_of_old(store)
        await said_at(store, "m1")
        then = clock.now()
        clock.advance(60)
        await said_at(store, "m3")

        feed, _ = await store.past(ADA, then)
        assert [microseconds(MAY)] == [each.time for each in feed.entries if each.kind == "memory"]
        feed, _ = await store.past(ADA, clock.now())
        assert [microseconds(JULY)] == [each.time for each in feed.entries if each.kind == "memory"]
