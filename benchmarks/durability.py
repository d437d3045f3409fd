"""Inject faults at random moments, and count losses next to controls that must fail."""

from __future__ import annotations

import asyncio
import multiprocessing
from collections import Counter
from collections.abc import Awaitable, Callable, Iterator, Mapping
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, replace
from itertools import chain, count
from multiprocessing.connection import Connection
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from typing import Final, Literal, TypeAlias

import apsw

from benchmarks.changed_bytes import UNCOMPARED, change_bytes
from benchmarks.fault_counts import FaultOutcome, FaultReport, FaultRow
from recollect.errors import RecollectError, StoreError
from recollect.memory.facade import Recollect
from recollect.recall.index_file_upkeep import IndexPersistence
from recollect.records import Evidence, NewMessage, PutMemory, Scope
from recollect.stores.change_feed import Cursor
from recollect.stores.contract.base import Store
from recollect.stores.locator import open_store
from recollect.stores.plans.erase_targets import (
    EraseMemory,
    EraseMessages,
    EraseScope,
    EraseSource,
    EraseTarget,
    EraseThread,
)
from recollect.stores.plans.formation import Formed
from recollect.stores.sqlite.index_files import IndexFiles
from recollect.stores.system_clock import timer_s
from recollect.testing.frozen_clock import FrozenClock
from recollect.testing.reproducible_ids import SeededIds
from tests.harness.invariants import (
    Canary,
    Contents,
    FaultClient,
    Place,
    Promises,
    contents,
    form,
    violations,
)
from tests.harness.power_loss import (
    SURVIVALS,
    Impatient,
    PowerLossDisk,
    Uncut,
    driven_by,
    driver_with,
)

MOMENTS: Final = 25
"""Power losses simulated in one recording."""
TURNS: Final = 10
LIVES: Final = 4
"""Runs on one file before a new one is made; *KILLS* for killed processes."""
KILLS: Final = 25
PROCESSES: Final = 8
RELAXED: Final = "durability=relaxed"
UNSYNCED: Final = "synchronous=OFF"
KEPT: Final = "secure_delete=OFF"
UNCUT: Final = "log not cut"
LEFT: Final = "index files left"
NAMES: Final = ("ada", "bob", "eve")
SHARED: Final[Scope] = ("shared",)
PLAIN: Final[Scope] = ("plain",)

Experiment: TypeAlias = Callable[[Path], Awaitable["FaultOutcome"]]

DAMAGED: Final = (RecollectError, apsw.Error, ArithmeticError, LookupError, TypeError, ValueError)
"""The errors that reading a damaged file may raise; only the first is documented."""

_processes = multiprocessing.get_context("forkserver")


def chance(seed: int) -> Random:
    """Return a seeded random generator."""
    return Random(seed)  # noqa: S311 (it protects nothing)


# Power losses

States: TypeAlias = list[tuple[int, Contents]]
"""Successive contents of a scope, each with the disk's moment of its acknowledgement."""

Known: TypeAlias = Mapping[Scope, States]


async def lose_power(
    folder: Path, losses: int, *, seed: int = 1, control: str = ""
) -> FaultOutcome:
    """
    Simulate *losses* power losses at random moments while three clients work.

    Every possible remaining state is opened, and each scope compared, row by row, with the states
    before and after the interrupted call. After a quarter of them the power fails again while the
    file is opened.
    """
    random, outcome, clock = chance(seed), FaultOutcome(), FrozenClock()
    durability: Literal["full", "relaxed"] = "relaxed" if control == RELAXED else "full"
    played = _PowerLosses(random, folder / "left", outcome)
    unsynced = driver_with(synchronous="OFF")
    with driven_by(unsynced if control == UNSYNCED else apsw.Connection):
        for life in count():
            path = folder / f"{life // LIVES}.db"
            with PowerLossDisk() as disk:
                ids = SeededIds(random.getrandbits(32))
                async with disk.open(path, clock=clock, ids=ids, durability=durability) as store:
                    begun, known = await _worked(disk, store, path, TURNS * (life % LIVES))
                for _ in range(min(MOMENTS, losses - outcome.tried)):
                    outcome.tried += 1
                    await played.lose(disk, known, random.randint(begun, disk.moment))
                disk.lose_power("everything", random)
            clock.advance(10_000)
            if outcome.tried == losses:
                break
    return outcome


