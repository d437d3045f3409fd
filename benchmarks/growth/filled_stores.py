"""Stores to measure, each beside a bare SQLite file with the same texts."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Final

import anyio
import apsw

from benchmarks.chance_vectors import ChanceVectors
from benchmarks.library_speed import THREAD_MESSAGES, ZipfTalk
from recollect.memory.facade import Recollect
from recollect.memory.formation_control import require_open
from recollect.recall.index_file_upkeep import IndexPersistence
from recollect.records import NewMessage
from recollect.stores.locator import open_store
from recollect.stores.plans.due_times import Debounce

if TYPE_CHECKING:
    from recollect.records import Scope

ROOT: Final = "users"
_MESSAGES_AT_ONCE: Final = 10_000
_TABLE: Final = (
    "CREATE TABLE row (scope INTEGER, id INTEGER, text TEXT, PRIMARY KEY (scope, id)) WITHOUT ROWID"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class GrowthShape:
    """So many scopes with so many messages each."""

    scopes: int
    messages: int

    @property
    def name(self) -> str:
        """Return the stem of the files' names."""
        return f"{self.scopes}x{self.messages}"

    def path(self, folder: Path, kind: str) -> Path:
        """Return the file in *folder* of our store, or of the ``bare`` table."""
        return folder / f"{self.name}.{'bare.' * (kind == 'bare')}db"


def scope_of(number: int) -> Scope:
    """Return the scope with a number; scope 0 is the one that is measured."""
    return (ROOT, str(number))


NEVER: Final = Debounce(quiet_s=math.inf, max_wait_s=math.inf)
"""Threads are formed only where a formation is measured."""


async def fill(folder: Path, shape: GrowthShape, progress: Callable[[str], None]) -> None:
    """Write the store of *shape* and its control into *folder*."""
    control = apsw.Connection(str(shape.path(folder, "bare")))
    control.execute("PRAGMA journal_mode=WAL; PRAGMA synchronous=OFF")
    control.execute(_TABLE)
    store = open_store(shape.path(folder, "ours"), durability="relaxed")
    threads, written = _threads(shape), 0
    at_once = max(1, _MESSAGES_AT_ONCE // min(shape.messages, THREAD_MESSAGES))
    async with Recollect(store, embedder=ChanceVectors()) as memory:
        while batch := list(islice(threads, at_once)):
            async with anyio.create_task_group() as group:
                for thread in batch:
                    group.start_soon(_append, memory, *thread)
            with control:
                for number, start, said in batch:
                    rows = [(number, start + at, each.text) for at, each in enumerate(said)]
                    control.executemany("INSERT INTO row VALUES (?, ?, ?)", rows)
            written += sum(len(said) for _, _, said in batch)
            progress(f"{shape.name}: {written:,} messages written")
        await memory.settled((ROOT,), below=True)
        await _write_index_file(memory)
    control.close()


async def _append(memory: Recollect, number: int, start: int, said: Sequence[NewMessage]) -> None:
    await memory.append(scope_of(number), f"thread {start}", said, debounce=NEVER)


def _threads(shape: GrowthShape) -> Iterator[tuple[int, int, Sequence[NewMessage]]]:
    """Yield the number of a scope, the first number of a thread's messages, and these."""
    talk = ZipfTalk()
    for number in range(shape.scopes):
        for start in range(0, shape.messages, THREAD_MESSAGES):
            yield number, start, talk.messages(min(THREAD_MESSAGES, shape.messages - start))


async def _write_index_file(memory: Recollect) -> None:
    """Write what a process that runs on writes in the background, if the scope is large."""
    await memory.recall(scope_of(0), ZipfTalk().text(8))
    recaller = require_open(memory._runtime.recaller)  # noqa: SLF001 (what is measured)
    filing, embedder = IndexPersistence(memory.store), require_open(recaller.vectors_by)
    await filing.write_due(recaller.indexes, embedder)
