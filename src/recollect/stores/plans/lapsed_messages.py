"""Messages of which nothing holds any more, as far as memories tell."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from typing import TypeAlias

from recollect.records import Scope
from recollect.side_records import UNDONE_MESSAGE, undone_key
from recollect.stores.plans.evidence import evidence_messages
from recollect.stores.remainder import MERGED
from recollect.stores.rows import MemoryRow
from recollect.stores.unit_of_work import Rows

MessageName: TypeAlias = tuple[str, str]
"""A message of a scope: (thread, id)."""


def lapsed_messages(
    rows: Rows, scope: Scope, messages: Sequence[MessageName], now: int
) -> frozenset[MessageName]:
    """
    Return those of *messages* that were taken back, or whose memories say something else by now.

    A memory that waits for review, and one that was merged into another, leave what they cite as
    it is.
    """
    row = rows.scope(scope)
    if row is None or not messages:
        return frozenset()
    wanted = frozenset(messages)
    holds: dict[MessageName, bool] = defaultdict(bool)
    for memory in rows.memories_resting_on(row.id, sorted(wanted)):
        standing = set(_standing(memory, now))
        for each in wanted.intersection(_ever_cited(rows, memory)):
            holds[each] |= each in standing
    lapsed = {each for each, is_standing in holds.items() if not is_standing}
    return frozenset(lapsed.union(_taken_back(rows, row.id, wanted)))


def _standing(memory: MemoryRow, now: int) -> Iterable[MessageName]:
    """Return the messages whose words a memory still states, or may state after a review."""
    is_open = memory.state == "quarantined" or memory.cause.startswith(MERGED)
    has_ended = memory.valid_until is not None and memory.valid_until <= now
    is_stated = memory.state == "active" and not has_ended
    return evidence_messages(memory.evidence) if is_open or is_stated else ()


def _ever_cited(rows: Rows, memory: MemoryRow) -> Iterator[MessageName]:
    yield from evidence_messages(memory.evidence)
    if memory.version > 1:
        for each in rows.revisions(memory.scope_id, memory.uid):
            yield from evidence_messages(each.evidence)


def _taken_back(
    rows: Rows, scope_id: int, messages: Iterable[MessageName]
) -> Iterator[MessageName]:
    """Yield the messages with the mark of an undo."""
    if next(iter(rows.side_records(scope_id, ("", UNDONE_MESSAGE), None)), None) is None:
        return  # as in most scopes
    by_key = {undone_key(*each): each for each in messages}
    places = [("", UNDONE_MESSAGE, key) for key in sorted(by_key)]
    yield from (by_key[each.key] for each in rows.side_records_at(scope_id, places))