async def _worked(disk: PowerLossDisk, store: Store, path: Path, turn: int) -> tuple[int, Known]:
    """Let three clients work; return the moment they began and the states of their scopes."""
    while lease := await store.claim("worker"):  # left over from before
        await form(store, lease, turn)
    lock, begun = asyncio.Lock(), disk.moment

    async def work(client: FaultClient) -> States:
        def now() -> Contents:
            return contents(path, client.scope, vfs=disk.vfs)

        taken = [(begun, now())]
        for each in range(turn, turn + TURNS):
            taken += [(disk.moment, now()) async for _ in client.take(store, each)]
        return taken

    clients = [FaultClient(name, forming=lock) for name in NAMES]
    worked = await asyncio.gather(*map(work, clients))
    return begun, {client.scope: states for client, states in zip(clients, worked, strict=True)}


@dataclass(frozen=True, slots=True)
class _PowerLosses:
    random: Random
    folder: Path
    outcome: FaultOutcome

    async def lose(
        self, disk: PowerLossDisk, known: Known, moment: int, *, fails_at: int | None = None
    ) -> None:
        """Check the state after a power loss, perhaps with another one during recovery."""
        survival, at = self.random.choice(SURVIVALS), moment if fails_at is None else fails_at
        path = put_down(disk.survivors(survival, self.random, at), self.folder)
        with PowerLossDisk() as after:
            await judge(after, path, known, moment, self.outcome)
            if fails_at is None and self.random.random() < 0.25:
                fails_at = self.random.randint(0, after.moment)
                await self.lose(after, known, moment, fails_at=fails_at)


def put_down(files: Mapping[str, bytes], folder: Path) -> Path:
    """Write the surviving files of one store into *folder*, and return its new path."""
    folder.mkdir(exist_ok=True)
    path = folder / "left.db"
    for suffix in ("", "-wal", "-shm", "-journal", "-rewrites"):
        Path(f"{path}{suffix}").unlink(missing_ok=True)
    for name, content in files.items():
        path.with_name("left.db" + Path(name).name.partition(".db")[2]).write_bytes(content)
    return path


async def judge(
    disk: PowerLossDisk, path: Path, known: Known, moment: int, outcome: FaultOutcome
) -> None:
    """Open the store that a power loss at *moment* left on *disk*, and count the faults."""
    outcome.seen.clear()
    try:
        async with disk.open(path):
            found = violations(path, vfs=disk.vfs)
            left = {scope: contents(path, scope, vfs=disk.vfs) for scope in known}
    except DAMAGED as error:
        found = [repr(error)]
    outcome.add("corrupt", found[:1])
    for scope, states in () if found else known.items():
        answered = max(at for at, (when, _) in enumerate(states) if when <= moment)
        outcome.acknowledged += answered
        there = [at for at, (_, state) in enumerate(states) if state == left[scope]]
        if not there:
            outcome.add("half done", [f"{scope} after {answered} calls"])
        elif not {answered, answered + 1} & set(there):
            lost = range(there[-1] + 1, answered + 1)
            outcome.add("lost", [f"call {number} of {scope}" for number in lost])


# Killed processes


async def kill(folder: Path, number: int, *, seed: int = 1, careful: bool = True) -> FaultOutcome:
    """
    Kill a process of three clients at *number* random moments.

    Each time they repeat what went unanswered, under the ids and keys of the *careful*.
    """
    _processes.set_forkserver_preload([__name__])
    random, outcome = chance(seed), FaultOutcome()
    for life in range(number):
        if life % KILLS == 0:
            path = folder / f"killed-{life // KILLS}.db"
            clients = {
                name: FaultClient(name, careful=careful, forming=nullcontext()) for name in NAMES
            }
            turns = dict.fromkeys(NAMES, 0)
            outcome.seen.clear()
        for name, turn in _killed(path, turns, after_s=random.uniform(0, 0.2), careful=careful):
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
                outcome.add_all(await client.promises.broken(store))
        outcome.add("corrupt", violations(path))
    return outcome


