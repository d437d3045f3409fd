"""How durable: faults at random moments, counted beside controls that the same harness must catch."""

from __future__ import annotations

import asyncio
import multiprocessing
import os
from collections import Counter
from collections.abc import AsyncIterator, Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager, contextmanager, nullcontext
from dataclasses import asdict, dataclass, field, replace
from multiprocessing.connection import Connection
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from typing import Any, Final
from unittest.mock import patch

import apsw

from recollect.app import Recollect
from recollect.errors import LeaseLostError, RecollectError, StoreError
from recollect.records import NewMessage, Scope
from recollect.stores.base import Store
from recollect.stores.open import open_store
from recollect.stores.plans.erase import EraseMemory, EraseMessages, EraseScope, EraseThread
from recollect.stores.rows import Cursor
from recollect.stores.world import timer_s
from recollect.testing.clock import FrozenClock
from recollect.testing.ids import SeededIds
from recollect.testing.invariants import Client, Contents, Promises, contents, form, violations
from recollect.testing.powerloss import SURVIVALS, PowerLossDisk

MOMENTS: Final = 25
TURNS: Final = 10
NAMES: Final = ("ada", "bob", "eve")


@dataclass(slots=True)
class Outcome:
    """What came of some faults: how often each thing happened that must never happen."""

    tried: int = 0
    acknowledged: int = 0
    failures: Counter[str] = field(default_factory=Counter)
    reasons: list[str] = field(default_factory=list)
    seen: set[str] = field(default_factory=set)
    """What was counted already, of the file that is being looked at."""

    def add(self, what: str, found: Iterable[str]) -> None:
        """Count *found* as failures of one kind, each once; the first few are kept as reasons."""
        new = [each for each in found if each not in self.seen]
        self.seen.update(new)
        if new:
            self.failures[what] += len(new)
            self.reasons += [f"{what}: {each}" for each in new[: max(0, 5 - len(self.reasons))]]


class Unsynced(apsw.Connection):
    """A connection with ``synchronous=OFF``, whatever it is told."""

    def pragma(self, name: str, *value: Any, **more: Any) -> Any:
        return super().pragma(name, *(["OFF"] if name == "synchronous" and value else value), **more)


@contextmanager
def driver(connection: type[apsw.Connection]) -> Iterator[None]:
    with patch.object(apsw, "Connection", connection):
        yield


# Power losses

_State = tuple[int, Contents]


async def power_losses(
    folder: Path, losses: int, seed: int, *, control: str | None = None
) -> Outcome:
    """
    Let the power fail at *losses* random moments of three clients' random work.

    Each state that may be left is opened, and for each scope compared with what it was
    before and after the call that the power loss met.
    """
    random, outcome, lives = Random(seed), Outcome(), 0
    clock = FrozenClock()
    with driver(Unsynced if control == "unsynced" else apsw.Connection):
        while outcome.tried < losses:
            path = folder / f"{lives // 4}.db"
            turn = TURNS * (lives % 4)
            with PowerLossDisk() as disk:
                ids = SeededIds(random.getrandbits(32))
                durability = "relaxed" if control == "relaxed" else "full"
                async with disk.open(path, clock=clock, ids=ids, durability=durability) as store:
                    while lease := await store.claim("worker"):
                        await form(store, lease, turn)
                    begun, known = disk.moment, await _worked(disk, store, path, turn)
                for _ in range(min(MOMENTS, losses - outcome.tried)):
                    moment = random.randint(begun, disk.moment)
                    files = disk.survivors(random.choice(SURVIVALS), random, moment)
                    await _play(folder / "after", files, random, known, moment, outcome)
                disk.lose_power("everything", random)
            clock.advance(10_000)
            lives += 1
    return outcome


async def _worked(disk: PowerLossDisk, store: Store, path: Path, turn: int) -> dict[Scope, list[_State]]:
    """Let three clients work; return after which operation each scope was in which state."""
    lock = asyncio.Lock()

    async def work(client: Client) -> list[_State]:
        states = [(disk.moment, contents(path, client.scope, vfs=disk.vfs))]
        for each in range(turn, turn + TURNS):
            async for _ in client.take(store, each):
                states.append((disk.moment, contents(path, client.scope, vfs=disk.vfs)))
        return states

    clients = [Client(name, forming=lock) for name in NAMES]
    worked = await asyncio.gather(*map(work, clients))
    return {client.scope: states for client, states in zip(clients, worked, strict=True)}


