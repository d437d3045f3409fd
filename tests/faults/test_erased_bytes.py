"""Bytes of erased words that are left in files, and whether any of them return."""

import json
import math
from collections import Counter
from collections.abc import Awaitable, Callable
from dataclasses import replace
from pathlib import Path
from random import Random

import pytest

from benchmarks.durability import KEPT, LEFT, TARGETS, UNCUT, chance, erase
from recollect.errors import LeaseLostError
from recollect.records import Evidence, NewMessage, PutMemory, Scope
from recollect.stores.change_feed import Cursor
from recollect.stores.contract.base import Store
from recollect.stores.locator import open_store
from recollect.stores.plans import erasure
from recollect.stores.plans.due_times import Debounce
from recollect.stores.plans.erase_targets import (
    EraseMemory,
    EraseMessages,
    EraseScope,
    EraseSource,
    EraseTarget,
    EraseThread,
)
from recollect.stores.plans.formation import Formed
from recollect.stores.plans.leases import Lease
from recollect.stores.rows import ScopeRow
from recollect.stores.unit_of_work import Rows
from recollect.testing import FrozenClock, SeededIds
from tests.harness.invariants import Canary, violations
from tests.harness.power_loss import PowerLossDisk


@pytest.mark.parametrize("erases", [10, pytest.param(200, marks=pytest.mark.prove)])
async def test_no_byte_of_what_was_erased_is_left(erases: int, tmp_path: Path) -> None:
    """Neither a word, in any encoding, nor a hash of it, in any file of the store's folder."""
    outcome = await erase(tmp_path, erases)

    assert ({}, []) == (dict(outcome.failures), outcome.reasons)
    assert outcome.acknowledged > 50 * erases


@pytest.mark.parametrize("control", [KEPT, UNCUT, LEFT])
async def test_careless_erasing_would_be_noticed(control: str, tmp_path: Path) -> None:
    """The mutants: bytes that are not zeroed, a log that is not cut, index files that stay."""
    outcome = await erase(tmp_path, len(TARGETS), control=control)

    assert {"left"} == outcome.failures.keys()


UNTIL_SIGNALLED = Debounce(quiet_s=math.inf)
TARGETS_OF_MESSAGE: tuple[EraseTarget, ...] = (
    EraseThread(thread="talk"),
    EraseMessages(thread="talk", messages=["m1"]),
    EraseSource(source="mail"),
    EraseScope(),
)


@pytest.mark.parametrize(
    "target",
    [*TARGETS_OF_MESSAGE, EraseMemory(type="Fact", key="home")],
    ids=lambda target: type(target).__name__,
)
@pytest.mark.parametrize("is_in_vain", [False, True], ids=["formed", "failed"])
async def test_the_receipt_of_a_formation_keeps_no_words(
    target: EraseTarget, tmp_path: Path, *, is_in_vain: bool
) -> None:
    """What a worker noted of a formation goes with whatever is erased from its scope."""
    canary, scope = Canary(chance(1)), ("users", "ada")
    async with open_store(tmp_path / "store.db") as store:
        said = NewMessage(role="user", id="m1", text="I moved", source="mail")
        await store.append(scope, "talk", [said])
        await store.append(scope, "other talk", [NewMessage(role="user", text="it rains")])
        await store.signal(scope, "talk")
        lease = await store.claim("worker")
        assert lease is not None
        formed = Formed(watermarks={"talk": 1}, receipt={"q": canary.word()})
        if is_in_vain:
            await store.release(lease, failed=["talk"], attempt=formed)
        else:
            await store.commit(lease, [], formed)
        await store.apply(scope, [PutMemory(type="Fact", key="home", value={"city": "Oslo"})])

        await store.erase(scope, target)
        await store.clean()

        assert [] == canary.found_in(tmp_path)


@pytest.mark.parametrize("times", [50, pytest.param(1_000, marks=pytest.mark.prove)])
async def test_nothing_comes_back_from_a_formation(times: int, tmp_path: Path) -> None:
    """A commit is refused if something was erased since its claim; and no word of that is left."""
    found = await form_while_erasing(tmp_path, times, commit)

    assert 0 == found["came back"]
    assert 0 == found["damaged"]
    assert times == found["refused"] + found["stored"]
    assert min(found["refused"], found["stored"]) > times / 10


async def test_a_commit_that_ignores_erasing_would_be_noticed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The mutant: a lease that no erase ends, and always has the present epoch, restores words."""

    def still_leased(rows: Rows, scope: ScopeRow) -> ScopeRow:
        return replace(scope, seq=scope.seq + 1, epoch=rows.new_number())

    monkeypatch.setattr(erasure, "_begun_anew", still_leased)

    found = await form_while_erasing(tmp_path, 50, commit_whatever_was_erased)

    assert found["came back"] > 0


Commit = Callable[[Store, Lease, PutMemory], Awaitable[None]]


async def commit(store: Store, lease: Lease, write: PutMemory) -> None:
    """Commit as a worker does."""
    watermarks = {each.thread: each.last for each in lease.threads}
    await store.commit(lease, [write], Formed(watermarks=watermarks))


async def commit_whatever_was_erased(store: Store, lease: Lease, write: PutMemory) -> None:
    """Commit under the scope's present epoch, moving no watermark."""
    feed = await store.changes(Cursor(scope=lease.scope))
    await store.commit(replace(lease, epoch=feed.epoch), [write], Formed(watermarks={}))


async def form_while_erasing(folder: Path, times: int, commit: Commit) -> Counter[str]:
    """Claim, erase and commit in random order, *times* times; count the outcomes."""
    random, found, clock = chance(1), Counter[str](), FrozenClock()
    with PowerLossDisk() as disk:
        async with disk.open(folder / "store.db", clock=clock, ids=SeededIds(1)) as store:
            for turn in range(times):
                scope, canary = ("users", f"{turn}"), Canary(random)
                found[await form_once(store, scope, canary, random, commit)] += 1
                left = json.dumps(await store.archive(scope), ensure_ascii=False)
                found["came back"] += canary.is_in(left)
                clock.advance(100)
        found["damaged"] += len(violations(folder / "store.db"))
    return found


async def form_once(
    store: Store, scope: Scope, canary: Canary, random: Random, commit: Commit
) -> str:
    """Let a worker form a scope while an erase happens at a random time."""
    other = NewMessage(role="user", id="m0", text="it rains")
    await store.append(scope, "other talk", [other], debounce=UNTIL_SIGNALLED)
    said = NewMessage(role="user", id="m1", text=canary.text(), source="mail")
    answer = NewMessage(role="user", id="m2", text="yes")
    await store.append(scope, "talk", [said, answer], debounce=UNTIL_SIGNALLED)
    await store.signal(scope, "talk")
    erases_after, says_again = random.randrange(3), random.random() < 0.5
    lease, refused = await store.claim("worker"), False
    assert lease is not None
    (read, *_) = (await store.messages(scope, "talk")).rows
    for step in range(3):
        if step == 1:
            found = [Evidence(thread="talk", message="m1", quote=read.text)]
            value = {"said": read.text}
            write = PutMemory(type="Note", key="n", value=value, evidence={"/said": found})
            try:
                await commit(store, lease, write)
            except LeaseLostError:
                refused = True
        if step == erases_after:
            await store.erase(scope, random.choice(TARGETS_OF_MESSAGE))
            if says_again:
                again = NewMessage(role="user", id="m3", text="no")
                await store.append(scope, "talk", [again], debounce=UNTIL_SIGNALLED)
    return "refused" if refused else "stored"
