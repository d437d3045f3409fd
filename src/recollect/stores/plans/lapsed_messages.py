"""Messages of which nothing holds any more, as far as memories tell."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from typing import TypeAlias

from recollect.records import Scope
from recollect.side_records import UNDONE_MESSAGE, undone_key
from recollect.stores.json_pointers import Scalar, covers, leaves
from recollect.stores.plans.evidence import decode_evidence, evidence_messages, stating_messages
from recollect.stores.provenance import LIST_INDEX
from recollect.stores.remainder import MERGED, ORIGIN_QUOTE
from recollect.stores.rows import MemoryRow, RevisionRow
from recollect.stores.unit_of_work import Rows

MessageName: TypeAlias = tuple[str, str]
"""A message of a scope: (thread, id)."""


def lapsed_messages(
    rows: Rows, scope: Scope, messages: Sequence[MessageName], now: int
) -> frozenset[MessageName]:
    """
    Return those of *messages* that were taken back, or whose memories say something else by now.

    A memory that waits for review, and one that was merged into another, leave what they cite as
    it is. A message whose words are in force again has not lapsed, whoever said them again.
    """
    row = rows.scope(scope)
    if row is None or not messages:
        return frozenset()
    wanted = frozenset(messages)
    holds: dict[MessageName, bool] = defaultdict(bool)
    for memory in rows.memories_resting_on(row.id, sorted(wanted)):
        past = rows.revisions(row.id, memory.uid) if memory.version > 1 else ()
        standing = set(_standing(memory, past, now))
        for each in wanted.intersection(_ever_cited(memory, past)):
            holds[each] |= each in standing
    lapsed = {each for each, is_standing in holds.items() if not is_standing}
    return frozenset(lapsed.union(_taken_back(rows, row.id, wanted)))


def _standing(memory: MemoryRow, past: Sequence[RevisionRow], now: int) -> Iterator[MessageName]:
    """Yield the messages whose words a memory states, or may state after a review."""
    has_ended = memory.valid_until is not None and memory.valid_until <= now
    if memory.state == "quarantined" or memory.cause.startswith(MERGED):
        yield from evidence_messages(memory.evidence)
    elif memory.state == "active" and not has_ended:
        yield from stating_messages(memory.evidence)
        yield from _again_in_force(memory, past)


def _again_in_force(memory: MemoryRow, past: Sequence[RevisionRow]) -> Iterator[MessageName]:
    """Yield the messages of past versions for values that the memory has again."""
    now = _places(memory.value, "") if past else set()
    for version in past:
        for pointer, found in decode_evidence(version.evidence).items():
            stated = _places(version.value, pointer)
            if stated and stated <= now:
                yield from (
                    (each.thread, each.message) for each in found if each.quote != ORIGIN_QUOTE
                )


def _places(value: str, pointer: str) -> set[tuple[str, str, Scalar]]:
    """Return the leaves inside *pointer* with their places; positions in a list are ignored."""
    return {
        (LIST_INDEX.sub("/-", place), type(leaf).__name__, leaf)
        for place, leaf in leaves(json.loads(value))
        if covers(pointer, place)
    }


def _ever_cited(memory: MemoryRow, past: Sequence[RevisionRow]) -> Iterator[MessageName]:
    yield from evidence_messages(memory.evidence)
    for each in past:
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
