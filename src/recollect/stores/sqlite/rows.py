"""`Rows` over a SQLite connection: each method reads an index by constant SQL."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import fields
from typing import Any, Final, Literal, TypeAlias

import apsw

from recollect.records import FormationStatus, Scope
from recollect.stores import columns
from recollect.stores.change_feed import (
    EntryBlock,
    FeedBlocks,
    FeedEntry,
    IndexFileRow,
    MemorySummaries,
    ReadMoment,
    VectorBlock,
)
from recollect.stores.columns import (
    audit_row,
    both_rows,
    feed_entry,
    formation_row,
    idempotency_row,
    receipt_row,
    thread_row,
)
from recollect.stores.fast_records import maker_of
from recollect.stores.filters import Condition, matches
from recollect.stores.query_rows import LAST, QueryRows, side_bounds
from recollect.stores.rows import (
    ALL_MEMORIES,
    AuditRow,
    Citation,
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
from recollect.stores.sqlite.checksums import (
    CHECKED_MEMORY,
    DamagedRowError,
    Stored,
    memory_row,
    message_row,
    revision_row,
    scope_row,
    side_row,
)
from recollect.stores.sqlite.queries import SQLiteQueries
from recollect.stores.validation import decode_json

BLOCKS_FROM: Final = 500
"""Read scopes with no more entries than this row by row, which is faster."""
# SQLite joins each column of a block into one value, so that Python handles no value by itself.
BLOCK_ROWS: Final = 8_192
_FIRST: Final = -1
"""A number before the first one of every table's key."""
ReadOne: TypeAlias = Callable[[str, tuple[object, ...]], tuple[Any, ...]]
"""A function that returns the single row of a named statement with these parameters."""


def entry_blocks(
    read: ReadOne, name: Literal["message_block", "memory_block"], scope_id: int
) -> tuple[list[EntryBlock], int]:
    """Return the blocks of all entries of a table in a scope, and the number of entries."""
    blocks, total = list[EntryBlock](), 0
    after = _FIRST, _FIRST
    while True:
        count, *columns = read(name, (scope_id, *after, BLOCK_ROWS))
        if count:
            blocks.append(EntryBlock(*columns))
            after = _place_of_last(blocks[-1], name)
        total += count
        if count < BLOCK_ROWS:
            return blocks, total


def _place_of_last(block: EntryBlock, name: str) -> tuple[int, int]:
    """Return the key of a block's last row, after which the next block begins."""
    if name == "message_block":
        return _last(block.thread), _last(block.position)
    return _last(block.seq), _last(block.uid)


def vector_blocks(read: ReadOne, scope_id: int, embedder: str) -> list[VectorBlock]:
    """Return all vectors of a scope by *embedder*."""
    blocks = list[VectorBlock]()
    after, count = _FIRST, BLOCK_ROWS
    while count == BLOCK_ROWS:
        count, *columns = read("vector_block", (scope_id, after, embedder, BLOCK_ROWS))
        if count:
            blocks.append(VectorBlock(*columns))
            after = _last(blocks[-1].uid)
    return blocks


def _last(numbers: str) -> int:
    return int(numbers.rpartition(",")[2])


_index_file_row: Final = maker_of(IndexFileRow)
_KIND: Final = FeedEntry._fields.index("kind")
_VALUE: Final = [each.name for each in fields(MemoryRow)].index("value")


def _blob(value: object) -> bytes:
    # Not `bytes(value)`: of a number in a damaged row it would make as many zeros.
    if not isinstance(value, bytes):
        raise DamagedRowError(f"a column holds {type(value).__name__} where bytes were written")
    return value


