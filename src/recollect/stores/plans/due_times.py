"""Due times: when the pending messages of a thread are to be formed, by its debounce."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Final

from recollect.errors import UsageError
from recollect.stores.fast_records import changer_of
from recollect.stores.plans.pending_messages import check_wait, due_at_once, is_enough, is_waiting
from recollect.stores.rows import MICROSECONDS, ThreadRow
from recollect.stores.unit_of_work import NOTHING, Effect, PlannedWrite


@dataclass(frozen=True, slots=True, kw_only=True)
class Debounce:
    """
    How long formation waits after a message, and at most after the first pending one.

    With an infinite *quiet_s*, messages wait for the other limits or for `Store.signal`. With an
    infinite *max_wait_s*, every new message postpones the due time. Once *messages* messages or
    *tokens* (estimated) are pending, they are due at once.

    >>> Debounce(quiet_s=30, messages=50).max_wait_s
    600.0
    """

    quiet_s: float = 10.0
    max_wait_s: float = 600.0
    messages: int | None = None
    tokens: int | None = None

    def __post_init__(self) -> None:
        check_wait(self.quiet_s, "Debounce.quiet_s", may_be_endless=True)
        check_wait(self.max_wait_s, "Debounce.max_wait_s", may_be_endless=True)
        for name, count in (("messages", self.messages), ("tokens", self.tokens)):
            # Not isinstance: True is an int.
            if count is not None and (type(count) is not int or count < 1):
                msg = f"Debounce.{name} is {count!r}: give a whole number of at least 1, or None"
                raise UsageError(msg)


DEFAULT: Final = Debounce()
"""The debounce of threads without settings."""
_changed_thread: Final = changer_of(ThreadRow)


def check_debounce(given: object) -> Debounce:
    """Return *given* if it is a `Debounce`, and the default one for ``None``."""
    if given is None:
        return DEFAULT
    if not isinstance(given, Debounce):
        msg = f"debounce must be a Debounce, such as Debounce(quiet_s=30), not {given!r}"
        raise UsageError(msg)
    return given


def thread_after_append(
    thread: ThreadRow, added: int, now: int, debounce: Debounce, *, tokens: int = 0
) -> ThreadRow:
    """
    Return the thread after *added* messages, with its new due time.

    A new message postpones the due time, up to ``max_wait_s`` after the first pending one, and
    never shortens a backoff. Once enough is pending, it is due at once. *tokens* are those of the
    added messages.
    """
    if not added:
        return thread
    waits = debounce.quiet_s < math.inf
    first = now if thread.first_pending_at is None else thread.first_pending_at
    longer = _changed_thread(
        thread,
        last=thread.last + added,
        count=thread.count + added,
        waiting_tokens=thread.waiting_tokens + tokens,
        first_pending_at=first if waits else thread.first_pending_at,
        due=due_time(thread, first, now, debounce) if waits else thread.due,
    )
    if is_enough(longer, debounce.messages, debounce.tokens):
        # From the due time before this message: that one may be earlier, and must not move back.
        return due_at_once(replace(longer, first_pending_at=first, due=thread.due), now)
    return longer


def due_time(thread: ThreadRow, first: int, now: int, debounce: Debounce) -> int:
    """Return when messages pending since *first* are due if none follow after *now*."""
    due = now + round(debounce.quiet_s * MICROSECONDS)
    if debounce.max_wait_s < math.inf:
        due = min(due, first + round(debounce.max_wait_s * MICROSECONDS))
    return max(due, thread.not_before or 0)


def is_due(thread: ThreadRow, now: int) -> bool:
    """Return True if the thread's pending messages may be formed at *now*."""
    return (
        thread.state == "active"
        and thread.due is not None
        and thread.due <= now
        and (thread.not_before is None or thread.not_before <= now)
        and is_waiting(thread)
    )


def plan_signal(thread: ThreadRow, now: int) -> PlannedWrite[bool]:
    """Make the thread's pending messages due at once; the result is False if there are none."""
    if not is_waiting(thread):
        return PlannedWrite(NOTHING, result=False)
    return PlannedWrite(Effect(threads=[replace(thread, due=now, not_before=None)]), result=True)
