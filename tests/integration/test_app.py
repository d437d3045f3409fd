"""The object users hold, over real stores: what was written is there, what was erased is gone."""

import json
import shutil
from collections.abc import AsyncIterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path
from typing import Any, Literal, cast

import anyio
import pytest

import recollect
from recollect import (
    ConflictError,
    EraseMemory,
    EraseMessages,
    EraseReceipt,
    EraseScope,
    EraseSource,
    EraseThread,
    Evidence,
    NewMessage,
    Recall,
    Recollect,
    UsageError,
    Where,
)
from recollect.errors import StoreClosedError, VersionConflictError
from recollect.memory.formation_control import require_open
from recollect.records import DeleteMemory, JsonObject, PutMemory, Scope
from recollect.stores.contract.base import Store
from recollect.stores.locator import open_store
from recollect.stores.plans.archive import RESTORE_RECORDS
from recollect.stores.plans.erase_targets import EraseTarget
from recollect.testing import NOON, CountingIds, FrozenClock, HashedEmbedder

pytestmark = pytest.mark.anyio

FILE = "memory.db"
ADA: Scope = ("acme", "users", "ada")
BOB: Scope = ("acme", "users", "bob")
# No word of the question is, in any form, a word of the message; their spelling is alike.
MEANT, ASKED = "She photographs owls at night", "photography"
TALK = [
    NewMessage(role="user", text="I moved to Porto in spring", id="m1", source="phone"),
    NewMessage(role="assistant", text="How do you like the river?", id="m2", source="phone"),
    NewMessage(role="user", text=MEANT, id="m3"),
    NewMessage(role="user", text="My boat is called Kestrel", id="m4"),
]


def store_at(place: str, clock: FrozenClock) -> Store:
    """Open a store; what it survives is no matter here."""
    return open_store(place, clock=clock, ids=CountingIds(), durability="relaxed")


