"""Measure recalls of all scopes below a prefix on each store, beside recalls that name them all."""

from __future__ import annotations

import statistics
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Final

import anyio

import recollect
from benchmarks.library_speed import ZipfTalk
from recollect.memory.facade import Recollect
from recollect.records import Scope
from recollect.stores.plans.due_times import Debounce
from recollect.stores.system_clock import timer_s

ROOT: Final[Scope] = ("users",)
STORES: Final = ("memory", "sqlite", "postgres", "redis")
_MESSAGES: Final = 10
_AT_ONCE: Final = 64
_NEVER: Final = Debounce(quiet_s=float("inf"), max_wait_s=float("inf"))


@dataclass(slots=True, kw_only=True)
class BelowRow:
    """Milliseconds of recalls on one store: of all below, and of the same scopes by name."""

    store: str
    below: list[float] = field(default_factory=list)
    named: list[float] = field(default_factory=list)
    below_after: list[float] = field(default_factory=list)
    """Each after an append to one of the scopes, as *named_after*."""
    named_after: list[float] = field(default_factory=list)

    def median(self, name: str) -> float:
        """Return the median of one of the lists."""
        return float(statistics.median(getattr(self, name)))


@dataclass(frozen=True, slots=True)
class BelowReport:
    """A row for each store that is there."""

    scopes: int
    rows: Sequence[BelowRow]

    def as_json(self) -> dict[str, object]:
        """Return the report as a JSON object."""
        return asdict(self)


async def measure(
    scopes: int, turns: int, progress: Callable[[str], None] = lambda _: None
) -> BelowReport:
    """Recall in turn below the root and by all names, before and after an append."""
    rows = []
    for store in STORES:
        with _address(store) as address:
            if address is not None:
                progress(f"{store}: {scopes:,} scopes")
                rows.append(await _measured(store, address, scopes, turns))
    return BelowReport(scopes, rows)


async def _measured(store: str, address: str, scopes: int, turns: int) -> BelowRow:
    talk, row = ZipfTalk(), BelowRow(store=store)
    names = [(*ROOT, f"{number:06}") for number in range(scopes)]
    async with recollect.open(address, embedder="none", worker=False) as memory:
        for first in range(0, scopes, _AT_ONCE):
            async with anyio.create_task_group() as group:
                for name in names[first : first + _AT_ONCE]:
                    group.start_soon(_append, memory, name, talk, _MESSAGES)
        ways: dict[str, list[Scope] | Scope] = {"below": ROOT, "named": list(names)}
        for _ in range(2):  # the second joins what the first collected
            for way in ways.values():
                await _recall_ms(memory, way, talk.text(8))
        for _ in range(turns):
            for found, found_after, way in (
                (row.below, row.below_after, ways["below"]),
                (row.named, row.named_after, ways["named"]),
            ):
                found.append(await _recall_ms(memory, way, talk.text(8)))
                await _append(memory, names[0], talk, 1)
                found_after.append(await _recall_ms(memory, way, talk.text(8)))
    return row


async def _append(memory: Recollect, scope: Scope, talk: ZipfTalk, count: int) -> None:
    await memory.append(scope, "thread", talk.messages(count), debounce=_NEVER)


async def _recall_ms(memory: Recollect, way: list[Scope] | Scope, query: str) -> float:
    began = timer_s()
    await memory.recall(way, query, below=isinstance(way, tuple))
    return (timer_s() - began) * 1_000


@contextmanager
def _address(store: str) -> Iterator[str | None]:
    """Yield the address of an empty store; ``None`` if its server is not installed."""
    if store == "memory":
        yield "memory:"
    elif store == "sqlite":
        with tempfile.TemporaryDirectory(prefix="recollect-below-") as folder:
            yield str(Path(folder) / "memory.db")
    else:
        yield _server_address(store)


def _server_address(store: str) -> str | None:
    try:
        if store == "postgres":
            from tests.harness import postgres_server

            return postgres_server.shared_database("below")
        from tests.harness import redis_server
    except ModuleNotFoundError:  # the store's extra is not installed
        return None
    server = redis_server.shared_server()
    return server.url() if server else None
