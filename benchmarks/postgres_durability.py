"""Durability on PostgreSQL: injected faults, next to controls that must fail."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final, TypeAlias

from benchmarks.connection_faults import (
    DATABASE,
    GUESSED,
    HASTY,
    LASTING,
    cancel,
    cut,
    interleave,
)
from benchmarks.fault_counts import FaultOutcome, FaultReport, FaultRow
from benchmarks.postgres_restarts import TORN, UNSYNCED, Load, restart
from benchmarks.store_congruence import FORGETFUL, compare
from recollect.stores.system_clock import timer_s
from tests.harness.postgres_server import PostgresServer, open_server

if TYPE_CHECKING:
    from tests.harness.redis_server import RedisServer

Experiment: TypeAlias = Callable[[PostgresServer, int, str], Awaitable[FaultOutcome]]
Progress: TypeAlias = Callable[[str], None]

CONTROL_LOAD: Final = Load(messages=400, threads=40, restarts=3, processes=2, lease_s=3)


@dataclass(frozen=True, slots=True, kw_only=True)
class PostgresFaultCounts:
    """The number of each fault; zero omits it."""

    messages: int = 100_000
    histories: int = 10_000
    cuts: int = 1_000
    cancels: int = 10_000
    requests: int = 10_000


async def run(counts: PostgresFaultCounts, progress: Progress = lambda _: None) -> FaultReport:
    """
    Inject all faults of *counts*, each on its own server, with controls.

    Raises:
        UsageError: PostgreSQL's programs are not installed.
    """
    redis = _redis() if counts.histories else None
    compared = _compared(redis, progress)
    rows = [await _restarts(counts.messages, progress)] if counts.messages else []
    plans: list[tuple[int, str, Experiment, str]] = [
        (counts.cuts, "cut at COMMIT", cut, GUESSED),
        (counts.cancels, "requests cancelled", cancel, HASTY),
        (counts.requests, "requests of two tenants", interleave, LASTING),
        (counts.histories, f"histories, {3 + bool(redis)} stores", compared, FORGETFUL),
    ]
    for number, what, experiment, control in plans:
        if number:
            name = f"{number:,} {what}"
            progress(name)
            rows.append(await _row(name, experiment, number, control))
    return FaultReport(rows)


def load_of(messages: int) -> Load:
    """
    Return the load of *messages*; a small one is formed before a lease would expire.

    >>> load_of(100_000) == Load(), load_of(1_000).restarts
    (True, 2)
    """
    whole = Load()
    if messages >= whole.messages:
        return replace(whole, messages=messages, threads=messages // 20)
    return replace(
        whole,
        messages=messages,
        threads=max(1, messages // 20),
        restarts=max(2, whole.restarts * messages // whole.messages),
        lease_s=CONTROL_LOAD.lease_s,
    )


async def _restarts(messages: int, progress: Progress) -> FaultRow:
    """Restart the server under a load of messages in threads of twenty."""
    load = load_of(messages)
    began = timer_s()
    outcome = await restart(load, progress)
    took_s = timer_s() - began
    controls = {}
    for control in (TORN, UNSYNCED):
        progress(control)
        controls[control] = await restart(replace(CONTROL_LOAD, control=control))
    name = f"{messages:,} messages, {load.restarts} restarts"
    return FaultRow(name=name, outcome=outcome, controls=controls, took_s=took_s)


async def _row(name: str, experiment: Experiment, number: int, control: str) -> FaultRow:
    with open_server() as server:
        server.make_database(DATABASE)
        began = timer_s()
        outcome = await experiment(server, number, "")
        took_s = timer_s() - began
        few = min(number, max(60, number // 100))
        controls: Mapping[str, FaultOutcome] = {control: await experiment(server, few, control)}
    return FaultRow(name=name, outcome=outcome, controls=controls, took_s=took_s)


def _compared(redis: RedisServer | None, progress: Progress) -> Experiment:
    async def compared(server: PostgresServer, number: int, control: str) -> FaultOutcome:
        return await compare(server, number, control, redis=redis, progress=progress)

    return compared


def _redis() -> RedisServer | None:
    """Return a Redis server, whose store is compared as well, ``None`` if not installed."""
    try:
        from tests.harness.redis_server import shared_server
    except ModuleNotFoundError:
        return None
    return shared_server()
