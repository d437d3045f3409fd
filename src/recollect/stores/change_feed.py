"""The feed of a scope: its changes for the index of a reader, its index file, and read moments."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import BinaryIO, Final, Literal, NamedTuple

from recollect.records import MemoryState, Role, Scope

EntryKind = Literal["message", "memory"]


class FeedEntry(NamedTuple):
    """
    A live entry as a scope's index needs it: its position, hashed terms and vector.

    *thread* and *position* order it among its neighbours; a memory has thread 0 and its own
    session. *vector* is ``None`` while it is pending, and empty if there is none. *updated_at* is
    ``None`` for a message. Unlike the rows it is a tuple, because a first search makes one for
    every entry and takes their columns.
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
    updated_at: int | None = None


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
    updated_at: Sequence[int]


NO_SUMMARIES: Final = MemorySummaries((), (), (), (), (), (), (), ())


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
