"""
Forming anew: what an erase takes along with erased words is formed again of those that are left.

A value that rests on several messages together goes with any of them. The others wait to be
formed once more, in the transaction of the erase: so what they say by themselves comes back.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from collections.abc import Set as AbstractSet

from recollect.stores.plans.derived_rows import row_sources
from recollect.stores.plans.lanes import lanes_of, redriven_lanes
from recollect.stores.plans.pending_messages import again_of, due_at_once, with_again
from recollect.stores.plans.receipts import each_formation, types_of
from recollect.stores.remainder import MEMORY_THREAD, bereft
from recollect.stores.rows import MemoryRow, ThreadRow
from recollect.stores.unit_of_work import Rows

Waiting = dict[str, dict[str, set[str]]]
"""Ids of messages by thread and by the type of memory that is to be formed of them."""


def left_to_form(memories: Iterable[MemoryRow], erased: AbstractSet[tuple[str, str]]) -> Waiting:
    """
    Return the messages of which *memories* lose what they say because others are erased.

    Only formed memories quote. A derived memory does not count: what it was derived from is in
    force again. Neither does one that was refused.
    """
    found: Waiting = {}
    for row in memories:
        sources = row_sources(row)
        if row.state == "rejected" or _names_memories(sources.values()):
            continue
        for thread, message in bereft(sources, erased):
            found.setdefault(thread, {}).setdefault(row.type, set()).add(message)
    return found


def _names_memories(found: Iterable[Iterable[tuple[object, ...]]]) -> bool:
    return any(each[0] == MEMORY_THREAD for some in found for each in some)


def waiting_again(
    rows: Rows, scope_id: int, threads: Mapping[str, ThreadRow], waiting: Waiting, now: int
) -> list[ThreadRow]:
    """
    Return the threads in which messages wait to be formed again, due at once.

    What was never formed waits anyway. A type with a schedule of its own waits for that.

    Args:
        threads: The threads as the erase leaves them, if it changes them.
    """
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
