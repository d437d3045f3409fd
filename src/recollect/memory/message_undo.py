"""
Undo of one message: take back everything that its formation did, in one set of writes.

Memories that cite the message get their former value, or are deleted. Memories that the message
ended or rejected do not cite it: the receipt of the formation names them.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any, Final, TypeAlias

from recollect.errors import VersionConflictError
from recollect.formation.evidence import within
from recollect.formation.operation_outcomes import revision
from recollect.memory.review import existing_memory
from recollect.records import (
    DeleteMemory,
    Evidence,
    EvidenceMap,
    Formation,
    Json,
    Memory,
    MemoryAddress,
    PutMemory,
    Revision,
    Scope,
    Write,
)
from recollect.stores.contract.base import Store
from recollect.stores.json_pointers import covers, join_pointer
from recollect.stores.plans.evidence import decode_evidence, encode_evidence
from recollect.stores.plans.undo import UNDONE
from recollect.stores.remainder import remainder_of

FORMATIONS_A_PAGE: Final = 20
"""Few at a time: each receipt may hold a whole prompt."""
_MISSING: Final = object()

MessageAddress: TypeAlias = tuple[str, str]


async def message_undo_writes(
    store: Store, scope: Scope, said: MessageAddress, versions: Mapping[MemoryAddress, int]
) -> list[Write]:
    """
    Return the writes that take back what the message *said* (thread, id) did to memories.

    Args:
        versions: The memories to revert, with their current versions. Those that the same
            formations changed because of the message are reverted as well.

    Raises:
        NotFoundError: A named memory does not exist.
        VersionConflictError: A named memory is not at its version.
    """
    read: dict[MemoryAddress, tuple[Memory, Sequence[Revision]]] = {}
    for (type_, key), version in versions.items():
        memory = await existing_memory(store, scope, type_, key, version)
        read[type_, key] = memory, await _history(store, scope, memory)
    named = await _named_in_receipts(store, scope, said, _formed_at(read, said))
    for address in named.keys() - read.keys():
        found = await store.get(scope, *address)
        if found is not None:
            read[address] = found, await _history(store, scope, found)
    writes = [
        _reverting(memory, revisions, said, named.get(address, frozenset()))
        for address, (memory, revisions) in sorted(read.items(), key=lambda each: each[0])
    ]
    return [each for each in writes if each is not None]


async def _history(store: Store, scope: Scope, memory: Memory) -> Sequence[Revision]:
    """Return the versions of *memory* up to the current one, oldest first."""
    revisions = await store.history(scope, memory.type, memory.key)
    if not revisions or revisions[-1].version != memory.version:
        named = f"{memory.type}/{memory.key}"
        raise VersionConflictError(named, memory.version, revisions[-1].version if revisions else 0)
    return revisions


def _formed_at(
    read: Mapping[MemoryAddress, tuple[Memory, Sequence[Revision]]], said: MessageAddress
) -> frozenset[datetime]:
    """Return the times of the formations that the named memories point to."""
    places = ((revisions, _place_of(revisions, said)) for _, revisions in read.values())
    # One that does not cite the message may be ended because of it, by its newest version.
    return frozenset(found[-1 if at is None else at].believed_from for found, at in places)


def _place_of(revisions: Sequence[Revision], said: MessageAddress) -> int | None:
    """Return the place of the last version that newly cites the message, ``None`` for none."""
    citing = [False, *(_cites(each.evidence, said) for each in revisions)]
    new = [at for at in range(len(revisions)) if citing[at + 1] and not citing[at]]
    return new[-1] if new else None


def _cites(evidence: EvidenceMap, said: MessageAddress) -> bool:
    return any((each.thread, each.message) == said for found in evidence.values() for each in found)


async def _named_in_receipts(
    store: Store, scope: Scope, said: MessageAddress, times: frozenset[datetime]
) -> dict[MemoryAddress, frozenset[datetime]]:
    """
    Return the memories in the receipts of the formations at *times*.

    Each with the times at which it was changed because of the message without citing it.
    """
    found: dict[MemoryAddress, frozenset[datetime]] = {}
    cursor: str | None = None
    while times:
        page = await store.formations(scope, cursor=cursor, limit=FORMATIONS_A_PAGE)
        for formation in page.rows:
            if formation.at in times:
                for address, is_because in _outcomes_of(formation, said):
                    at = frozenset([formation.at]) if is_because else frozenset()
                    found[address] = found.get(address, frozenset()) | at
        cursor = page.cursor
        if cursor is None or page.rows[-1].at < min(times):
            break
    return found


def _outcomes_of(
    formation: Formation, said: MessageAddress
) -> Iterator[tuple[MemoryAddress, bool]]:
    """Yield the memories in a receipt, each with whether it names the message as the reason."""
    outcomes: Any = formation.receipt.get("outcomes", ())
    for each in outcomes:
        because = [(cited["thread"], cited["message"]) for cited in each.get("because", ())]
        yield (each["type"], each["key"]), said in because


def _reverting(
    memory: Memory, revisions: Sequence[Revision], said: MessageAddress, times: frozenset[datetime]
) -> Write | None:
    """Return the write that takes the message back from a memory, ``None`` if nothing is left."""
    at = _place_of(revisions, said)
    if at is None:
        formed = [n for n, each in enumerate(revisions) if each.believed_from in times]
        at = formed[-1] if formed else None
    if at is None:
        return None
    brought, before = revisions[at], revisions[at - 1] if at else None
    if memory.state == "rejected" != brought.state:
        return None  # a person's refusal outlives what it refuses, or it would be formed again
    _, standing = _left_of(brought, said)
    # Other messages of the same formation keep what they said, and so does whoever changed the
    # memory since: only a version that is this message's alone is reverted as a whole.
    if at == len(revisions) - 1 and _messages_in(standing) <= _messages_in(_evidence_of(before)):
        return _deletion(memory) if before is None else _restoration(memory, before)
    return _without(memory, brought, before, said)


def _left_of(
    version: Memory | Revision, said: MessageAddress
) -> tuple[dict[str, Json], EvidenceMap]:
    """Return the value and the evidence of a version without what needs the message."""
    sources = json.loads(encode_evidence(version.evidence))
    left = remainder_of(version.value, sources, {said})
    if left is None:
        return {}, {}
    return dict(left.value), decode_evidence(json.dumps(left.evidence))


def _evidence_of(version: Revision | None) -> EvidenceMap:
    return version.evidence if version else {}


def _messages_in(evidence: EvidenceMap) -> set[MessageAddress]:
    return {(each.thread, each.message) for found in evidence.values() for each in found}


def _deletion(memory: Memory) -> DeleteMemory:
    return DeleteMemory(type=memory.type, key=memory.key, expected=memory.version)


def _restoration(memory: Memory, before: Revision) -> PutMemory:
    """Return the write that makes the version *before* the current one again."""
    return PutMemory(
        type=memory.type,
        key=memory.key,
        value=before.value,
        text=before.text,
        expected=memory.version,
        valid_from=before.valid_from,
        valid_until=before.valid_until,
        expires_at=memory.expires_at,
        evidence=before.evidence,
        trust=before.trust,
        state=before.state,
        cause=UNDONE,
    )


def _without(
    memory: Memory, brought: Revision, before: Revision | None, said: MessageAddress
) -> Write | None:
    """
    Return the write that takes the message from a memory which others have a part in.

    What needs the message goes, as if it were erased. A field that the message replaced in version
    *brought* gets its former value again, unless it was changed since.
    """
    value, evidence = _left_of(memory, said)
    for name in _replaced_by(said, brought, before):
        if before and memory.value.get(name, _MISSING) == brought.value.get(name, _MISSING):
            value[name] = before.value[name]
            evidence = _outside(name, evidence) | _inside(name, before.evidence)
    until, state = memory.valid_until, memory.state
    if before is not None and (until, state) == (brought.valid_until, brought.state):
        until, state = before.valid_until, before.state
    if not value:
        return _deletion(memory)
    if (value, until, state) == (memory.value, memory.valid_until, memory.state):
        return None
    write = revision(memory, value, cause=UNDONE, evidence=evidence, state=state)
    return replace(write, valid_until=until)


def _replaced_by(said: MessageAddress, brought: Revision, before: Revision | None) -> Iterator[str]:
    """Yield the top-level fields of *before* that the message alone changed in *brought*."""
    if before is None:
        return
    _, standing = _left_of(brought, said)
    known = _messages_in(before.evidence)
    for name, was in before.value.items():
        is_removed = name not in brought.value
        if is_removed or brought.value[name] != was:
            # A removed field has no evidence of its own: look at all that the version cites.
            left = standing if is_removed else _inside(name, standing)
            cited = brought.evidence if is_removed else _inside(name, brought.evidence)
            if said in _messages_in(cited) and _messages_in(left) <= known:
                yield name


def _inside(name: str, evidence: EvidenceMap) -> dict[str, tuple[Evidence, ...]]:
    """Return the evidence of the field *name*, that of the whole value included."""
    pointer = join_pointer([name])
    return {pointer + at: each for at, each in within(pointer, evidence).items()}


def _outside(name: str, evidence: EvidenceMap) -> dict[str, Sequence[Evidence]]:
    """Return *evidence* without that of the field *name* and its parts."""
    return {at: each for at, each in evidence.items() if not covers(join_pointer([name]), at)}
