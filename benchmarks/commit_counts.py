"""Count and time appends and bare commits: the cost of durability on this disk."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import anyio
import apsw

from recollect.memory.facade import Recollect
from recollect.ports import Model
from recollect.records import NewMessage
from recollect.stores.locator import open_store
from recollect.stores.plans.due_times import Debounce
from recollect.stores.system_clock import timer_s


@dataclass(slots=True)
class CommitCount:
    """How often files were synced."""

    syncs: int = 0


@contextmanager
def counted_syncs() -> Iterator[CommitCount]:
    """Count the fsyncs of every SQLite file that is opened during the block."""
    counted = CommitCount()
    base = apsw.vfs_names()[0]

    class CountedFile(apsw.VFSFile):
        def xSync(self, flags: int) -> None:  # noqa: N802 (SQLite's name)
            counted.syncs += 1
            super().xSync(flags)

    class CountedFiles(apsw.VFS):
        def __init__(self) -> None:
            super().__init__("counted", base=base, makedefault=True)

        def xOpen(self, name: str | apsw.URIFilename | None, flags: list[int]) -> apsw.VFSFile:  # noqa: N802
            return CountedFile(base, name, flags)

    files = CountedFiles()
    try:
        yield counted
    finally:
        files.unregister()


def bare_commits_a_second(path: Path, commits: int) -> float:
    """Return durable commits per second of one small row on a bare connection."""
    connection = apsw.Connection(str(path))
    connection.execute("PRAGMA journal_mode=WAL")
    connection.execute("PRAGMA synchronous=FULL")
    connection.execute("CREATE TABLE row (text TEXT)")
    began = timer_s()
    for _ in range(commits):
        connection.execute(
            "INSERT INTO row VALUES ('about twenty words of text, or a little more')"
        )
    took_s = timer_s() - began
    connection.close()
    return commits / took_s


async def append_all(
    path: Path,
    messages: Sequence[NewMessage],
    *,
    callers: int,
    debounce: Debounce,
    model: Model | None = None,
    actor: str | None = None,
) -> float:
    """Append each message in one call, with *callers* concurrent callers; return the seconds."""
    store = open_store(str(path))
    acting = store if actor is None else store.acting(actor)
    async with Recollect(acting, embedder="none", model=model) as memory:

        async def call(number: int) -> None:
            scope = ("users", str(number))
            for message in messages[number::callers]:
                await memory.append(scope, "thread", [message], debounce=debounce)

        began = timer_s()
        async with anyio.create_task_group() as group:
            for number in range(callers):
                group.start_soon(call, number)
        return timer_s() - began
