"""The change feed: the changes that a reader missed, and the entries it then selects."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

from recollect.records import Memory, Message, Scope
from recollect.stores.change_feed import (
    NO_SUMMARIES,
    Cursor,
    Feed,
    FeedBlocks,
    FeedEntry,
    MemorySummaries,
)
from recollect.stores.damage_log import lost_entries
from recollect.stores.fast_records import maker_of
from recollect.stores.filters import Condition, matches
from recollect.stores.plans.embedding_backlog import searched_text
from recollect.stores.plans.evidence import dating_messages
from recollect.stores.plans.memories import believed_at, is_expired, memory_of
from recollect.stores.plans.said_times import SaidTimes
from recollect.stores.plans.threads import message_of
from recollect.stores.rows import MemoryRow, MessageRow, Place, RevisionRow, ScopeRow
from recollect.stores.unit_of_work import Rows
from recollect.stores.validation import to_datetime
from recollect.text.terms import encode_terms, is_current

NEWEST_WRITES_FIRST: Final = 4
NEWEST_WRITES_MAX: Final = 4_096
"""How many of a scope's last commits to search for its newest memories: at first, and at most."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """A message or memory of a scope, as recall returns it."""

    uid: int
    scope: Scope
    content: Message | Memory


_ENTRY: Final = maker_of(Entry)


@dataclass(frozen=True, slots=True)
class Below:
    """Some scopes and all below them; with *type*, only those with an active memory of it."""

    scopes: tuple[Scope, ...]
    type: str | None = None


def read_feed(
    rows: Rows,
    cursor: Cursor,
    *,
    embedder: str | None,
    conditions: Sequence[Condition] | None,
    now: int,
    in_blocks: bool = False,
) -> Feed:
    """Return the changes of the cursor's scope since the cursor; see `Feed`."""
    scope = rows.scope(cursor.scope)
    if scope is None:
        return Feed(scope=cursor.scope, now=now, seq=0, epoch=0, reset=True, entries=(), removed=())
    # After an erase (a new epoch) the reader may hold erased entries, and past a compaction it has
    # missed tombstones: in both cases it must start over.
    reset = cursor.epoch != scope.epoch or cursor.seq < scope.compacted
    after = 0 if reset else cursor.seq
    unchanged = after == scope.seq
    blocks = _blocks(rows, scope.id, embedder) if in_blocks and not after else None
    return Feed(
        scope=cursor.scope,
        now=now,
        seq=scope.seq,
        epoch=scope.epoch,
        reset=reset,
        entries=() if unchanged or blocks else _changed(rows, scope.id, after, embedder),
        removed=() if reset or unchanged else tuple(rows.removed(scope.id, after)),
        eligible=None if conditions is None else eligible_uids(rows, scope.id, conditions, now),
        blocks=blocks,
    )


def read_summaries(rows: Rows, name: Scope) -> tuple[Cursor, MemorySummaries]:
    """Return all memories of a scope for a listing, and the feed cursor they are current at."""
    scope = rows.scope(name)
    if scope is None:
        return Cursor(scope=name, seq=0, epoch=0), NO_SUMMARIES
    found = rows.memory_summaries(scope.id)
    if found is None:
        listed = rows.changed(scope.id, 0, None)
        found = summaries_of([each for each in listed if each.kind == "memory"])
    return Cursor(scope=name, seq=scope.seq, epoch=scope.epoch), found


def summaries_of(memories: Sequence[FeedEntry]) -> MemorySummaries:
    """Return the columns of *memories* that listings need."""
    return MemorySummaries._make(
        [getattr(each, name) for each in memories] for name in MemorySummaries._fields
    )


def read_newest(rows: Rows, name: Scope, *, limit: int, now: int) -> list[Memory]:
    """
    Return the newest memories of a scope, newest first, without rejected ones.

    Only the last `NEWEST_WRITES_MAX` commits of the scope are searched, so memories are missing
    that were written before as many commits of messages.
    """
    scope = rows.scope(name)
    # One commit may write one entry or thousands: widen the window until it holds enough.
    window, found = NEWEST_WRITES_FIRST, list[FeedEntry]()
    while scope is not None:
        after = max(0, scope.seq - window)
        listed = rows.changed(scope.id, after, None)
        found = [each for each in listed if each.kind == "memory" and each.state != "rejected"]
        if len(found) >= limit or after == 0 or window >= NEWEST_WRITES_MAX:
            break
        window = min(window * 4, NEWEST_WRITES_MAX)
    # A vector that arrived later also moves an entry forward in the feed: read more than *limit*,
    # and sort by the time of the last update.
    places = [(name, each.uid) for each in reversed(found)][: limit * 4]
    entries = read_chosen(rows, places, now, are_memories=True)
    memories = [each.content for each in entries if isinstance(each.content, Memory)]
    return sorted(memories, key=lambda each: each.updated_at, reverse=True)[:limit]


