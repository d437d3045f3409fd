"""The audit: one hash chain per scope of who changed what and when, without content; pure."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from hashlib import blake2b, sha256
from typing import Any, Final, TypeAlias, TypeVar

from recollect.records import JsonObject, Scope
from recollect.stores.digests import keyed_digest
from recollect.stores.fast_records import changer_of, values_of
from recollect.stores.rows import (
    AuditRow,
    FormationRow,
    MemoryRow,
    MessageRow,
    ScopeRow,
    SideRow,
    ThreadRow,
)
from recollect.stores.unit_of_work import (
    Effect,
    Plan,
    PlannedWrite,
    Removal,
    Rows,
    changed_effect,
    writes_of,
)
from recollect.stores.validation import to_datetime
from recollect.text.json_text import json_writer

ResultT = TypeVar("ResultT")

IDS_MAX: Final = 100
"""
Ids of each kind in one row, at most; the row counts the others in ``more``.

Its digest covers all of them.
"""

_PAGE: Final = 512
_write_compact: Final = json_writer(json.JSONEncoder(separators=(",", ":")))
_DERIVED: Final = frozenset({"seq", "terms", "text_hash", "digest"})
"""Columns computed from others, which the digest of a change leaves out."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditEntry:
    """
    One audited change.

    *subject* maps kinds to internal ids, which reveal nothing; *names* are the names of the objects
    that still exist. *actor* is ``None`` if the scope has been erased; *actor_key* can then still
    be compared with the key of a known actor.

    >>> import recollect
    >>> with recollect.open_sync("memory:", embedder="none") as memory:
    ...     note = memory.acting("sam").remember("ada", "The boat is red.")
    ...     (entry,) = memory.audit("ada").rows
    >>> entry.actor, entry.n
    ('sam', 1)
    """

    n: int
    at: datetime
    actor: str | None
    actor_key: str
    action: str
    subject: JsonObject
    names: tuple[str, ...]
    digest: str
    previous: str
    hash: str


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditVerdict:
    """
    The result of verifying a chain: number of rows, and hash of the last row.

    *broken_at* is the number of the first row that was tampered with, and *reason* describes how.

    >>> import recollect
    >>> with recollect.open_sync("memory:", embedder="none") as memory:
    ...     note = memory.acting("sam").remember("ada", "The boat is red.")
    ...     verdict = memory.verify_audit("ada")
    >>> verdict.rows
    1
    """

    rows: int
    head: str | None
    broken_at: int | None = None
    reason: str | None = None

    @property
    def ok(self) -> bool:
        """Whether the chain is intact."""
        return self.broken_at is None


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditedChange:
    """A change to be audited: who makes it, and when; *secret* is the store's."""

    actor: str
    action: str
    scope: Scope
    now: int
    secret: bytes


def chain_of(secret: bytes, scope: Scope) -> bytes:
    """Return the id of a scope's chain, which does not reveal the scope without the secret."""
    return keyed_digest(secret, "audit", list(scope))


def actor_key_of(secret: bytes, actor: str) -> bytes:
    """Return the keyed digest that identifies an actor after the name is removed."""
    return keyed_digest(secret, "actor", actor)


def first_previous(chain: bytes) -> bytes:
    """Return the previous-hash of a chain's first row."""
    # It differs for every chain, so that the rows of one do not verify as another.
    return sha256(b"recollect audit\0" + chain).digest()


def hash_of(row: AuditRow) -> bytes:
    """Return the SHA-256 of a row, with the actor's keyed hash in place of the name."""
    # Not the name: an erase of the scope removes it, and the chain must still verify.
    hashes = (each.hex() for each in (row.actor_key, row.digest, row.previous))
    actor_key, digest, previous = hashes
    hashed = [row.n, row.at, actor_key, row.action, row.subject, digest, previous]
    return sha256(_encoded(hashed)).digest()


def plan_audited(rows: Rows, plan: Plan[ResultT], change: AuditedChange) -> PlannedWrite[ResultT]:
    """Run *plan* and add one audit row to the chain of each scope that it changes."""
    planned = plan(rows)
    effect = planned.effect
    if not any(writes_of(effect)):
        return planned
    scopes = _scopes_of(rows, effect)
    if change.scope not in scopes:
        # Reading a scope's row locks it, so that no other writer extends the same chain.
        found = rows.scope(change.scope)
        scopes[change.scope] = found.id if found else 0
    chains = {chain_of(change.secret, scope): scope_id for scope, scope_id in scopes.items()}
    audit = [
        # The erase of a whole scope removes the names in its chain: its own row gets none either.
        _next_row(
            rows, chain, change, _part_of(effect, scope_id), is_named=chain not in effect.unnamed
        )
        for chain, scope_id in chains.items()
    ]
    return PlannedWrite(changed_effect(effect, audit=audit), planned.result)


