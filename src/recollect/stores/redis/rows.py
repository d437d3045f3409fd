"""`Rows` over a Redis server: rows are in hashes by id, every order is a sorted set."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import islice
from typing import Any, Final, TypeVar

from recollect.records import FormationStatus, Scope
from recollect.stores.change_feed import FeedEntry
from recollect.stores.plans.changes import memory_entry, message_entry
from recollect.stores.redis import key_layout as keys
from recollect.stores.redis.codec import (
    FORMATIONS,
    KEYS,
    MEMORIES,
    MESSAGES,
    RECEIPTS,
    REVISIONS,
    SIDES,
    THREADS,
    decode_audited,
    decode_head,
    decode_vector,
)
from recollect.stores.redis.optimistic_reads import Command
from recollect.stores.redis.scope_rows import PAGE, RedisScopeRows, pages_of
from recollect.stores.rows import (
    ALL_MEMORIES,
    AuditRow,
    Citation,
    FormationRow,
    IdempotencyRow,
    MemoryRange,
    MemoryRow,
    MessageRow,
    ReceiptPlace,
    ReceiptRow,
    RevisionRow,
    SidePlace,
    SideRow,
    ThreadRow,
)

RowT = TypeVar("RowT")

_FIRST: Final = b"-"
_LAST: Final = b"+"


class RedisRows(RedisScopeRows):
    """The reads of one unit of work, whose consistency is checked at its end."""

    def expect(self, addresses: Mapping[Scope, Sequence[tuple[str, str]]]) -> None:
        """Do nothing: rows are read on demand."""

    def thread(self, scope_id: int, thread_id: str) -> ThreadRow | None:
        (found,) = self._of(scope_id, "HGET", "threads", thread_id.encode())
        return THREADS.decode(found) if found else None

    def threads(self, scope_id: int, after: str | None, limit: int) -> Sequence[ThreadRow]:
        start = b"-" if after is None else b"(" + after.encode()
        (ids,) = self._of(
            scope_id, "ZRANGEBYLEX", "thread_ids", start, _LAST, "LIMIT", 0, max(0, limit)
        )
        return [THREADS.decode(each) for each in self._fields(scope_id, "threads", ids)]

    def thread_ids(self, scope_id: int, numbers: Sequence[int]) -> dict[int, str]:
        if not numbers:
            return {}
        (found,) = self._of(scope_id, "HMGET", "numbers", *numbers)
        return {each: id_.decode() for each, id_ in zip(numbers, found, strict=True) if id_}

    def messages(
        self, scope_id: int, thread: int, *, after: int, until: int | None, limit: int
    ) -> Sequence[MessageRow]:
        place = keys.number(thread)
        end = place if until is None else place + keys.number(until)
        bounds = (keys.after(place + keys.number(after)), keys.after(end))
        (found,) = self._of(scope_id, "ZRANGEBYLEX", "places", *bounds, "LIMIT", 0, max(0, limit))
        return self._messages_at(scope_id, found)

    def count_messages(self, scope_id: int, thread: int, after: int) -> int:
        place = keys.number(thread)
        bounds = (keys.after(place + keys.number(after)), keys.after(place))
        (count,) = self._of(scope_id, "ZLEXCOUNT", "places", *bounds)
        return int(count)

    def last_messages(
        self, scope_id: int, thread: int, *, before: int | None, limit: int
    ) -> Sequence[MessageRow]:
        place = keys.number(thread)
        end = keys.after(place) if before is None else b"(" + place + keys.number(before)
        (found,) = self._of(
            scope_id, "ZREVRANGEBYLEX", "places", end, b"[" + place, "LIMIT", 0, max(0, limit)
        )
        return self._messages_at(scope_id, found)

    def _messages_at(self, scope_id: int, members: Sequence[bytes]) -> Sequence[MessageRow]:
        # The uid follows the thread's number and the position, eight bytes each.
        return self.messages_by_uid(scope_id, [keys.value_of(each[16:]) for each in members])

    def messages_by_id(
        self, scope_id: int, thread: int, ids: Sequence[str]
    ) -> Sequence[MessageRow]:
        if not ids:
            return []
        wanted = [keys.message_field(thread, each) for each in dict.fromkeys(ids)]
        uids = self._fields(scope_id, "message_ids", wanted)
        return self.messages_by_uid(scope_id, [int(each) for each in uids])

    def messages_of_source(self, scope_id: int, source: str) -> Sequence[MessageRow]:
        prefix = keys.framed(source)
        bounds = (b"[" + prefix, keys.after(prefix))
        (found,) = self._of(scope_id, "ZRANGEBYLEX", "sources", *bounds)
        uids = [keys.value_of(each[len(prefix) :]) for each in found]
        rows = self.messages_by_uid(scope_id, uids)
        return sorted(rows, key=lambda row: (row.thread, row.position))

    def memory(self, scope_id: int, type_: str, key: str) -> MemoryRow | None:
        prefix = keys.address_of(type_, key)
        (found,) = self._of(scope_id, "ZRANGEBYLEX", "addresses", b"[" + prefix, keys.after(prefix))
        rows = self._memories_named(scope_id, found)
        return rows[0] if rows else None

    def memories_at(
        self, scope_id: int, addresses: Sequence[tuple[str, str]]
    ) -> Sequence[MemoryRow]:
        members: list[bytes] = []
        key = keys.of_scope(scope_id, "addresses")
        for page in pages_of(list(dict.fromkeys(addresses))):
            prefixes = [keys.address_of(*each) for each in page]
            ranges = [("ZRANGEBYLEX", key, b"[" + each, keys.after(each)) for each in prefixes]
            members += (each for found in self.reading.ask(scope_id, *ranges) for each in found)
        return self._memories_named(scope_id, members)

    def memories(self, scope_id: int, of: MemoryRange = ALL_MEMORIES) -> Iterator[MemoryRow]:
        first, end = _FIRST, _LAST
        if of.type is not None:
            first, end = keys.beginning_with(of.type.encode() + b"\0")
        if of.after is not None:
            beyond = keys.after(keys.address_of(*of.after))
            first = beyond if first == _FIRST or beyond[1:] > first[1:] else first
        if end != _LAST and first[1:] >= end[1:]:
            return
        limit = 16  # most listings are short, or stop early
        while True:
            command = ("ZRANGEBYLEX", "addresses", first, end, "LIMIT", 0, limit)
            (found,) = self._of(scope_id, *command)
            at = self._memories_named(scope_id, found)
            yield from (each for each in at if of.state in (None, each.state))
            if len(found) < limit:
                return
            first, limit = b"(" + found[-1], PAGE

    def _memories_named(self, scope_id: int, members: Sequence[bytes]) -> Sequence[MemoryRow]:
        # The uid is in the last eight bytes.
        return self.memories_by_uid(scope_id, [keys.value_of(each[-8:]) for each in members])

    def side_records_at(self, scope_id: int, places: Sequence[SidePlace]) -> Sequence[SideRow]:
        members = [keys.side_member(each) for each in dict.fromkeys(places)]
        return [SIDES.decode(each) for each in self._fields(scope_id, "sides", members)]

    def side_records(
        self, scope_id: int, within: Sequence[str], after: SidePlace | None
    ) -> Iterator[SideRow]:
        first, end = _FIRST, _LAST
        if within:
            first, end = keys.beginning_with(keys.side_member(within))
        if after is not None:
            beyond = keys.side_member(after)
            first = b"(" + beyond if first == _FIRST or beyond > first[1:] else first
        while True:
            bounds = (first, end, "LIMIT", 0, PAGE)
            (found,) = self._of(scope_id, "ZRANGEBYLEX", "side_places", *bounds)
            yield from map(SIDES.decode, self._fields(scope_id, "sides", found))
            if len(found) < PAGE:
                return
            first = b"(" + found[-1]

    def citations(self, asked: Mapping[int, Sequence[tuple[str, str]]]) -> Sequence[Citation]:
        cited: list[Citation] = []
        for scope_id, messages in asked.items():
            key = keys.of_scope(scope_id, "links")
            for links in pages_of(messages):
                prefixes = [keys.link_of(*each) for each in links]
                ranges = [("ZRANGEBYLEX", key, b"[" + each, keys.after(each)) for each in prefixes]
                answers = self.reading.ask(scope_id, *ranges)
                for name, found in zip(links, answers, strict=True):
                    cited += ((scope_id, keys.value_of(each[-8:]), *name) for each in found)
        return cited

    def evidence_in(self, scope_id: int, thread: str) -> Sequence[str]:
        bounds = keys.beginning_with(keys.framed(thread))
        (found,) = self._of(scope_id, "ZRANGEBYLEX", "links", *bounds)
        return sorted({keys.message_named(each, thread) for each in found})

    def revisions(self, scope_id: int, uid: int) -> Sequence[RevisionRow]:
        place = keys.number(uid)
        (found,) = self._of(scope_id, "ZRANGEBYLEX", "versions", b"[" + place, keys.after(place))
        return [REVISIONS.decode(each) for each in self._fields(scope_id, "revisions", found)]

    def idempotency(self, scope_ids: Sequence[int], key: str) -> IdempotencyRow | None:
        for scope_id in scope_ids:
            (found,) = self._of(scope_id, "HGET", "keys", key.encode())
            if found:
                return KEYS.decode(found)
        return None

    def keys_named(self, scope_id: int, names: Sequence[str]) -> Sequence[IdempotencyRow]:
        """Return the requests under those of a scope's keys that exist."""
        found = self._fields(scope_id, "keys", [each.encode() for each in names])
        return [KEYS.decode(each) for each in found]

    def keys_of(self, scope_id: int) -> Sequence[IdempotencyRow]:
        (found,) = self._of(scope_id, "HVALS", "keys")
        return [KEYS.decode(each) for each in found]

    def changed(self, scope_id: int, after: int, embedder: str | None) -> Sequence[FeedEntry]:
        (uids,) = self._of(scope_id, "ZRANGEBYSCORE", "feed", f"({after}", "+inf")
        return [
            entry for page in pages_of(uids) for entry, _ in self._entries(scope_id, page, embedder)
        ]

    def _entries(
        self, scope_id: int, members: Sequence[bytes], embedder: str | None
    ) -> list[tuple[FeedEntry, bytes | None]]:
        """Return the feed entries with these members, each with its current vector."""
        uids = [keys.value_of(each) for each in members]
        rows: dict[int, MessageRow | MemoryRow] = {}
        rows |= {row.uid: row for row in self.messages_by_uid(scope_id, uids)}
        left = [uid for uid in uids if uid not in rows]
        rows |= {row.uid: row for row in self.memories_by_uid(scope_id, left)}
        vectors: list[bytes | None] = [None] * len(members)
        if embedder and members:
            named = [each + embedder.encode() for each in members]
            (vectors,) = self._of(scope_id, "HMGET", "vectors", *named)
        found = []
        for uid, stored in zip(uids, vectors, strict=True):
            row = rows[uid]
            hash_, vector = decode_vector(stored) if stored else (None, None)
            fresh = vector if hash_ == row.text_hash else None
            entry = (
                message_entry(row, fresh)
                if isinstance(row, MessageRow)
                else memory_entry(row, fresh)
            )
            found.append((entry, fresh))
        return found

    def feed_blocks(self, scope_id: int, embedder: str | None) -> None:
        """Return ``None``: blocks would not be faster here."""

    def memory_summaries(self, scope_id: int) -> None:
        """Return ``None``: whole rows are read in either case."""

    def removed(self, scope_id: int, after: int) -> Sequence[int]:
        (found,) = self._of(scope_id, "ZRANGEBYSCORE", "tombstones", f"({after}", "+inf")
        return [keys.value_of(each) for each in found]

    def messages_by_uid(self, scope_id: int, uids: Sequence[int]) -> Sequence[MessageRow]:
        return self._by_uid(scope_id, "messages", uids, MESSAGES.decode)

    def memories_by_uid(self, scope_id: int, uids: Sequence[int]) -> Sequence[MemoryRow]:
        return self._by_uid(scope_id, "memories", uids, MEMORIES.decode)

    def _by_uid(
        self, scope_id: int, kind: str, uids: Sequence[int], decode: Callable[..., RowT]
    ) -> list[RowT]:
        """Return the entries of one kind that exist, each with its current seq."""
        rows: list[RowT] = []
        for page in pages_of(list(dict.fromkeys(uids))):
            found, scores = self.reading.ask(
                scope_id,
                ("HMGET", keys.of_scope(scope_id, kind), *page),
                ("ZMSCORE", keys.of_scope(scope_id, "feed"), *map(keys.number, page)),
            )
            # The seq is the score in the feed: it may have been raised since the row was written.
            pairs = zip(found, scores, strict=True)
            rows += [decode(row, seq=int(score)) for row, score in pairs if row and score]
        return rows

    def all_messages(self, scope_id: int) -> Iterator[MessageRow]:
        start = _FIRST
        while True:
            (found,) = self._of(scope_id, "ZRANGEBYLEX", "places", start, _LAST, "LIMIT", 0, PAGE)
            yield from self._messages_at(scope_id, found)
            if len(found) < PAGE:
                return
            start = b"(" + found[-1]

    def due_threads_of(self, scope_id: int, now: int, limit: int) -> Sequence[ThreadRow]:
        start, end = _FIRST, b"(" + keys.number(now + 1)
        due: list[ThreadRow] = []
        while len(due) < limit:
            (found,) = self._of(scope_id, "ZRANGEBYLEX", "due", start, end, "LIMIT", 0, limit)
            # The thread's id follows its due time and its number.
            rows = self._fields(scope_id, "threads", [each[16:] for each in found])
            threads = map(THREADS.decode, rows)
            due += [row for row in threads if (row.not_before or now) <= now]
            if len(found) < limit:
                break
            start = b"(" + found[-1]
        return due[:limit]

    def formation(self, scope_id: int, formation_id: str) -> FormationRow | None:
        (found,) = self._of(scope_id, "HGET", "formations", formation_id.encode())
        return FORMATIONS.decode(found) if found else None

    def formations(
        self, scope_id: int, status: FormationStatus | None, before: ReceiptPlace | None, limit: int
    ) -> Sequence[FormationRow]:
        start = b"+"
        if before:
            start = b"(" + keys.number(before[0]) + keys.number(before[1]) + before[2].encode()
        rows = self._formations(scope_id, start)
        return list(islice((row for row in rows if status in (None, row.status)), max(0, limit)))

    def _formations(
        self, scope_id: int, start: bytes, last: bytes = b"-"
    ) -> Iterator[FormationRow]:
        """Yield formations, newest first, from the place *start* down to *last*."""
        while True:
            (found,) = self._of(
                scope_id, "ZREVRANGEBYLEX", "formation_places", start, last, "LIMIT", 0, PAGE
            )
            ids = [each[16:] for each in found]  # after the time and the fence
            yield from map(FORMATIONS.decode, self._fields(scope_id, "formations", ids))
            if len(found) < PAGE:
                return
            start = b"(" + found[-1]

    def spent(self, scope_id: int, since: int) -> tuple[int, int]:
        rows = list(self._formations(scope_id, b"+", b"[" + keys.number(since)))
        return sum(row.calls for row in rows), sum(row.tokens for row in rows)

    def unembedded(
        self, scope_id: int, after: int, embedder: str, limit: int
    ) -> Sequence[tuple[int, int]]:
        (members,) = self._of(scope_id, "ZRANGEBYSCORE", "feed", f"({after}", "+inf")
        waiting: list[tuple[int, int]] = []
        for page in pages_of(members):
            entries = self._entries(scope_id, page, embedder)
            waiting += [(each.uid, each.seq) for each, vector in entries if vector is None]
            if len(waiting) >= limit:
                break
        return waiting[:limit]

    def embedded_seq(self, scope_id: int, embedder: str) -> int:
        (found,) = self._of(scope_id, "HGET", "embedded", embedder.encode())
        return int(found or 0)

    def receipts(self, *, unclean: bool) -> Sequence[ReceiptRow]:
        (found,) = self.reading.ask_guarded(keys.RECEIPTS_VERSION, ("HVALS", keys.RECEIPTS))
        rows = [row for row in map(RECEIPTS.decode, found) if not (unclean and row.clean_at)]
        return sorted(rows, key=lambda row: (row.erased_at, row.id))

    def audit_head(self, chain: bytes) -> tuple[int, bytes] | None:
        (found,) = self._of_chain(chain, ("GET", keys.of_chain(chain, "head")))
        return decode_head(found) if found else None

    def audit(self, chain: bytes, after: int, limit: int) -> Sequence[AuditRow]:
        if limit < 1:
            return []
        # Rows are numbered from 1 without gaps, so that row n is at index n - 1 of the list.
        place: Command = ("LRANGE", keys.of_chain(chain, "rows"), after, after + limit - 1)
        (stored,) = self._of_chain(chain, place)
        rows = [decode_audited(each, chain) for each in stored]
        if not rows:
            return []
        numbers = [row.n for row in rows]
        names = keys.of_chain(chain, "actors")
        (actors,) = self._of_chain(chain, ("HMGET", names, *numbers))
        pairs = zip(rows, actors, strict=True)
        return [replace(row, actor=actor.decode() if actor else None) for row, actor in pairs]

    def _of_chain(self, chain: bytes, command: Command) -> list[Any]:
        return self.reading.ask_guarded(keys.version_of_chain(chain), command)