def read_places(rows: Rows, scopes: Sequence[Scope]) -> list[Cursor]:
    """Return the current feed cursors of *scopes*, in order."""
    return [_place_of(scope, rows.scope(scope)) for scope in scopes]


def _place_of(scope: Scope, found: ScopeRow | None) -> Cursor:
    if found is None:
        return Cursor(scope=scope, seq=0, epoch=0)
    return Cursor(scope=scope, seq=found.seq, epoch=found.epoch)


def _changed(rows: Rows, scope_id: int, after: int, embedder: str | None) -> tuple[FeedEntry, ...]:
    """Return the changed entries, with terms of the current analyser."""
    entries = rows.changed(scope_id, after, embedder)
    stale = [entry.uid for entry in entries if not is_current(entry.terms)]
    if not stale:
        return tuple(entries)
    terms = {row.uid: _terms_of(row) for row in rows.messages_by_uid(scope_id, stale)}
    terms |= {row.uid: _terms_of(row) for row in rows.memories_by_uid(scope_id, stale)}
    return tuple(each._replace(terms=terms.get(each.uid, each.terms)) for each in entries)


def _blocks(rows: Rows, scope_id: int, embedder: str | None) -> FeedBlocks | None:
    """Return all entries in blocks, ``None`` if an older analyser made some of their terms."""
    blocks = rows.feed_blocks(scope_id, embedder)
    if blocks is None or not blocks.entries:
        return None
    # Terms begin with the analyser's version: if the least and the greatest are current, all are.
    bounds = [terms for each in blocks.entries for terms in (each.least_terms, each.greatest_terms)]
    return blocks if all(map(is_current, bounds)) else None


def _terms_of(row: MessageRow | MemoryRow) -> bytes:
    if is_current(row.terms):
        return row.terms
    if isinstance(row, MessageRow):
        return encode_terms(searched_text(row), to_datetime(row.time))
    return encode_terms(row.text, None)


def eligible_uids(
    rows: Rows, scope_id: int, conditions: Sequence[Condition], now: int
) -> frozenset[int]:
    """Return the uids of messages whose metadata, and of memories whose value, matches a filter."""
    messages = (
        row.uid
        for row in rows.all_messages(scope_id)
        if matches(conditions, json.loads(row.metadata))
    )
    memories = (
        row.uid
        for row in rows.memories_matching(scope_id, None, conditions)
        if not is_expired(row, now)
    )
    return frozenset([*messages, *memories])


def read_chosen(
    rows: Rows,
    chosen: Sequence[Place],
    now: int,
    *,
    are_memories: bool = False,
    are_indexed: bool = False,
) -> list[Entry]:
    """
    Return those of the *chosen* entries that exist and have not expired, in the given order.

    A uid does not show its kind, so the likelier kind is looked up first: memories if
    *are_memories*, otherwise the kind found in the first scope.

    Raises:
        StoreCorruptError: *are_indexed* is set, which says that the feed of this snapshot lists
            all of them, and one is missing.
    """
    found = _read_memories(rows, chosen, now) if are_memories else {}
    if len(found) < len(chosen):
        found |= _read_either(rows, [each for each in chosen if each not in found], now)
    if are_indexed and len(found) < len(set(chosen)):
        _check_expired(rows, [each for each in chosen if each not in found])
    return [found[each] for each in chosen if each in found]


def _check_expired(rows: Rows, missing: Sequence[Place]) -> None:
    """Raise if an entry that the feed lists is missing; expired memories are not."""
    expired = {(scope, row.uid) for scope, row in rows.memories_in(missing)}
    lost = [each for each in missing if each not in expired]
    if lost:
        scope_row = rows.scope(lost[0][0])
        raise lost_entries(scope_row.id if scope_row else None, [uid for _, uid in lost])


def _read_either(rows: Rows, places: Sequence[Place], now: int) -> dict[Place, Entry]:
    """Return the messages and memories at *places*; the kind found in the first scope first."""
    first = places[0][0]
    found = _read_messages(rows, [each for each in places if each[0] == first])
    elsewhere = [each for each in places if each[0] != first]
    are_messages = bool(found)
    if are_messages:
        found |= _read_messages(rows, elsewhere)
    found |= _read_memories(rows, [each for each in places if each not in found], now)
    if not are_messages:
        found |= _read_messages(rows, [each for each in elsewhere if each not in found])
    return found


