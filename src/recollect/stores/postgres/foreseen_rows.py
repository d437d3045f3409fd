"""Rows that a group of writes needs, fetched in one round trip."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from recollect.records import Scope
from recollect.stores.columns import idempotency_row, memory_row, message_row, scope_row, thread_row
from recollect.stores.foreseen_reads import ForeseenReads
from recollect.stores.postgres.row_security import chained, inside
from recollect.stores.postgres.rows import PostgresRows
from recollect.stores.postgres.statements import GROUP
from recollect.stores.postgres.transaction import Question, Transaction
from recollect.stores.rows import (
    NO_SCOPE,
    IdempotencyRow,
    MemoryRow,
    MessageRow,
    ScopeRow,
    SideRow,
    ThreadRow,
)
from recollect.stores.scope_paths import stored_path


@dataclass(slots=True)
class ForeseenAnswers:
    """
    The rows that were fetched for a group of writes.

    Each row is filed under the scope id in the row itself, never by its position in an answer, so
    that a write cannot be given the rows of another scope.
    """

    scopes: dict[Scope, ScopeRow] = field(default_factory=dict)
    """The scopes that this transaction has locked; a write to another scope has to run alone."""
    threads: dict[tuple[int, str], ThreadRow] = field(default_factory=dict)
    last: dict[tuple[int, int], MessageRow] = field(default_factory=dict)
    by_id: dict[tuple[int, int, str], MessageRow] = field(default_factory=dict)
    keys: dict[tuple[int, str], IdempotencyRow] = field(default_factory=dict)
    memories: dict[tuple[int, str, str], MemoryRow] = field(default_factory=dict)
    heads: dict[bytes, tuple[int, bytes]] = field(default_factory=dict)
    numbers: list[int] = field(default_factory=list)
    """Numbers for new threads."""
    settings: dict[tuple[Scope, str, str], SideRow | None] = field(default_factory=dict)
    """Filled on first use, shared by the whole group."""

    def keep_message(self, row: MessageRow) -> None:
        """Keep *row* by its id, and as the last of its thread unless a later one is known."""
        self.by_id[row.scope_id, row.thread, row.id] = row
        thread = row.scope_id, row.thread
        if thread not in self.last or self.last[thread].position < row.position:
            self.last[thread] = row


def read_together(
    transaction: Transaction, reads: Sequence[ForeseenReads], ids: Mapping[Scope, int]
) -> ForeseenAnswers:
    """
    Lock the scopes of *reads*, skipping those locked elsewhere, and fetch the rows that they need.

    This takes one round trip, and a second one if a thread is new. Scopes are found by their last
    known *ids*; row security shows these scopes and no others.
    """
    questions = _questions(reads, ids)
    answers = transaction.fetch_all(questions.values())
    rows = defaultdict(list, zip(questions, answers, strict=True))
    found = ForeseenAnswers(
        scopes={row.segments: row for row in map(scope_row, rows["lock_scopes"])},
        threads={(row.scope_id, row.id): row for row in map(thread_row, rows["threads"])},
        keys={(row.scope_id, row.key): row for row in map(idempotency_row, rows["idempotency"])},
        memories={
            (row.scope_id, row.type, row.key): row for row in map(memory_row, rows["memories"])
        },
        heads={chain: (number, hash_) for chain, number, hash_ in rows["audit_heads"]},
    )
    for row in map(message_row, rows["messages"]):
        found.keep_message(row)
    new = sum(
        each.scope in found.scopes and (ids[each.scope], each.thread) not in found.threads
        for each in reads
    )
    if new:
        found.numbers = [number for (number,) in transaction.fetch(GROUP["new_numbers"], (new,))]
        found.numbers.reverse()
    return found


def _questions(reads: Sequence[ForeseenReads], ids: Mapping[Scope, int]) -> dict[str, Question]:
    """Return the queries for all of *reads*, by the names of the statements."""
    places = [(ids[each.scope], each) for each in reads]
    scopes = [id_ for id_, _ in places]
    asked = [(id_, each.thread, of) for id_, each in places for of in (None, *each.messages)]
    # The locks come first: each later statement then sees all that was committed before them.
    values: dict[str, Sequence[Sequence[object]]] = {
        "lock_scopes": (scopes, [stored_path(each.scope) for each in reads]),
        "threads": (scopes, [each.thread for each in reads]),
        "messages": tuple(zip(*asked, strict=True)),
    }
    walls = dict.fromkeys(values, inside(*scopes))
    if keys := [(id_, each.key) for id_, each in places if each.key]:
        # Keys used in a scope that was erased since are kept under NO_SCOPE.
        keys += [(NO_SCOPE, key) for _, key in keys]
        values["idempotency"] = tuple(zip(*keys, strict=True))
        walls["idempotency"] = inside(*scopes, NO_SCOPE)
    if named := [(id_, *place) for id_, each in places for place in each.memories]:
        values["memories"] = tuple(zip(*named, strict=True))
        walls["memories"] = inside(*scopes)
    if chains := [each.chain for each in reads if each.chain]:
        values["audit_heads"], walls["audit_heads"] = (chains,), chained(*chains)
    return {name: (GROUP[name], values[name], walls[name]) for name in values}


class ForeseenRows(PostgresRows):
    """The rows for one write of a group; other rows are fetched when asked for."""

    def __init__(
        self, transaction: Transaction, answers: ForeseenAnswers, reads: ForeseenReads
    ) -> None:
        super().__init__(transaction)
        scope = answers.scopes[reads.scope]
        self._answers = answers
        self._reads = reads
        self._scope_id = scope.id
        self._scopes[reads.scope] = scope
        self._new: int | None = None
        """The number given to a new, empty thread."""

    def new_number(self) -> int:
        if not self._answers.numbers:
            return super().new_number()
        self._new = self._answers.numbers.pop()
        return self._new

    def thread(self, scope_id: int, thread_id: str) -> ThreadRow | None:
        if (scope_id, thread_id) != (self._scope_id, self._reads.thread):
            return super().thread(scope_id, thread_id)
        found = self._answers.threads.get((scope_id, thread_id))
        if found is None and self._reads.is_formation:
            # Without its thread a formation is dropped as out of date: ask again to be sure.
            return super().thread(scope_id, thread_id)
        return found

    def _is_foreseen(self, scope_id: int, thread: int) -> bool:
        """Return True if the rows of this thread were fetched with the group."""
        known = self._answers.threads.get((self._scope_id, self._reads.thread))
        return scope_id == self._scope_id and thread == (known.number if known else self._new)

    def messages_by_id(
        self, scope_id: int, thread: int, ids: Sequence[str]
    ) -> Sequence[MessageRow]:
        if not self._is_foreseen(scope_id, thread) or not set(ids) <= set(self._reads.messages):
            return super().messages_by_id(scope_id, thread, ids)
        found = (self._answers.by_id.get((scope_id, thread, id_)) for id_ in dict.fromkeys(ids))
        return [row for row in found if row]

    def last_messages(
        self, scope_id: int, thread: int, *, before: int | None, limit: int
    ) -> Sequence[MessageRow]:
        if not self._is_foreseen(scope_id, thread) or before is not None or limit != 1:
            return super().last_messages(scope_id, thread, before=before, limit=limit)
        found = self._answers.last.get((scope_id, thread))
        return [found] if found else []

    def memories_at(
        self, scope_id: int, addresses: Sequence[tuple[str, str]]
    ) -> Sequence[MemoryRow]:
        if scope_id != self._scope_id or not set(addresses) <= set(self._reads.memories):
            return super().memories_at(scope_id, addresses)
        found = (self._answers.memories.get((scope_id, *each)) for each in dict.fromkeys(addresses))
        return [row for row in found if row]

    def idempotency(self, scope_ids: Sequence[int], key: str) -> IdempotencyRow | None:
        if key != self._reads.key or not {self._scope_id, NO_SCOPE}.issuperset(scope_ids):
            return super().idempotency(scope_ids, key)
        found = (self._answers.keys.get((each, key)) for each in scope_ids)
        return next((row for row in found if row), None)

    def audit_head(self, chain: bytes) -> tuple[int, bytes] | None:
        if chain != self._reads.chain:
            return super().audit_head(chain)
        return self._answers.heads.get(chain)

    def setting(self, segments: Scope, kind: str, key: str) -> SideRow | None:
        place = (segments, kind, key)
        if place not in self._answers.settings:
            self._answers.settings[place] = super().setting(*place)
        return self._answers.settings[place]
