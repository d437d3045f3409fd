"""The status of a run, derived from its thread's formation and the receipts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Final

from recollect.memory.facade import Recollect
from recollect.records import Formation, Scope, Thread
from recollect.server.langgraph.run_records import KeptRun
from recollect.server.settings import UNFORMED

FORMATIONS_READ_MAX: Final = 200
"""Newest receipts that are searched for the one that covers a run."""
IN_FLIGHT: Final = frozenset({"pending", "running"})


@dataclass(frozen=True, slots=True, kw_only=True)
class ThreadProgress:
    """The formation progress of a thread, from which the status of its runs is derived."""

    thread: Thread | None
    formations: Sequence[Formation]
    now: datetime
    works: bool
    """Whether this process runs a formation worker."""
    lacks_model: bool = False
    """Whether nothing is formed, here or by another process."""


async def read_progress(
    memory: Recollect, scope: Scope | None, thread: str, now: datetime
) -> ThreadProgress:
    """Read a thread's formation progress, and the receipts of its scope."""
    found = None if scope is None else await memory.thread(scope, thread)
    formations: Sequence[Formation] = ()
    if scope is not None and found is not None and found.formed:
        formations = (await memory.formations(scope, limit=FORMATIONS_READ_MAX)).rows
    return ThreadProgress(
        thread=found,
        formations=formations,
        now=now,
        works=memory.worker is not None,
        lacks_model=memory.lacks_model,
    )


def current_status(run: KeptRun, progress: ThreadProgress) -> KeptRun:
    """
    Return *run* with its current status.

    It is ``success`` once its messages are formed, by any formation, and ``error`` if one of them
    was given up, or while the service has no model: a client would wait for ever. It is ``running``
    once they are due; before that, after a failed attempt, and while the thread is paused, it is
    ``pending``. It is ``interrupted`` if its thread was erased.
    """
    if run.status not in IN_FLIGHT:
        return run
    thread = progress.thread
    if thread is None:
        if run.upto == 0:
            return replace(run, status="success")
        return replace(run, status="interrupted", reason="its thread was erased")
    if thread.formed >= run.upto:
        return _ended(run, progress)
    if progress.lacks_model:
        return replace(run, status="error", reason=UNFORMED)
    is_due = thread.due is not None and thread.due <= progress.now
    is_tried = progress.works and thread.state == "active" and not thread.attempts
    return replace(run, status="running" if is_due and is_tried else "pending")


def _ended(run: KeptRun, progress: ThreadProgress) -> KeptRun:
    """Return a run whose messages are formed or given up, with the time of the receipt."""
    covering = [
        each for each in progress.formations if each.watermarks.get(run.thread, 0) >= run.upto
    ]
    lost = [
        each
        for each in progress.formations
        if each.status == "dead"
        and any(run.since < at <= run.upto for at in each.failed.get(run.thread, ()))
    ]
    at = max(run.updated_at, covering[-1].at) if covering else run.updated_at
    if lost:
        reason = str(lost[0].receipt.get("reason") or "messages were given up")
        return replace(run, status="error", updated_at=at, reason=reason)
    return replace(run, status="success", updated_at=at)
