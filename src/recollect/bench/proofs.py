"""How durable: faults at random moments, counted beside controls that the same harness must catch."""

from __future__ import annotations

import asyncio
import json
import multiprocessing
from collections import Counter
from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field, replace
from itertools import count
from multiprocessing.connection import Connection
from pathlib import Path
from random import Random
from shutil import copyfile
from tempfile import TemporaryDirectory
from typing import Any, Final, TypeAlias
from unittest.mock import patch

import apsw

from recollect.app import Recollect
from recollect.errors import LeaseLostError, RecollectError, StoreError
from recollect.records import Evidence, NewMessage, PutMemory, Scope
from recollect.stores.base import Store
from recollect.stores.open import open_store
from recollect.stores.plans.erase import (
    EraseMemory,
    EraseMessages,
    EraseScope,
    EraseSource,
    EraseTarget,
    EraseThread,
)
from recollect.stores.plans.formation import Debounce, Formed, Lease
from recollect.stores.rows import Cursor
from recollect.stores.sqlite.durability import Durability
from recollect.stores.world import timer_s
from recollect.testing.clock import FrozenClock
from recollect.testing.ids import SeededIds
from recollect.testing.invariants import (
    Broken,
    Client,
    Contents,
    Promises,
    contents,
    form,
    violations,
)
from recollect.testing.powerloss import SURVIVALS, PowerLossDisk

MOMENTS: Final = 25
"""At so many moments the power fails in what was recorded once."""
TURNS: Final = 10
LIVES: Final = 4
"""So often a file is worked on, and a power fails or a process is killed, before a new one."""
KILLS: Final = 25
"""So often a process at work on one file is killed."""
PROCESSES: Final = 8
REASONS_MAX: Final = 5
NAMES: Final = ("ada", "bob", "eve")
SHARED: Final[Scope] = ("shared",)
PLAIN: Final[Scope] = ("plain",)

_processes = multiprocessing.get_context("forkserver")


@dataclass(slots=True)
class Outcome:
    """What came of some faults: how often happened what must never happen."""

    tried: int = 0
    acknowledged: int = 0
    failures: Counter[str] = field(default_factory=Counter)
    reasons: list[str] = field(default_factory=list)
    seen: set[str] = field(default_factory=set)
    """What was counted already of the file that is being looked at."""

    def add(self, what: str, found: Iterable[str]) -> None:
        """Count *found* as failures of one kind, each once; the first are kept as reasons."""
        new = [each for each in found if each not in self.seen]
        self.seen.update(new)
        if new:
            self.failures[what] += len(new)
            self.reasons += [f"{what}: {each}" for each in new]
            del self.reasons[REASONS_MAX:]


class Unsynced(apsw.Connection):
    """A driver that never waits for the disk: ``synchronous=OFF``."""

    def pragma(self, name: str, *value: Any, **more: Any) -> Any:
        """Run a pragma, but for this one."""
        return super().pragma(name, *(["OFF"] if name == "synchronous" else value), **more)


class Impatient(apsw.Connection):
    """A driver that waits for nobody: a busy timeout of 0."""

    def set_busy_handler(self, *_: object) -> None:
        """Do not."""


class Keeping(apsw.Connection):
    """A driver that leaves deleted bytes where they are: ``secure_delete=OFF``."""

    def pragma(self, name: str, *value: Any, **more: Any) -> Any:
        """Run a pragma, but for this one."""
        return super().pragma(name, *([False] if name == "secure_delete" else value), **more)


class Uncut(apsw.Connection):
    """A driver that says the log was carried over, and leaves it."""

    def wal_checkpoint(self, *_: object, **__: object) -> tuple[int, int]:
        """Do not."""
        return 0, 0


def driven_by(driver: type[apsw.Connection]) -> patch[type[apsw.Connection]]:
    """Let the stores that are opened meanwhile have such connections."""
    return patch.object(apsw, "Connection", driver)


# Power losses

States: TypeAlias = list[tuple[int, Contents]]
"""What a scope held, and since which moment of the disk that was acknowledged."""


async def power_losses(
    folder: Path, losses: int, *, seed: int = 1, control: str | None = None
) -> Outcome:
    """
    Let the power fail at *losses* random moments of three clients' work.

    Every state that may be left then is opened, and each scope compared, row by row, with
    what it was before and after the call that the power loss met. After a quarter of them
    the power fails once more, while the file is being opened.
    """
    random, outcome, clock = Random(seed), Outcome(), FrozenClock()
    durability: Durability = "relaxed" if control == "relaxed" else "full"
    with driven_by(Unsynced if control == "unsynced" else apsw.Connection):
        for life in count():
            path = folder / f"{life // LIVES}.db"
            with PowerLossDisk() as disk:
                ids = SeededIds(random.getrandbits(32))
                async with disk.open(path, clock=clock, ids=ids, durability=durability) as store:
                    begun, known = await _worked(disk, store, path, TURNS * (life % LIVES))
                for _ in range(min(MOMENTS, losses - outcome.tried)):
                    outcome.tried += 1
                    loss = PowerLoss(known, random.randint(begun, disk.moment), random, outcome)
                    await loss.play(disk, folder / "after")
                disk.lose_power("everything", random)
            clock.advance(10_000)
            if outcome.tried == losses:
                break
    return outcome


