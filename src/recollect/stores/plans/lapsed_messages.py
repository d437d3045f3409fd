"""Messages of which nothing holds any more, as far as memories tell."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import Final, TypeAlias

from recollect.records import MessageAddress, Scope
from recollect.side_records import UNDONE_MESSAGE, undone_key
from recollect.stores.json_pointers import Scalar, covers, leaves
from recollect.stores.plans.evidence import decode_evidence, evidence_messages, stating_messages
from recollect.stores.provenance import LIST_INDEX
from recollect.stores.remainder import MERGED, ORIGIN_QUOTE
from recollect.stores.rows import MemoryRow, RevisionRow, SidePlace
from recollect.stores.unit_of_work import Rows

LapsedMessage: TypeAlias = tuple[Scope, str, str]
"""A message of which nothing holds any more: (scope, thread, id)."""
_VERSIONS_OF_A_RETURN: Final = 3
"""With fewer versions no value has come back."""


def lapsed_messages(
    rows: Rows, asked: Mapping[Scope, Sequence[MessageAddress]], now: int
) -> frozenset[LapsedMessage]:
    """
    Return those of *asked* that were taken back, or whose memories say something else by now.

    A memory that waits for review, or was merged into another, makes no message lapse. A message
    whose words are in force again, by any later message, has not lapsed.
    """
    rows.expect(dict.fromkeys(asked, ()))
    scopes = {row.id: scope for scope in asked if (row := rows.scope(scope))}
    wanted = {id_: sorted(set(asked[scope])) for id_, scope in scopes.items() if asked[scope]}
    if not wanted:
        return frozenset()
    # Not by the versions of each memory: on PostgreSQL that would be a round trip for each.
    citations = rows.citations(wanted)
    places = sorted({(scopes[id_], uid) for id_, uid, _, _ in citations})
    memories = {(each.scope_id, each.uid): each for _, each in rows.memories_in(places)}
    stated = _stated_messages(rows, memories, now)
    holds: dict[LapsedMessage, bool] = defaultdict(bool)
    for id_, uid, thread, message in citations:
        if (id_, uid) in stated:
            holds[scopes[id_], thread, message] |= (thread, message) in stated[id_, uid]
    lapsed = {each for each, still_holds in holds.items() if not still_holds}
    return frozenset(lapsed.union(_taken_back(rows, scopes, wanted)))


def _stated_messages(
    rows: Rows, memories: Mapping[tuple[int, int], MemoryRow], now: int
) -> dict[tuple[int, int], set[MessageAddress]]:
    """Return the messages whose words each memory states now, by (scope id, uid)."""
    stated = {place: set(_standing(each, now)) for place, each in memories.items()}
    changed: dict[int, list[int]] = defaultdict(list)
    for (id_, uid), each in memories.items():
        if each.version >= _VERSIONS_OF_A_RETURN and _is_in_force(each, now):
            changed[id_].append(uid)
    for version in rows.revisions_in(changed) if changed else ():
        place = version.scope_id, version.uid
        stated[place].update(_again_in_force(memories[place], version))
    return stated


def _standing(memory: MemoryRow, now: int) -> Iterator[MessageAddress]:
    """Yield the messages whose words a memory states, or may state after a review."""
    if memory.state == "quarantined" or memory.cause.startswith(MERGED):
        yield from evidence_messages(memory.evidence)
    elif _is_in_force(memory, now):
        yield from stating_messages(memory.evidence)


def _is_in_force(memory: MemoryRow, now: int) -> bool:
    has_ended = memory.valid_until is not None and memory.valid_until <= now
    return memory.state == "active" and not has_ended


def _again_in_force(memory: MemoryRow, version: RevisionRow) -> Iterator[MessageAddress]:
    """Yield the messages of a past version for values that the memory has again."""
    present = _places(memory.value, "")
    for pointer, found in decode_evidence(version.evidence).items():
        stated = _places(version.value, pointer)
        if stated and stated <= present:
            yield from ((each.thread, each.message) for each in found if each.quote != ORIGIN_QUOTE)


def _places(value: str, pointer: str) -> set[tuple[str, str, Scalar]]:
    """Return the leaves inside *pointer* with their places; positions in a list are ignored."""
    return {
        (LIST_INDEX.sub("/-", place), type(leaf).__name__, leaf)
        for place, leaf in leaves(json.loads(value))
        if covers(pointer, place)
    }


def _taken_back(
    rows: Rows, scopes: Mapping[int, Scope], wanted: Mapping[int, Sequence[MessageAddress]]
) -> Iterator[LapsedMessage]:
    """Yield the messages with the mark of an undo."""
    by_key = {(id_, undone_key(*each)): each for id_, names in wanted.items() for each in names}
    places: dict[int, list[SidePlace]] = defaultdict(list)
    for id_, key in sorted(by_key):
        places[id_].append(("", UNDONE_MESSAGE, key))
    for each in rows.side_records_in(places):
        yield scopes[each.scope_id], *by_key[each.scope_id, each.key]
