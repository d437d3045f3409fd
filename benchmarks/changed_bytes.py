"""
Change bytes of a store's file: each read must be correct or fail, and a check must find them.

Every read of the API (`every_read`) is compared with the truth, the answer of the file as it was.
The control is the same without comparing checksums of pages.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from contextlib import nullcontext
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from typing import Any, Final

import apsw

from benchmarks.every_read import REFUSED, Known, answers, known_in, wrong
from benchmarks.fault_counts import FaultOutcome
from recollect.errors import StoreError
from recollect.formation.rule_model import RuleModel
from recollect.memory.facade import Recollect
from recollect.memory.facade import open as open_memory
from recollect.records import DeleteMemory, Evidence, NewMessage, PutMemory, Scope
from recollect.stores.locator import examine_file
from recollect.stores.plans.due_times import Debounce
from recollect.stores.plans.erase_targets import EraseMessages
from recollect.testing.frozen_clock import FrozenClock
from recollect.testing.hashed_embedder import HashedEmbedder
from recollect.testing.reproducible_ids import SeededIds
from tests.harness.power_loss import driven_by

PAGE_BYTES: Final = 4_096
UNCOMPARED: Final = "checksums of pages not compared"
PEOPLE: Final = ("ada", "bob")
TURNS: Final = 16
QUERIES: Final = ("boats in the harbour", "Oslo note 7")
_HEAD_BYTES: Final = 12
"""Length of the header of a table or index page."""
_BESIDE: Final = ("", "-wal", "-shm", "-journal", "-rewrites", "-reserve")


class Uncompared(apsw.Connection):
    """A driver that reads pages without comparing their checksums: a mutant to be caught."""

    def __init__(self, *given: Any, **named: Any) -> None:
        super().__init__(*given, **named)
        self.pragma("checksum_verification", False)  # noqa: FBT003


@dataclass
class WholeFile:
    """An undamaged file with its contents and the result of every read."""

    content: bytes
    known: Known
    expected: dict[str, str] = field(repr=False)

    @property
    def pages(self) -> int:
        """Number of pages."""
        return len(self.content) // PAGE_BYTES

    def page(self, number: int) -> bytes:
        """Return a page by its number, from 0."""
        return self.content[number * PAGE_BYTES : (number + 1) * PAGE_BYTES]

    def with_page(self, number: int, page: bytes) -> bytes:
        """Return the file with one page replaced."""
        at = number * PAGE_BYTES
        return self.content[:at] + page + self.content[at + PAGE_BYTES :]


async def talk(memory: Recollect, scope: Scope, clock: FrozenClock) -> None:
    """Append messages to two threads, with state, sources, metadata and keys."""
    for thread in ("talk", "mail"):
        for turn in range(TURNS):
            clock.advance(60)
            long = "and so on " * (300 if turn == 5 else 1)
            said = [
                NewMessage(
                    role="user" if turn % 2 else "assistant",
                    id=f"{thread}{turn}.{part}",
                    text=f"{scope[1]} {turn}: I moved to Oslo, boats in the harbour {turn} {long}",
                    source=f"mail {turn}",
                    metadata={"part": part},
                )
                for part in range(2)
            ]
            await memory.append(
                scope,
                thread,
                said,
                idempotency_key=f"{thread}{turn}",
                debounce=Debounce(quiet_s=0),
                state={"turn": turn} if turn % 8 == 0 else None,
            )


async def fill(path: Path) -> None:
    """Write records of every kind, and erase some."""
    clock, ids = FrozenClock(), SeededIds(1)
    async with open_memory(
        str(path),
        embedder=HashedEmbedder(64),
        model=RuleModel(),
        worker=False,
        clock=clock,
        ids=ids,
        durability="relaxed",
    ) as memory:
        for person in PEOPLE:
            scope, acting = ("clients", person), memory.acting(f"key of {person}")
            await talk(acting, scope, clock)
            found = {"/content": [Evidence(thread="talk", message="talk1.0", quote="boats")]}
            for number in range(30):
                value = {"context": "always", "content": f"note {number} of {person} on boats"}
                note = PutMemory(type="Note", key=f"n{number % 20}", value=value, evidence=found)
                await acting.apply(scope, [note])
            await memory.form(scope)
            await acting.erase(scope, EraseMessages(thread="mail", messages=["mail3.1"]))
            await acting.apply(scope, [DeleteMemory(type="Note", key="n3")])
            await memory.settled(scope)


async def read(path: Path, known: Known | None = None) -> tuple[Known, dict[str, str]]:
    """Open a file, and return its contents and the result of every read."""
    async with open_memory(
        str(path), embedder="none", worker=False, clock=FrozenClock(), ids=SeededIds(9)
    ) as memory:
        known = known or await known_in(memory, QUERIES)
        return known, await answers(memory, known)


async def whole_file(path: Path) -> WholeFile:
    """Fill a new file at *path*; return it with the result of every read."""
    await fill(path)
    content = _bytes_of(path)
    known, expected = await read(path)
    return WholeFile(content, known, expected)


def _bytes_of(path: Path) -> bytes:
    return path.read_bytes()


def _put_down(content: bytes, path: Path) -> None:
    for suffix in _BESIDE:
        Path(f"{path}{suffix}").unlink(missing_ok=True)
    path.write_bytes(content)


@dataclass
class DamageTally:
    """The outcomes of damages of one kind."""

    found: Counter[str] = field(default_factory=Counter)
    wrong: list[str] = field(default_factory=list)
    missed: list[str] = field(default_factory=list)
    """Damage that changed the result of a read, and that the file check missed."""
    unfound: list[str] = field(default_factory=list)
    """Damage that the file check missed, whether or not a read met it."""
    answers: int = 0

    async def take(
        self,
        what: str,
        whole: WholeFile,
        damaged: bytes,
        folder: Path,
        *,
        driver: type[apsw.Connection] | None = None,
    ) -> None:
        """Examine a damaged file and run every read, optionally with another *driver*."""
        path = folder / "store.db"
        _put_down(damaged, path)
        state = examine_file(path)
        is_found = bool(state.damage or state.mismatched)
        with nullcontext() if driver is None else driven_by(driver):
            try:
                _, answered = await read(path, whole.known)
            except StoreError:
                answered = dict.fromkeys(whole.expected, REFUSED)
        self.answers += len(answered)
        bad = wrong(whole.expected, answered)
        self.wrong += [f"{what}: {each}" for each in bad]
        refused = any(each == REFUSED for each in answered.values())
        self.found["wrong" if bad else "refused" if refused else "right"] += 1
        if (bad or refused) and not is_found:
            self.missed.append(what)
        if not is_found:
            self.unfound.append(what)


def chosen_offsets(whole: WholeFile, count: int) -> list[int]:
    """Return offsets at even steps through the file, half of them in the heads of pages."""
    size, half = len(whole.content), count // 2
    even = [number * size // half for number in range(half)]
    heads = [
        number * whole.pages // half * PAGE_BYTES + number % _HEAD_BYTES for number in range(half)
    ]
    return sorted({*even, *heads})


def flipped(whole: WholeFile, count: int, *, seed: int = 1) -> Iterator[tuple[str, bytes]]:
    """Yield the file with one byte changed, and where."""
    random = Random(seed)  # noqa: S311 (it protects nothing)
    for at in chosen_offsets(whole, count):
        other = bytes([whole.content[at] ^ random.randrange(1, 256)])
        yield f"byte {at}", whole.content[:at] + other + whole.content[at + 1 :]


async def change_bytes(
    folder: Path, count: int, *, seed: int = 1, control: str = ""
) -> FaultOutcome:
    """
    Change *count* bytes of a file, one at a time, and run every read of the API after each.

    A failure is a changed byte after which a read answered wrongly or raised anything but a
    `StoreError`, and one that a check of the file did not find.
    """
    whole = await whole_file(folder / "whole.db")
    tally, outcome = DamageTally(), FaultOutcome()
    driver = Uncompared if control == UNCOMPARED else None
    for what, damaged in flipped(whole, count, seed=seed):
        wrong_before = len(tally.wrong)
        await tally.take(what, whole, damaged, folder, driver=driver)
        outcome.add("read wrongly", tally.wrong[wrong_before : wrong_before + 1])
    outcome.add("not found", [f"{each}: not found" for each in tally.unfound])
    outcome.tried, outcome.acknowledged = tally.found.total(), tally.answers
    outcome.told["StoreError after"] = tally.found["refused"]
    return outcome
