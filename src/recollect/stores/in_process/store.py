"""The in-memory store: the reference implementation of the contract, gone with its process."""

from __future__ import annotations

import secrets
from bisect import insort
from dataclasses import replace
from itertools import takewhile
from threading import Lock
from typing import TypeVar

from recollect.errors import StoreClosedError
from recollect.ports import Clock, Ids
from recollect.stores.contract.base import Store
from recollect.stores.in_process.rows import InProcessRows, ScopeTable, sources_of
from recollect.stores.plans.evidence import evidence_links
from recollect.stores.plans.idempotency_archive import TAKEN_OVER
from recollect.stores.rows import IdempotencyRow, MemoryRow, RevisionRow, ScopeRow
from recollect.stores.unit_of_work import Effect, Plan, Query


class Tables(InProcessRows):
    """The rows of the store: `Rows` for plans, and the target of their effects."""

    def write(self, effect: Effect) -> None:
        """Apply *effect*; this cannot fail."""
        self._writes += 1
        # Scopes first: all other rows lie in the table of their scope.
        for scope in effect.scopes:
            self._put_scope(scope)
        for thread in effect.threads:
            self._scopes[thread.scope_id].threads[thread.id] = thread
        self._write_removals(effect)
        self._write_entries(effect)
        for vector in effect.vectors:
            self._scopes[vector.scope_id].vectors[vector.uid, vector.embedder] = vector
        for raised in effect.raised:
            self._raise(self._scopes[raised.scope_id], raised.uid, raised.seq)
        for scope_id, embedder, seq in effect.embedded:
            self._scopes[scope_id].embedded[embedder] = seq
        for key in effect.idempotency:
            _put_last(self._keys_in(key.scope_id), key)
        for side in effect.sides:
            self._scopes[side.scope_id].sides[side.place] = side
        for formation in effect.formations:
            self._scopes[formation.scope_id].formations[formation.id] = formation
        for receipt in effect.receipts:
            self._receipts[receipt.id] = receipt
        self._write_audit(effect)

    def _write_audit(self, effect: Effect) -> None:
        for row in effect.audit:
            self._audit.setdefault(row.chain, []).append(row)
        for chain in effect.unnamed:
            rows = self._audit.get(chain, [])
            rows[:] = [replace(row, actor=None) for row in rows]

    def _put_scope(self, row: ScopeRow) -> None:
        table = self._scopes.get(row.id)
        if table:
            table.row = row
        else:
            self._scopes[row.id] = ScopeTable(row)
            self._by_segments[row.segments] = row.id

    def _write_removals(self, effect: Effect) -> None:
        # Before the entries are written: a new one may have the address of a removed one.
        for gone in effect.removed:
            table = self._scopes[gone.scope_id]
            self._remove_entry(table, gone.uid)
            table.tombstones[gone.uid] = gone.seq
        for scope_id, uid, version in effect.dropped_revisions:
            self._scopes[scope_id].revisions.get(uid, {}).pop(version, None)
        for thread in effect.dropped_threads:
            self._scopes[thread.scope_id].threads.pop(thread.id, None)
            self._scopes[thread.scope_id].by_position.pop(thread.number, None)
        for scope_id, before in effect.old_keys:
            _drop_old(self._keys_in(scope_id), before)
        for scope_id, until in effect.compacted:
            table = self._scopes[scope_id]
            table.tombstones = {uid: at for uid, at in table.tombstones.items() if at > until}
        for scope_id, *source in effect.dropped_evidence:
            self._scopes[scope_id].resting.pop((source[0], source[1]), None)
        for side in effect.dropped_sides:
            self._scopes[side.scope_id].sides.pop(side.place, None)
        for scope_id in effect.dropped_scopes:
            del self._by_segments[self._scopes.pop(scope_id).row.segments]

    def _remove_entry(self, table: ScopeTable, uid: int) -> None:
        message = table.messages.pop(uid, None)
        if message:
            table.by_position[message.thread].remove((message.position, uid))
            del table.by_id[message.thread, message.id]
        memory = table.memories.pop(uid, None)
        if memory:
            del table.by_address[memory.type, memory.key]
            for source in sources_of(table, memory):
                left = table.resting.pop(source, set()) - {uid}
                if left:
                    table.resting[source] = left
            table.revisions.pop(uid, None)
        for key in [key for key in table.vectors if key[0] == uid]:
            del table.vectors[key]

    def _write_entries(self, effect: Effect) -> None:
        for message in effect.messages:
            table = self._scopes[message.scope_id]
            if message.uid not in table.messages:
                places = table.by_position.setdefault(message.thread, [])
                insort(places, (message.position, message.uid))
            table.messages[message.uid] = message
            table.by_id[message.thread, message.id] = message.uid
        for memory in effect.memories:
            table = self._scopes[memory.scope_id]
            table.memories[memory.uid] = memory
            table.by_address[memory.type, memory.key] = memory.uid
            _link(table, memory)
        for revision in effect.revisions:
            table = self._scopes[revision.scope_id]
            table.revisions.setdefault(revision.uid, {})[revision.version] = revision
            _link(table, revision)

    def _raise(self, table: ScopeTable, uid: int, seq: int) -> None:
        if uid in table.messages:
            table.messages[uid] = replace(table.messages[uid], seq=seq)
        elif uid in table.memories:
            table.memories[uid] = replace(table.memories[uid], seq=seq)


def _put_last(keys: dict[str, IdempotencyRow], row: IdempotencyRow) -> None:
    """Store a key in order of use; a rewritten key keeps its position."""
    known = keys.get(row.key)
    if known and known.kept_at != row.kept_at:
        del keys[row.key]
    keys[row.key] = row


def _drop_old(keys: dict[str, IdempotencyRow], before: int) -> None:
    """Drop the keys used before a time; they are stored in order of use."""
    # The secret adopted from another store never expires.
    used = [row for row in keys.values() if row.key != TAKEN_OVER]
    for row in takewhile(lambda row: row.kept_at < before, used):
        del keys[row.key]


def _link(table: ScopeTable, row: MemoryRow | RevisionRow) -> None:
    for source in evidence_links(row.evidence):
        table.resting.setdefault(source, set()).add(row.uid)


ResultT = TypeVar("ResultT")


class InProcessStore(Store):
    """A store that lives as long as this object: for tests, experiments and short programs."""

    answers_in_place = True

    def __init__(self, *, clock: Clock | None = None, ids: Ids | None = None) -> None:
        super().__init__(clock=clock, ids=ids)
        self._tables: Tables | None = Tables()
        self._turn = Lock()
        self._key = secrets.token_bytes(32)

    async def aclose(self) -> None:
        """Drop all data."""
        self._tables = None

    async def _transact(self, plan: Plan[ResultT]) -> ResultT:
        # Atomic without an undo: a plan that raises has written nothing, and `write` cannot fail.
        with self._turn:
            tables = self._open()
            planned = plan(tables)
            tables.write(planned.effect)
        return planned.result

    async def _read(self, query: Query[ResultT]) -> ResultT:
        with self._turn:
            return query(self._open())

    async def _clean(self) -> None:
        """Do nothing: removed rows are already gone from memory."""

    async def _secret(self) -> bytes:
        return self._key

    def _open(self) -> Tables:
        if self._tables is None:
            raise StoreClosedError("this store was closed: open another")
        return self._tables
