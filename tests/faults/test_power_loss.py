"""Power losses at every write and at random moments, with controls that lose data."""

from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, TypeAlias

import apsw
import pytest

from benchmarks.durability import (
    RELAXED,
    UNSYNCED,
    Known,
    States,
    chance,
    judge,
    lose_power,
    put_down,
)
from benchmarks.fault_counts import FaultOutcome
from recollect.errors import StoreError
from recollect.records import Evidence, NewMessage, PutMemory, Scope
from recollect.stores.contract.base import Store
from recollect.stores.plans.erase_targets import EraseThread
from recollect.stores.plans.formation import Formed
from recollect.stores.plans.leases import Lease
from recollect.testing import FrozenClock, SeededIds
from tests.harness.invariants import contents, violations
from tests.harness.power_loss import SECTOR_BYTES, SURVIVALS, PowerLossDisk, driven_by

ADA: Scope = ("clients", "ada")
BOB: Scope = ("clients", "bob")
OPEN = apsw.SQLITE_OPEN_READWRITE | apsw.SQLITE_OPEN_MAIN_DB
Call: TypeAlias = Callable[[Store, FrozenClock], Awaitable[object]]


async def append(store: Store, _: FrozenClock) -> None:
    """Append two messages, one over several pages, under a key."""
    said = [
        NewMessage(role="user", id="new", text="hello " * 2_000),
        NewMessage(role="user", id="newer", text="hello again"),
    ]
    await store.append(ADA, "talk", said, idempotency_key="a key")


async def put(store: Store, _: FrozenClock) -> None:
    """Put the next version of one memory and the first version of another."""
    found = [Evidence(thread="talk", message="1.0")]
    home = PutMemory(type="Fact", key="home", value={"city": "Oslo"}, evidence={"/city": found})
    await store.apply(ADA, [PutMemory(type="Fact", key="tally", value={"turn": 99}), home])


async def signal(store: Store, clock: FrozenClock) -> None:
    """Make a thread due."""
    clock.advance(1_000)
    await store.signal(ADA, "talk")


class Worker:
    """Somebody who claims a scope, and then commits its formation in one more call."""

    lease: Lease | None = None

    async def claim(self, store: Store, clock: FrozenClock) -> None:
        """Claim what is due."""
        clock.advance(1_000)
        self.lease = await store.claim("worker")

    async def form(self, store: Store, _: FrozenClock) -> None:
        """Commit a formation of two memories with its watermark."""
        assert self.lease is not None
        tally = PutMemory(type="Fact", key="tally", value={"turn": 99})
        note = PutMemory(type="Note", key="formed", value={"text": "they talk"})
        formed = Formed(watermarks={each.thread: each.last for each in self.lease.threads})
        await store.commit(self.lease, [tally, note], formed)


async def erase(store: Store, _: FrozenClock) -> None:
    """Erase a thread with what rests on it."""
    await store.erase(ADA, EraseThread(thread="talk"))


async def clean(store: Store, _: FrozenClock) -> None:
    """Remove the bytes of what was erased."""
    await store.clean()


async def nothing(_: Store, __: FrozenClock) -> None:
    """Do nothing: the control."""


WORKER = Worker()
OPERATIONS: dict[str, Sequence[Call]] = {
    "an append": [nothing, append],
    "an apply": [nothing, put],
    "a formation": [nothing, append, signal, WORKER.claim, WORKER.form],
    "an erase and its cleaning": [nothing, erase, clean],
}
ONE_EACH = 0
"""Let each moment have one kind of survival, in turn; otherwise all of them, so many times."""
every_moment = pytest.mark.parametrize(
    "times", [ONE_EACH, pytest.param(5, marks=pytest.mark.prove)], ids=["sampled", "full"]
)


async def played(disk: PowerLossDisk, path: Path, calls: Sequence[Call]) -> tuple[int, Known]:
    """Make *calls* one after the other; return the start, and the known states."""
    clock = FrozenClock()
    clock.advance(100_000)
    known: dict[Scope, States] = {ADA: [], BOB: []}
    async with disk.open(path, clock=clock, ids=SeededIds(2)) as store:
        begun = disk.moment
        for call in calls:
            await call(store, clock)
            for scope, states in known.items():
                states.append((disk.moment, contents(path, scope, vfs=disk.vfs)))
    return begun, known


