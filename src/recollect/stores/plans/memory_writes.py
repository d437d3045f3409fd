"""Writes of memories: put, end and delete, checked and planned over what is stored."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Final

from recollect.errors import NotFoundError, UsageError, VersionConflictError
from recollect.ports import Ids
from recollect.records import DeleteMemory, Evidence, MessageAddress, Scope
from recollect.stores.fast_records import maker_of
from recollect.stores.kept_evidence import Founded, as_statement, is_statement, kept_evidence
from recollect.stores.plans.derived_rows import (
    reduced_memory,
    reinstated_memory,
    replaced_by,
    row_remainder,
    version_names,
)
from recollect.stores.plans.evidence import (
    NO_EVIDENCE,
    dating_messages,
    decode_evidence,
    encode_evidence,
    evidence_messages,
    trust_with,
)
from recollect.stores.plans.idempotency import Idempotency, open_scope, uids_under_key, with_key
from recollect.stores.plans.memories import check_version, is_expired, revision_row
from recollect.stores.plans.prepared_writes import (
    PreparedEnd,
    PreparedMemoryWrite,
    PreparedPut,
    PreparedWrite,
    check_validity,
)
from recollect.stores.plans.said_times import SaidTimes
from recollect.stores.plans.side_records import PreparedSideWrite, side_effect
from recollect.stores.plans.undo import UNDONE
from recollect.stores.plans.upkeep import compacted
from recollect.stores.provenance import NO_WORDS, Words, quoted, words_of
from recollect.stores.remainder import MEMORY_THREAD, named_version, version_name
from recollect.stores.rows import MemoryRow, RevisionRow, ScopeRow
from recollect.stores.unit_of_work import NOTHING, Effect, PlannedWrite, Removal, Rows, together
from recollect.stores.validation import decode_json
from recollect.text.scope_paths import written_scope
from recollect.text.searchable import message_text

CARRIED_VERSIONS_MAX: Final = 50
"""Earlier versions of a memory, at most, in which the origin of a word is looked for."""
_MEMORY: Final = maker_of(MemoryRow)


def plan_writes(
    rows: Rows,
    scope: ScopeRow,
    writes: Sequence[PreparedWrite],
    *,
    ids: Ids,
    now: int,
    said: Mapping[MessageAddress, int] | None = None,
) -> PlannedWrite[tuple[MemoryRow | None, ...]]:
    """
    Apply *writes* in order, each seeing the ones before; the result is one row per write.

    A write of a side record is answered with ``None``.

    Args:
        said: The times of messages that the same transaction writes.

    Raises:
        VersionConflictError: A write expected another version; nothing is written.
        NotFoundError: A memory to be ended does not exist.
    """
    if not writes:
        return PlannedWrite(NOTHING, ())
    # One seq for all writes of the transaction: a reader of the feed gets all of them or none.
    scope = replace(scope, seq=scope.seq + 1)
    sides = side_effect(
        rows,
        scope,
        [each for each in writes if isinstance(each, PreparedSideWrite)],
        ids=ids,
        now=now,
    )
    staged = _Staged(rows, scope, ids, now, said or {})
    staged.look_up(
        [(write.type, write.key) for write in writes if not isinstance(write, PreparedSideWrite)]
    )
    staged.look_up_messages(write for write in writes if isinstance(write, PreparedPut))
    result = tuple(
        None if isinstance(write, PreparedSideWrite) else staged.carry_out(write)
        for write in writes
    )
    return PlannedWrite(together((staged.effect(), sides)), result)


class _Staged:
    """The memories of a scope after the preceding writes of the same transaction."""

    def __init__(
        self, rows: Rows, scope: ScopeRow, ids: Ids, now: int, said: Mapping[MessageAddress, int]
    ) -> None:
        self._rows = rows
        self._scope = scope
        self._ids = ids
        self._now = now
        self._found: dict[tuple[str, str], MemoryRow] = {}
        self._looked_up: frozenset[tuple[str, str]] = frozenset()
        self._current: dict[tuple[str, str], MemoryRow | None] = {}
        self._revisions: list[RevisionRow] = []
        self._gone: dict[int, Removal] = {}
        self._times = SaidTimes(rows, scope.id, said=said, memory=self._memory_now)
        self._words: dict[Evidence, Words] = {}

    def look_up(self, addresses: Sequence[tuple[str, str]]) -> None:
        """Read the memories at *addresses*, which are about to be written, in one query."""
        self._looked_up = frozenset(addresses)
        found = self._rows.memories_at(self._scope.id, addresses)
        self._found = {(row.type, row.key): row for row in found}

    def look_up_messages(self, puts: Iterable[PreparedPut]) -> None:
        """Read the times of the messages that *puts* cite, in one query."""
        self._times.look_up(each for put in puts for each in evidence_messages(put.evidence))

    def carry_out(self, write: PreparedMemoryWrite) -> MemoryRow | None:
        """Apply one write and return the resulting memory."""
        address = (write.type, write.key)
        current = self._read(address)
        check_version(self._scope.segments, write, current)
        if isinstance(write, DeleteMemory):
            self._current[address] = None
            if current:
                self._remove(current)
                self._remove_derived(current)
            return None
        if isinstance(write, PreparedPut):
            self._check_sources(write, current)
            write = _as_trusted(self._with_kept_evidence(write, current))
        after = self._version_after(current, write)
        if current:
            self._revisions.append(revision_row(current, self._now))
        self._current[address] = after
        # A memory that is no longer active supports nothing that was derived from it.
        if current and current.state == "active" and after.state != "active":
            self._remove_derived(current)
        return after

    def _check_sources(self, write: PreparedPut, current: MemoryRow | None) -> None:
        """Raise if a newly cited source memory does not exist or is not active."""
        if MEMORY_THREAD not in write.evidence:
            return
        known = evidence_messages(current.evidence) if current else set()
        for thread, name in sorted(evidence_messages(write.evidence) - known):
            if thread != MEMORY_THREAD:
                continue
            named = named_version(name)
            if named is None:
                raise UsageError(f"{name!r} names no version of a memory, as in 'Note/tea@1'")
            source = self._read(named[:2])
            if source is None or source.version < named[2] or source.state != "active":
                actual = source.version if source else 0
                address = f"{named[0]}/{named[1]} in {written_scope(self._scope.segments)}"
                raise VersionConflictError(address, named[2], actual)

    def _with_kept_evidence(self, write: PreparedPut, current: MemoryRow | None) -> PreparedPut:
        """Return *write* with the evidence of the words that it keeps of the current version."""
        if current is None or current.evidence == NO_EVIDENCE:
            return write
        if (current.value, current.evidence) == (write.value, write.evidence):
            return write
        given = decode_evidence(write.evidence)
        name = version_name(current.type, current.key, current.version)
        if Evidence(thread=MEMORY_THREAD, message=name) in given.get("", ()):
            # It cites the current version as a whole, and is erased with anything under that.
            return write
        before = Founded(json.loads(current.value), decode_evidence(current.evidence))
        after = Founded(json.loads(write.value), given)
        kept = kept_evidence(
            before,
            after,
            self._known_words,
            lambda: self._documents(current),
            restores=write.cause == UNDONE,
        )
        # A restored version has its evidence already: words that came since are not in it.
        if kept is given or self._is_restored(write, current):
            return write
        if not given and is_statement(current.type, current.key, before):
            kept = as_statement(kept)
        return replace(write, evidence=encode_evidence(kept))

    def _documents(self, current: MemoryRow) -> list[Founded]:
        """Return the newest versions of a memory before the current one, newest first."""
        newest = reversed(self._past(current)[-CARRIED_VERSIONS_MAX:])
        return [Founded(json.loads(e.value), decode_evidence(e.evidence)) for e in newest]

    def _is_restored(self, write: PreparedPut, current: MemoryRow) -> bool:
        """Return True if an earlier version had exactly this value and evidence."""
        written = write.value, write.evidence
        return any((each.value, each.evidence) == written for each in self._past(current))

    def _past(self, current: MemoryRow) -> list[RevisionRow]:
        staged = (each for each in self._revisions if each.uid == current.uid)
        return [*self._rows.revisions(self._scope.id, current.uid), *staged]

    def _known_words(self, evidence: Evidence) -> Words:
        """Return the words of a quote and of the message or memory that it cites."""
        if evidence not in self._words:
            self._words[evidence] = quoted(evidence) | self._words_of(evidence)
        return self._words[evidence]

    def _words_of(self, evidence: Evidence) -> Words:
        if evidence.thread == MEMORY_THREAD:
            named = named_version(evidence.message)
            memory = self._read(named[:2]) if named else None
            return words_of(memory.text) if memory else NO_WORDS
        thread = self._rows.thread(self._scope.id, evidence.thread)
        if thread is None:
            return NO_WORDS
        found = self._rows.messages_by_id(self._scope.id, thread.number, [evidence.message])
        texts = (
            message_text(
                row.text, row.name, None if row.content is None else decode_json(row.content)
            )
            for row in found
        )
        return NO_WORDS.union(*map(words_of, texts))

    def _remove_derived(self, gone: MemoryRow) -> None:
        """Remove the memories derived from one, and reinstate those that they had replaced."""
        erased = version_names(gone)
        waiting, taken = sorted(erased), list[MemoryRow]()
        while waiting:
            names: set[tuple[str, str]] = set()
            for found in self._rows.memories_resting_on(self._scope.id, waiting):
                # The store lists rows as they were: an earlier write may have cut the citation.
                row = self._read((found.type, found.key))
                if row is None or evidence_messages(row.evidence).isdisjoint(erased):
                    continue
                if row.uid == gone.uid:
                    continue  # a running summary cites its own earlier versions
                names |= version_names(row)
                taken += self._without(row, erased)
            waiting = sorted(names - erased)
            erased |= names
        for row in replaced_by(self._rows, taken):
            ended = self._read((row.type, row.key))
            if ended and ended.uid == row.uid and ended.cause == row.cause:
                self._revisions.append(revision_row(ended, self._now))
                self._current[row.type, row.key] = reinstated_memory(
                    self._rows, ended, self._scope.seq, self._now
                )

    def _without(self, row: MemoryRow, erased: set[tuple[str, str]]) -> list[MemoryRow]:
        """Remove the *erased* evidence from a memory; return it if nothing is left."""
        left = row_remainder(row, erased)
        if left is None:
            self._remove(row)
            self._current[row.type, row.key] = None
            return [row]
        self._revisions.append(revision_row(row, self._now))
        self._current[row.type, row.key] = reduced_memory(
            row,
            left,
            times=self._times,
            cause="a memory that it was derived from is gone",
            updated_at=max(self._now, row.updated_at),
            seq=self._scope.seq,
        )
        return []

    def _read(self, address: tuple[str, str]) -> MemoryRow | None:
        """Return the current version; an expired memory is removed and counts as missing."""
        if address not in self._current:
            found = self._stored(address)
            if found and is_expired(found, self._now):
                self._remove(found)
                found = None
            self._current[address] = found
        return self._current[address]

    def _memory_now(self, type_: str, key: str) -> MemoryRow | None:
        """Return the memory at an address after the writes so far, even if expired."""
        address = (type_, key)
        return self._current[address] if address in self._current else self._stored(address)

    def _stored(self, address: tuple[str, str]) -> MemoryRow | None:
        if address in self._looked_up:
            return self._found.get(address)
        return self._rows.memory(self._scope.id, *address)

    def _remove(self, row: MemoryRow) -> None:
        self._gone[row.uid] = Removal(scope_id=self._scope.id, uid=row.uid, seq=self._scope.seq)
        # Earlier writes of this transaction may have staged revisions of it: they go as well.
        self._revisions = [each for each in self._revisions if each.uid != row.uid]

    def _version_after(
        self, current: MemoryRow | None, write: PreparedPut | PreparedEnd
    ) -> MemoryRow:
        if isinstance(write, PreparedEnd):
            if current is None:
                address = f"{write.type}/{write.key} in {written_scope(self._scope.segments)}"
                raise NotFoundError(f"there is no memory {address} to end")
            check_validity(current.valid_from, write.at, f"{write.type}/{write.key}")
            return replace(
                current,
                valid_until=write.at,
                cause=write.cause,
                version=current.version + 1,
                updated_at=max(self._now, current.updated_at),
                seq=self._scope.seq,
            )
        return self._put(current, write)

    def _put(self, current: MemoryRow | None, write: PreparedPut) -> MemoryRow:
        uid = current.uid if current else self._ids.entry_id()
        version = current.version + 1 if current else 1
        created_at = current.created_at if current else self._now
        updated_at = max(self._now, current.updated_at) if current else self._now
        return _MEMORY((
            self._scope.id, uid, write.type, write.key, version, write.value, write.text,
            created_at, updated_at, write.valid_from, write.valid_until, write.expires_at,
            write.evidence, write.trust, write.state, write.cause, self._scope.seq, write.terms,
            write.text_hash, self._times.newest(dating_messages(write.evidence)),
        ))  # fmt: skip

    def effect(self) -> Effect:
        scope, old = compacted(self._scope) if self._gone else (self._scope, [])
        return Effect(
            scopes=[scope],
            memories=[row for row in self._current.values() if row],
            revisions=self._revisions,
            removed=list(self._gone.values()),
            compacted=old,
        )


def _as_trusted(write: PreparedPut) -> PreparedPut:
    """Return *write* with the trust ``agent`` if it rests on a finding of an agent."""
    trust = trust_with(write.evidence, write.trust)
    return write if trust == write.trust else replace(write, trust=trust)


def plan_apply(
    rows: Rows,
    scope: Scope,
    writes: Sequence[PreparedWrite],
    idempotency: Idempotency | None,
    *,
    ids: Ids,
    now: int,
) -> PlannedWrite[tuple[MemoryRow | None, ...]]:
    """Apply *writes*, unless the same request was carried out under its key; see `plan_writes`."""
    row = open_scope(rows, scope, now)
    if uids_under_key(rows, row, idempotency, now) is not None:
        found = [
            None
            if isinstance(write, PreparedSideWrite)
            else rows.memory(row.id, write.type, write.key)
            for write in writes
        ]
        live = (None if each is None or is_expired(each, now) else each for each in found)
        return PlannedWrite(NOTHING, tuple(live))
    planned = plan_writes(rows, row, writes, ids=ids, now=now)
    if idempotency is None:
        return planned
    uids = [each.uid for each in planned.result if each]
    effect = replace(planned.effect, scopes=planned.effect.scopes or [row])
    return PlannedWrite(with_key(effect, row, idempotency, uids, now), planned.result)


def plan_apply_each(
    rows: Rows, writes: Mapping[Scope, Sequence[PreparedWrite]], *, ids: Ids, now: int
) -> PlannedWrite[None]:
    """Apply the writes of several scopes, all or none; see `plan_writes`."""
    # Reading a scope locks it: one global order prevents deadlocks between two writers.
    ordered = {scope: writes[scope] for scope in sorted(writes)}
    rows.expect(
        {
            scope: [
                (each.type, each.key)
                for each in of_scope
                if not isinstance(each, PreparedSideWrite)
            ]
            for scope, of_scope in ordered.items()
        }
    )
    effects = [
        plan_writes(rows, open_scope(rows, scope, now), of_scope, ids=ids, now=now).effect
        for scope, of_scope in ordered.items()
    ]
    return PlannedWrite(together(effects), None)