async def _play(folder, files, random, known, moment, outcome, *, again: bool = True) -> None:
    outcome.tried += again
    path = _put_down(folder, files)
    with PowerLossDisk() as disk:
        try:
            async with disk.open(path):
                found = violations(path, vfs=disk.vfs)
                left = {scope: contents(path, scope, vfs=disk.vfs) for scope in known}
        except (StoreError, apsw.Error) as error:
            found = [repr(error)]
        outcome.add("corrupt", found)
        if found:
            return
        for scope, states in known.items():
            _judge(states, left[scope], moment, outcome)
        if again and random.random() < 0.25:
            files = disk.survivors(random.choice(SURVIVALS), random, random.randint(0, disk.moment))
            await _play(folder, files, random, known, moment, outcome, again=False)


def _judge(states, left, moment, outcome) -> None:
    answered = max((at for at, (when, _) in enumerate(states) if when <= moment), default=0)
    outcome.acknowledged += answered
    if left in [state for _, state in states[answered : answered + 2]]:
        return
    earlier = [at for at, (_, state) in enumerate(states[:answered]) if state == left]
    if earlier:
        outcome.add("lost", list(range(earlier[-1], answered)))
    else:
        outcome.add("half done", [left])


def _put_down(folder: Path, files: Mapping[str, bytes]) -> Path:
    folder.mkdir(exist_ok=True)
    for each in folder.glob("store.db*"):
        if not each.name.endswith("-reserve"):
            each.unlink()
    path = folder / "store.db"
    for name, content in files.items():
        _, _, suffix = Path(name).name.partition(".db")
        Path(f"{path}{suffix}").write_bytes(content)
    return path


# Killed processes

KILLS_A_FILE: Final = 25
_processes = multiprocessing.get_context("forkserver")


def kills(folder: Path, number: int, seed: int, *, careful: bool = True) -> Outcome:
    """
    Kill a process of four clients at *number* random moments; they repeat what went unanswered.

    Whoever is not *careful* does so without ids and keys.
    """
    _processes.set_forkserver_preload([__name__])
    random, outcome = Random(seed), Outcome()
    clients: dict[str, Client] = {}
    for kill in range(number):
        path = folder / f"killed-{kill // KILLS_A_FILE}.db"
        if kill % KILLS_A_FILE == 0:
            clients = {name: Client(name, careful=careful, forming=nullcontext()) for name in NAMES}
            turns = dict.fromkeys(NAMES, 0)
            outcome.seen.clear()
        for name, turn in _killed(path, turns, careful, random.uniform(0.0, 0.08)):
            clients[name].answered(turn)
            turns[name] = turn + 1
            outcome.acknowledged += 1
        outcome.tried += 1
        asyncio.run(_repeated(path, clients, turns, outcome))
    return outcome


def _killed(path: Path, turns: Mapping[str, int], careful: bool, after_s: float) -> Iterator[tuple[str, int]]:
    """Start a process, kill it *after_s*, and yield what it answered."""
    answers, sender = _processes.Pipe(duplex=False)
    process = _processes.Process(target=_take_turns, args=(path, dict(turns), careful, sender))
    process.start()
    sender.close()
    answers.recv()
    until = timer_s() + after_s
    with answers:
        try:
            while (left := until - timer_s()) > 0 and answers.poll(left):
                yield answers.recv()
            process.kill()
            while True:
                yield answers.recv()
        except (EOFError, OSError):  # no more came; the last was perhaps cut off
            process.join()


def _take_turns(path: Path, turns: Mapping[str, int], careful: bool, sender: Connection) -> None:
    """Work until killed: the child process."""
    lock = asyncio.Lock()

    async def work(store: Store, name: str, turn: int) -> None:
        client = Client(name, careful=careful, forming=lock)
        while True:
            async for _ in client.take(store, turn):
                pass
            sender.send((name, turn))
            turn += 1

    async def main() -> None:
        async with open_store(path) as store, asyncio.TaskGroup() as group:
            for name, turn in turns.items():
                group.create_task(work(store, name, turn))

    sender.send("begun")
    asyncio.run(main())


