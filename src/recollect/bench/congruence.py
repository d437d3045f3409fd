"""The same histories on the store in process, SQLite, PostgreSQL and Redis: differences counted."""

from __future__ import annotations

import asyncio
import tempfile
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Final

from recollect.bench.outcomes import Outcome
from recollect.testing.congruence import first_difference, forgetful_tables, history
from recollect.testing.postgres import PostgresServer, empty_store
from recollect.testing.postgres_faults import bytes_left

if TYPE_CHECKING:
    from recollect.testing.redis import RedisServer

FORGETFUL: Final = "newest messages not found"
LANES: Final = 4
"""So many histories run at the same time, each in a database of its own."""
LENGTHS: Final = (20, 20, 20, 60)
"""How many writes the histories have, in turn; each is followed by two questions."""


async def compare(
    server: PostgresServer,
    number: int,
    control: str = "",
    *,
    first: int = 0,
    redis: RedisServer | None = None,
    progress: Callable[[str], None] = lambda _: None,
) -> Outcome:
    """
    Put *number* random histories, from the seed *first* on, to three stores, with *redis* to four.

    Every answer must be the same, errors with their words, feeds, leases and recalls with
    each entry's score included. The control is a store in process that is wrong.
    """
    outcome, seeds = Outcome(), iter(range(first, first + number))

    async def run(lane: int, url: str) -> None:
        for seed in seeds:
            steps = history(seed, LENGTHS[seed % len(LENGTHS)])
            with tempfile.TemporaryDirectory(prefix="recollect-proofs-") as folder:
                await asyncio.to_thread(empty_store, url)
                others = [await asyncio.to_thread(redis.emptied, lane)] if redis else []
                file = str(Path(folder) / "memory.db")
                found = await first_difference(steps, file, url, *others)
            outcome.tried += 1
            outcome.acknowledged += len(steps)
            outcome.add("answered differently", [f"history {seed}: {found}"] if found else [])
            progress(f"{outcome.tried:,} of {number:,} histories")

    urls = [server.database(f"lane{lane}") for lane in range(min(LANES, number))]
    with bytes_left(), ExitStack() as mutant:
        if redis:
            mutant.enter_context(redis.bytes_left())
        if control:
            mutant.enter_context(forgetful_tables())
        async with asyncio.TaskGroup() as group:
            for lane, url in enumerate(urls):
                group.create_task(run(lane, url))
    return outcome
