"""The pending messages of a thread: positions still to form, their tokens, and due times."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable
from dataclasses import replace
from typing import Final

from recollect.errors import LimitError, UsageError
from recollect.records import Json
from recollect.stores.json_pointers import is_number
from recollect.stores.rows import ThreadRow
from recollect.stores.unit_of_work import Rows
from recollect.stores.validation import check_object
from recollect.text.token_estimate import estimated_tokens

SETTINGS_BYTES_MAX: Final = 16_384
WAIT_S_MAX: Final = 3_155_760_000
"""A hundred years; for a longer wait use infinity, if it is allowed."""
RECKONED_MESSAGES_MAX: Final = 100
"""Recount the tokens of at most this many pending messages; keep the estimate for more."""


def check_wait(wait_s: object, what: str, *, may_be_endless: bool = False) -> float:
    """
    Return *wait_s* if it is a valid wait; *what* names it in the error.

    Raises:
        UsageError: It is negative, not a number, or longer than ``WAIT_S_MAX``.
    """
    if is_number(wait_s) and (0 <= wait_s <= WAIT_S_MAX or (may_be_endless and wait_s == math.inf)):
        return wait_s
    endless = ", or math.inf" if may_be_endless else ""
    raise UsageError(f"{what} is {wait_s!r}: give 0 to {WAIT_S_MAX} s (WAIT_S_MAX){endless}")


def check_settings(settings: Json) -> str:
    """
    Return a thread's settings as JSON text.

    Raises:
        UsageError: They are not a JSON object, or larger than ``SETTINGS_BYTES_MAX``.
    """
    text = check_object(settings, "a thread's settings")
    size = len(text.encode())
    if size > SETTINGS_BYTES_MAX:
        raise LimitError(
            "bytes of a thread's settings", size, SETTINGS_BYTES_MAX, "SETTINGS_BYTES_MAX"
        )
    return text


def again_of(thread: ThreadRow) -> tuple[int, ...]:
    """Return the positions pending again, in order."""
    return tuple(json.loads(thread.again))


def with_again(thread: ThreadRow, positions: Iterable[int]) -> ThreadRow:
    """Return the thread with exactly *positions* pending again."""
    return replace(thread, again=json.dumps(sorted(set(positions)), separators=(",", ":")))


def without_again(thread: ThreadRow, positions: Iterable[int]) -> ThreadRow:
    """Return the thread with *positions* no longer pending again."""
    if thread.again == "[]":
        return thread
    return with_again(thread, set(again_of(thread)).difference(positions))


def is_waiting(thread: ThreadRow) -> bool:
    """Return True if messages of the thread are pending, due now or later."""
    return thread.formed < thread.last or thread.again != "[]"


def is_backlogged(thread: ThreadRow, now: int) -> bool:
    """Return True if an active thread is due, or is backing off after a failure."""
    if thread.state != "active" or thread.due is None or not is_waiting(thread):
        return False
    return thread.due <= max(now, thread.not_before or 0)


def is_pending(thread: ThreadRow) -> bool:
    """Return True if messages of the thread are pending, even if only for a lane."""
    return is_waiting(thread) or thread.lanes != "{}"


def is_enough(thread: ThreadRow, messages: int | None, tokens: int | None) -> bool:
    """Return True if *messages* messages or *tokens* tokens are pending; ``None`` never is."""
    return (messages is not None and thread.last - thread.formed >= messages) or (
        tokens is not None and thread.waiting_tokens >= tokens
    )


def idle_if_done(thread: ThreadRow) -> ThreadRow:
    """Return the thread without a due time if no message is pending."""
    return thread if is_waiting(thread) else replace(thread, due=None, first_pending_at=None)


def due_at_once(thread: ThreadRow, now: int) -> ThreadRow:
    """Return the thread due now or earlier, but not before its backoff ends."""
    due = now if thread.due is None else min(thread.due, now)
    return replace(thread, due=max(due, thread.not_before or 0))


def recount_tokens(rows: Rows, thread: ThreadRow) -> ThreadRow:
    """Return the thread with its pending tokens recounted if that is cheap."""
    if thread.formed == thread.last:
        return thread
    limit = RECKONED_MESSAGES_MAX + 1
    left = rows.messages(
        thread.scope_id, thread.number, after=thread.formed, until=None, limit=limit
    )
    if len(left) == limit:
        return thread
    return replace(thread, waiting_tokens=sum(estimated_tokens(row.text) for row in left))