async def _repeated(path: Path, clients: Mapping[str, Client], turns: dict[str, int], outcome: Outcome) -> None:
    async with open_store(path) as store:
        for name, client in clients.items():
            async for _ in client.take(store, turns[name]):
                pass
            client.answered(turns[name])
            turns[name] += 1
            broken = await client.promises.broken(store)
            outcome.add("lost", broken.lost)
            outcome.add("doubled", broken.doubled)
            outcome.add("made up", [*broken.unwritten, *broken.misplaced])
    outcome.add("corrupt", violations(path))


# Processes that share a file

PROCESSES: Final = 8
SHARED: Final[Scope] = ("shared",)
PLAIN: Final[Scope] = ("plain",)


class Impatient(apsw.Connection):
    """A connection that waits for nobody."""

    def set_busy_handler(self, *_: object) -> None:
        pass


async def processes(folder: Path, appends: int, *, patient: bool = True) -> Outcome:
    """
    Let eight processes append, erase and recall in one file, *appends* times each.

    What one has acknowledged the next recalls at once; what one has erased, it does not.
    """
    _processes.set_forkserver_preload([__name__])
    path, outcome = folder / "shared.db", Outcome(tried=PROCESSES)
    await open_store(path).aclose()
    pipes = [_processes.Pipe(duplex=False) for _ in range(PROCESSES)]
    answers, sender = _processes.Pipe(duplex=False)
    started = []
    for number in range(PROCESSES):
        told, tells = pipes[number][0], pipes[(number + 1) % PROCESSES][1]
        beside = (path, number, appends, patient, told, tells, sender)
        started.append(_processes.Process(target=_work_beside, args=beside))
        started[-1].start()
    told = [answers.recv() for _ in started]
    for process in started:
        process.join()
    promises = Promises()
    for kept, erased, failures in told:
        outcome.acknowledged += len(kept) + len(erased)
        promises.kept[SHARED, "talk"] |= kept - erased
        promises.erased[SHARED, "talk"] |= erased
        outcome.failures.update(failures)
    async with open_store(path) as store:
        broken = await promises.broken(store)
        plain = await store.changes(Cursor(scope=PLAIN))
        gaps = set(range(1, plain.seq + 1)) ^ {entry.seq for entry in plain.entries}
    outcome.add("lost", broken.lost)
    outcome.add("doubled", broken.doubled)
    outcome.add("made up", [*broken.unwritten, *broken.misplaced])
    outcome.add("a hole in the sequence", map(str, gaps))
    outcome.add("corrupt", violations(path))
    return outcome


def _work_beside(path, number, appends, patient, told, tells, sender) -> None:
    with driver(apsw.Connection if patient else Impatient):
        sender.send(asyncio.run(_Neighbour(path, number, told, tells).work(appends)))


class _Neighbour:
    """One of several processes in a row: tells the next what it did, and checks what it is told."""

    def __init__(self, path, number, told, tells):
        self.path, self.number, self.told, self.tells = path, number, told, tells
        self.kept, self.erased, self.failures = set(), set(), Counter()

    async def work(self, appends):
        async with Recollect(open_store(self.path), embedder="none") as memory:
            for turn in range(appends):
                word = f"w{self.number}x{turn}"
                text = f"{word} is the word"
                try:
                    await memory.append(SHARED, "talk", [NewMessage(role="user", id=word, text=text)])
                    self.kept.add(text)
                    if turn % 5 == 0:
                        await memory.append(PLAIN, "talk", [NewMessage(role="user", text=text)])
                    if turn % 20 == 19:
                        await memory.store.erase(SHARED, EraseMessages(thread="talk", messages=[word]))
                        self.erased.add(text)
                except StoreError as error:
                    self.failures[type(error).__name__] += 1
                    continue
                self.tells.send((word, text not in self.erased))
                while self.told.poll():
                    await self.check(memory, self.told.recv())
            self.tells.send(None)
            while (message := self.told.recv()) is not None:
                await self.check(memory, message)
        return self.kept, self.erased, self.failures

    async def check(self, memory, message):
        if message is None:
            self.told_all=True
            return
        word, is_kept = message
        found = await memory.recall(SHARED, word, limit=1)
        there = any(word in each.content.text for each in found.entries)
        if there != is_kept:
            self.failures["not found at once" if is_kept else "found after its erase"] += 1
