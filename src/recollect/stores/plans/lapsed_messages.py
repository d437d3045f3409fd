"""Messages of which nothing holds any more, as far as memories tell."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TypeAlias

from recollect.records import Scope
from recollect.side_records import UNDONE_MESSAGE, undone_key
from recollect.stores.plans.evidence import evidence_messages
from recollect.stores.remainder import MERGED
from recollect.stores.rows import MemoryRow, SidePlace
from recollect.stores.unit_of_work import Rows

MessageName: TypeAlias = tuple[str, str]
"""A message of a scope: (thread, id)."""
LapsedMessage: TypeAlias = tuple[Scope, str, str]
"""A message of which nothing holds any more: (scope, thread, id)."""


def lapsed_messages(
    rows: Rows, asked: Mapping[Scope, Sequence[MessageName]], now: int
) -> frozenset[LapsedMessage]:
    """
    Return those of *asked* that were taken back, or whose memories say something else by now.

    A memory that waits for review, and one that was merged into another, leave what they cite as
    it is.
    """
    rows.expect(dict.fromkeys(asked, ()))
    scopes = {row.id: scope for scope in asked if (row := rows.scope(scope))}
    wanted = {id_: sorted(set(asked[scope])) for id_, scope in scopes.items() if asked[scope]}
    if not wanted:
        return frozenset()
    # Not by the versions of each memory: on PostgreSQL that would be a round trip for each.
    cited = rows.citations(wanted)
    places = sorted({(scopes[id_], uid) for id_, uid, _, _ in cited})
    standing = {
        (memory.scope_id, memory.uid): frozenset(_standing(memory, now))
        for _, memory in rows.memories_in(places)
    }
    holds: dict[LapsedMessage, bool] = defaultdict(bool)
    for id_, uid, thread, message in cited:
        if (stated := standing.get((id_, uid))) is not None:
            holds[scopes[id_], thread, message] |= (thread, message) in stated
    lapsed = {each for each, is_standing in holds.items() if not is_standing}
    return frozenset(lapsed.union(_taken_back(rows, scopes, wanted)))


def _standing(memory: MemoryRow, now: int) -> Iterable[MessageName]:
    """Return the messages whose words a memory still states, or may state after a review."""
    is_open = memory.state == "quarantined" or memory.cause.startswith(MERGED)
    has_ended = memory.valid_until is not None and memory.valid_until <= now
    is_stated = memory.state == "active" and not has_ended
    return evidence_messages(memory.evidence) if is_open or is_stated else ()


def _taken_back(
    rows: Rows, scopes: Mapping[int, Scope], wanted: Mapping[int, Sequence[MessageName]]
) -> Iterator[LapsedMessage]:
    """Yield the messages with the mark of an undo."""
    by_key = {(id_, undone_key(*each)): each for id_, names in wanted.items() for each in names}
    places: dict[int, list[SidePlace]] = defaultdict(list)
    for id_, key in sorted(by_key):
        places[id_].append(("", UNDONE_MESSAGE, key))
    for each in rows.side_records_in(places):
        yield scopes[each.scope_id], *by_key[each.scope_id, each.key]