def plan_unnamed(rows: Rows, plan: Plan[ResultT], secret: bytes) -> PlannedWrite[ResultT]:
    """Run *plan*, and remove the actors' names from the chains of scopes that it drops."""
    planned = plan(rows)
    dropped = [rows.scope_by_id(each) for each in planned.effect.dropped_scopes]
    chains = [chain_of(secret, row.segments) for row in dropped if row]
    return PlannedWrite(replace(planned.effect, unnamed=chains), planned.result)


def _scopes_of(rows: Rows, effect: Effect) -> dict[Scope, int]:
    """Return the id of each scope whose row an effect writes or drops."""
    dropped = [rows.scope_by_id(each) for each in effect.dropped_scopes]
    found: list[ScopeRow] = [*effect.scopes, *(row for row in dropped if row)]
    return {row.segments: row.id for row in found}


_Part: TypeAlias = Mapping[str, Sequence[Any]]
"""The rows of one scope that an effect writes or removes, by field of the effect."""

_THREADS: Final = ("threads", "dropped_threads")
_ENTRIES: Final = ("messages", "memories", "removed")
_SIDES: Final = ("sides", "dropped_sides")


_ROWS: Final[Mapping[str, type[Any]]] = {
    "threads": ThreadRow,
    "messages": MessageRow,
    "memories": MemoryRow,
    "removed": Removal,
    "dropped_threads": ThreadRow,
    "formations": FormationRow,
    "sides": SideRow,
    "dropped_sides": SideRow,
}
_VALUES: Final = {name: values_of(row, _DERIVED) for name, row in _ROWS.items()}
"""
For each field of an effect, a function that returns the digested values of one row.

These are its content, without derived columns.
"""


def _part_of(effect: Effect, scope_id: int) -> _Part:
    parts: dict[str, Sequence[object]] = {}
    for name in _VALUES:
        if found := getattr(effect, name):
            parts[name] = [each for each in found if each.scope_id == scope_id]
    if scope_id in effect.dropped_scopes:
        parts["dropped_scopes"] = [scope_id]
    return parts


def _next_row(
    rows: Rows, chain: bytes, change: AuditedChange, part: _Part, *, is_named: bool
) -> AuditRow:
    number, previous = rows.audit_head(chain) or (0, first_previous(chain))
    row = AuditRow(
        chain=chain,
        n=number + 1,
        at=change.now,
        actor=change.actor if is_named else None,
        actor_key=actor_key_of(change.secret, change.actor),
        action=change.action,
        subject=_subject_of(part),
        digest=_digest_of(part, change.secret),
        previous=previous,
        hash=b"",
    )
    return _changed_row(row, hash=hash_of(row))


def _subject_of(part: _Part) -> str:
    """Return the internal ids that a change concerns, as JSON text."""
    ids = {
        "threads": [row.number for name in _THREADS for row in part.get(name, ())],
        **{name: [row.uid for row in part.get(name, ())] for name in _ENTRIES},
        "sides": [row.uid for name in _SIDES for row in part.get(name, ())],
    }
    # As texts: ids exceed 2**53, and JSON numbers of many readers are doubles.
    subject: dict[str, object] = {
        kind: [str(each) for each in found[:IDS_MAX]] for kind, found in ids.items() if found
    }
    if more := sum(max(0, len(found) - IDS_MAX) for found in ids.values()):
        subject["more"] = more
    if "dropped_scopes" in part:
        subject["scope"] = True
    return _encoded(subject).decode()


def _digest_of(part: _Part, secret: bytes) -> bytes:
    """Return a keyed hash of the rows written: comparable, but not guessable without the key."""
    digest = blake2b(digest_size=32, key=secret)
    for name in _VALUES:
        for row in part.get(name, ()):
            digest.update(_encoded([name, *_VALUES[name](row)]))
    return digest.digest()


_changed_row: Final = changer_of(AuditRow)


def _encoded(document: object) -> bytes:
    return _write_compact(document).encode()


