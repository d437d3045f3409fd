"""What is erased while an export goes on is not in its later records, on every backend."""

import asyncio
import math
from collections.abc import AsyncIterator, Sequence
from itertools import count
from typing import Any, Final

import pytest

from recollect.lifecycle import scope_export
from recollect.memory.facade import Recollect
from recollect.records import Evidence, JsonObject, NewMessage, PutMemory, Scope
from recollect.side_records import PutSideRecord
from recollect.stores.in_process.store import InProcessStore
from recollect.stores.plans.erase_targets import (
    EraseMemory,
    EraseMessages,
    EraseScope,
    EraseTarget,
    EraseThread,
)
from recollect.testing import FrozenClock, SeededIds
from tests.harness.store_opener import Opener

ADA: Final[Scope] = ("acme", "ada")
WORD: Final = "Xanadu"
BESIDE: Final = "Avalon"
TARGETS: Final[Sequence[tuple[EraseTarget, Sequence[str]]]] = (
    (EraseScope(), ("Hello", WORD, BESIDE, "Bye")),
    (EraseThread(thread="b"), (WORD, BESIDE)),
    (EraseMessages(thread="b", messages=["b1"]), (WORD,)),
)


@pytest.fixture(autouse=True)
def _slow_reader(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let a second pass between any two looks at the clock."""
    seconds = count()
    monkeypatch.setattr(scope_export, "monotonic", lambda: float(next(seconds)))


@pytest.fixture
async def memory(open_empty: Opener, clock: FrozenClock) -> AsyncIterator[Recollect]:
    """Yield a memory with a secret in the second of three threads, and in a memory of it."""
    async with Recollect(open_empty(clock, SeededIds(1)), embedder="none", worker=False) as memory:
        await fill(memory)
        yield memory


async def fill(memory: Recollect) -> None:
    """Write three threads, and memories of what is said in the second."""
    for thread, text in (("a", "Hello"), ("b", f"We meet at {WORD}"), ("c", "Bye")):
        said = [NewMessage(role="user", id=f"{thread}{at}", text=text) for at in (1, 2)]
        await memory.append(ADA, thread, said[:1] if thread == "b" else said)
    told = (Evidence(thread="b", message="b1", quote=WORD),)
    heard = (Evidence(thread="a", message="a1"),)
    await memory.apply(
        ADA,
        [
            PutMemory(type="Code", key="gate", value={"code": WORD}, evidence={"": told}),
            PutMemory(
                type="Place",
                key="both",
                value={"greets": "Hello", "meets": WORD},
                evidence={"/greets": heard, "/meets": told},
            ),
        ],
    )
    beside = PutSideRecord(thread="b", kind="State", key="k", value={"value": BESIDE})
    await memory.store.apply(ADA, [beside])


async def exported_around(
    memory: Recollect, target: EraseTarget, *, after: int
) -> tuple[list[JsonObject], list[JsonObject]]:
    """Export, and erase *target* once *after* records have come; return those before and after."""
    records: list[JsonObject] = []
    async for record in memory.export(ADA):
        records.append(record)
        if len(records) == after:
            await memory.erase(ADA, target)
    return records[:after], records[after:]


@pytest.mark.parametrize(("target", "words"), TARGETS)
async def test_no_record_after_an_erase_has_erased_words(
    memory: Recollect, target: EraseTarget, words: Sequence[str]
) -> None:
    """Neither a message, nor a memory or a record beside it; all else of the scope goes on."""
    _, after = await exported_around(memory, target, after=1)
    there = [each async for each in memory.export(ADA)]

    assert not [each for each in words if each in repr(after)]
    assert there[1:] == after


async def test_an_erased_memory_is_left_out_later(memory: Recollect) -> None:
    """The message it was made of stays, and so does what else was made of it."""
    _, after = await exported_around(memory, EraseMemory(type="Code", key="gate"), after=2)

    assert [("Place", "both")] == [
        (each["type"], each["key"]) for each in after if each["kind"] == "memory"
    ]


async def test_a_value_that_loses_a_source_is_as_the_erase_left_it(memory: Recollect) -> None:
    _, after = await exported_around(memory, EraseThread(thread="b"), after=3)

    (kept,) = [each for each in after if each["kind"] == "memory"]
    assert {"greets": "Hello"} == kept["value"]
    assert WORD not in repr(kept)


async def test_a_thread_goes_on_as_it_was_read_at_first(memory: Recollect) -> None:
    """What is said after the export began is in none of its records, erase or not."""
    records: list[JsonObject] = []
    async for record in memory.export(ADA):
        if not records:
            await memory.append(ADA, "c", [NewMessage(role="user", id="c3", text="Again")])
            await memory.erase(ADA, EraseThread(thread="b"))
        records.append(record)

    assert ["a1", "a2", "c1", "c2"] == [each["id"] for each in records if each["kind"] == "message"]
    (last,) = [each for each in records if each["kind"] == "thread" and each["id"] == "c"]
    assert 2 == last["last"]


async def test_such_an_export_can_be_imported(memory: Recollect) -> None:
    before, after = await exported_around(memory, EraseThread(thread="b"), after=3)
    other = Recollect(InProcessStore(clock=FrozenClock(), ids=SeededIds(2)), embedder="none")

    async with other:
        await other.import_records([*before, *after])
        there = [str(each["id"]) async for each in other.export(ADA) if each["kind"] == "message"]

    assert ["a1", "a2", "c1", "c2"] == there


async def words_after_an_erase() -> bool:
    """Return True if an export in this process has erased words after the erase."""
    store = InProcessStore(clock=FrozenClock(), ids=SeededIds(1))
    async with Recollect(store, embedder="none", worker=False) as memory:
        await fill(memory)
        _, after = await exported_around(memory, EraseThread(thread="b"), after=1)
    return WORD in repr(after)


@pytest.mark.parametrize(
    ("name", "wrong"), [("CHECK_S", math.inf), ("_left_of", lambda waiting, _: list(waiting))]
)
def test_an_export_that_goes_on_regardless_is_found(
    monkeypatch: pytest.MonkeyPatch, name: str, wrong: Any
) -> None:
    """One that never looks, and one that looks and drops nothing."""
    assert not asyncio.run(words_after_an_erase())

    monkeypatch.setattr(scope_export, name, wrong)

    assert asyncio.run(words_after_an_erase())