def _killed(
    path: Path, turns: Mapping[str, int], *, after_s: float, careful: bool
) -> Iterator[tuple[str, int]]:
    """Start a process, kill it *after_s*, and yield its acknowledged turns."""
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
    """Child process: work until killed."""
    lock = asyncio.Lock()

    async def work(store: Store, client: FaultClient, name: str) -> None:
        for turn in count(turns[name]):
            async for _ in client.take(store, turn):
                pass
            sender.send((name, turn))

    async def main() -> None:
        async with open_store(path) as store, asyncio.TaskGroup() as group:
            for name in turns:
                client = FaultClient(name, careful=careful, forming=lock)
                group.create_task(work(store, client, name))

    sender.send("begun")
    asyncio.run(main())


# Processes side by side


async def share(folder: Path, appends: int, *, patient: bool = True) -> FaultOutcome:
    """
    Let eight processes append, erase and recall in one file, *appends* times each.

    Each must recall what another was acknowledged, and nothing that was erased.
    """
    _processes.set_forkserver_preload([__name__])
    path, outcome, promises = folder / "shared.db", FaultOutcome(tried=PROCESSES), Promises()
    await open_store(path).aclose()
    pipes = [_processes.Pipe(duplex=False) for _ in range(PROCESSES)]
    answers, sender = _processes.Pipe(duplex=False)
    started = []
    for number in range(PROCESSES):
        neighbour = _Neighbour(number, pipes[number][0], pipes[number - 1][1])
        given = (neighbour, path, appends, patient, sender)
        started.append(_processes.Process(target=_work_beside, args=given))
        started[-1].start()
    for each in (*chain(*pipes), sender):
        each.close()  # whoever waits for one that ended without a word then learns of it
    for kept, erased, failures in [answers.recv() for _ in started]:
        outcome.acknowledged += len(kept) + len(erased)
        outcome.failures.update(failures)
        promises.kept[SHARED, "talk"] |= kept
        promises.erased[SHARED, "talk"] |= erased
    for process in started:
        process.join()
    async with open_store(path) as store:
        outcome.add_all(await promises.broken(store))
        plain = await store.changes(Cursor(scope=PLAIN))
    holes = set(range(1, plain.seq + 1)) ^ {entry.seq for entry in plain.entries}
    outcome.add("a hole in the sequence", map(str, holes))
    outcome.add("corrupt", violations(path))
    return outcome


def _work_beside(
    neighbour: _Neighbour,
    path: Path,
    appends: int,
    patient: bool,  # noqa: FBT001 (processes are given no names)
    sender: Connection,
) -> None:
    """Child process: work concurrently with the others, and report."""
    with driven_by(apsw.Connection if patient else Impatient), neighbour.counted():
        asyncio.run(neighbour.work(path, appends))
    sender.send((neighbour.kept, neighbour.erased, neighbour.failures))


class _Neighbour:
    """A process in a ring: it reports its writes to the next one, and checks reported ones."""

    def __init__(self, number: int, told: Connection, tells: Connection) -> None:
        self.kept: set[str] = set()
        self.erased: set[str] = set()
        self.failures: Counter[str] = Counter()
        self._number, self._told, self._tells = number, told, tells
        self._has_heard_all = False

    @contextmanager
    def counted(self) -> Iterator[None]:
        """Count a refusal of the store."""
        try:
            yield
        except StoreError as error:
            self.failures[type(error).__name__] += 1

    async def work(self, path: Path, appends: int) -> None:
        """Write *appends* times, reporting and checking in between; then check the rest."""
        async with Recollect(open_store(path), embedder="none") as memory:
            for turn in range(appends):
                with self.counted():
                    await self._write(memory, f"w{self._number}x{turn}", turn)
                while not self._has_heard_all and self._told.poll():
                    await self._check(memory)
            self._tells.send(None)
            while not self._has_heard_all:
                await self._check(memory)

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

    async def _check(self, memory: Recollect) -> None:
        told = self._told.recv()
        self._has_heard_all = told is None
        if told is not None:
            word, is_kept = told
            with self.counted():
                found = await memory.recall(SHARED, word, limit=1)
                if is_kept != any(word in each.text for each in found.entries):
                    self.failures["not found at once" if is_kept else "found after its erase"] += 1


