"""What a power loss leaves, at every write and at random moments, and that the harness would see."""

from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from random import Random
from typing import TypeAlias

import apsw
import pytest

from recollect.bench.proofs import (
    RELAXED,
    UNSYNCED,
    Known,
    Outcome,
    judge,
    lose_power,
    put_down,
)
from recollect.errors import StoreError
from recollect.records import Evidence, NewMessage, PutMemory, Scope
from recollect.stores.base import Store
from recollect.stores.plans.erase import EraseThread
from recollect.stores.plans.formation import Formed
from recollect.testing import FrozenClock, SeededIds
from recollect.testing.invariants import contents, violations
from recollect.testing.powerloss import SECTOR_BYTES, SURVIVALS, PowerLossDisk, Survival

from .conftest import Filled

ADA: Scope = ("clients", "ada")
BOB: Scope = ("clients", "bob")
Call: TypeAlias = Callable[[Store, FrozenClock], Awaitable[object]]


async def append(store: Store, _: FrozenClock) -> None:
    """Append two messages, one over several pages, under a key."""
    said = [
        NewMessage(role="user", id="new", text="hello " * 2_000),
        NewMessage(role="user", id="newer", text="hello again"),
    ]
    await store.append(ADA, "talk", said, idempotency_key="a key")


async def put(store: Store, _: FrozenClock) -> None:
    """Put the next version of one memory and the first of another."""
    found = [Evidence(thread="talk", message="1.0")]
    home = PutMemory(type="Fact", key="home", value={"city": "Oslo"}, evidence={"/city": found})
    await store.apply(ADA, [PutMemory(type="Fact", key="tally", value={"turn": 99}), home])


async def form(store: Store, clock: FrozenClock) -> None:
    """Commit a formation of two memories with its watermark."""
    clock.advance(1_000)
    await store.signal(ADA, "talk")
    lease = await store.claim("worker")
    assert lease is not None
    tally = PutMemory(type="Fact", key="tally", value={"turn": 99})
    note = PutMemory(type="Note", key="formed", value={"text": "they talk"})
    formed = Formed(watermarks={each.thread: each.last for each in lease.threads})
    await store.commit(lease, [tally, note], formed)


async def erase(store: Store, _: FrozenClock) -> None:
    """Erase a thread with what rests on it."""
    await store.erase(ADA, EraseThread(thread="talk"))


async def clean(store: Store, _: FrozenClock) -> None:
    """Remove the bytes of what was erased."""
    await store.clean()


OPERATIONS: dict[str, Sequence[Call]] = {
    "an append": [append],
    "an apply": [put],
    "a formation": [form],
    "an erase and its cleaning": [erase, clean],
}
ONE_EACH = 0
"""Let each moment have one kind of survival, in turn; otherwise all of them, so many times."""
every_moment = pytest.mark.parametrize(
    "times", [ONE_EACH, pytest.param(5, marks=pytest.mark.prove)], ids=["sampled", "full"]
)


@asynccontextmanager
async def working(
    disk: PowerLossDisk, path: Path, clock: FrozenClock
) -> AsyncIterator[Store]:
    """Open the store at *path* on a disk of ours."""
    async with disk.open(path, clock=clock, ids=SeededIds(2)) as store:
        yield store


async def played(disk: PowerLossDisk, path: Path, calls: Sequence[Call]) -> tuple[int, Known]:
    """Let *calls* be answered one after the other; return when it began, and what was known."""
    clock, known = FrozenClock(), {ADA: [], BOB: []}
    clock.advance(100_000)
    async with working(disk, path, clock) as store:
        begun = disk.moment
        for call in (None, *calls):
            if call:
                await call(store, clock)
            for scope, states in known.items():
                states.append((disk.moment, contents(path, scope, vfs=disk.vfs)))
    return begun, known


async def lose_at_every_moment(
    disk: PowerLossDisk, begun: int, known: Known, folder: Path, times: int
) -> Outcome:
    """Let the power fail at every moment from *begun* on."""
    outcome, random = Outcome(), Random(7)
    for moment in range(begun, disk.moment + 1):
        survivals = [SURVIVALS[moment % 4]] if times == ONE_EACH else SURVIVALS * times
        for survival in survivals:
            path = put_down(disk.survivors(survival, random, moment), folder)
            with PowerLossDisk() as after:
                await judge(after, path, known, moment, outcome)
            outcome.tried += 1
    return outcome


@every_moment
@pytest.mark.parametrize("name", OPERATIONS)
async def test_a_call_survives_a_power_loss_at_every_moment(
    name: str, times: int, filled: Filled, tmp_path: Path
) -> None:
    """It is there whole if it was answered, whole or not at all if not, and all else is there."""
    with PowerLossDisk() as disk:
        begun, known = await played(disk, filled.path, OPERATIONS[name])

        outcome = await lose_at_every_moment(disk, begun, known, tmp_path / "left", times)

    assert ({}, []) == (dict(outcome.failures), outcome.reasons)
    assert outcome.tried >= disk.moment - begun >= 10


@every_moment
async def test_a_store_that_is_being_made_survives_a_power_loss_at_every_moment(
    times: int, tmp_path: Path
) -> None:
    """Whatever is left of it becomes an empty store when it is opened again."""
    (tmp_path / "new").mkdir()
    with PowerLossDisk() as disk:
        await disk.open(tmp_path / "new" / "store.db").aclose()

        outcome = await lose_at_every_moment(disk, 0, {ADA: []}, tmp_path / "left", times)

    assert {"half done"} >= outcome.failures.keys(), outcome.reasons
    assert outcome.tried >= disk.moment >= 30
