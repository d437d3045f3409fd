"""The status of a run, from its thread's progress and the receipt that covers it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Final

from recollect.memory.facade import Recollect
from recollect.records import Formation, Scope, Thread
from recollect.server.langgraph.run_records import KeptRun

FORMATIONS_READ_MAX: Final = 200
"""At most so many of the newest receipts are looked through for the one that covers a run."""
IN_FLIGHT: Final = frozenset({"pending", "running"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Ground:
    """The data from which the status of a thread's runs is derived."""

    thread: Thread | None
    formations: Sequence[Formation]
    now: datetime
    works: bool
    """Whether anybody forms what is due."""


async def ground_of(memory: Recollect, scope: Scope | None, thread: str, now: datetime) -> Ground:
    """Return a thread's formation progress, and the receipts of its scope."""
    found = None if scope is None else await memory.thread(scope, thread)
    formations: Sequence[Formation] = ()
    if scope is not None and found is not None and found.formed:
        formations = (await memory.formations(scope, limit=FORMATIONS_READ_MAX)).rows
    works = memory.worker is not None
    return Ground(thread=found, formations=formations, now=now, works=works)


def standing(run: KeptRun, ground: Ground) -> KeptRun:
    """
    Return *run* as it stands now.

    It has succeeded once its messages are formed, by whichever formation, and failed if one of
    them was given up. It runs from when they are due; before, and while a failed attempt or a
    paused thread waits, it is pending. One whose thread was erased is interrupted.
    """
    if run.status not in IN_FLIGHT:
        return run
    thread = ground.thread
    if thread is None:
        if run.upto == 0:
            return replace(run, status="success")
        return replace(run, status="interrupted", reason="its thread was erased")
    if thread.formed >= run.upto:
        return _ended(run, ground)
    is_due = thread.due is not None and thread.due <= ground.now
    is_tried = ground.works and thread.state == "active" and not thread.attempts
    return replace(run, status="running" if is_due and is_tried else "pending")


def _ended(run: KeptRun, ground: Ground) -> KeptRun:
    covering = [
        each for each in ground.formations if each.watermarks.get(run.thread, 0) >= run.upto
    ]
    lost = [
        each
        for each in ground.formations
        if each.status == "dead"
        and any(run.since < at <= run.upto for at in each.failed.get(run.thread, ()))
    ]
    at = max(run.updated_at, covering[-1].at) if covering else run.updated_at
    if lost:
        reason = str(lost[0].receipt.get("reason") or "messages were given up")
        return replace(run, status="error", updated_at=at, reason=reason)
    return replace(run, status="success", updated_at=at)
