"""Copy SQLite to PostgreSQL to Redis to SQLite, killing and resuming each copy."""

from __future__ import annotations

import json
import random
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from anyio import to_thread

from benchmarks import copy_process as copied
from benchmarks.postgres_speed import own_database
from recollect.errors import StoreError
from recollect.lifecycle.store_copy import content_digest
from recollect.records import NewMessage, PutMemory, Scope
from recollect.stores.locator import open_store
from recollect.stores.plans.archive import RESTORE_RECORDS
from recollect.stores.system_clock import timer_s
from recollect.testing.temporary_databases import borrowed_database
from recollect.wire.record_digests import Digest
from tests.harness.redis_server import open_server

SCOPES: Final = 20
SCOPE_MESSAGES: Final = 1_500
"""Messages per scope; with their memories they make four parts of a copy."""
CONTROL_MESSAGES: Final = 3_000
_PER_MEMORY: Final = 10
_LATE_S: Final = 0.03
"""Longest delay of a kill after a part was written, so that it hits the next one."""

Progress = Callable[[str], None]


@dataclass(frozen=True, slots=True, kw_only=True)
class CopyRow:
    """One copy: its records, the digest of the destination, and how fast it was."""

    name: str
    records: int
    digest: str
    kills: int = 0
    seconds: float = 0.0

    @property
    def rows_a_second(self) -> float:
        """Records copied per second, including the cost of kills."""
        return self.records / self.seconds if self.seconds else 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class CopyReport:
    """The original store and each copy, with a control that resumes wrongly."""

    rows: tuple[CopyRow, ...]
    control: CopyRow
    control_lost: int
    """Records that the control lost; 0 would mean that losses are not detected."""

    @property
    def lost(self) -> int:
        """Number of records missing at the end; 1 if only their content differs."""
        first, last = self.rows[0], self.rows[-1]
        return abs(first.records - last.records) or int(not self._is_equal)

    @property
    def _is_equal(self) -> bool:
        return len({(row.records, row.digest) for row in self.rows}) == 1

    @property
    def holds(self) -> bool:
        """Whether counts and digests are equal everywhere, and the control lost something."""
        return self._is_equal and self.control_lost > 0


async def run(
    messages: int, kills: int, store: str | None, redis: str | None, progress: Progress
) -> CopyReport:
    """
    Copy *messages*, and one memory per ten, from a file to PostgreSQL, Redis and a file.

    Args:
        kills: Kills of each of the three copies, spread over its writes.
        store: A PostgreSQL server, on which a database is created; a private one if ``None``.
        redis: An empty database of a Redis server; a private one if ``None``.
    """
    chance = random.Random(7)  # noqa: S311
    with tempfile.TemporaryDirectory() as folder, own_database(store) as server:
        control, lost = await _control(Path(folder), chance, progress)
        with _redis(redis) as other_server:
            first, last = Path(folder, "first.db"), Path(folder, "last.db")
            progress(f"filling with {messages:,} messages")
            began = timer_s()
            await _fill(first, messages)
            rows = [_row("SQLite, as it was filled", await _digest(first), timer_s() - began)]
            for name, source, destination in (
                ("SQLite to PostgreSQL", str(first), server),
                ("PostgreSQL to Redis", server, other_server),
                ("Redis to SQLite", other_server, str(last)),
            ):
                hop = _Hop(name, source, destination, rows[0].records)
                rows.append(await hop.run(kills, chance, progress))
            found = await _digest(last)
    rows[-1] = CopyRow(
        name=rows[-1].name,
        records=found.count,
        digest=str(found),
        kills=rows[-1].kills,
        seconds=rows[-1].seconds,
    )
    return CopyReport(rows=tuple(rows), control=control, control_lost=lost)


@contextmanager
def _redis(url: str | None) -> Iterator[str]:
    if url is not None:
        with borrowed_database(url) as borrowed:
            yield borrowed
        return
    with open_server() as server:
        yield server.url()