# Erased bytes

TARGETS: Final = ("scope", "thread", "messages", "memory", "source")


async def erase(folder: Path, number: int, *, seed: int = 1, control: str = "") -> FaultOutcome:
    """
    Erase marked words *number* times, clean, and search every file of the folder for them.

    The words are in every field with a caller's text, in rows that were rewritten, that span many
    pages, and that are surrounded by others.
    """
    random, outcome = chance(seed), FaultOutcome()
    drivers = {KEPT: driver_with(secure_delete="OFF"), UNCUT: Uncut}
    with driven_by(drivers.get(control, apsw.Connection)), _index_files(left=control == LEFT):
        for turn in range(number):
            canary, kind = Canary(random), TARGETS[turn % len(TARGETS)]
            place = folder / f"erased-{turn}"
            place.mkdir()
            outcome.seen.clear()
            # The position of bytes does not depend on the time of their sync.
            store = open_store(place / "store.db", durability="relaxed")
            async with Recollect(store, embedder="none") as memory:
                scope, target = await _remember(store, kind, canary)
                before = await memory.recall(scope, canary.said)
                if not (before.entries and canary.found_in(place)):
                    outcome.add("not there before", [str(place)])
                if not await _write_index_file(memory):
                    outcome.add("no index file", [str(place)])
                receipt = await memory.erase(scope, target)
                if receipt.clean_at is None:
                    outcome.add("not cleaned", [str(receipt)])
                outcome.add("left", canary.found_in(place))
                after = await memory.recall(scope, canary.said)
                outcome.add("recalled", [e.text for e in after.entries if canary.is_in(e.text)])
            outcome.add("left", canary.found_in(place))
            outcome.tried += 1
            outcome.acknowledged += canary.words
    return outcome


@contextmanager
def _index_files(*, left: bool) -> Iterator[None]:
    """Keep index files through erases during the block, if *left*."""
    plain = {name: vars(IndexFiles)[name] for name in ("unlink", "sweep")}
    for name in plain if left else ():
        setattr(IndexFiles, name, lambda *_, **__: None)
    try:
        yield
    finally:
        for name, method in plain.items():
            setattr(IndexFiles, name, method)


async def _write_index_file(memory: Recollect) -> int:
    """Write the file of the index that was just searched, as for a large scope."""
    recaller = memory._runtime.recaller  # noqa: SLF001 (its scope is too small for a file)
    if recaller is None:
        return 0
    return await IndexPersistence(memory.store, entries_min=1).write_due(recaller.indexes, "")


async def _remember(store: Store, kind: str, canary: Canary) -> tuple[Scope, EraseTarget]:
    """Fill a store with marked words; return the scope and the target that erases them."""
    said = canary if kind != "memory" else Canary(canary.random)
    scope: Scope = ("people", canary.word() if kind == "scope" else "ada")
    thread = canary.word() if kind in {"scope", "thread"} else "talk"
    source = said.word()
    ids = [await _say(store, (scope, thread), source, said) for _ in range(16)]
    type_, key = canary.word(), canary.word()
    for version, id_ in enumerate(ids[:4]):
        put = PutMemory(
            type=type_,
            key=key,
            value={canary.word(): [canary.word()] * (1 + 300 * (version % 2))},
            text=canary.text(),
            cause=canary.word(),
            evidence={"": [Evidence(thread=thread, message=id_, quote=canary.word())]},
        )
        await store.apply(scope, [put], idempotency_key=canary.word())
    await store.signal(scope, thread)
    if lease := await store.claim("worker"):
        receipt = {"saw": canary.word() if kind == "scope" else "something"}
        await store.commit(lease, [], Formed(watermarks={thread: 1}, receipt=receipt))
    targets: dict[str, EraseTarget] = {
        "scope": EraseScope(),
        "thread": EraseThread(thread=thread),
        "messages": EraseMessages(thread=thread, messages=ids),
        "memory": EraseMemory(type=type_, key=key),
        "source": EraseSource(source=source),
    }
    return scope, targets[kind]