async def lose_at_every_moment(
    disk: PowerLossDisk, begun: int, known: Known, folder: Path, times: int
) -> FaultOutcome:
    """Simulate a power loss at every moment from *begun* on."""
    outcome, random = FaultOutcome(), chance(7)
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
    name: str, times: int, filled: Path, tmp_path: Path
) -> None:
    """It is there whole if it was answered, whole or not at all if not, and all else is there."""
    with PowerLossDisk() as disk:
        begun, known = await played(disk, filled, OPERATIONS[name])

        outcome = await lose_at_every_moment(disk, begun, known, tmp_path / "left", times)

    assert ({}, []) == (dict(outcome.failures), outcome.reasons)
    assert outcome.tried >= disk.moment - begun >= 10


@every_moment
async def test_a_store_being_made_survives_a_power_loss_at_every_moment(
    times: int, tmp_path: Path
) -> None:
    """Whatever is left of the file becomes an empty store when it is opened again."""
    made = tmp_path / "new" / "store.db"
    made.parent.mkdir()
    with PowerLossDisk() as disk:
        await disk.open(made).aclose()
        known = {ADA: [(0, contents(made, ADA))]}

        outcome = await lose_at_every_moment(disk, 0, known, tmp_path / "left", times)

    assert ({}, []) == (dict(outcome.failures), outcome.reasons)
    assert outcome.tried > disk.moment > 30


@pytest.mark.parametrize("name", OPERATIONS)
async def test_a_disk_that_only_says_it_wrote_would_be_noticed(
    name: str, filled: Path, tmp_path: Path
) -> None:
    """The mutant: a disk that confirms what it did not do loses what was answered."""
    with PowerLossDisk(honest=False) as disk:
        begun, known = await played(disk, filled, OPERATIONS[name])

        outcome = await lose_at_every_moment(disk, begun, known, tmp_path / "left", ONE_EACH)

    assert outcome.failures["lost"] + outcome.failures["corrupt"] > 0


@pytest.mark.parametrize("losses", [200, pytest.param(10_000, marks=pytest.mark.prove)])
async def test_no_power_loss_costs_what_was_acknowledged(losses: int, tmp_path: Path) -> None:
    """At random moments of the work of three clients nothing is lost, half done or damaged."""
    outcome = await lose_power(tmp_path, losses)

    assert ({}, []) == (dict(outcome.failures), outcome.reasons)
    assert losses == outcome.tried
    assert outcome.acknowledged > 10 * losses


class Eager(apsw.Connection):
    """A driver that carries the log over into the file after every few commits."""

    def wal_autocheckpoint(self, n: int) -> None:
        super().wal_autocheckpoint(min(n, 20))


@pytest.mark.parametrize("losses", [50, pytest.param(1_000, marks=pytest.mark.prove)])
async def test_nor_does_one_while_the_log_is_carried_over(losses: int, tmp_path: Path) -> None:
    """The same with a log that is carried over, and begun anew, all the time."""
    with driven_by(Eager):
        outcome = await lose_power(tmp_path, losses, seed=2)

    assert ({}, []) == (dict(outcome.failures), outcome.reasons)


async def test_relaxed_durability_is_seen_to_lose(tmp_path: Path) -> None:
    """The mutant: without waiting for the disk acknowledged calls are lost, but nothing else."""
    outcome = await lose_power(tmp_path, 30, control=RELAXED)

    assert {"lost"} == outcome.failures.keys()


async def test_never_syncing_is_seen_to_damage(tmp_path: Path) -> None:
    """The mutant: without any sync files are damaged too."""
    outcome = await lose_power(tmp_path, 60, control=UNSYNCED)

    assert outcome.failures["lost"] > 0
    assert outcome.failures["corrupt"] > 0


@pytest.mark.parametrize("step", [5, pytest.param(1, marks=pytest.mark.prove)])
@pytest.mark.parametrize("name", OPERATIONS)
async def test_a_write_or_sync_that_fails_is_not_hidden(name: str, step: int, filled: Path) -> None:
    """Whichever fails: what is answered is on the disk, what is refused is whole or not there."""
    found = await fail_at_moments(filled, OPERATIONS[name], step)

    assert set() == set(found)