class SQLiteRows(SQLiteQueries, QueryRows):
    """The reads of one transaction on a connection; valid until it ends."""

    message_row = staticmethod(message_row)
    memory_row = staticmethod(memory_row)
    revision_row = staticmethod(revision_row)

    def __init__(
        self,
        connection: apsw.Connection,
        settings_stamp: int | None = None,
        *,
        reader: int | None = None,
    ) -> None:
        super().__init__(connection)
        self.settings_stamp = settings_stamp
        self._reader = reader

    @property
    def moment(self) -> ReadMoment | None:
        """
        Return the `ReadMoment` of a read connection's transaction, else ``None``.

        SQLite changes a connection's ``data_version`` only when another one has committed
        (https://www.sqlite.org/pragma.html#pragma_data_version).
        """
        if self._reader is None:
            return None
        return ReadMoment(self._reader, int(self._connection.pragma("data_version")))

    def expect(self, addresses: Mapping[Scope, Sequence[tuple[str, str]]]) -> None:
        """Do nothing: rows are read on demand."""

    def new_number(self) -> int:
        return int(self._one("new_number", ())[0])

    def secret(self) -> bytes:
        """Return the store's own random key."""
        return _blob(self._one("secret", ())[0])

    def scope(self, segments: Scope) -> ScopeRow | None:
        found = self._first("scope", (stored_path(segments),))
        return scope_row(found) if found else None

    def scope_by_id(self, scope_id: int) -> ScopeRow | None:
        found = self._first("scope_by_id", (scope_id,))
        return scope_row(found) if found else None

    def scopes_below(self, prefix: Scope, after: Scope | None) -> Iterator[ScopeRow]:
        first, end = range_below(prefix)
        beyond = b"" if after is None else stored_path(after)
        return map(scope_row, self._each("scopes_below", (first, beyond, end)))

    def scopes_holding(
        self, type_: str, now: int, prefix: Scope, after: Scope | None
    ) -> Iterator[Scope]:
        first, end = range_below(prefix)
        beyond = b"" if after is None else stored_path(after)
        found = self._each("scopes_holding", (first, beyond, end, type_, now))
        return (segments_of(path) for (path,) in found)

    def thread_ids(self, scope_id: int, numbers: Sequence[int]) -> dict[int, str]:
        found = {number: self._first("thread_id", (scope_id, number)) for number in numbers}
        return {number: row[0] for number, row in found.items() if row}

    def count_messages(self, scope_id: int, thread: int, after: int) -> int:
        return int(self._one("count_messages", (scope_id, thread, after))[0])

    def messages_by_id(
        self, scope_id: int, thread: int, ids: Sequence[str]
    ) -> Sequence[MessageRow]:
        keys = [(scope_id, thread, id_) for id_ in dict.fromkeys(ids)]
        return [message_row(row) for row in self._found("message_by_id", keys)]

    def memories_at(
        self, scope_id: int, addresses: Sequence[tuple[str, str]]
    ) -> Sequence[MemoryRow]:
        keys = [(scope_id, *each) for each in dict.fromkeys(addresses)]
        return [memory_row(row) for row in self._found("memory", keys)]

    def memories(self, scope_id: int, of: MemoryRange = ALL_MEMORIES) -> Iterator[MemoryRow]:
        found = map(memory_row, self._memories(scope_id, of))
        # Only a complete listing can be compared with the number of rows.
        return self._counted("memory", scope_id, found) if of == ALL_MEMORIES else found

    def _memories(self, scope_id: int, of: MemoryRange) -> Iterator[Stored]:
        after_type, after_key = of.after or ("", "")
        if of.type is None:
            return self._each("memories", (scope_id, after_type, after_key, of.state))
        if after_type > of.type:
            return iter(())
        beyond = after_key if after_type == of.type else ""
        return self._each("memories_of_type", (scope_id, of.type, beyond, of.state))

    def memories_matching(
        self, scope_id: int, type_: str | None, conditions: Sequence[Condition]
    ) -> Iterator[MemoryRow]:
        stored = self._memories(scope_id, MemoryRange(type_))
        # Filter on the columns: most rows do not match, and need no object.
        for row in map(CHECKED_MEMORY, stored):
            if matches(conditions, decode_json(row[_VALUE])):
                yield columns.memory_row(row)

    def side_records_at(self, scope_id: int, places: Sequence[SidePlace]) -> Sequence[SideRow]:
        keys = [(scope_id, *each) for each in dict.fromkeys(places)]
        return [side_row(row) for row in self._found("side_record", keys)]

    def side_records(
        self, scope_id: int, within: Sequence[str], after: SidePlace | None
    ) -> Iterator[SideRow]:
        low, high = side_bounds(within, after)
        found = map(side_row, self._each("side_records", (scope_id, *low, *high)))
        if not within and after is None:
            return self._counted("side_record", scope_id, found)
        return found

    def citations(self, asked: Mapping[int, Sequence[tuple[str, str]]]) -> Sequence[Citation]:
        return [
            (scope_id, uid, *each)
            for scope_id, messages in asked.items()
            for each in messages
            for (uid,) in self._all("resting_on", (scope_id, *each))
        ]

    def idempotency(self, scope_ids: Sequence[int], key: str) -> IdempotencyRow | None:
        found = (self._first("idempotency", (each, key)) for each in scope_ids)
        return next((idempotency_row(each) for each in found if each), None)

    def changed(self, scope_id: int, after: int, embedder: str | None) -> Sequence[FeedEntry]:
        found = self._all("changed", (scope_id, after, embedder))
        if not after:
            messages = sum(row[_KIND] == "message" for row in found)
            self._check_count("message", scope_id, messages)
            self._check_count("memory", scope_id, len(found) - messages)
        return list(map(feed_entry, found))

    def feed_blocks(self, scope_id: int, embedder: str | None) -> FeedBlocks | None:
        if not self._all("has_many", (scope_id, BLOCKS_FROM)):
            return None
        messages, count = entry_blocks(self._one, "message_block", scope_id)
        self._check_count("message", scope_id, count)
        memories, count = entry_blocks(self._one, "memory_block", scope_id)
        self._check_count("memory", scope_id, count)
        vectors = vector_blocks(self._one, scope_id, embedder) if embedder else ()
        return FeedBlocks(entries=(*messages, *memories), vectors=tuple(vectors))

    def index_files(self, scope_id: int) -> Sequence[IndexFileRow]:
        """Return the rows of all index files of a scope, unfinished ones included."""
        return list(map(_index_file_row, self._all("index_files", (scope_id,))))

    def all_index_files(self) -> Sequence[IndexFileRow]:
        """Return the rows of the index files of all scopes."""
        return list(map(_index_file_row, self._all("all_index_files", ())))

    def has_index_file(self, scope_id: int) -> bool:
        """Return True if the scope has a row of an index file."""
        return self._first("has_index_file", (scope_id,)) is not None

    def memory_summaries(self, scope_id: int) -> MemorySummaries:
        count, *found = self._one("memory_summaries", (scope_id,))
        self._check_count("memory", scope_id, count)
        return MemorySummaries._make(json.loads(each) if each else [None] * count for each in found)

    def messages_by_uid(self, scope_id: int, uids: Sequence[int]) -> Sequence[MessageRow]:
        keys = [(scope_id, uid) for uid in dict.fromkeys(uids)]
        return [message_row(row) for row in self._found("message_by_uid", keys)]

    def memories_by_uid(self, scope_id: int, uids: Sequence[int]) -> Sequence[MemoryRow]:
        keys = [(scope_id, uid) for uid in dict.fromkeys(uids)]
        return [memory_row(row) for row in self._found("memory_by_uid", keys)]

    def memories_in(self, places: Sequence[Place]) -> Sequence[tuple[Scope, MemoryRow]]:
        keys = [(at, stored_path(scope), uid) for at, (scope, uid) in enumerate(places)]
        found = self._found("memory_in", keys)
        return [(places[row[0]][0], memory_row(row[1:])) for row in found]

    def all_messages(self, scope_id: int) -> Iterator[MessageRow]:
        found = map(message_row, self._each("all_messages", (scope_id,)))
        return self._counted("message", scope_id, found)

    def due_threads(self, now: int, limit: int) -> Sequence[tuple[ScopeRow, ThreadRow]]:
        return [both_rows(row) for row in self._all("due_threads", (now, limit))]

    def due_threads_of(self, scope_id: int, now: int, limit: int) -> Sequence[ThreadRow]:
        return [thread_row(row) for row in self._all("due_threads_of", (scope_id, now, limit))]

    def waiting_threads(
        self, prefix: Scope, *, below: bool, after: tuple[Scope, str] | None, limit: int
    ) -> Sequence[tuple[ScopeRow, ThreadRow]]:
        first, end = range_below(prefix) if below else range_of(prefix)
        path, id_ = (stored_path(after[0]), after[1]) if after else (b"", "")
        found = self._all("waiting_threads", (first, end, path, id_, limit))
        return [both_rows(row) for row in found]

    def formations(
        self, scope_id: int, status: FormationStatus | None, before: ReceiptPlace | None, limit: int
    ) -> Sequence[FormationRow]:
        place = before or (LAST, LAST, "")
        found = self._all("formations", (scope_id, *place, status, limit))
        return [formation_row(row) for row in found]

    def spent(self, scope_id: int, since: int) -> tuple[int, int]:
        calls, tokens = self._one("spent", (scope_id, since))
        return int(calls), int(tokens)

    def unembedded_scopes(self, embedder: str, limit: int) -> Sequence[int]:
        return [id_ for (id_,) in self._all("unembedded_scopes", (embedder, limit))]

    def unembedded(
        self, scope_id: int, after: int, embedder: str, limit: int
    ) -> Sequence[tuple[int, int]]:
        found = self._all("unembedded", (scope_id, after, embedder, limit))
        return [(uid, seq) for uid, seq in found]

    def receipts(self, *, unclean: bool) -> Sequence[ReceiptRow]:
        name = "receipts_unclean" if unclean else "receipts"
        return [receipt_row(row) for row in self._all(name, ())]

    def audit_head(self, chain: bytes) -> tuple[int, bytes] | None:
        found = self._first("audit_head", (chain,))
        return (int(found[0]), _blob(found[1])) if found else None

    def audit(self, chain: bytes, after: int, limit: int) -> Sequence[AuditRow]:
        found = self._all("audit", (chain, after, limit))
        return [audit_row(row) for row in found]
