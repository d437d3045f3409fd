"""Kill a Redis server under load, and count lost writes by its persistence settings."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Final

from benchmarks.fault_counts import FaultOutcome, FaultReport, FaultRow
from recollect.errors import StoreCorruptError, StoreUnavailableError
from recollect.records import NewMessage, PutMemory
from recollect.stores.contract.base import Store
from recollect.stores.locator import open_store
from recollect.stores.system_clock import timer_s
from tests.harness.redis_server import RedisServer, open_server

WRITERS: Final = 4
PAUSE_S: Final = 0.05
RELAXED_S_MAX: Final = 3.0
"""Longest loss allowed: Redis delays writes by up to two seconds during a sync; plus slack."""
WITHOUT_FILE: Final = "appendonly no"
_CONTROL_KILLS: Final = 2
_PAGE: Final = 1_000

Progress = Callable[[str], None]


@dataclass(frozen=True, slots=True, kw_only=True)
class RedisFaultCounts:
    """The number of kills of each kind of server; zero omits it."""

    kills: int = 100
    relaxed: int = 20


@dataclass(frozen=True, slots=True, kw_only=True)
class RedisFaultPlan:
    """
    The number of kills of a server, and the allowed loss.

    Before each kill it runs for one of *pauses_s*, in turn. Writes acknowledged up to *lost_s*
    seconds before a kill may be lost.
    """

    kills: int = 0
    pauses_s: Sequence[float] = (PAUSE_S,)
    lost_s: float = 0.0


RELAXED: Final = RedisFaultPlan(pauses_s=(RELAXED_S_MAX + 0.5, PAUSE_S), lost_s=RELAXED_S_MAX)


async def run(counts: RedisFaultCounts, progress: Progress = lambda _: None) -> FaultReport:
    """
    Kill servers as in *counts*, each with a control that has no persistence.

    Raises:
        UsageError: There is no program of a server.
    """
    rows = []
    for kills, sync in ((counts.kills, "always"), (counts.relaxed, "everysec")):
        if kills:
            name = f"{kills:,} kills, appendfsync {sync}"
            progress(name)
            rows.append(await _row(name, kills, sync))
    return FaultReport(rows)


async def _row(name: str, kills: int, sync: str) -> FaultRow:
    plan = RELAXED if sync == "everysec" else RedisFaultPlan()
    began = timer_s()
    with open_server(appendfsync=sync) as server:
        outcome = await kill(server, replace(plan, kills=kills))
    took_s = timer_s() - began
    with open_server(appendonly="no", appendfsync="everysec") as server:
        control = await kill(server, replace(plan, kills=_CONTROL_KILLS))
    return FaultRow(name=name, outcome=outcome, controls={WITHOUT_FILE: control}, took_s=took_s)


@dataclass
class _Writer:
    """Appends a message and changes a memory repeatedly, and records the results."""

    number: int
    acknowledged_s: list[float] = field(default_factory=list)
    """Time of the acknowledgement of each message."""
    told: list[str] = field(default_factory=list)

    async def write(self, store: Store, done: asyncio.Event, written: asyncio.Event) -> None:
        """Write until *done* or the store is gone; failed writes are retried."""
        scope = _scope_of(self.number)
        while not done.is_set():
            count = len(self.acknowledged_s)
            said = [NewMessage(role="user", text="hello", id=f"m{count}")]
            put = [PutMemory(type="Fact", key="k", value={"n": count})]
            try:
                await store.append(scope, "talk", said)
                at = timer_s()
                await store.apply(scope, put, idempotency_key=f"put {count}")
            except (StoreUnavailableError, StoreCorruptError) as error:
                self.told.append(type(error).__name__)
                if isinstance(error, StoreCorruptError):
                    written.set()
                    return
                continue
            self.acknowledged_s.append(at)
            written.set()


def _scope_of(writer: int) -> tuple[str, ...]:
    return (f"writer {writer}",)


async def kill(server: RedisServer, plan: RedisFaultPlan) -> FaultOutcome:
    """Kill and restart a server under four writers; count their lost writes."""
    done, written, killed_s = asyncio.Event(), asyncio.Event(), list[float]()
    writers = [_Writer(number) for number in range(WRITERS)]
    outcome = FaultOutcome(tried=plan.kills)
    async with open_store(server.url()) as store, asyncio.TaskGroup() as group:
        tasks = [group.create_task(each.write(store, done, written)) for each in writers]
        for number in range(plan.kills):
            if all(task.done() for task in tasks):
                break
            written.clear()
            await asyncio.sleep(plan.pauses_s[number % len(plan.pauses_s)])
            await written.wait()  # a kill between two writes shows nothing
            await asyncio.to_thread(server.kill)
            killed_s.append(timer_s())
            await asyncio.to_thread(server.start)
        await asyncio.sleep(PAUSE_S)
        done.set()
    async with open_store(server.url()) as store:
        for writer in writers:
            await _count(store, writer, killed_s, plan, outcome)
    return outcome


async def _count(
    store: Store,
    writer: _Writer,
    killed_s: Sequence[float],
    plan: RedisFaultPlan,
    outcome: FaultOutcome,
) -> None:
    """Compare a writer's acknowledged writes with the stored ones."""
    count = len(writer.acknowledged_s)
    ids = await _ids(store, _scope_of(writer.number))
    memory = await store.get(_scope_of(writer.number), "Fact", "k")
    version = memory.version if memory else 0
    outcome.acknowledged += 2 * count
    outcome.told.update(writer.told)
    there = set(ids)
    for number, at in enumerate(writer.acknowledged_s):
        if f"m{number}" in there:
            continue
        age_s = min(each for each in killed_s if each > at) - at
        if age_s <= plan.lost_s:
            outcome.told["one of the newest lost"] += 1
        else:
            outcome.add("message lost", [f"m{number} of {writer.number}, {age_s:.2f} s old"])
    missing, doubled = count - version, len(ids) - len(there) + max(0, version - count - 1)
    if missing > 0 and not plan.lost_s:
        outcome.failures["memory lost"] += missing
    if doubled:
        outcome.failures["doubled"] += doubled


async def _ids(store: Store, scope: tuple[str, ...]) -> list[str]:
    ids, last = list[str](), 0
    while rows := (await store.messages(scope, "talk", after=last, limit=_PAGE)).rows:
        ids += [each.id for each in rows]
        last = rows[-1].position
    return ids
