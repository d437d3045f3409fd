"""Run the same histories on all stores, and count differences in their results."""

from __future__ import annotations

import asyncio
import os
import tempfile
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Executor, ProcessPoolExecutor
from contextlib import ExitStack, contextmanager
from multiprocessing import get_context
from pathlib import Path
from typing import TYPE_CHECKING, Final, TypeAlias

from benchmarks.fault_counts import FaultOutcome
from tests.harness.congruence import first_difference, forgetful_tables, history
from tests.harness.postgres_faults import bytes_left
from tests.harness.postgres_server import PostgresServer, empty_store

if TYPE_CHECKING:
    from tests.harness.redis_server import RedisServer

FORGETFUL: Final = "newest messages not found"
DIFFERENT: Final = "answered differently"
LENGTHS: Final = (20, 20, 20, 60)
"""Numbers of writes of the histories, in turn; two reads follow each write."""
BATCH: Final = 20
"""Histories per batch of a process; fewer than two batches run in this process."""
LANES_A_CORE: Final = 2
"""Lanes per core, because a store waits for its server half of the time."""

_Lane: TypeAlias = tuple[str, ...]
"""The server addresses that one process uses alone."""


async def compare(
    server: PostgresServer,
    number: int,
    control: str = "",
    *,
    first: int = 0,
    redis: RedisServer | None = None,
    progress: Callable[[str], None] = lambda _: None,
) -> FaultOutcome:
    """
    Run *number* random histories, from seed *first* on, on three stores, with *redis* on four.

    Every result must be the same, including error texts, feeds, leases, and recalls with each
    entry's score. The control is a faulty in-process store. Many histories run in child processes,
    ``LANES_A_CORE`` per core.
    """
    batches = [
        range(first + start, first + min(start + BATCH, number))
        for start in range(0, number, BATCH)
    ]
    lanes = _lanes(server, redis, len(batches))
    outcome, waiting = FaultOutcome(), iter(batches)
    with _processes(len(lanes)) as processes:

        async def run(lane: _Lane) -> None:
            for seeds in waiting:
                loop = asyncio.get_running_loop()
                found = await loop.run_in_executor(processes, run_batch, seeds, lane, control)
                _add(outcome, found)
                progress(f"{outcome.tried:,} of {number:,} histories")

        async with asyncio.TaskGroup() as group:
            for lane in lanes:
                group.create_task(run(lane))
    return outcome


def _lanes(server: PostgresServer, redis: RedisServer | None, batches: int) -> list[_Lane]:
    """Return the lanes, each with its own databases."""
    count = min(batches, LANES_A_CORE * (os.cpu_count() or 1))
    return [
        (server.database(f"lane{lane}"), *([redis.emptied(lane)] if redis else []))
        for lane in range(count)
    ]


@contextmanager
def _processes(count: int) -> Iterator[Executor | None]:
    """Yield an executor for concurrent batches; ``None`` for a single one."""
    if count < 2:
        yield None
        return
    with ProcessPoolExecutor(count, mp_context=get_context("spawn")) as processes:
        yield processes


def _add(outcome: FaultOutcome, found: FaultOutcome) -> None:
    outcome.tried += found.tried
    outcome.acknowledged += found.acknowledged
    outcome.failures.update(found.failures)
    outcome.reasons += found.reasons


def run_batch(seeds: Sequence[int], lane: _Lane, control: str) -> FaultOutcome:
    """Run the histories of *seeds* in process, on SQLite and on the stores of *lane*."""
    outcome = FaultOutcome()
    with ExitStack() as changed:
        changed.enter_context(bytes_left())
        if len(lane) > 1:
            changed.enter_context(_redis_bytes_left())
        if control:
            changed.enter_context(forgetful_tables())
        for seed in seeds:
            steps = history(seed, LENGTHS[seed % len(LENGTHS)])
            found = asyncio.run(_difference(steps, lane))
            outcome.tried += 1
            outcome.acknowledged += len(steps)
            outcome.add(DIFFERENT, [f"history {seed}: {found}"] if found else [])
    return outcome


async def _difference(steps: Sequence[tuple[str, dict[str, object]]], lane: _Lane) -> object:
    _empty(lane)
    with tempfile.TemporaryDirectory(prefix="recollect-proofs-") as folder:
        return await first_difference(steps, str(Path(folder) / "memory.db"), *lane)


def _empty(lane: _Lane) -> None:
    postgres, *others = lane
    empty_store(postgres)
    for each in others:
        from tests.harness import redis_server as redis

        redis.empty_store(each)


@contextmanager
def _redis_bytes_left() -> Iterator[None]:
    from tests.harness import redis_server as redis

    with redis.bytes_left():
        yield