async def test_a_store_that_hides_failures_would_be_noticed(filled: Path) -> None:
    """The mutant: a commit that failed and is called done."""
    with driven_by(Hiding):
        found = await fail_at_moments(filled, OPERATIONS["an append"], 1)

    assert {"lost"} == set(found)


class Hiding(apsw.Connection):
    """A driver that says of every commit that it was made."""

    def execute(self, *arguments: Any, **more: Any) -> apsw.Cursor:
        try:
            return super().execute(*arguments, **more)
        except apsw.IOError:
            if arguments != ("COMMIT",):
                raise
            return super().execute("ROLLBACK" if self.in_transaction else "SELECT 1")


async def fail_at_moments(filled: Path, calls: Sequence[Call], step: int) -> list[str]:
    """Fail each operation in turn; return what was wrong after a power loss then."""
    with PowerLossDisk() as disk:
        begun, known = await played(disk, copied(filled), calls)
    states, found = [state for _, state in known[ADA]], []
    for moment in range(begun + 1, known[ADA][-1][0] + 1, step):
        path = copied(filled)
        with PowerLossDisk() as disk:
            disk.fail_at(moment)
            answered = await answered_before_a_failure(disk, path, calls)
            disk.lose_power("nothing", chance(moment))
            left = contents(path, ADA, vfs=disk.vfs)
            found += ["damaged"] if violations(path, vfs=disk.vfs) else []
            found += [] if left in states[answered - 1 : answered + 1] else ["lost"]
    return found


async def answered_before_a_failure(disk: PowerLossDisk, path: Path, calls: Sequence[Call]) -> int:
    """Make *calls* until one is refused, then another; return how many were answered."""
    clock, answered = FrozenClock(), 0
    clock.advance(100_000)
    async with disk.open(path, clock=clock, ids=SeededIds(2)) as store:
        with suppress(StoreError):
            for call in calls:
                await call(store, clock)
                answered += 1
        await store.append(BOB, "talk", [NewMessage(role="user", id="after", text="after")])
    return answered


def copied(path: Path) -> Path:
    """Return the path of a fresh copy of a closed store."""
    there = path.with_name("copy.db")
    for suffix in ("-wal", "-shm", "-journal"):
        Path(f"{there}{suffix}").unlink(missing_ok=True)
    there.write_bytes(path.read_bytes())
    return there


def test_the_disk_forgets_what_was_not_synced(tmp_path: Path) -> None:
    """Of a write that was not synced all, nothing, some sectors, or it or not is left."""
    path, before, after = tmp_path / "file", b"a" * 4_096, b"b" * 4_096
    path.write_bytes(before)
    with PowerLossDisk() as disk:
        file = apsw.VFSFile(disk.vfs, str(path), [OPEN, 0])
        file.xWrite(after, 0)

        left = {
            survival: {disk.survivors(survival, chance(seed))[str(path)] for seed in range(50)}
            for survival in SURVIVALS
        }
        file.xSync(apsw.SQLITE_SYNC_NORMAL)
        file.xClose()
        synced = {disk.survivors(survival, chance(1))[str(path)] for survival in SURVIVALS}

    assert ({before}, {after}) == (left["nothing"], left["everything"])
    assert {before, after} == left["some"]
    assert {before, after} < left["torn"]
    sectors = {each[at : at + SECTOR_BYTES] for each in left["torn"] for at in range(0, 4_096, 512)}
    assert {before[:SECTOR_BYTES], after[:SECTOR_BYTES]} == sectors
    assert {after} == synced


def test_the_disk_stops_where_it_is_told(tmp_path: Path) -> None:
    """After the power failed every operation fails, until it is back and something is left."""
    path = tmp_path / "file"
    path.write_bytes(b"")
    with PowerLossDisk() as disk:
        disk.stop_at(2)
        file = apsw.VFSFile(disk.vfs, str(path), [OPEN, 0])
        file.xWrite(b"one", 0)

        with pytest.raises(apsw.IOError, match="operation 2 failed"):
            file.xSync(apsw.SQLITE_SYNC_NORMAL)
        with pytest.raises(apsw.IOError, match="the power is off"):
            file.xRead(1, 0)
        file.xClose()
        disk.lose_power("nothing", chance(1))

        assert (b"", 0) == (path.read_bytes(), disk.moment)
