"""The rows of a store, the same for every backend; times are µs since 1970."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import BinaryIO, Final, Literal, NamedTuple, TypeAlias

from recollect.records import FormationStatus, MemoryState, Role, Scope, Trust

MICROSECONDS: Final = 1_000_000
"""Microseconds in a second."""

EntryKind = Literal["message", "memory"]
MemoryAddress: TypeAlias = tuple[str, str]
"""The address of a memory in its scope: (type, key)."""
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

    *said_at* is the time of the newest message among its evidence when the row was written;
    removing the message later does not change it.
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
    *result* is JSON text: the uids of the entries that it wrote (see `plans.idempotency.key_row`).
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


class FeedEntry(NamedTuple):
    """
    A live entry as a scope's index needs it: its position, hashed terms and vector.

    *thread* and *position* order it among its neighbours; a memory has thread 0 and its own
    session. *vector* is ``None`` while it is pending, and empty if there is none. Unlike the rows
    it is a tuple, because a first search makes one for every entry and takes their columns.
    """

    uid: int
    seq: int
    kind: EntryKind
    thread: int
    session: str
    position: int
    time: int
    speaker: str | None
    role: Role
    type: str | None
    state: MemoryState
    valid_from: int | None
    valid_until: int | None
    expires_at: int | None
    terms: bytes
    vector: bytes | None


class MemorySummaries(NamedTuple):
    """
    The columns of `FeedEntry` by which listings sort, filter and count live memories.

    Element n of each column belongs to memory n. Building 100,000 rows would take several times as
    long.
    """

    uid: Sequence[int]
    type: Sequence[str]
    state: Sequence[MemoryState]
    time: Sequence[int]
    valid_from: Sequence[int | None]
    valid_until: Sequence[int | None]
    expires_at: Sequence[int | None]


NO_SUMMARIES: Final = MemorySummaries((), (), (), (), (), (), ())


class EntryBlock(NamedTuple):
    """
    Many entries of a scope, with one value for each column of `FeedEntry`.

    A column of numbers is a text of integers separated by commas. A column of names or of times is
    a JSON array, ``None`` if all elements would be null (for *state*: ``active``). *terms* is the
    concatenated terms of all entries, and *terms_bytes* their lengths; *least_terms* and
    *greatest_terms* are the first and last of them in byte order. *text_hash* has 16 bytes for each
    entry.
    """

    uid: str
    seq: str
    thread: str
    position: str
    time: str
    session: str
    speaker: str | None
    role: str
    type: str | None
    state: str | None
    valid_from: str | None
    valid_until: str | None
    expires_at: str | None
    terms_bytes: str
    terms: bytes
    text_hash: bytes
    least_terms: bytes
    greatest_terms: bytes


class VectorBlock(NamedTuple):
    """Vectors of a scope by one embedder, in order of uid, in columns as in `EntryBlock`."""

    uid: str
    text_hash: bytes
    data_bytes: str
    data: bytes


@dataclass(frozen=True, slots=True, kw_only=True)
class FeedBlocks:
    """
    All live entries of a scope, in any order, and their vectors.

    A vector is valid if the entry with its uid has the same text hash.
    """

    entries: tuple[EntryBlock, ...]
    vectors: tuple[VectorBlock, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Feed:
    """
    The changes of a scope since a cursor, each entry once, in its current state.

    With *reset* the reader must start over, and *entries* are all live ones. *eligible* holds the
    uids that match the requested filter, ``None`` without a filter. *blocks* may hold all entries
    instead of *entries*, if the reader asked for blocks and starts over.
    """

    scope: Scope
    now: int
    seq: int
    epoch: int
    reset: bool
    entries: tuple[FeedEntry, ...]
    removed: tuple[int, ...]
    eligible: frozenset[int] | None = None
    blocks: FeedBlocks | None = None


class ReadMoment(NamedTuple):
    """
    Identifies a snapshot of a store.

    Two reads at the same moment see the same data. Each *reader* counts its own *version*, so that
    moments of different readers never compare equal.
    """

    reader: int
    version: int


class ReadMoments:
    """The moments at which an index is known to be current: the last one of each reader."""

    def __init__(self) -> None:
        self._versions: dict[int, int] = {}

    def note(self, moment: ReadMoment) -> None:
        """Record that the index was current at *moment*."""
        self._versions[moment.reader] = moment.version

    def __contains__(self, moment: ReadMoment) -> bool:
        return self._versions.get(moment.reader) == moment.version


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadOrigin:
    """
    The server that answered a read, and how old its answer was.

    *replica* is the number of a read replica, from 1, or ``None`` for the primary. The answer was
    at most *behind_s* seconds old when the read began; 0 if it lacked nothing.
    """

    replica: int | None = None
    behind_s: float = 0.0


PRIMARY: Final = ReadOrigin()


class StaleBound(NamedTuple):
    """How stale a read may be: it has seen *cursors*, and lacks *seconds* of writes at most."""

    cursors: Sequence[Cursor]
    seconds: float


@dataclass(frozen=True, slots=True, kw_only=True)
class IndexFileRow:
    """
    A file beside the store that contains the index of a scope at *seq* of *epoch*.

    *form* names its layout, *embedder* the embedder of its vectors (empty for none). *name* is
    random. *digest* is that of its content, and empty while the file is being written.
    """

    scope_id: int
    name: str
    epoch: int
    seq: int
    embedder: str
    form: str
    size_bytes: int
    digest: bytes


@dataclass(frozen=True, slots=True, kw_only=True)
class IndexFile:
    """A finished index file of a scope, with its row."""

    path: str
    row: IndexFileRow


@dataclass(frozen=True, slots=True, kw_only=True)
class IndexFileDraft:
    """
    An index to be written to a file beside the store.

    The scope must not have changed since *cursor*. *write* writes the content, about *size_bytes*
    long, and returns its digest. *embedder* and *form* are those of `IndexFileRow`.
    """

    cursor: Cursor
    embedder: str
    form: str
    size_bytes: int
    write: Callable[[BinaryIO], bytes]


@dataclass(frozen=True, slots=True, kw_only=True)
class Cursor:
    """The position of a reader in a scope's feed."""

    scope: Scope
    seq: int = 0
    epoch: int = -1
