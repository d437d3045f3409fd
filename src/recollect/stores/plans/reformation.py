"""
Form messages again whose memories lost content by an erase of other messages.

A value supported by several messages together is removed with any of them. The others become
pending again in the transaction of the erase, so that what they say by themselves is formed again.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from collections.abc import Set as AbstractSet

from recollect.stores.plans.derived_rows import row_remainder, row_sources
from recollect.stores.plans.lanes import lanes_of, redriven_lanes
from recollect.stores.plans.pending_messages import again_of, due_at_once, with_again
from recollect.stores.plans.receipts import each_formation, types_of
from recollect.stores.remainder import MEMORY_THREAD, remaining_messages
from recollect.stores.rows import MemoryRow, ThreadRow
from recollect.stores.unit_of_work import Rows

Waiting = dict[str, dict[str, set[str]]]
"""Ids of messages by thread, then by the type of memory to form of them."""


def find_messages_to_form(
    memories: Iterable[MemoryRow], erased: AbstractSet[tuple[str, str]]
) -> Waiting:
    """
    Return the messages whose *memories* lose content because other evidence is erased.

    Only quoted messages count, which only formed memories have. Rejected memories are skipped, and
    so are those derived from others of which nothing is left, as their sources are reinstated.
    """
    found: Waiting = {}
    for row in memories:
        sources = row_sources(row)
        is_derived = any(each[0] == MEMORY_THREAD for some in sources.values() for each in some)
        if row.state == "rejected" or (is_derived and row_remainder(row, erased) is None):
            continue
        for thread, message in remaining_messages(sources, erased):
            found.setdefault(thread, {}).setdefault(row.type, set()).add(message)
    return found


def reschedule_threads(
    rows: Rows, scope_id: int, threads: Mapping[str, ThreadRow], waiting: Waiting, now: int
) -> list[ThreadRow]:
    """
    Return the threads with messages to form again, due at once.

    Messages never formed are pending anyway. A type with its own schedule follows that.

    Args:
        threads: The threads as the erase leaves them, if it changes them.
    """
    # Types that were formed on their own have a schedule: what they form again waits in their lane.
    apart = {each for row in each_formation(rows, scope_id) for each in types_of(row.receipt)}
    changed = []
    for name, by_type in waiting.items():
        thread = threads.get(name) or rows.thread(scope_id, name)
        if thread is not None:
            after = _with_waiting(rows, thread, by_type, apart, now)
            changed += [after] if after != thread else []
    return changed


def _with_waiting(
    rows: Rows,
    thread: ThreadRow,
    by_type: Mapping[str, Collection[str]],
    apart: AbstractSet[str],
    now: int,
) -> ThreadRow:
    """Return a thread with messages pending again, for the types that lost content by the erase."""
    for type_, ids in by_type.items():
        found = rows.messages_by_id(thread.scope_id, thread.number, sorted(ids))
        positions = [row.position for row in found if row.position <= thread.formed]
        if not positions:
            continue
        if type_ in apart or type_ in lanes_of(thread):
            thread = redriven_lanes(thread, [type_], positions)
        else:
            thread = due_at_once(with_again(thread, (*again_of(thread), *positions)), now)
    return thread