async def _say(store: Store, place: Place, source: str, said: Canary) -> str:
    """Append a message and one of Bob's, perhaps replace the first; return its id."""
    filler = "and so on " * said.random.choice((0, 3, 40, 900))
    message = NewMessage(
        role="user",
        id=said.word(),
        text=said.text(filler),
        name=said.word(),
        session=said.word(),
        source=source,
        content=[{"type": "text", "text": said.word()}],
        metadata={said.word(): said.word()},
    )
    await store.append(*place, [message], idempotency_key=said.word())
    for _ in range(said.random.randrange(4)):
        message = replace(message, text=said.text(filler), metadata={"now": said.word()})
        await store.replace(*place, message)
    words = NewMessage(role="user", text=f"yes {filler}")
    await store.append(("people", "bob"), "talk", [words])
    return str(message.id)


async def run(
    *,
    power_losses: int = 10_000,
    kills: int = 1_000,
    appends: int = 1_000,
    erases: int = 200,
    changed_bytes: int = 1_000,
    seed: int = 1,
    progress: Callable[[str], None] = lambda _: None,
) -> FaultReport:
    """
    Inject faults of each kind, beside controls of the same run, and count the losses.

    The counts say at how many moments the power fails, how often a process is killed, how
    often each of eight writes to one file, how often marked words are erased, how many bytes
    of a file are changed. Chance begins at *seed*, but does not decide when processes take turns.
    """
    counts = (power_losses, kills, appends, erases, changed_bytes)
    losses, killed, written, erased, changed = (
        min(number, max(30, number // 20)) for number in counts
    )  # for the controls
    plans: list[tuple[str, Experiment, dict[str, Experiment]]] = [
        (
            f"{power_losses:,} power losses",
            lambda at: lose_power(at, power_losses, seed=seed),
            {
                RELAXED: lambda at: lose_power(at, losses, control=RELAXED),
                UNSYNCED: lambda at: lose_power(at, losses, control=UNSYNCED),
            },
        ),
        (
            f"{kills:,} kills, then repeated",
            lambda at: kill(at, kills, seed=seed),
            {"repeated without ids": lambda at: kill(at, killed, careful=False)},
        ),
        (
            f"{PROCESSES} processes, {appends:,} appends each",
            lambda at: share(at, appends),
            {"busy timeout of 0": lambda at: share(at, written, patient=False)},
        ),
        (
            f"{erases:,} erases, then looked for",
            lambda at: erase(at, erases, seed=seed),
            {
                KEPT: lambda at: erase(at, erased, control=KEPT),
                UNCUT: lambda at: erase(at, erased, control=UNCUT),
                LEFT: lambda at: erase(at, erased, control=LEFT),
            },
        ),
        (
            f"{changed_bytes:,} changed bytes, every read",
            lambda at: change_bytes(at, changed_bytes, seed=seed),
            {UNCOMPARED: lambda at: change_bytes(at, changed, control=UNCOMPARED)},
        ),
    ]
    rows = []
    for name, experiment, controls in plans:
        progress(name)
        began = timer_s()
        outcome = await _tried(experiment)
        took_s = timer_s() - began
        failed = {control: await _tried(each) for control, each in controls.items()}
        rows.append(FaultRow(name=name, outcome=outcome, controls=failed, took_s=took_s))
    return FaultReport(rows)


async def _tried(experiment: Experiment) -> FaultOutcome:
    with TemporaryDirectory(prefix="recollect-proofs-") as folder:
        outcome = await experiment(Path(folder))
    outcome.seen.clear()
    return outcome
