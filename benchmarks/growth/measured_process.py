"""One process that starts, recalls, appends and forms once; or does the same on bare SQLite."""

from __future__ import annotations

import asyncio
import json
import math
import statistics
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path
from time import process_time
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from benchmarks.library_speed import ZipfTalk
    from recollect.memory.facade import Recollect

SCOPE: Final = ("users", "0")
QUESTION: Final = "dinner with my sister in the old town by the river"
_RECALLS: Final = 15
_BELOW: Final = 3
_APPENDS: Final = 15
_FORMED: Final = 3
_MESSAGES: Final = 20


async def measure_ours(path: str, *, has_below: bool) -> dict[str, float]:
    """Return the processor time in ms of each operation, and the MB of memory and disk."""
    # Imported here: a start includes what the process has to load.
    from benchmarks.chance_vectors import ChanceVectors
    from recollect.memory.facade import Recollect
    from recollect.stores.locator import open_store

    async with Recollect(open_store(path), embedder=ChanceVectors()) as memory:
        await memory.recall(SCOPE, QUESTION)
        found = {"start": process_time() * 1_000, "memory": _resident_mb(), "disk": _disk_mb(path)}

    # A model loads the checks of formation, which a process that only recalls does without.
    from recollect.formation.rule_model import RuleModel

    memory = Recollect(open_store(path), embedder=ChanceVectors(), model=RuleModel(), worker=False)
    async with memory:
        return found | await _work_ms(memory, has_below=has_below)


async def _work_ms(memory: Recollect, *, has_below: bool) -> dict[str, float]:
    from benchmarks.library_speed import ZipfTalk
    from recollect.stores.plans.due_times import Debounce

    talk, never = ZipfTalk(), Debounce(quiet_s=math.inf, max_wait_s=math.inf)

    async def recall() -> None:
        await memory.recall(SCOPE, talk.text(8))

    async def recall_below() -> None:
        await memory.recall(SCOPE[:1], talk.text(8), below=True)

    async def append() -> None:
        await memory.append(SCOPE, "new", talk.messages(1), debounce=never)
        await memory.settled(SCOPE)

    await recall()
    found = {
        "recall": await _median_ms(_RECALLS, recall),
        "append": await _median_ms(_APPENDS, append),
        "formation": statistics.median([await _formation_ms(memory, talk) for _ in range(_FORMED)]),
    }
    if not has_below:
        return found
    await recall_below()
    found["below"] = await _median_ms(_BELOW, recall_below)
    found["below_after"] = await _median_ms(_BELOW, recall_below, first=append)
    return found


async def _formation_ms(memory: Recollect, talk: ZipfTalk) -> float:
    """Form a thread of twenty messages that a model of rules takes down; its time is part of it."""
    from recollect.records import NewMessage

    thread = talk.text(8)
    notes = [
        NewMessage(role="user", text=f"My {talk.text(1)} costs {number + 2} coins.")
        for number in range(_MESSAGES)
    ]
    await memory.append(SCOPE, thread, notes)
    await memory.settled(SCOPE)
    began = process_time()
    (result,) = await memory.form(SCOPE, thread)
    await memory.settled(SCOPE)
    if result.end != "formed":
        msg = f"the formation of {thread!r} ended as {result.end!r}"
        raise RuntimeError(msg)
    return (process_time() - began) * 1_000


async def measure_bare(path: str, *, has_below: bool) -> dict[str, float]:
    """Return the same of a table of the same texts: scans, single rows, twenty rows, a list."""
    import apsw

    connection = apsw.Connection(path)
    connection.execute("PRAGMA synchronous=FULL")
    scan = "SELECT count(*) FROM row WHERE scope = 0 AND text LIKE '%' || ? || '%'"
    list(connection.execute(scan, (QUESTION,)))
    found = {"start": process_time() * 1_000, "disk": _disk_mb(path)}
    texts = [text for (text,) in connection.execute("SELECT text FROM row WHERE scope = 0")]
    found["memory"] = _resident_mb()
    count = len(texts)

    async def recall() -> None:
        list(connection.execute(scan, (QUESTION,)))

    async def recall_below() -> None:
        list(connection.execute(scan.replace("scope = 0 AND ", ""), (QUESTION,)))

    async def write(rows: int) -> None:
        nonlocal count
        added = [(count + each, QUESTION) for each in range(rows)]
        count += rows
        with connection:
            connection.executemany("INSERT OR REPLACE INTO row VALUES (0, ?, ?)", added)

    found["recall"] = await _median_ms(_RECALLS, recall)
    found["append"] = await _median_ms(_APPENDS, lambda: write(1))
    found["formation"] = await _median_ms(_FORMED, lambda: write(_MESSAGES))
    if has_below:
        found["below"] = await _median_ms(_BELOW, recall_below)
        found["below_after"] = await _median_ms(_BELOW, recall_below, first=lambda: write(1))
    return found


async def _median_ms(
    times: int,
    work: Callable[[], Awaitable[None]],
    *,
    first: Callable[[], Awaitable[None]] | None = None,
) -> float:
    """
    Return the median processor time of *work*, which includes the process's other threads.

    *first* is done before each time, and not counted.
    """
    found = []
    for _ in range(times):
        if first is not None:
            await first()
        began = process_time()
        await work()
        found.append((process_time() - began) * 1_000)
    return statistics.median(found)


def _resident_mb() -> float:
    """Return the resident memory that is no page of a file, which the system could take back."""
    lines = Path("/proc/self/status").read_text("ascii").splitlines()
    (kib,) = (line.split()[1] for line in lines if line.startswith("RssAnon:"))
    return int(kib) * 1_024 / 1_000_000


def _disk_mb(path: str) -> float:
    """Return the bytes of the store's file, its log and the index files beside it."""
    beside = [Path(path), Path(f"{path}-wal"), *Path(f"{path}-index").glob("*/*")]
    return sum(each.stat().st_size for each in beside if each.is_file()) / 1_000_000


if __name__ == "__main__":
    kind, path, below = sys.argv[1:]
    measure = measure_ours if kind == "ours" else measure_bare
    print(json.dumps(asyncio.run(measure(path, has_below=below == "below"))))