def read_entries(
    rows: Rows, scope: Scope, chain: bytes, *, before: int | None, limit: int
) -> tuple[list[AuditEntry], bool]:
    """Return the newest *limit* rows of a chain before row *before*, and whether more follow."""
    head = rows.audit_head(chain)
    if head is None:
        return [], False
    end = head[0] + 1 if before is None else min(before, head[0] + 1)
    after = max(0, end - 1 - limit)
    found = rows.audit(chain, after, limit)
    here = [row for row in found if row.n < end]
    owner = rows.scope(scope)
    return [_entry_of(rows, row, owner.id if owner else 0) for row in reversed(here)], after > 0


def _entry_of(rows: Rows, row: AuditRow, scope_id: int) -> AuditEntry:
    subject = json.loads(row.subject)
    return AuditEntry(
        n=row.n,
        at=to_datetime(row.at),
        actor=row.actor,
        actor_key=row.actor_key.hex(),
        action=row.action,
        subject=subject,
        names=tuple(_names_of(rows, scope_id, subject)),
        digest=row.digest.hex(),
        previous=row.previous.hex(),
        hash=row.hash.hex(),
    )


def _names_of(rows: Rows, scope_id: int, subject: Mapping[str, Sequence[str]]) -> Iterator[str]:
    """Yield the names of the objects of an audit row that still exist."""
    ids = {kind: [int(each) for each in subject.get(kind, ())] for kind in _KINDS}
    messages = rows.messages_by_uid(scope_id, ids["messages"]) if ids["messages"] else ()
    memories = rows.memories_by_uid(scope_id, ids["memories"]) if ids["memories"] else ()
    numbers = sorted({*ids["threads"], *(row.thread for row in messages)})
    threads = rows.thread_ids(scope_id, numbers) if numbers else {}
    named = {row.thread for row in messages}  # a message's name begins with its thread's
    for number in ids["threads"]:
        if number in threads and number not in named:
            yield f"thread {threads[number]}"
    for message in sorted(messages, key=lambda row: (row.thread, row.position)):
        yield f"message {threads[message.thread]}/{message.id}"
    for memory in sorted(memories, key=lambda row: (row.type, row.key)):
        yield f"memory {memory.type}/{memory.key}"


_KINDS: Final = ("threads", "messages", "memories")


def read_verdict(
    rows: Rows, chain: bytes, secret: bytes, noted: tuple[int, str] | None
) -> AuditVerdict:
    """Verify a chain from its first row to its head; report the first row tampered with."""
    head = rows.audit_head(chain)
    number, previous = 0, first_previous(chain)
    for row in _all_rows(rows, chain):
        reason = _fault_of(row, number, previous, secret)
        if reason is None and noted and noted[0] == row.n and noted[1] != row.hash.hex():
            reason = f"it was noted with the hash {noted[1]}, and has another hash now"
        # The head is stored apart from the rows, so that a cut or an added tail is noticed.
        if reason is None and (head is None or row.n > head[0]):
            reason = "it comes after the last row of the chain as the store's head records it"
        if reason:
            return AuditVerdict(rows=number, head=_hex(head), broken_at=number + 1, reason=reason)
        number, previous = row.n, row.hash
    broken_at, reason = _fault_at_end(number, previous, head, noted)
    return AuditVerdict(rows=number, head=_hex(head), broken_at=broken_at, reason=reason)


def _all_rows(rows: Rows, chain: bytes) -> Iterator[AuditRow]:
    after = 0
    while found := rows.audit(chain, after, _PAGE):
        yield from found
        after = found[-1].n


def _fault_of(row: AuditRow, number: int, previous: bytes, secret: bytes) -> str | None:
    if row.n != number + 1:
        return f"the next row has the number {row.n}: rows before it are missing"
    if row.previous != previous:
        return "its previous hash is not the hash of the row before it"
    if row.hash != hash_of(row):
        return "its content does not match its hash"
    if row.actor is not None and row.actor_key != actor_key_of(secret, row.actor):
        return "its actor's name does not match its actor key"
    return None


def _fault_at_end(
    number: int, last: bytes, head: tuple[int, bytes] | None, noted: tuple[int, str] | None
) -> tuple[int, str] | tuple[None, None]:
    if head and head[0] > number:
        return number + 1, f"the chain ends with row {head[0]}, and rows from here on are missing"
    if head and head[1] != last:
        return number, "its hash is not the one that the store's head records"
    if noted and noted[0] > number:
        return number + 1, f"row {noted[0]} was noted, and is missing"
    return None, None


def _hex(head: tuple[int, bytes] | None) -> str | None:
    return head[1].hex() if head else None