def _read_messages(rows: Rows, places: Sequence[Place]) -> dict[Place, Entry]:
    by_scope: dict[Scope, list[int]] = {}
    for scope, uid in places:
        by_scope.setdefault(scope, []).append(uid)
    found: dict[Place, Entry] = {}
    for scope, uids in by_scope.items():
        row = rows.scope(scope)
        messages = rows.messages_by_uid(row.id, uids) if row else ()
        threads = rows.thread_ids(row.id, sorted({each.thread for each in messages})) if row else {}
        for each in messages:
            content = message_of(each, threads[each.thread])
            found[scope, each.uid] = _ENTRY((each.uid, scope, content))
    return found


def _read_memories(rows: Rows, places: Sequence[Place], now: int) -> dict[Place, Entry]:
    return {
        (scope, row.uid): _ENTRY((row.uid, scope, memory_of(row, scope)))
        for scope, row in rows.memories_in(places)
        if not is_expired(row, now)
    }


def cursors_of(rows: Rows, below: Below, now: int) -> list[Cursor]:
    """Return the current feed cursors of the scopes that *below* includes, each once."""
    found: dict[Scope, Cursor] = {}
    for prefix in below.scopes:
        if below.type is None:
            for row in rows.scopes_below(prefix, None):
                found[row.segments] = _place_of(row.segments, row)
        else:
            holding = rows.scopes_holding(below.type, now, prefix, None)
            found |= {scope: _place_of(scope, rows.scope(scope)) for scope in holding}
    return list(found.values())


def read_past(
    rows: Rows, scope: Scope, at: int, conditions: Sequence[Condition] | None, now: int
) -> tuple[Feed, list[Entry]]:
    """Return all entries of a scope as believed at *at*, without vectors."""
    row = rows.scope(scope)
    feed = Feed(scope=scope, now=now, seq=0, epoch=0, reset=True, entries=(), removed=())
    if row is None:
        return feed, []
    messages = [each for each in rows.all_messages(row.id) if each.kept_at <= at]
    believed = (
        (each, believed_at(each, _past_of(rows, row.id, each, at), at))
        for each in rows.memories(row.id)
        if each.created_at <= at and not is_expired(each, now)
    )
    times = SaidTimes(rows, row.id)
    # Past versions have no *said_at* of their own: derive it from the messages still there.
    memories = [
        past
        if past is present
        else replace(past, said_at=times.newest(dating_messages(past.evidence)))
        for present, past in believed
        if past
    ]
    threads = rows.thread_ids(row.id, sorted({each.thread for each in messages}))
    entries = [
        Entry(uid=each.uid, scope=scope, content=message_of(each, threads[each.thread]))
        for each in messages
    ] + [Entry(uid=each.uid, scope=scope, content=memory_of(each, scope)) for each in memories]
    eligible = None
    if conditions is not None:
        eligible = frozenset(
            [each.uid for each in messages if matches(conditions, json.loads(each.metadata))]
            + [each.uid for each in memories if matches(conditions, json.loads(each.value))]
        )
    fed = [message_entry(each, None)._replace(terms=_terms_of(each)) for each in messages] + [
        memory_entry(each, None)._replace(terms=_terms_of(each)) for each in memories
    ]
    return replace(feed, entries=tuple(fed), eligible=eligible), entries


def _past_of(rows: Rows, scope_id: int, row: MemoryRow, at: int) -> Sequence[RevisionRow]:
    """Return the past versions of a memory; none if the present one was believed at *at*."""
    return () if row.updated_at <= at else rows.revisions(scope_id, row.uid)


def message_entry(row: MessageRow, vector: bytes | None) -> FeedEntry:
    """Return a message as a feed entry."""
    return FeedEntry(
        row.uid, row.seq, "message", row.thread, row.session, row.position, row.time, row.name,
        row.role, None, "active", None, None, None, row.terms, vector,
    )  # fmt: skip


def memory_entry(row: MemoryRow, vector: bytes | None) -> FeedEntry:
    """Return a memory as a feed entry, which belongs to no thread and is its own session."""
    # The time that a memory is about: since when it is true, when it was said, or when written.
    moments = (row.valid_from, row.said_at)
    time = next((each for each in moments if each is not None), row.updated_at)
    return FeedEntry(
        row.uid, row.seq, "memory", 0, str(row.uid), 0, time, None,
        "user", row.type, row.state, row.valid_from, row.valid_until, row.expires_at, row.terms,
        vector, row.updated_at,
    )  # fmt: skip
