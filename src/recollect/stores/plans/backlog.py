"""Manual control of the formation backlog: pause and resume threads."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Final

from recollect.records import Scope
from recollect.stores.plans.pending_messages import due_at_once, is_waiting
from recollect.stores.plans.threads import existing_thread
from recollect.stores.rows import ThreadRow
from recollect.stores.unit_of_work import Effect, PlannedWrite, Rows

_PAGE_ROWS: Final = 1_000


def plan_pause(rows: Rows, scope: Scope, thread: str | None) -> PlannedWrite[int]:
    """Pause a thread, or all threads of a scope; the result is how many were active."""
    found = [each for each in _threads(rows, scope, thread) if each.state == "active"]
    return PlannedWrite(
        Effect(threads=[replace(each, state="paused") for each in found]), len(found)
    )


def plan_resumption(
    rows: Rows, scope: Scope, thread: str | None, now: int, *, at_once: bool = True
) -> PlannedWrite[int]:
    """
    Resume a thread, or all threads of a scope; the result is how many were paused.

    Pending messages become due at once, or keep their due time without *at_once*.
    """
    found = [each for each in _threads(rows, scope, thread) if each.state == "paused"]
    resumed = [
        _resumed_thread(each, now) if at_once else replace(each, state="active") for each in found
    ]
    return PlannedWrite(Effect(threads=resumed), len(found))


def _resumed_thread(thread: ThreadRow, now: int) -> ThreadRow:
    """Return the thread active again: due at once, but not before its backoff ends."""
    active = replace(thread, state="active")
    return due_at_once(active, now) if is_waiting(active) else active


def _threads(rows: Rows, scope: Scope, thread: str | None) -> Iterator[ThreadRow]:
    """Yield the named thread, or every thread of the scope."""
    if thread is not None:
        yield existing_thread(rows, scope, thread)[1]
        return
    scope_row = rows.scope(scope)
    after: str | None = None
    while scope_row and (page := rows.threads(scope_row.id, after, _PAGE_ROWS)):
        yield from page
        after = page[-1].id