@pytest.fixture(scope="module")
async def empty(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the folder of an empty store, made once: making one waits for the disk."""
    folder = tmp_path_factory.mktemp("empty")
    await open_store(folder / FILE).aclose()
    return folder


@pytest.fixture(params=["memory", "sqlite"])
def store(request: pytest.FixtureRequest, clock: FrozenClock, empty: Path, tmp_path: Path) -> Store:
    """Return a store of each kind that needs no server."""
    if request.param == "memory":
        return store_at("memory:", clock)
    return store_at(str(shutil.copytree(empty, tmp_path / "store") / FILE), clock)


@pytest.fixture
async def memory(store: Store) -> AsyncIterator[Recollect]:
    """Yield a memory with the talk in it."""
    async with Recollect(store, embedder=HashedEmbedder()) as memory:
        await memory.append(ADA, "talk", TALK)
        yield memory


def ids(recall: Recall) -> list[str]:
    """Return what was found, best first."""
    return [entry.source.rpartition("/")[2] for entry in recall.entries]


def texts(recall: Recall) -> set[str]:
    """Return the texts that were found."""
    return {entry.text for entry in recall.entries}


async def records_of(memory: Recollect, scope: Scope, *, below: bool = False) -> list[JsonObject]:
    """Return everything that a scope exports."""
    return [record async for record in memory.export(scope, below=below)]


# Read your writes


async def test_a_message_is_found_by_its_words_at_once(memory: Recollect) -> None:
    """Acknowledged is searchable."""
    await memory.append(ADA, "talk", [NewMessage(role="user", text="The cat is Tom", id="m5")])

    found = await memory.recall(ADA, "Who is Tom the cat?")

    assert ids(found)[0] == "m5"
    assert "entry" in found.entries[0].signals


async def test_a_message_is_found_by_its_meaning_once_settled(memory: Recollect) -> None:
    """Without a word in common, its vector brings it up."""
    await memory.settled(ADA)

    found = await memory.recall(ADA, ASKED)

    assert ids(found)[0] == "m3"
    assert "entry" not in found.entries[0].signals
    assert found.entries[0].signals["dense"] > 0


async def test_without_an_embedder_meaning_is_not_looked_for(store: Store) -> None:
    """The same question is answered by words alone, and the answer says so."""
    async with Recollect(store, embedder="none") as memory:
        await memory.append(ADA, "talk", TALK)
        await memory.settled(ADA)

        found = await memory.recall(ADA, ASKED)

        assert (None, None) == (memory.embedder, found.embedder)
        assert all("dense" not in entry.signals for entry in found.entries)


async def test_a_memory_is_found_at_once(memory: Recollect) -> None:
    """By the words of its fields."""
    await memory.put(ADA, "Item", "pet", {"pet": "a parrot named Rio"})

    found = await memory.recall(ADA, "What is the parrot's name?")

    assert ids(found)[0] == "pet"


async def test_a_new_version_of_a_memory_is_found_at_once(memory: Recollect) -> None:
    """And the old one no more."""
    await memory.put(ADA, "Item", "home", {"city": "Oslo"})
    await memory.put(ADA, "Item", "home", {"city": "Lima"})

    found = await memory.recall(ADA, "Oslo or Lima?", where=Where(messages=False))

    assert {"city: Lima"} == texts(found)


async def test_a_replaced_message_is_found_by_its_new_words_only(memory: Recollect) -> None:
    """Words and vector are those of the text that it has now."""
    await memory.settled(ADA)
    await memory.recall(ADA, "boat")

    await memory.replace(ADA, "talk", NewMessage(role="user", text="I sold it", id="m4"))

    found = await memory.recall(ADA, "Who sold the Kestrel boat?")
    assert ids(found)[0] == "m4"
    assert "My boat is called Kestrel" not in texts(found)


async def test_a_removed_message_is_found_no_more(memory: Recollect) -> None:
    """At once, by an index that had it too."""
    await memory.recall(ADA, "boat")

    assert await memory.remove(ADA, "talk", ["m4", "unknown"]) == 1

    assert "m4" not in ids(await memory.recall(ADA, "boat"))


async def test_messages_outside_what_is_kept_are_found_no_more(memory: Recollect) -> None:
    """Positions stay what they were."""
    assert await memory.keep(ADA, "talk", 2, 3) == 2

    assert {"m2", "m3"} == set(ids(await memory.recall(ADA, "boat")))


async def test_a_deleted_memory_is_found_no_more(memory: Recollect) -> None:
    """At once."""
    await memory.put(ADA, "Item", "pet", {"pet": "parrot"})
    await memory.recall(ADA, "parrot")

    await memory.apply(ADA, [DeleteMemory(type="Item", key="pet")])

    assert "pet" not in ids(await memory.recall(ADA, "parrot"))


async def test_an_expired_memory_is_found_no_more(memory: Recollect, clock: FrozenClock) -> None:
    """From the moment on at which it expires, though nothing was written."""
    later = clock.now() + timedelta(hours=1)
    await memory.put(ADA, "Item", "pet", {"pet": "parrot"}, expires_at=later)
    before = await memory.recall(ADA, "parrot")

    clock.advance(3_600)

    after = await memory.recall(ADA, "parrot")
    assert ("pet" in ids(before), "pet" in ids(after)) == (True, False)
    assert before.eligible - 1 == after.eligible


async def test_another_memory_over_the_same_store_sees_every_write(clock: FrozenClock) -> None:
    """Its index follows, whoever wrote."""
    store = store_at("memory:", clock)
    async with (
        Recollect(store, embedder=HashedEmbedder()) as one,
        Recollect(store, embedder=HashedEmbedder()) as other,
    ):
        await one.append(ADA, "talk", TALK)
        await one.settled(ADA)
        assert ids(await other.recall(ADA, ASKED))[0] == "m3"
        await one.append(ADA, "talk", [NewMessage(role="user", text="a new rudder", id="m5")])
        await one.remove(ADA, "talk", ["m4"])

        found = await other.recall(ADA, "boat rudder")

        assert ids(found)[0] == "m5"
        assert "m4" not in ids(found)


async def test_another_process_s_file_is_read_alike(clock: FrozenClock, tmp_path: Path) -> None:
    """Two stores over one file are one memory."""
    place = str(tmp_path / "memory.db")
    async with (
        Recollect(store_at(place, clock), embedder=HashedEmbedder()) as one,
        Recollect(open_store(place, clock=clock, durability="relaxed"), embedder="none") as other,
    ):
        assert ids(await other.recall(ADA, "boat")) == []
        await one.append(ADA, "talk", TALK)

        assert ids(await other.recall(ADA, "boat"))[0] == "m4"

        await one.erase(ADA, EraseScope())
        assert ids(await other.recall(ADA, "boat")) == []


# Forget


ERASED = [
    (EraseMessages(thread="talk", messages=["m4"]), {"m4"}),
    (EraseThread(thread="talk"), {"m1", "m2", "m3", "m4"}),
    (EraseSource(source="phone"), {"m1", "m2"}),
    (EraseScope(), {"m1", "m2", "m3", "m4", "home", "pet"}),
    (EraseMemory(type="Item", key="pet"), {"pet"}),
]


@pytest.mark.parametrize(
    ("target", "gone"), ERASED, ids=[type(target).__name__ for target, _ in ERASED]
)
async def test_what_is_erased_is_never_returned(
    memory: Recollect, target: EraseTarget, gone: set[str]
) -> None:
    """Nor by an index that was taken before, by words or by meaning."""
    await memory.put(ADA, "Item", "home", {"city": "Porto"})
    await memory.put(ADA, "Item", "pet", {"pet": "a parrot"})
    await memory.settled(ADA)
    question = "boat Porto river photographs parrot"
    before = set(ids(await memory.recall(ADA, question)))

    await memory.erase(ADA, target)

    assert before - gone == set(ids(await memory.recall(ADA, question)))


async def test_an_index_taken_before_an_erase_returns_nothing_erased(
    memory: Recollect, store: Store
) -> None:
    """The text is read in the same transaction as the choice: an old index chooses in vain."""
    await memory.recall(ADA, "boat")
    (stale,) = require_open(memory._runtime.recaller).indexes.take([ADA]).indexes
    assert stale.live == len(TALK)

    await store.erase(ADA, EraseMessages(thread="talk", messages=["m4"]))
    places = [(ADA, uid) for uid in stale.parts[0].segment.uid.tolist()]
    found = await store.read(lambda snapshot: snapshot.entries(places))

    assert {"m1", "m2", "m3"} == {entry.content.id for entry in found}  # type: ignore[union-attr]


async def test_an_erase_leaves_no_index_in_memory(memory: Recollect) -> None:
    """Not even hashed words and vectors of it stay behind, there or below."""
    await memory.append((*ADA, "work"), "talk", TALK)
    await memory.settled(ADA, below=True)
    await memory.recall(ADA, "boat", below=True)
    assert require_open(memory._runtime.recaller).indexes.size_bytes > 0

    await memory.erase(ADA, EraseScope(below=True))

    assert require_open(memory._runtime.recaller).indexes.size_bytes == 0


async def test_what_rests_on_erased_messages_alone_is_gone_too(memory: Recollect) -> None:
    """A field without its evidence is not found any more, the others are."""
    await memory.put(
        ADA,
        "Item",
        "profile",
        {"boat": "Kestrel", "city": "Porto"},
        evidence={
            "/boat": [Evidence(thread="talk", message="m4", quote="Kestrel")],
            "/city": [Evidence(thread="talk", message="m1")],
        },
    )

    receipt = await memory.erase(ADA, EraseMessages(thread="talk", messages=["m4"]))

    found = await memory.recall(ADA, "Kestrel Porto", where=Where(messages=False))
    assert {"city: Porto"} == texts(found)
    assert (1, 0, 1) == (receipt.messages, receipt.memories, receipt.revised)


async def test_an_erase_has_a_receipt(memory: Recollect) -> None:
    """It counts what went, names nobody, and says when the bytes were gone."""
    receipt = await memory.erase(ADA, EraseThread(thread="talk"))

    assert (
        EraseReceipt(
            id=receipt.id, messages=4, memories=0, revised=0, erased_at=NOON, clean_at=NOON
        )
        == receipt
    )
    assert [receipt] == await memory.receipts()
    assert await memory.receipts(unclean=True) == []
    assert await memory.clean() == []


async def test_an_erased_scope_can_be_used_again(memory: Recollect) -> None:
    """Nothing of before comes back with it."""
    await memory.recall(ADA, "boat")
    await memory.erase(ADA, EraseScope())

    await memory.append(ADA, "talk", [NewMessage(role="user", text="a new boat", id="n1")])

    assert ["n1"] == ids(await memory.recall(ADA, "boat"))


# Archives


async def furnish(memory: Recollect, clock: FrozenClock) -> None:
    """Write whatever a scope can hold, into Ada's and one below it."""
    await memory.append(
        ADA,
        "paused \u732b",
        [
            NewMessage(
                role="tool",
                text="",
                content=[{"type": "image", "caption": "a \U0001f98a", "n": [1, 1.5, None]}],
                metadata={"deep": {"list": [True, "\u00e9", {}]}},
                name="Zo\u00eb",
                session="s1",
                time=NOON - timedelta(days=400),
            )
        ],
    )
    hour = timedelta(hours=1)
    await memory.put(ADA, "Item", "home", {"city": "Oslo"}, valid_from=NOON - hour)
    clock.advance(60)
    await memory.put(
        ADA,
        "Item",
        "home",
        {"city": "Lima", "z": 1, "a": 2},
        valid_from=NOON,
        valid_until=NOON + hour,
        expires_at=NOON + 9 * hour,
        evidence={"/city": [Evidence(thread="talk", message="m1", quote="moved")]},
    )
    await memory.apply(
        ADA,
        [
            PutMemory(
                type="Fact", key="f", value={}, text="said", trust="external", state="rejected"
            )
        ],
    )
    await memory.append((*ADA, "work"), "t", [NewMessage(role="system", text="below")])


async def test_an_export_restores_exactly(
    memory: Recollect, clock: FrozenClock, tmp_path: Path
) -> None:
    """Through JSON, into an empty store, and out again: the same records."""
    await furnish(memory, clock)
    records = await records_of(memory, ADA, below=True)

    async with Recollect(store_at(str(tmp_path / "new.db"), clock), embedder="none") as other:
        new = await other.import_records(json.loads(json.dumps(records)))

        assert len(records) == new
        assert json.dumps(records) == json.dumps(await records_of(other, ADA, below=True))
        assert await memory.history(ADA, "Item", "home") == await other.history(ADA, "Item", "home")
        # When they are formed is the new store's business.
        old, new_ones = [(await each.threads(ADA)).rows for each in (memory, other)]
        assert [replace(t, due=None) for t in old] == [replace(t, due=None) for t in new_ones]


async def test_an_export_can_be_restored_twice(memory: Recollect, clock: FrozenClock) -> None:
    """The second time, and over the original, nothing is new and nothing changes."""
    await furnish(memory, clock)
    records = await records_of(memory, ADA)

    assert await memory.import_records(records) == 0

    assert records == await records_of(memory, ADA)


async def test_what_was_restored_is_found(memory: Recollect, clock: FrozenClock) -> None:
    """Its terms and vectors are made anew."""
    async with Recollect(store_at("memory:", clock), embedder=HashedEmbedder()) as other:
        await other.import_records(await records_of(memory, ADA))
        await other.settled(ADA)

        assert ids(await other.recall(ADA, "boat"))[0] == "m4"
        assert ids(await other.recall(ADA, ASKED))[0] == "m3"


async def test_more_records_than_one_batch_are_restored(memory: Recollect) -> None:
    """A long thread crosses the borders of the batches."""
    count = RESTORE_RECORDS + 10
    await memory.append(
        BOB, "long", [NewMessage(role="user", text=f"line {n}") for n in range(count)]
    )
    records = await records_of(memory, BOB)
    await memory.erase(BOB, EraseScope())

    assert await memory.import_records(records, restore_erased=True) == count + 1

    thread = await memory.thread(BOB, "long")
    assert thread is not None
    assert (count, count) == (thread.last, thread.count)


async def test_a_record_that_differs_is_refused(memory: Recollect) -> None:
    """What stands in its place is not overwritten, and the batch leaves no trace."""
    records = [dict(record) for record in await records_of(memory, ADA)]
    other = {**records[-1], "digest": "00" * 16, "text": "something else"}
    fresh = {**records[-1], "id": "m9", "position": 9}

    with pytest.raises(ConflictError, match="m4"):
        await memory.import_records([fresh, other])

    assert records == await records_of(memory, ADA)


async def test_a_record_given_twice_is_restored_once(memory: Recollect) -> None:
    """Two overlapping exports, one after the other, are one."""
    await memory.put(ADA, "Item", "pet", {"pet": "parrot"})
    records = await records_of(memory, ADA)
    await memory.erase(ADA, EraseScope())

    new = await memory.import_records([*records, *records], restore_erased=True)

    assert records == await records_of(memory, ADA)
    assert len(records) == new


@pytest.mark.parametrize(
    "record",
    [
        {},
        {"kind": "message"},
        {"kind": "message", "scope": ["a"]},
        {"kind": "thread", "scope": ["a"], "id": 7},
        {"kind": "spell", "scope": ["a"]},
        {"kind": "thread", "scope": "a", "id": "t"},
        {"kind": "memory", "scope": ["a"], "type": "Item", "key": "k", "text": None},
        "record",
    ],
)
async def test_what_is_no_record_is_refused(memory: Recollect, record: JsonObject) -> None:
    """The error is the caller's, and nothing is stored."""
    with pytest.raises(UsageError):
        await memory.import_records([record])

    assert await memory.thread(("a",), "t") is None


# Many at once


async def test_many_tasks_read_and_write_at_once(memory: Recollect) -> None:
    """Fifty tasks that append and recall: each finds its own, and nothing is lost or doubled."""
    found: dict[int, str] = {}

    async def live(number: int) -> None:
        scope: Scope = (*ADA, str(number % 5))
        text = f"secret{number} is mine"
        await memory.append(
            scope, f"t{number % 3}", [NewMessage(role="user", text=text, id=f"n{number}")]
        )
        answer = await memory.recall(scope, f"Where is secret{number}?", limit=3)
        found[number] = ids(answer)[0]

    async with anyio.create_task_group() as tasks:
        for number in range(50):
            tasks.start_soon(live, number)

    assert {number: f"n{number}" for number in range(50)} == found
    everything = await memory.recall(ADA, "secret", below=True, limit=1_000)
    assert everything.eligible == 50 + len(TALK)


async def test_a_cancelled_recall_leaves_nothing_behind(memory: Recollect) -> None:
    """Wherever it is cancelled, later answers are whole and the memory closes."""
    expected = ids(await memory.recall(ADA, "boat in Porto"))
    for steps in range(12):
        with anyio.CancelScope() as scope:
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(memory.recall, ADA, "boat in Porto")
                for _ in range(steps):
                    await anyio.lowlevel.checkpoint()
                scope.cancel()

    await memory.append(BOB, "talk", TALK)

    assert expected == ids(await memory.recall(ADA, "boat in Porto"))
    assert set(expected) == set(ids(await memory.recall(BOB, "boat in Porto")))


# Opening and closing


async def test_a_memory_that_is_not_open_says_so() -> None:
    """Before it is entered, and after it is left."""
    memory = recollect.open("memory:", embedder="none")
    with pytest.raises(StoreClosedError, match="async with"):
        await memory.recall(ADA, "boat")

    async with memory:
        assert (await memory.recall(ADA, "boat")).entries == ()

    with pytest.raises(StoreClosedError):
        await memory.recall(ADA, "boat")
    with pytest.raises(StoreClosedError):
        await memory.append(ADA, "talk", TALK)


@pytest.mark.parametrize("url", ["nowhere://x", "memory:x"])
def test_an_address_that_is_none_is_refused(url: str) -> None:
    """At once, not when it is entered."""
    with pytest.raises(UsageError):
        recollect.open(url)


async def test_an_embedder_that_is_none_is_refused(store: Store) -> None:
    """Entering fails, and the store is closed."""
    memory = Recollect(store, embedder="made-up")

    with pytest.raises(UsageError, match="made-up"):
        await memory.__aenter__()

    with pytest.raises(StoreClosedError):
        await store.threads(ADA)


async def test_the_users_error_comes_through_the_block(store: Store) -> None:
    """What goes wrong inside is raised as it is, not wrapped by the background work."""

    async def fail() -> None:
        async with Recollect(store, embedder=HashedEmbedder()) as memory:
            await memory.append(ADA, "talk", TALK)
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        await fail()


# Conversations and memories through the same object


async def test_threads_and_messages_are_read_back(memory: Recollect) -> None:
    """By position, by page and from the end."""
    first = await memory.messages(ADA, "talk", limit=3)
    rest = await memory.messages(ADA, "talk", after=int(first.cursor or 0))
    last = await memory.last_messages(ADA, "talk", limit=2, before=4)
    (thread,) = (await memory.threads(ADA)).rows

    assert ["m1", "m2", "m3"] == [message.id for message in first.rows]
    assert ["m4"] == [message.id for message in rest.rows]
    assert ["m2", "m3"] == [message.id for message in last]
    assert thread == await memory.thread(ADA, "talk")


async def test_memories_are_read_back(memory: Recollect) -> None:
    """One by its address, many by page, all versions by history."""
    first = await memory.put(ADA, "Item", "pet", {"pet": "cat"})
    second = await memory.put(ADA, "Item", "pet", {"pet": "dog"}, expected=1)

    assert second == await memory.get(ADA, "Item", "pet")
    assert (second,) == (await memory.memories(ADA, filter_={"pet": "dog"})).rows
    assert [first.value, second.value] == [
        version.value for version in await memory.history(ADA, "Item", "pet")
    ]
    with pytest.raises(VersionConflictError):
        await memory.put(ADA, "Item", "pet", {"pet": "bird"}, expected=1)


async def test_a_repeated_request_changes_nothing(memory: Recollect) -> None:
    """Under the same key it returns what the first one stored."""
    message = NewMessage(role="user", text="once")
    first = await memory.append(ADA, "talk", [message], idempotency_key="k")

    again = await memory.append(ADA, "talk", [message], idempotency_key="k")

    assert first == again


async def test_scopes_are_listed(memory: Recollect) -> None:
    """Those that hold something, by pattern."""
    await memory.append(BOB, "talk", TALK)

    found = await memory.scopes(prefix=("acme", ...), suffix=("bob",))

    assert (BOB,) == found.rows


# Times at the ends of the calendar

EARLY = datetime(1, 1, 1, tzinfo=timezone(timedelta(hours=14)))
LATE = datetime(9999, 12, 31, 23, tzinfo=timezone(-timedelta(hours=5)))


async def test_a_time_that_utc_does_not_have_is_refused(memory: Recollect) -> None:
    """The error is the documented one."""
    with pytest.raises(UsageError):
        await memory.append(ADA, "talk", [NewMessage(role="user", text="old", time=EARLY)])
    with pytest.raises(UsageError):
        await memory.put(ADA, "Item", "far", {"a": "b"}, valid_until=LATE)


async def test_a_memory_from_the_last_year_breaks_no_question(memory: Recollect) -> None:
    """A far away date is kept, and questions about months are answered."""
    await memory.put(ADA, "Item", "far", {"a": "b"}, valid_from=datetime(9999, 1, 1, tzinfo=UTC))

    found = await memory.recall(ADA, "What happens in December?", where=Where(valid_at="ever"))

    assert len(found.entries) == len(TALK) + 1


@pytest.mark.parametrize("durability", ["full", "relaxed"])
def test_a_store_is_opened_as_durable_as_is_wished(
    tmp_path: Path, durability: Literal["full", "relaxed"]
) -> None:
    """Either face takes the wish, and refuses one that there is not."""
    file = str(tmp_path / "memory.db")

    with recollect.open_sync(file, embedder="none", durability=durability) as memory:
        assert memory.append(ADA, "talk", [NewMessage(role="user", text="hello")])
    with pytest.raises(UsageError, match="unknown durability 'none'"):
        recollect.open(file, embedder="none", durability=cast("Any", "none"))
