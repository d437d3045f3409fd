"""Kill the service under load with retrying clients, and count lost and duplicated writes."""

from __future__ import annotations

import asyncio
import random
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Final

from benchmarks.fault_counts import FaultOutcome, FaultReport, FaultRow
from benchmarks.retrying_writer import RetryingWriter, count_words, kept_texts
from benchmarks.service_process import Process, serving
from recollect.stores.locator import open_store
from recollect.stores.system_clock import timer_s
from tests.harness.invariants import violations

CLIENTS: Final = 32
UNKEYED: Final = "asked again without idempotency keys"
SHARED_SCOPE: Final = ("default",)
CONTROL_KILLS_MIN: Final = 3
_STORE: Final = "killed.db"
_AFTER_S: Final = (0.02, 0.3)
"""Delay of a kill after the service's first answer."""
_ANSWER_S_MAX: Final = 60.0


async def kill(folder: Path, number: int, *, seed: int = 1, careful: bool = True) -> FaultOutcome:
    """
    Kill the service *number* times while clients write, and restart it each time.

    Every other time it is killed as soon as one client hears an answer: what was committed
    with that one is then not answered yet. Clients say what went unanswered again, the *careful*
    under the same idempotency key. What was kept is read at the end from the store itself.
    """
    chance, outcome = random.Random(seed), FaultOutcome()  # noqa: S311 (not for secrets)
    clients = [RetryingWriter(f"client{each}", is_careful=careful) for each in range(CLIENTS)]
    key = ""
    for life in range(number + 1):
        with serving(folder, store=_STORE, key=key) as service:
            key = service.key
            is_last = life == number
            after_s = None if is_last else chance.uniform(*_AFTER_S)
            await _life(service, clients, after_s, at_answer=life % 2 == 0 and not is_last)
        if not is_last:
            outcome.tried += 1
            outcome.add("corrupt", violations(folder / _STORE))
    outcome.acknowledged = sum(len(each.acknowledged) for each in clients)
    await _count(folder / _STORE, clients, outcome)
    return outcome


async def _life(
    service: Process,
    clients: list[RetryingWriter],
    after_s: float | None,
    *,
    at_answer: bool = False,
) -> None:
    """Let clients write until the service is killed or, without a time, until each is answered."""
    answers = [asyncio.Event() for _ in clients]
    async with asyncio.TaskGroup() as group:
        for each, answered in zip(clients, answers, strict=True):
            group.create_task(each.talk(service, answered))
        try:
            await _hear(answers, all_of_them=after_s is None)
            if after_s is not None:
                await asyncio.sleep(after_s)
            if at_answer:
                for answered in answers:
                    answered.clear()
                await _hear(answers, all_of_them=False)
        finally:
            service.kill()


async def _hear(answers: list[asyncio.Event], *, all_of_them: bool) -> None:
    """
    Wait until one client, or each, was answered.

    Raises:
        TimeoutError: That took longer than ``_ANSWER_S_MAX``.
    """
    waiting = [asyncio.create_task(each.wait()) for each in answers]
    when = asyncio.ALL_COMPLETED if all_of_them else asyncio.FIRST_COMPLETED
    _, late = await asyncio.wait(waiting, timeout=_ANSWER_S_MAX, return_when=when)
    for task in late:
        task.cancel()
    if len(late) > (0 if all_of_them else len(answers) - 1):
        msg = f"{len(late)} clients were not answered within {_ANSWER_S_MAX:g} s"
        raise TimeoutError(msg)


async def _count(path: Path, clients: list[RetryingWriter], outcome: FaultOutcome) -> None:
    """Count lost and duplicated writes."""
    async with open_store(str(path)) as store:
        for each in clients:
            kept = await kept_texts(store, SHARED_SCOPE, each.name)
            count_words(each.acknowledged, kept, outcome)


def run(number: int, progress: Callable[[str], None] = lambda _: None) -> FaultReport:
    """Kill the service *number* times, with clients without idempotency keys as control."""

    def tried(times: int, *, careful: bool) -> FaultOutcome:
        with tempfile.TemporaryDirectory(prefix="recollect-kills-") as folder:
            return asyncio.run(kill(Path(folder), times, careful=careful))

    progress(f"{number:,} kills")
    began = timer_s()
    outcome = tried(number, careful=True)
    took_s = timer_s() - began
    progress("kills without keys")
    control = tried(max(CONTROL_KILLS_MIN, number // 20), careful=False)
    row = FaultRow(
        name=f"{number:,} SIGKILLs under load",
        outcome=outcome,
        controls={UNKEYED: control},
        took_s=took_s,
    )
    return FaultReport([row])
