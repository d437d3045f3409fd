"""Copying stores from a file to a server and back, killed and resumed, beside one uninterrupted."""

from __future__ import annotations

import json
import random
import subprocess
import sys
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import anyio
from anyio import to_thread

from recollect.bench.postgres import own_database
from recollect.copying import content_digest, copy_store
from recollect.errors import StoreError
from recollect.records import NewMessage, PutMemory, Scope
from recollect.stores.open import open_store
from recollect.stores.world import timer_s

SCOPES: Final = 20
_PER_MEMORY: Final = 10
_CHILD_TIMEOUT_S: Final = 600.0
_EARLIEST_KILL_S: Final = 0.5
"""Before that, a child has not begun."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CopyRow:
    """One copy: its records, the digests of both sides, and how fast it was."""

    name: str
    records: int
    digest: str
    kills: int
    seconds: float

    @property
    def rows_a_second(self) -> float:
        """Return how many records went over in a second."""
        return self.records / self.seconds if self.seconds else 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class CopyReport:
    """All copies, in order; the first is the control, which nothing interrupted."""

    rows: tuple[CopyRow, ...]
    lost: int
    """How many records were missing or other at the end; 0, unless a promise broke."""

    @property
    def holds(self) -> bool:
        """Say whether counts and digests are equal everywhere."""
        return len({(row.records, row.digest) for row in self.rows}) == 1 and not self.lost


async def run(
    messages: int, kills: int, store: str | None, progress: Callable[[str], None]
) -> CopyReport:
    """Copy *messages*, and a memory for every ten, from a file to PostgreSQL and back."""
    chance = random.Random(7)  # noqa: S311
    with tempfile.TemporaryDirectory() as folder, own_database(store) as server:
        first, last = Path(folder, "first.db"), Path(folder, "last.db")
        progress("filling")
        await _fill(first, messages)
        progress("the control")
        control = await _control(first)
        rows = [control]
        for name, source, destination in (
            ("SQLite to PostgreSQL", str(first), server),
            ("PostgreSQL to SQLite", server, str(last)),
        ):
            progress(name)
            made = await _interrupted(source, destination, kills, chance)
            rows.append(CopyRow(name=name, **made))  # type: ignore[arg-type]
        async with open_store(first) as one, open_store(last) as other:
            wanted, found = await content_digest(one), await content_digest(other)
    lost = abs(wanted.count - found.count) or int(str(wanted) != str(found))
    return CopyReport(rows=tuple(rows), lost=lost)


async def _fill(path: Path, messages: int) -> None:
    each = max(1, messages // SCOPES)
    async with open_store(path) as store:
        for number in range(SCOPES):
            scope: Scope = ("bench", f"user-{number}")
            said = [
                NewMessage(role="user", text=f"{number} says the {n}th time: {_words(n)}")
                for n in range(each)
            ]
            await store.append(scope, "talk", said)
            notes = [
                PutMemory(type="Note", key=f"n{n}", value={"content": _words(n), "context": "c"})
                for n in range(each // _PER_MEMORY)
            ]
            for start in range(0, len(notes), 500):
                await store.apply(scope, notes[start : start + 500])


def _words(number: int) -> str:
    chance = random.Random(number)  # noqa: S311
    return " ".join(chance.choice(("tea", "Oslo", "kite", "茶", "boat", "rain")) for _ in range(12))


async def _control(path: Path) -> CopyRow:
    async with open_store(path) as source, open_store("memory:") as destination:
        began = timer_s()
        done = await copy_store(source, destination, name="control")
        return CopyRow(
            name="SQLite to memory, not interrupted",
            records=done.records,
            digest=done.destination,
            kills=0,
            seconds=timer_s() - began,
        )


async def _interrupted(
    source: str, destination: str, kills: int, chance: random.Random
) -> dict[str, object]:
    """Copy in children, of which *kills* are killed at times by chance, each later than the one."""
    began, killed, patience_s = timer_s(), 0, _EARLIEST_KILL_S
    while True:
        wait_s = patience_s * (1 + chance.random()) if killed < kills else _CHILD_TIMEOUT_S
        printed = await to_thread.run_sync(_child, source, destination, wait_s)
        if printed is not None:
            break
        killed += 1
        patience_s *= 1.2
        await anyio.lowlevel.checkpoint()
    said = json.loads(printed)
    if not said["verified"]:
        msg = f"a copy that nothing wrote to was not verified: {said}"
        raise StoreError(msg)
    return {
        "records": said["records"],
        "digest": said["digest_destination"],
        "kills": killed,
        "seconds": timer_s() - began,
    }


def _child(source: str, destination: str, wait_s: float) -> str | None:
    """Run a copy in a process of its own; ``None`` if it was killed after *wait_s*."""
    command = [sys.executable, "-m", "recollect", "copy", "--from", source, "--to", destination]
    child = subprocess.Popen(  # noqa: S603
        [*command, "--json"], stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    try:
        printed, complaint = child.communicate(timeout=wait_s)
    except subprocess.TimeoutExpired:
        child.kill()
        child.communicate()
        return None
    if child.returncode:
        msg = f"a copy ended with status {child.returncode}: {complaint.decode()}"
        raise StoreError(msg)
    return printed.decode()
