"""The rows of a store, the same for every backend; times are µs since 1970."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal, NamedTuple, TypeAlias

from recollect.records import FormationStatus, MemoryAddress, MemoryState, Role, Scope, Trust

MICROSECONDS: Final = 1_000_000
"""Microseconds in a second."""

Place: TypeAlias = tuple[Scope, int]
"""The address of an entry: its scope and its uid."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ScopeRow:
    """
    A scope: its counters, and the lease of its formation.

    *seq* increases by one in every transaction that changes an entry. *epoch* changes with every
    erase, to a larger number than any scope of the store ever had. Tombstones up to *compacted* are
    dropped, so that a reader with a lower seq must start over. *fence* increases with every claim.
    """

    id: int
    segments: Scope
    created_at: int
    epoch: int
    seq: int = 0
    compacted: int = 0
    fence: int = 0
    lease_owner: str | None = None
    lease_until: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ThreadRow:
    """
    A thread, with its formation backlog.

    Pending are the messages after position *formed* up to *last*, and those at the positions in
    *again*, which are to be formed once more. They may be formed from *due* on, and not before
    *not_before*, which failures and postponements set. A paused thread is never claimed.
    *waiting_tokens* estimates the tokens after *formed*. *again*, *lanes* (the progress of types
    with their own schedule, by type) and *settings* (how to form the thread) are JSON text.
    """

    scope_id: int
    number: int
    id: str
    created_at: int
    last: int = 0
    count: int = 0
    formed: int = 0
    first_pending_at: int | None = None
    due: int | None = None
    not_before: int | None = None
    attempts: int = 0
    state: Literal["active", "paused"] = "active"
    waiting_tokens: int = 0
    again: str = "[]"
    lanes: str = "{}"
    settings: str = "{}"


@dataclass(frozen=True, slots=True, kw_only=True)
class MessageRow:
    """A message; *thread* is its thread's number, *content* and *metadata* are JSON text."""

    scope_id: int
    thread: int
    uid: int
    id: str
    position: int
    role: Role
    name: str | None
    text: str
    content: str | None
    time: int
    session: str
    source: str | None
    metadata: str
    kept_at: int
    digest: bytes
    seq: int
    terms: bytes
    text_hash: bytes


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryRow:
    """
    The current version of a memory; *value* and *evidence* are JSON text.

    *said_at* is the time of the newest message among its evidence when the row was written,
    ``None`` if a person wrote a part over what one says; removing the message later does not
    change it.
    """

    scope_id: int
    uid: int
    type: str
    key: str
    version: int
    value: str
    text: str
    created_at: int
    updated_at: int
    valid_from: int | None
    valid_until: int | None
    expires_at: int | None
    evidence: str
    trust: Trust
    state: MemoryState
    cause: str
    seq: int
    terms: bytes
    text_hash: bytes
    said_at: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class RevisionRow:
    """A past version of a memory with its whole value, believed until *believed_until*."""

    scope_id: int
    uid: int
    version: int
    value: str
    text: str
    valid_from: int | None
    valid_until: int | None
    evidence: str
    trust: Trust
    state: MemoryState
    cause: str
    believed_from: int
    believed_until: int


@dataclass(frozen=True, slots=True, kw_only=True)
class VectorRow:
    """
    The vector of an entry by one embedder.

    *data* is a float32 scale followed by int8 components, little-endian; empty if the embedder does
    not understand the text. *text_hash* is that of the embedded text.
    """

    scope_id: int
    uid: int
    embedder: str
    text_hash: bytes
    data: bytes


class MemoryRange(NamedTuple):
    """The memories to list, by address: of one type, in one state, after an address."""

    type: str | None = None
    after: MemoryAddress | None = None
    state: MemoryState | None = None


ALL_MEMORIES: Final = MemoryRange()

ReceiptPlace: TypeAlias = tuple[int, int, str]
"""Sort key of a formation in its scope: (committed_at, fence, id)."""
Citation: TypeAlias = tuple[int, int, str, str]
"""A message that a version of a memory cites: (scope id, uid of the memory, thread, message)."""
SidePlace: TypeAlias = tuple[str, str, str]
"""Address of a side record in its scope: (thread, kind, key), with ``""`` for no thread."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SideRow:
    """A side record; *value* is JSON text. A new version keeps the *uid*."""

    scope_id: int
    uid: int
    thread: str
    kind: str
    key: str
    version: int
    value: str
    created_at: int
    updated_at: int
    expires_at: int | None

    @property
    def place(self) -> SidePlace:
        """Return its address in the scope."""
        return self.thread, self.kind, self.key


NO_SCOPE: Final = 0
"""An id that no scope has, for the idempotency keys of scopes that were erased whole."""


@dataclass(frozen=True, slots=True, kw_only=True)
class IdempotencyRow:
    """
    A request that was carried out under an idempotency key.

    *key* and *digest* are keyed digests of the caller's key in its scope and of the request.
    *result* is JSON text: the uids of the entries that it wrote (see `plans.idempotency.with_key`).
    """

    scope_id: int
    key: str
    digest: bytes
    result: str
    kept_at: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ReceiptRow:
    """
    An erase: how much it removed, and when its bytes were removed as well.

    *target* holds keyed digests of the erased names: the receipt itself contains no name.
    """

    id: str
    target: bytes
    messages: int
    memories: int
    revised: int
    erased_at: int
    clean_at: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class FormationRow:
    """
    The row of one formation, whether it succeeded or failed.

    *watermarks* (position by thread), *failed* (positions by thread) and *receipt* are JSON text.
    """

    scope_id: int
    id: str
    fence: int
    committed_at: int
    status: FormationStatus
    calls: int
    tokens: int
    watermarks: str
    failed: str
    receipt: str


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditRow:
    """
    One audited change, in the hash chain of its scope.

    *chain* is a keyed hash of the scope's name, so that the chain outlives the scope. *n* counts
    from 1 without gaps. *actor* is ``None`` once the scope was erased; its keyed hash, *actor_key*,
    stays. *subject* is JSON text with internal ids, without names. *digest* is a keyed hash of the
    rows written. *hash* covers all columns except *actor*, including *previous*, the hash of the
    row before.
    """

    chain: bytes
    n: int
    at: int
    actor: str | None
    actor_key: bytes
    action: str
    subject: str
    digest: bytes
    previous: bytes
    hash: bytes