async def _control(folder: Path, chance: random.Random, progress: Progress) -> tuple[CopyRow, int]:
    """Kill once a copy that treats any scope with data as complete."""
    first, last = folder / "control.db", folder / "wrong.db"
    await _fill(first, CONTROL_MESSAGES, scopes=1)
    wanted = await _digest(first)
    hop = _Hop(copied.TRUSTING, str(first), str(last), wanted.count, control=copied.TRUSTING)
    row = await hop.run(1, chance, progress)
    found = await _digest(last)
    return row, wanted.count - found.count or int(str(wanted) != str(found))


def _row(name: str, digest: Digest, seconds: float) -> CopyRow:
    return CopyRow(name=name, records=digest.count, digest=str(digest), seconds=seconds)


async def _digest(path: Path) -> Digest:
    async with open_store(path) as store:
        return await content_digest(store)


async def _fill(path: Path, messages: int, scopes: int | None = None) -> None:
    count = scopes or max(SCOPES, messages // SCOPE_MESSAGES)
    async with open_store(path) as store:
        for number in range(count):
            scope: Scope = ("bench", f"user-{number}")
            each = messages // count + (number < messages % count)
            said = [
                NewMessage(role="user", text=f"{number} says the {n}th time: {_words(n)}")
                for n in range(each)
            ]
            for start in range(0, len(said), 1_000):
                await store.append(scope, "talk", said[start : start + 1_000])
            notes = [
                PutMemory(type="Note", key=f"n{n}", value={"content": _words(n), "context": "c"})
                for n in range(each // _PER_MEMORY)
            ]
            for start in range(0, len(notes), 500):
                await store.apply(scope, notes[start : start + 500])


def _words(number: int) -> str:
    chance = random.Random(number)  # noqa: S311
    return " ".join(chance.choice(("tea", "Oslo", "kite", "茶", "boat", "rain")) for _ in range(12))


@dataclass(frozen=True, slots=True)
class _Hop:
    """One copy of the chain, in processes that are killed."""

    name: str
    source: str
    destination: str
    records: int
    control: str = ""

    async def run(self, kills: int, chance: random.Random, progress: Progress) -> CopyRow:
        """Copy with all kills, each after a random number of parts."""
        began, killed, said = timer_s(), 0, None
        parts = max(1, self.records // RESTORE_RECORDS)
        while said is None:
            progress(f"{self.name}, killed {killed} times")
            patience = max(1, int(parts / (kills + 1) * chance.uniform(0.2, 1)))
            late_s = chance.uniform(0, _LATE_S)
            limit = (patience, late_s) if killed < kills else None
            said = await to_thread.run_sync(self._child, limit)
            killed += said is None
        if not said["verified"]:
            msg = f"a copy that nothing wrote to was not verified: {said}"
            raise StoreError(msg)
        return CopyRow(
            name=self.name,
            records=int(str(said["records"])),
            digest=str(said["digest"]),
            kills=killed,
            seconds=timer_s() - began,
        )

    def _child(self, limit: tuple[int, float] | None) -> dict[str, object] | None:
        """Copy in a process; return ``None`` if it was killed after the given parts and seconds."""
        command = [sys.executable, "-m", copied.__name__, self.source, self.destination]
        child = subprocess.Popen(  # noqa: S603
            [*command, self.control], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        )
        with child:
            said = _followed(child, limit)
            complaint = child.stderr.read() if child.stderr else ""
        if said is None and child.returncode >= 0:
            msg = f"a copy ended with status {child.returncode}: {complaint}"
            raise StoreError(msg)
        return said


def _followed(
    child: subprocess.Popen[str], limit: tuple[int, float] | None
) -> dict[str, object] | None:
    """Return the final report of a copy, or kill it after *limit* parts."""
    for parts, line in enumerate(child.stdout or (), start=1):
        if line.strip() != copied.PART:
            said: dict[str, object] = json.loads(line)
            return said
        if limit is not None and parts == limit[0]:
            time.sleep(limit[1])
            child.kill()
    return None