async def _worked(
    disk: PowerLossDisk, store: Store, path: Path, turn: int
) -> tuple[int, dict[Scope, States]]:
    """Let three clients work; return when they began, and the states of their scopes."""
    while lease := await store.claim("worker"):  # left over from before
        await form(store, lease, turn)
    lock, begun = asyncio.Lock(), disk.moment

    async def work(client: Client) -> States:
        states = [(begun, contents(path, client.scope, vfs=disk.vfs))]
        for each in range(turn, turn + TURNS):
            async for _ in client.take(store, each):
                states.append((disk.moment, contents(path, client.scope, vfs=disk.vfs)))
        return states

    clients = [Client(name, forming=lock) for name in NAMES]
    worked = await asyncio.gather(*map(work, clients))
    return begun, {client.scope: states for client, states in zip(clients, worked, strict=True)}


@dataclass(frozen=True, slots=True)
class PowerLoss:
    """One power loss, and what must be there after it."""

    known: Mapping[Scope, States]
    moment: int
    random: Random
    outcome: Outcome

    async def play(self, disk: PowerLossDisk, folder: Path) -> None:
        """Put down what survives, open it, judge it; perhaps lose power again meanwhile."""
        path = self._put_down(disk, self.moment, folder)
        with PowerLossDisk() as after:
            await self._judge(after, path)
            if self.random.random() < 0.25:
                path = self._put_down(after, self.random.randint(0, after.moment), folder)
                with PowerLossDisk() as last:
                    await self._judge(last, path)

    def _put_down(self, disk: PowerLossDisk, moment: int, folder: Path) -> Path:
        folder.mkdir(exist_ok=True)
        path = folder / "left.db"
        files = disk.survivors(self.random.choice(SURVIVALS), self.random, moment)
        for suffix in ("", "-wal", "-shm", "-journal"):
            Path(f"{path}{suffix}").unlink(missing_ok=True)
        for name, content in files.items():
            path.with_name("left.db" + Path(name).name.partition(".db")[2]).write_bytes(content)
        return path

    async def _judge(self, disk: PowerLossDisk, path: Path) -> None:
        self.outcome.seen.clear()
        try:
            async with disk.open(path):
                found = violations(path, vfs=disk.vfs)
                left = {scope: contents(path, scope, vfs=disk.vfs) for scope in self.known}
        except (StoreError, apsw.Error) as error:
            found = [repr(error)]
        if found:
            self.outcome.add("corrupt", found[:1])
            return
        for scope, states in self.known.items():
            answered = max(at for at, (when, _) in enumerate(states) if when <= self.moment)
            self.outcome.acknowledged += answered
            there = [at for at, (_, state) in enumerate(states) if state == left[scope]]
            if not there:
                self.outcome.add("half done", [f"{scope} after {answered} calls"])
            elif not {answered, answered + 1} & set(there):
                lost = range(there[-1] + 1, answered + 1)
                self.outcome.add("lost", [f"call {number} of {scope}" for number in lost])


# Killed processes


async def kills(folder: Path, number: int, *, seed: int = 1, careful: bool = True) -> Outcome:
    """
    Kill a process of three clients at *number* random moments.

    Each time they repeat what went unanswered, under the same ids and keys; clients that
    are not *careful* have none.
    """
    _processes.set_forkserver_preload([__name__])
    random, outcome = Random(seed), Outcome()
    for life in range(number):
        if life % KILLS == 0:
            path = folder / f"killed-{life // KILLS}.db"
            clients = {
                name: Client(name, careful=careful, forming=nullcontext()) for name in NAMES
            }
            turns = dict.fromkeys(NAMES, 0)
            outcome.seen.clear()
        for name, turn in _killed(path, turns, after_s=random.uniform(0, 0.08), careful=careful):
            clients[name].answered(turn)
            turns[name] = turn + 1
            outcome.acknowledged += 1
        outcome.tried += 1
        async with open_store(path) as store:
            for name, client in clients.items():
                async for _ in client.take(store, turns[name]):
                    pass
                client.answered(turns[name])
                turns[name] += 1
                _add(outcome, await client.promises.broken(store))
        outcome.add("corrupt", violations(path))
    return outcome


def _add(outcome: Outcome, broken: Broken) -> None:
    outcome.add("lost", broken.lost)
    outcome.add("doubled", broken.doubled)
    outcome.add("never written", broken.unwritten)
    outcome.add("misplaced", broken.misplaced)


