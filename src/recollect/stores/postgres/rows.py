"""`Rows` over a PostgreSQL transaction: constant SQL, answered from indexes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import starmap

from recollect.records import FormationStatus, Scope
from recollect.stores.change_feed import NO_SUMMARIES, Cursor, FeedEntry, MemorySummaries
from recollect.stores.columns import (
    audit_row,
    both_rows,
    formation_row,
    idempotency_row,
    memory_row,
    message_row,
    receipt_row,
    scope_row,
    side_row,
)
from recollect.stores.postgres.replica_lag import PrimaryPosition
from recollect.stores.postgres.row_security import (
    CLOSED,
    SWEEPING,
    around,
    chained,
    finding,
    inside,
    spanning,
    sweeping,
)
from recollect.stores.postgres.scope_rows import HEAD_BYTES, PostgresScopeRows, key_of, paged
from recollect.stores.postgres.statements import QUERIES, SESSION
from recollect.stores.postgres.transaction import (
    Question,
    Stored,
    Transaction,
    TransactionOverError,
)
from recollect.stores.query_rows import LAST, side_bounds
from recollect.stores.rows import (
    ALL_MEMORIES,
    AuditRow,
    FormationRow,
    IdempotencyRow,
    MemoryRange,
    MemoryRow,
    MessageRow,
    Place,
    ReceiptPlace,
    ReceiptRow,
    ScopeRow,
    SidePlace,
    SideRow,
    ThreadRow,
)
from recollect.stores.scope_paths import range_below, range_of, segments_of, stored_path
from recollect.stores.system_clock import timer_s


class PostgresRows(PostgresScopeRows):
    """
    The reads of one transaction; valid until it ends.

    Entries that were fetched once are kept: their scope is locked, or the snapshot does not move.
    """

    def __init__(self, transaction: Transaction) -> None:
        super().__init__(transaction)
        self._thread_ids: dict[tuple[int, int], str] = {}
        self._messages: dict[tuple[int, int], MessageRow | None] = {}
        self._memories: dict[tuple[int, int], MemoryRow | None] = {}
        self._at: dict[tuple[int, tuple[tuple[str, str], ...]], list[MemoryRow]] = {}
        self._sides: dict[tuple[int, tuple[SidePlace, ...]], list[SideRow]] = {}

    def foresee(self, ids: Mapping[Scope, int], likely: Mapping[Scope, Sequence[int]]) -> None:
        """
        Prefetch entries of scopes by their expected ids, and end the transaction.

        This takes one round trip; no other query is possible afterwards.

        Raises:
            TransactionOverError: A scope has another id, or none.
        """
        questions: list[Question] = []
        for scope, uids in likely.items():
            id_, wall = ids[scope], around(scope, ids[scope])
            questions.append((QUERIES["scope"], key_of(scope), wall))
            if uids:
                questions.append((QUERIES["messages_by_uid"], (id_, list(uids)), wall))
                questions.append((QUERIES["memories_by_uid"], (id_, list(uids)), wall))
        answers = iter(self._transaction.fetch_all(questions, last=True))
        for scope, uids in likely.items():
            row = next((scope_row(each) for each in next(answers)), None)
            if row is None or row.id != ids[scope]:
                raise TransactionOverError
            self._scopes[scope] = row
            if uids:
                self._keep_messages(row.id, uids, next(answers))
                self._keep_memories(row.id, uids, next(answers))

    def foresee_sides(self, ids: Mapping[Scope, int | None], places: tuple[SidePlace, ...]) -> None:
        """
        Prefetch the side records of scopes by their expected ids, and end the transaction.

        This takes one round trip; no other query is possible afterwards.

        Raises:
            TransactionOverError: A scope has another id, or one that was not expected.
        """
        columns = [list(each) for each in zip(*places, strict=True)]
        questions: list[Question] = []
        for scope, id_ in ids.items():
            wall = finding(scope) if id_ is None else around(scope, id_)
            questions.append((QUERIES["scope"], key_of(scope), wall))
            if id_ is not None:
                questions.append((QUERIES["side_records_at"], (id_, *columns), wall))
        answers = iter(self._transaction.fetch_all(questions, last=True))
        for scope, id_ in ids.items():
            row = next((scope_row(each) for each in next(answers)), None)
            sides = [] if id_ is None else [side_row(each) for each in next(answers)]
            if row is None:
                self._absent.add(scope)
                continue
            if row.id != id_:
                raise TransactionOverError
            self._scopes[scope] = row
            self._sides[row.id, places] = sides

    def primary_position(self, scopes: Sequence[Scope]) -> PrimaryPosition:
        """Return the cursors of *scopes* and the end of the log, and end the transaction."""
        asked_at = timer_s()
        digests = [key_of(each)[0] for each in scopes]
        wall = spanning(scopes)
        questions: list[Question] = [
            (QUERIES["scope_positions"], (digests,), wall),
            (SESSION["primary_wal"], (), wall),
        ]
        found, ((wal, now_us),) = self._transaction.fetch_all(questions, last=True)
        places = {each: Cursor(scope=each, seq=0, epoch=0) for each in scopes}
        for path, epoch, seq in found:
            scope = segments_of(path)
            places[scope] = Cursor(scope=scope, seq=seq, epoch=epoch)
        return PrimaryPosition(scopes=places, wal=wal, now_us=now_us, asked_at=asked_at)

    def expect(self, addresses: Mapping[Scope, Sequence[tuple[str, str]]]) -> None:
        statement = QUERIES["scope"] + self._lock
        # In the caller's order, which is the same for all writers: each statement locks its scope.
        scopes = [(statement, key_of(each), finding(each)) for each in addresses]
        found = self._transaction.fetch_all(scopes)
        there = [scope_row(row) for each in found for row in each]
        self._scopes |= {row.segments: row for row in there}
        places = ((row.id, tuple(addresses[row.segments])) for row in there)
        wanted = [each for each in places if each[1]]
        memories = self._transaction.fetch_all([*starmap(_query_at, wanted)]) if wanted else []
        for each, rows in zip(wanted, memories, strict=True):
            self._at[each] = [memory_row(row) for row in rows]

    def thread_ids(self, scope_id: int, numbers: Sequence[int]) -> dict[int, str]:
        known = self._thread_ids
        if unknown := [each for each in numbers if (scope_id, each) not in known]:
            for number, id_ in self._of("thread_ids", scope_id, unknown):
                known[scope_id, number] = id_
        return {each: known[scope_id, each] for each in numbers if (scope_id, each) in known}

    def count_messages(self, scope_id: int, thread: int, after: int) -> int:
        found = self._of("count_messages", scope_id, thread, after)
        return int(found[0][0]) if found else 0

    def messages_by_id(
        self, scope_id: int, thread: int, ids: Sequence[str]
    ) -> Sequence[MessageRow]:
        if not ids:
            return []
        found = self._of("messages_by_id", scope_id, thread, list(ids))
        return [message_row(row) for row in found]

    def setting(self, segments: Scope, kind: str, key: str) -> SideRow | None:
        # Not through `scope`: its lock would serialise all scopes that share the setting.
        found = self._transaction.fetch(QUERIES["scope"], key_of(segments), finding(segments))
        rows = self.side_records_at(scope_row(found[0]).id, [("", kind, key)]) if found else ()
        return next(iter(rows), None)

    def memories_at(
        self, scope_id: int, addresses: Sequence[tuple[str, str]]
    ) -> Sequence[MemoryRow]:
        if not addresses or scope_id in self._given:
            return []
        if (expected := self._at.get((scope_id, tuple(addresses)))) is not None:
            return expected
        return [memory_row(row) for row in self._transaction.fetch(*_query_at(scope_id, addresses))]

    def memories(self, scope_id: int, of: MemoryRange = ALL_MEMORIES) -> Iterator[MemoryRow]:
        after_type, after_key = of.after or ("", "")
        if of.type is not None and after_type > of.type:
            return iter(())
        beyond = after_key if of.type in (None, after_type) else ""

        def page(last: MemoryRow | None, limit: int) -> list[Stored]:
            key = last.key if last else beyond
            if of.type is not None:
                return self._of("memories_of_type", scope_id, of.type, key, of.state, limit)
            place = last.type if last else after_type
            return self._of("memories", scope_id, place, key, of.state, limit)

        return paged(memory_row, page)

    def side_records_at(self, scope_id: int, places: Sequence[SidePlace]) -> Sequence[SideRow]:
        if not places:
            return []
        foreseen = self._sides.get((scope_id, tuple(places)))
        if foreseen is not None:
            return foreseen
        columns = [list(each) for each in zip(*places, strict=True)]
        return [side_row(row) for row in self._of("side_records_at", scope_id, *columns)]

    def side_records(
        self, scope_id: int, within: Sequence[str], after: SidePlace | None
    ) -> Iterator[SideRow]:
        low, high = side_bounds(within, after)

        def page(last: SideRow | None, limit: int) -> list[Stored]:
            beyond = last.place if last else low
            return self._of("side_records", scope_id, *beyond, *high, limit)

        return paged(side_row, page)

    def idempotency(self, scope_ids: Sequence[int], key: str) -> IdempotencyRow | None:
        statement = QUERIES["idempotency"]
        asked = [(statement, (each, key), inside(each)) for each in scope_ids]
        found = self._transaction.fetch_all(asked)
        return next((idempotency_row(row) for each in found for row in each), None)

    def changed(self, scope_id: int, after: int, embedder: str | None) -> Sequence[FeedEntry]:
        values = (embedder, scope_id, after)
        found = self._transaction.fetch(QUERIES["changed"], (*values, *values), inside(scope_id))
        return list(starmap(FeedEntry, found))

    def feed_blocks(self, scope_id: int, embedder: str | None) -> None:
        """Return nothing: blocks are not faster than rows here."""

    def memory_summaries(self, scope_id: int) -> MemorySummaries:
        found = self._of("memory_summaries", scope_id)
        return MemorySummaries(*zip(*found, strict=True)) if found else NO_SUMMARIES

    def messages_by_uid(self, scope_id: int, uids: Sequence[int]) -> Sequence[MessageRow]:
        kept = self._messages
        if unknown := [uid for uid in uids if (scope_id, uid) not in kept]:
            found = self._of("messages_by_uid", scope_id, unknown)
            self._keep_messages(scope_id, unknown, found)
        return [row for uid in dict.fromkeys(uids) if (row := kept[scope_id, uid])]

    def memories_by_uid(self, scope_id: int, uids: Sequence[int]) -> Sequence[MemoryRow]:
        # A uid belongs to a message or a memory of a scope, never to both.
        left = [uid for uid in dict.fromkeys(uids) if not self._messages.get((scope_id, uid))]
        kept = self._memories
        if unknown := [uid for uid in left if (scope_id, uid) not in kept]:
            found = self._of("memories_by_uid", scope_id, unknown)
            self._keep_memories(scope_id, unknown, found)
        return [row for uid in left if (row := kept[scope_id, uid])]

    def memories_in(self, places: Sequence[Place]) -> Sequence[tuple[Scope, MemoryRow]]:
        rows = {scope: self.scope(scope) for scope in dict.fromkeys(scope for scope, _ in places)}
        there = [(scope, row.id, uid) for scope, uid in places if (row := rows[scope])]
        unknown: dict[int, tuple[list[int]]] = {}
        for _, id_, uid in there:
            if (id_, uid) not in self._memories and not self._messages.get((id_, uid)):
                unknown.setdefault(id_, ([],))[0].append(uid)
        for id_, found in self._of_each("memories_by_uid", unknown).items():
            self._keep_memories(id_, *unknown[id_], found)
        kept = ((scope, self._memories.get((id_, uid))) for scope, id_, uid in there)
        return [(scope, row) for scope, row in kept if row]

    def _keep_messages(self, scope_id: int, uids: Sequence[int], found: Sequence[Stored]) -> None:
        self._messages |= dict.fromkeys((scope_id, uid) for uid in uids)
        for *row, thread_id in found:
            message = message_row(row)
            self._messages[scope_id, message.uid] = message
            self._thread_ids[scope_id, message.thread] = thread_id

    def _keep_memories(self, scope_id: int, uids: Sequence[int], found: Sequence[Stored]) -> None:
        self._memories |= dict.fromkeys((scope_id, uid) for uid in uids)
        for row in map(memory_row, found):
            self._memories[scope_id, row.uid] = row

    def all_messages(self, scope_id: int) -> Iterator[MessageRow]:
        def page(last: MessageRow | None, limit: int) -> list[Stored]:
            place = (last.thread, last.position) if last else (-LAST, -LAST)
            return self._of("all_messages", scope_id, *place, limit)

        return paged(message_row, page)

    def waiting_threads(
        self, prefix: Scope, *, below: bool, after: tuple[Scope, str] | None, limit: int
    ) -> Sequence[tuple[ScopeRow, ThreadRow]]:
        first, end = range_below(prefix) if below else range_of(prefix)
        path, id_ = (stored_path(after[0]), after[1]) if after else (b"", "")
        head = max(first, path)[:HEAD_BYTES]
        values = (head, first, end, path, id_, limit)
        found = self._transaction.fetch(QUERIES["waiting_threads"], values, sweeping(first, end))
        return [both_rows(row) for row in found]

    def formations(
        self, scope_id: int, status: FormationStatus | None, before: ReceiptPlace | None, limit: int
    ) -> Sequence[FormationRow]:
        place = before or (LAST, LAST, "")
        found = self._of("formations", scope_id, *place, status, status, limit)
        return [formation_row(row) for row in found]

    def spent(self, scope_id: int, since: int) -> tuple[int, int]:
        found = self._of("spent", scope_id, since)
        return (int(found[0][0]), int(found[0][1])) if found else (0, 0)

    def unembedded_scopes(self, embedder: str, limit: int) -> Sequence[int]:
        values = (embedder, limit)
        found = self._transaction.fetch(QUERIES["unembedded_scopes"], values, SWEEPING)
        return [id_ for (id_,) in found]

    def unembedded(
        self, scope_id: int, after: int, embedder: str, limit: int
    ) -> Sequence[tuple[int, int]]:
        values = (embedder, scope_id, after)
        found = self._transaction.fetch(
            QUERIES["unembedded"], (*values, *values, limit), inside(scope_id)
        )
        return [(uid, seq) for uid, seq in found]

    def receipts(self, *, unclean: bool) -> Sequence[ReceiptRow]:
        statement = QUERIES["receipts_unclean" if unclean else "receipts"]
        return [receipt_row(row) for row in self._transaction.fetch(statement, (), CLOSED)]

    def audit_head(self, chain: bytes) -> tuple[int, bytes] | None:
        found = self._transaction.fetch(QUERIES["audit_head"], (chain,), chained(chain))
        return (int(found[0][0]), bytes(found[0][1])) if found else None

    def audit(self, chain: bytes, after: int, limit: int) -> Sequence[AuditRow]:
        found = self._transaction.fetch(QUERIES["audit"], (chain, after, limit), chained(chain))
        return [audit_row(row) for row in found]


def _query_at(scope_id: int, addresses: Sequence[tuple[str, str]]) -> Question:
    """Return the query for the memories at (type, key) in a scope; at least one."""
    types, keys = zip(*addresses, strict=True)
    return QUERIES["memories_at"], (scope_id, list(types), list(keys)), inside(scope_id)
