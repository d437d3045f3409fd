"""Store contract: write, read and list memories, and their history."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from datetime import datetime
from functools import partial
from typing import Final, final, get_args

from recollect.errors import UsageError
from recollect.records import (
    JsonObject,
    Memory,
    MemoryState,
    Page,
    ProlongMemory,
    Revision,
    Scope,
    Write,
)
from recollect.side_records import ProlongSideRecord, SideWrite
from recollect.stores.contract.backend import Transactor
from recollect.stores.filters import matches, read_filter
from recollect.stores.pages import page_of, read_cursor
from recollect.stores.plans.expiry import plan_prolong, prepare_prolong
from recollect.stores.plans.lapsed_messages import lapsed_messages
from recollect.stores.plans.memories import (
    is_expired,
    is_valid,
    memories_of,
    memory_of,
    read_newest,
    revisions_of,
    scopes_within,
    unexpired,
)
from recollect.stores.plans.memory_writes import plan_apply, plan_apply_each
from recollect.stores.plans.prepared_writes import PreparedWrite, prepare_write
from recollect.stores.plans.undo import Undo
from recollect.stores.plans.undo_reversal import plan_undo
from recollect.stores.rows import MemoryRange
from recollect.stores.unit_of_work import Rows
from recollect.stores.validation import (
    WRITES_MAX,
    check_choice,
    check_count,
    check_id,
    check_list,
    check_mapping,
    check_page,
    check_position,
    check_scope,
    check_time,
)
from recollect.text.scope_paths import written_scope

BRIEF_ADDRESSES_MAX: Final = 8
"""Look up at most this many addresses as a brief query; more wait like any other read."""


class MemoryStore(Transactor):
    """Memories by address (scope, type, key), with all their versions."""

    @final
    async def apply(
        self,
        scope: Scope,
        writes: Sequence[Write | SideWrite],
        *,
        idempotency_key: str | None = None,
    ) -> tuple[Memory | None, ...]:
        """
        Apply *writes* in order, all or none; each sees the ones before it.

        A memory's *said_at* is set to the time of the newest message among its evidence. One with
        a part written over what a message says has none.

        Args:
            writes: At most ``WRITES_MAX``.
            idempotency_key: A repeated request changes nothing and returns the current memories. A
                key is remembered for ``KEY_S`` seconds.

        Returns:
            The stored memories, one per write; ``None`` for a deletion and for a side record.

        Raises:
            VersionConflictError: A write expected another version.
            NotFoundError: A memory to be ended does not exist.
            ConflictError: The key was used for a different request.
            GoneError: Everything written under the key has been erased since; nothing is written.
        """
        scope, now = check_scope(scope), self.now()
        writes = check_list(writes, "write")
        check_count(len(writes), WRITES_MAX, "WRITES_MAX", "writes in one call")
        prepared = [prepare_write(each) for each in writes]
        idempotency = await self._idempotency(idempotency_key, scope, "apply", prepared)
        plan = partial(
            plan_apply,
            scope=scope,
            writes=prepared,
            idempotency=idempotency,
            ids=self._ids,
            now=now,
        )
        return memories_of(await self._change("apply", scope, plan), scope)

    @final
    async def apply_each(self, writes: Mapping[Scope, Sequence[Write | SideWrite]]) -> None:
        """
        Apply the writes of several scopes, all or none, as `apply` does.

        Args:
            writes: The writes of each scope, in order; of all together at most ``WRITES_MAX``.

        Raises:
            VersionConflictError: A write expected another version.
            NotFoundError: A memory to be ended does not exist.
        """
        of_scopes = [
            (scope, check_list(given, "write"))
            for scope, given in check_mapping(writes, "the argument of apply_each").items()
        ]
        total = sum(len(given) for _, given in of_scopes)
        check_count(total, WRITES_MAX, "WRITES_MAX", "writes in one call")
        prepared: dict[Scope, list[PreparedWrite]] = {}
        for scope, given in of_scopes:
            if given:
                prepared.setdefault(check_scope(scope), []).extend(map(prepare_write, given))
        if prepared:
            plan = partial(plan_apply_each, writes=prepared, ids=self._ids, now=self.now())
            await self._change("apply", min(prepared), plan)

    @final
    async def undo(self, scope: Scope, undo: Undo) -> None:
        """
        Revert a recorded change (see `Store.noting`) completely, or not at all.

        Memories it changed get their former value as a new version, memories it created are
        removed, and memories it removed are restored with all versions.

        Raises:
            VersionConflictError: Something it wrote has changed since, or it was undone already.
            ConflictError: Something was derived from its results since, or something was erased in
                the scope (`StaleReadError`).
            UsageError: *undo* is not an `Undo`, or belongs to another scope.
        """
        scope = check_scope(scope)
        if not isinstance(undo, Undo):
            msg = f"undo takes an `Undo`, as noted in the last of an UndoLog, not {undo!r}"
            raise UsageError(msg)
        if undo.scope != scope:
            raise UsageError(
                f"the change was made in {written_scope(undo.scope)}, not in {written_scope(scope)}"
            )
        secret = await self._secret()
        plan = partial(plan_undo, undo=undo, ids=self._ids, now=self.now(), secret=secret)
        await self._change("undo", scope, plan)

    @final
    async def get(self, scope: Scope, type_: str, key: str) -> Memory | None:
        """Return the memory at an address, ``None`` if there is none or it has expired."""
        (found,) = await self.get_many(scope, [(type_, key)])
        return found

    @final
    async def get_many(
        self, scope: Scope, addresses: Sequence[tuple[str, str]]
    ) -> list[Memory | None]:
        """Return one result per (type, key), in order, all read at one point in time."""
        scope, now = check_scope(scope), self.now()
        wanted = [_check_address(each) for each in addresses]

        def query(rows: Rows) -> list[Memory | None]:
            row = rows.scope(scope)
            found = [rows.memory(row.id, *each) if row else None for each in wanted]
            return [unexpired(each, scope, now) for each in found]

        if len(wanted) <= BRIEF_ADDRESSES_MAX:
            return await self._read_brief(query)
        return await self._read(query)

    @final
    async def lapsed(
        self, asked: Mapping[Scope, Sequence[tuple[str, str]]]
    ) -> frozenset[tuple[Scope, str, str]]:
        """
        Return those of the messages, *asked* by scope as (thread, id), of which nothing holds.

        They were taken back, or memories rest on them, and all of these have ended, were rejected,
        or say something else by now. A memory that waits for review, or was merged into another,
        still counts, and so does one that says the same again.
        """
        names = {
            check_scope(scope): [
                (check_id(thread, "a thread"), check_id(id_, "a message"))
                for thread, id_ in messages
            ]
            for scope, messages in asked.items()
        }
        plan = partial(lapsed_messages, asked=names, now=self.now())
        is_brief = sum(map(len, names.values())) <= BRIEF_ADDRESSES_MAX
        return await (self._read_brief if is_brief else self._read)(plan)

    @final
    async def memories(
        self,
        scope: Scope,
        *,
        type_: str | None = None,
        state: MemoryState | None = None,
        filter_: JsonObject | None = None,
        valid_at: datetime | None = None,
        cursor: str | None = None,
        limit: int = 100,
    ) -> Page[Memory]:
        """
        Return memories of a scope by (type, key), in every state, ended ones included.

        Args:
            type_: Only of this type.
            state: Only in this state.
            filter_: Only memories whose value matches; see `recollect.stores.filters`.
            valid_at: Only memories true in the world at this time.
        """
        scope, limit, now = check_scope(scope), check_page(limit), self.now()
        if type_ is not None:
            check_id(type_, "a memory's type")
        if state is not None:
            check_choice(state, get_args(MemoryState), "state")
        conditions = read_filter({} if filter_ is None else filter_)
        at = None if valid_at is None else check_time(valid_at, "valid_at")
        listing = MemoryRange(type_, read_cursor(cursor, _check_address), state)

        def query(rows: Rows) -> list[Memory]:
            found: list[Memory] = []
            scope_row = rows.scope(scope)
            for row in rows.memories(scope_row.id, listing) if scope_row else ():
                if is_expired(row, now) or (at is not None and not is_valid(row, at)):
                    continue
                memory = memory_of(row, scope)
                if matches(conditions, memory.value):
                    found.append(memory)
                if len(found) > limit:
                    break
            return found

        found = await self._read(query)
        return page_of(found, limit, lambda memory: json.dumps([memory.type, memory.key]))

    @final
    async def newest(
        self,
        prefix: Scope,
        type_: str,
        *,
        filter_: JsonObject | None = None,
        limit: int = 100,
        offset: int = 0,
        below: bool = True,
    ) -> list[Memory]:
        """
        Return the active memories of a type in *prefix* and all scopes below, newest first.

        Ordered by last update; ties by scope and key.

        Args:
            filter_: Only memories whose value matches; see `recollect.stores.filters`.
            limit: Most memories to return; there is no upper bound.
            offset: How many of the first to skip.
            below: Whether to include the scopes below.
        """
        prefix, now = check_scope(prefix), self.now()
        check_id(type_, "a memory's type")
        conditions = read_filter({} if filter_ is None else filter_)
        for name, count in (("limit", limit), ("offset", offset)):
            if check_position(count, name) < 0:
                raise UsageError(f"{name} {count} is below 0: give a whole number from 0")

        def query(rows: Rows) -> list[Memory]:
            scopes = scopes_within(rows, prefix, below=below)
            found = read_newest(
                rows, scopes, type_, conditions=conditions, now=now, count=offset + limit
            )
            return [memory_of(row, scope) for scope, row in found[offset:]]

        return await self._read(query)

    @final
    async def prolong(
        self, scope: Scope, prolongs: Sequence[ProlongMemory | ProlongSideRecord]
    ) -> int:
        """
        Move the expiry of memories in one transaction; return how many were moved.

        Versions and update times do not change, and no revision is made. Memories and side records
        that do not exist, have expired, never expire or are at another version are skipped.

        Args:
            prolongs: At most ``WRITES_MAX``.
        """
        scope, now = check_scope(scope), self.now()
        prolongs = check_list(prolongs, "ProlongMemory")
        check_count(len(prolongs), WRITES_MAX, "WRITES_MAX", "memories in one call")
        prepared = [prepare_prolong(each) for each in prolongs]
        plan = partial(plan_prolong, scope=scope, prolongs=prepared, now=now)
        return await self._change("prolong", scope, plan)

    @final
    async def history(self, scope: Scope, type_: str, key: str) -> tuple[Revision, ...]:
        """Return all versions of a memory, oldest first; empty if it does not exist."""
        scope, now = check_scope(scope), self.now()
        address = _check_address((type_, key))

        def query(rows: Rows) -> tuple[Revision, ...]:
            scope_row = rows.scope(scope)
            row = rows.memory(scope_row.id, *address) if scope_row else None
            if scope_row is None or row is None or is_expired(row, now):
                return ()
            return revisions_of(row, rows.revisions(scope_row.id, row.uid))

        return await self._read(query)


def _check_address(address: object) -> tuple[str, str]:
    if isinstance(address, str) or not isinstance(address, Sequence) or len(address) != 2:
        msg = f"an address is a type and a key, such as ('Fact', 'home'); not {address!r}"
        raise UsageError(msg)
    type_, key = address
    return check_id(type_, "a memory's type"), check_id(key, "a memory's key")