def _killed(
    path: Path, turns: Mapping[str, int], *, after_s: float, careful: bool
) -> Iterator[tuple[str, int]]:
    """Start a process, kill it *after_s*, and yield the turns that it answered."""
    answers, sender = _processes.Pipe(duplex=False)
    given = (path, dict(turns), careful, sender)
    process = _processes.Process(target=_take_turns, args=given)
    process.start()
    sender.close()
    with answers:
        answers.recv()
        until = timer_s() + after_s
        while (left := until - timer_s()) > 0 and answers.poll(left):
            yield answers.recv()
        process.kill()
        try:
            while True:
                yield answers.recv()
        except (EOFError, OSError):  # no more came; the last was perhaps cut off
            process.join()


def _take_turns(path: Path, turns: Mapping[str, int], careful: bool, sender: Connection) -> None:  # noqa: FBT001
    """Take turns until killed: the child."""
    lock = asyncio.Lock()

    async def work(store: Store, client: Client, name: str) -> None:
        for turn in count(turns[name]):
            async for _ in client.take(store, turn):
                pass
            sender.send((name, turn))

    async def main() -> None:
        async with open_store(path) as store, asyncio.TaskGroup() as group:
            for name in turns:
                client = Client(name, careful=careful, forming=lock)
                group.create_task(work(store, client, name))

    sender.send("begun")
    asyncio.run(main())


# Processes side by side


async def processes(folder: Path, appends: int, *, patient: bool = True) -> Outcome:
    """
    Let eight processes append, erase and recall in one file, *appends* times each.

    What one has acknowledged the next recalls at once; what one has erased it does not.
    """
    _processes.set_forkserver_preload([__name__])
    path, outcome, promises = folder / "shared.db", Outcome(tried=PROCESSES), Promises()
    await open_store(path).aclose()
    pipes = [_processes.Pipe(duplex=False) for _ in range(PROCESSES)]
    answers, sender = _processes.Pipe(duplex=False)
    given = [
        (path, number, appends, patient, (pipes[number][0], pipes[number - 1][1]), sender)
        for number in range(PROCESSES)
    ]
    started = [_processes.Process(target=_work_beside, args=each) for each in given]
    for process in started:
        process.start()
    for kept, erased, failures in [answers.recv() for _ in started]:
        outcome.acknowledged += len(kept) + len(erased)
        outcome.failures.update(failures)
        promises.kept[SHARED, "talk"] |= kept
        promises.erased[SHARED, "talk"] |= erased
    for process in started:
        process.join()
    async with open_store(path) as store:
        _add(outcome, await promises.broken(store))
        plain = await store.changes(Cursor(scope=PLAIN))
    holes = set(range(1, plain.seq + 1)) ^ {entry.seq for entry in plain.entries}
    outcome.add("a hole in the sequence", map(str, holes))
    outcome.add("corrupt", violations(path))
    return outcome


def _work_beside(
    path: Path,
    number: int,
    appends: int,
    patient: bool,  # noqa: FBT001
    pipes: tuple[Connection, Connection],
    sender: Connection,
) -> None:
    """Work beside the others: the child."""
    with driven_by(apsw.Connection if patient else Impatient):
        neighbour = _Neighbour(number, *pipes)
        asyncio.run(neighbour.work(path, appends))
        sender.send((neighbour.kept, neighbour.erased, neighbour.failures))


class _Neighbour:
    """One of several processes in a ring: tells the next what it did, and checks what it is told."""

    def __init__(self, number: int, told: Connection, tells: Connection) -> None:
        self.kept: set[str] = set()
        self.erased: set[str] = set()
        self.failures: Counter[str] = Counter()
        self._number, self._told, self._tells = number, told, tells

    async def work(self, path: Path, appends: int) -> None:
        """Write *appends* times, telling and checking in between; then check the rest."""
        async with Recollect(open_store(path), embedder="none") as memory:
            for turn in range(appends):
                try:
                    await self._write(memory, f"w{self._number}x{turn}", turn)
                except StoreError as error:
                    self.failures[type(error).__name__] += 1
                while self._told.poll() and await self._check(memory):
                    pass
            self._tells.send(None)
            while await self._check(memory):
                pass

    async def _write(self, memory: Recollect, word: str, turn: int) -> None:
        text = f"the word is {word}"
        said = NewMessage(role="user", id=word, text=text)
        await memory.append(SHARED, "talk", [said])
        self.kept.add(text)
        if turn % 5 == 0:
            await memory.append(PLAIN, "talk", [said])
        if turn % 20 == 19:
            await memory.store.erase(SHARED, EraseMessages(thread="talk", messages=[word]))
            self.kept.discard(text)
            self.erased.add(text)
        self._tells.send((word, text in self.kept))

    async def _check(self, memory: Recollect) -> bool:
        """Take in one thing told; say whether another will come."""
        told = self._told.recv()
        if told is None:
            return False
        word, is_kept = told
        found = await memory.recall(SHARED, word, limit=1)
        if is_kept != any(word in each.text for each in found.entries):
            self.failures["not found at once" if is_kept else "found after its erase"] += 1
        return True
