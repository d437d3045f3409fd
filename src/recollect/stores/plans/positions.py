"""Read messages of a thread by position, and detect missing ones by the thread's row."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Final

from recollect.errors import StoreCorruptError
from recollect.stores.rows import MessageRow, ThreadRow
from recollect.stores.unit_of_work import Rows

UNTIL_PAGE: Final = 200
"""Messages read at once while searching backwards for those up to a given time."""


def messages_after(rows: Rows, thread: ThreadRow, after: int, limit: int) -> Sequence[MessageRow]:
    """
    Return the messages of a thread after the position *after*, in order.

    Raises:
        StoreCorruptError: Some are missing: the thread's row counts more of them there.
    """
    found = rows.messages(
        thread.scope_id, thread.number, after=after, until=None, limit=max(1, limit)
    )
    _check(thread, found, range(after + 1, thread.last + 1), limit)
    return found


def messages_before(
    rows: Rows, thread: ThreadRow, before: int | None, limit: int
) -> Sequence[MessageRow]:
    """
    Return the newest messages of a thread before the position *before*, newest first.

    Raises:
        StoreCorruptError: Some are missing: the thread's row counts more of them there.
    """
    found = rows.last_messages(thread.scope_id, thread.number, before=before, limit=max(1, limit))
    end = thread.last + 1 if before is None else min(before, thread.last + 1)
    _check(thread, found, range(1, end)[::-1], limit)
    return found


def messages_until(
    rows: Rows, thread: ThreadRow, before: int | None, limit: int, *, until: int
) -> list[MessageRow]:
    """
    Return the newest messages of a thread said at or before *until* (µs), newest first.

    Messages may be stored in another order than they were said, so the thread is read backwards,
    a page at a time, until there are *limit* of them.
    """
    found = list[MessageRow]()
    while len(found) < limit:
        page = messages_before(rows, thread, before, UNTIL_PAGE)
        found += [each for each in page if each.time <= until]
        if len(page) < UNTIL_PAGE:
            break
        before = page[-1].position
    return found[:limit]


def all_messages_of(rows: Rows, thread: ThreadRow) -> Sequence[MessageRow]:
    """
    Return all messages of a thread by position.

    Raises:
        StoreCorruptError: Some are missing: the thread has more of them.
    """
    return messages_after(rows, thread, 0, thread.count)


def _check(thread: ThreadRow, found: Sequence[MessageRow], places: range, limit: int) -> None:
    """
    Raise if messages are missing between *places*, both in the order requested.

    A thread has one message at each position, except for as many empty positions as messages were
    removed.
    """
    removed = thread.last - thread.count
    # Distances from the first place, in the direction of reading.
    steps = [(row.position - places.start) * places.step for row in found]
    is_ordered = all(one < other for one, other in pairwise([-1, *steps, len(places)]))
    empty = steps[-1] + 1 - len(found) if steps else 0
    is_enough = len(found) >= min(limit, len(places) - removed)
    # If the whole thread was requested, the number of messages is known exactly.
    is_whole = len(places) == thread.last and limit >= thread.count
    is_right = is_enough and (not is_whole or len(found) == thread.count)
    if not (is_ordered and empty <= removed and is_right):
        raise _missing(thread, len(found))


def _missing(thread: ThreadRow, count: int) -> StoreCorruptError:
    error = StoreCorruptError(
        f"messages of the thread {thread.id!r} are missing, doubled or out of order: it has "
        f"{thread.count} up to position {thread.last}, and {count} were read of those asked for: "
        "run `recollect doctor`, and restore the store from a backup"
    )
    error.about = f"thread number {thread.number} of scope {thread.scope_id}"
    return error
