"""
The unit of work: the rows that a plan can read, and the writes it returns, in one transaction.

Every operation of the contract is one plain function, a *plan*: it reads rows, decides, and returns
an `Effect` with its result. A backend provides the rows and writes the effect, so that the meaning
of an operation is implemented once and cannot differ between backends.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, Generic, Protocol, TypeAlias, TypeVar

from recollect.records import FormationStatus, Scope
from recollect.stores.change_feed import FeedBlocks, FeedEntry, MemorySummaries, ReadMoment
from recollect.stores.fast_records import changer_of, values_of
from recollect.stores.filters import Condition
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
    RevisionRow,
    ScopeRow,
    SidePlace,
    SideRow,
    ThreadRow,
    VectorRow,
)

ResultT = TypeVar("ResultT")
ResultT_co = TypeVar("ResultT_co", covariant=True)


class Rows(Protocol):
    """
    The reads of one transaction; all of them see the same snapshot.

    In a write transaction, scope rows stay locked from their first read until it ends.
    """

    @property
    def settings_stamp(self) -> int | None:
        """Return the current stamp of the store's settings, ``None`` if it keeps none."""
        ...

    @property
    def moment(self) -> ReadMoment | None:
        """Return the moment that identifies this snapshot, ``None`` if the store has none."""
        ...

    def expect(self, addresses: Mapping[Scope, Sequence[tuple[str, str]]]) -> None:
        """
        Announce reads of these scopes, and then of the memories at (type, key) in each.

        This is a hint: a backend with round trips may fetch all of them together.
        """
        ...

    def new_number(self) -> int:
        """
        Return a larger number than this store ever gave out; only in a write transaction.

        It is used for scope ids, epochs and thread numbers.
        """
        ...

    def scope(self, segments: Scope) -> ScopeRow | None:
        """Return the row of exactly this scope."""
        ...

    def scope_by_id(self, scope_id: int) -> ScopeRow | None:
        """Return the row of the scope with this id."""
        ...

    def scopes_below(self, prefix: Scope, after: Scope | None) -> Iterator[ScopeRow]:
        """Yield *prefix* itself and all scopes below it, after *after*, ordered by segments."""
        ...

    def scopes_holding(
        self, type_: str, now: int, prefix: Scope, after: Scope | None
    ) -> Iterator[Scope]:
        """Yield those scopes of `scopes_below` that have an active memory of a type at *now*."""
        ...

    def thread(self, scope_id: int, thread_id: str) -> ThreadRow | None:
        """Return the thread with this id."""
        ...

    def threads(self, scope_id: int, after: str | None, limit: int) -> Sequence[ThreadRow]:
        """Return threads by id, after the id *after*."""
        ...

    def thread_ids(self, scope_id: int, numbers: Sequence[int]) -> dict[int, str]:
        """Return the ids of threads by their numbers."""
        ...

    def messages(
        self, scope_id: int, thread: int, *, after: int, until: int | None, limit: int
    ) -> Sequence[MessageRow]:
        """Return messages by position, after *after*, up to and including *until*."""
        ...

    def count_messages(self, scope_id: int, thread: int, after: int) -> int:
        """Count the messages of a thread after the position *after*."""
        ...

    def last_messages(
        self, scope_id: int, thread: int, *, before: int | None, limit: int
    ) -> Sequence[MessageRow]:
        """Return the newest messages before the position *before*, newest first."""
        ...

    def messages_by_id(
        self, scope_id: int, thread: int, ids: Sequence[str]
    ) -> Sequence[MessageRow]:
        """Return those messages of a thread that exist, in any order."""
        ...

    def messages_of_source(self, scope_id: int, source: str) -> Sequence[MessageRow]:
        """Return all messages of a scope that came from *source*."""
        ...

    def memory(self, scope_id: int, type_: str, key: str) -> MemoryRow | None:
        """Return the memory at an address, expired or not."""
        ...

    def setting(self, segments: Scope, kind: str, key: str) -> SideRow | None:
        """
        Return a side record that many concurrent transactions depend on, and that rarely changes.

        Unlike `scope`, this locks nothing. On PostgreSQL, a change may be committed between this
        read and the end of the transaction, and is not noticed; elsewhere none can.
        """
        ...

    def memories_at(
        self, scope_id: int, addresses: Sequence[tuple[str, str]]
    ) -> Sequence[MemoryRow]:
        """Return those of the memories at (type, key) that exist, in any order."""
        ...

    def memories(self, scope_id: int, of: MemoryRange = ALL_MEMORIES) -> Iterator[MemoryRow]:
        """Yield the memories of a listing by (type, key), expired ones included."""
        ...

    def memories_matching(
        self, scope_id: int, type_: str | None, conditions: Sequence[Condition]
    ) -> Iterator[MemoryRow]:
        """Yield memories whose value satisfies *conditions*, by (type, key), expired or not."""
        ...

    def updates(self, scope_id: int, type_: str, now: int) -> Sequence[tuple[int, int]]:
        """Return (updated_at, uid) of the memories of a type that are active at *now*, by key."""
        ...

    def side_records_at(self, scope_id: int, places: Sequence[SidePlace]) -> Sequence[SideRow]:
        """Return those of the side records at *places* that exist, expired or not, in any order."""
        ...

    def side_records_in(self, asked: Mapping[int, Sequence[SidePlace]]) -> Sequence[SideRow]:
        """Return what `side_records_at` does of several scopes, by their ids, in any order."""
        ...

    def side_records(
        self, scope_id: int, within: Sequence[str], after: SidePlace | None
    ) -> Iterator[SideRow]:
        """
        Yield side records by address, after the address *after*, expired or not.

        *within* limits them to a thread, or a thread and a kind; all of the scope if empty.
        """
        ...

    def citations(self, asked: Mapping[int, Sequence[tuple[str, str]]]) -> Sequence[Citation]:
        """
        Return which memories have a version that cites these (thread, message), in any order.

        The messages are given by scope id; a backend with round trips asks for all at once.
        """
        ...

    def memories_resting_on(
        self, scope_id: int, messages: Sequence[tuple[str, str]]
    ) -> Sequence[MemoryRow]:
        """Return memories with a version that cites one of these (thread, message) as evidence."""
        ...

    def evidence_in(self, scope_id: int, thread: str) -> Sequence[str]:
        """Return the ids of a thread's messages that a version of any memory cites as evidence."""
        ...

    def revisions(self, scope_id: int, uid: int) -> Sequence[RevisionRow]:
        """Return the past versions of a memory, oldest first."""
        ...

    def revisions_in(self, asked: Mapping[int, Sequence[int]]) -> Sequence[RevisionRow]:
        """Return what `revisions` does of several memories, by scope id and uid, in any order."""
        ...

    def idempotency(self, scope_ids: Sequence[int], key: str) -> IdempotencyRow | None:
        """Return the request under a key, in the first of these scopes that has it."""
        ...

    def keys_of(self, scope_id: int) -> Sequence[IdempotencyRow]:
        """Return the requests under all keys of a scope."""
        ...

    def changed(self, scope_id: int, after: int, embedder: str | None) -> Sequence[FeedEntry]:
        """
        Return the live entries with a seq above *after*, by (seq, uid).

        Each has the vector of its current text by *embedder*, if there is one.
        """
        ...

    def feed_blocks(self, scope_id: int, embedder: str | None) -> FeedBlocks | None:
        """Return ``changed(scope_id, 0, embedder)`` in blocks; ``None`` if that is not faster."""
        ...

    def memory_summaries(self, scope_id: int) -> MemorySummaries | None:
        """Return columns of all live memories; ``None`` if that is not faster than ``changed``."""
        ...

    def removed(self, scope_id: int, after: int) -> Sequence[int]:
        """Return the uids of tombstones with a seq above *after*."""
        ...

    def messages_by_uid(self, scope_id: int, uids: Sequence[int]) -> Sequence[MessageRow]:
        """Return those of *uids* that are live messages, in any order."""
        ...

    def memories_by_uid(self, scope_id: int, uids: Sequence[int]) -> Sequence[MemoryRow]:
        """Return those of *uids* that are live memories, in any order."""
        ...

    def memories_in(self, places: Sequence[Place]) -> Sequence[tuple[Scope, MemoryRow]]:
        """Return those of *places* (scope, uid) that are live memories, in any order."""
        ...

    def all_messages(self, scope_id: int) -> Iterator[MessageRow]:
        """Yield all live messages of a scope, by thread number and position."""
        ...

    def due_threads(self, now: int, limit: int) -> Sequence[tuple[ScopeRow, ThreadRow]]:
        """Return due threads of scopes that are not leased at *now*, longest due first."""
        ...

    def due_threads_of(self, scope_id: int, now: int, limit: int) -> Sequence[ThreadRow]:
        """Return the due threads of one scope, longest due first."""
        ...

    def waiting_threads(
        self, prefix: Scope, *, below: bool, after: tuple[Scope, str] | None, limit: int
    ) -> Sequence[tuple[ScopeRow, ThreadRow]]:
        """
        Return threads with pending messages, by (scope, id), after *after*.

        They belong to exactly the scope *prefix*; with *below*, also to scopes below it.
        """
        ...

    def formation(self, scope_id: int, formation_id: str) -> FormationRow | None:
        """Return the formation with this id."""
        ...

    def formations(
        self, scope_id: int, status: FormationStatus | None, before: ReceiptPlace | None, limit: int
    ) -> Sequence[FormationRow]:
        """Return formations before (committed_at, fence, id), in descending order of these."""
        ...

    def spent(self, scope_id: int, since: int) -> tuple[int, int]:
        """Return the calls and tokens of the formations committed at *since* or later."""
        ...

    def unembedded_scopes(self, embedder: str, limit: int) -> Sequence[int]:
        """Return ids of scopes with changes that this embedder has not processed."""
        ...

    def unembedded(
        self, scope_id: int, after: int, embedder: str, limit: int
    ) -> Sequence[tuple[int, int]]:
        """Return (uid, seq) of entries above seq *after* without a vector of their text, by seq."""
        ...

    def embedded_seq(self, scope_id: int, embedder: str) -> int:
        """Return the seq up to which this embedder has processed a scope."""
        ...

    def receipts(self, *, unclean: bool) -> Sequence[ReceiptRow]:
        """Return erase receipts by time: all, or those whose bytes are not removed yet."""
        ...

    def audit_head(self, chain: bytes) -> tuple[int, bytes] | None:
        """Return the number and hash of the last row of a chain, ``None`` if it has none."""
        ...

    def audit(self, chain: bytes, after: int, limit: int) -> Sequence[AuditRow]:
        """Return the rows of a chain by number, after the number *after*."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Effect:
    """
    The writes of a plan, which a store commits atomically.

    A row replaces the stored row with the same key (scope id; thread number; uid of message or
    memory; uid and version of revision; id of formation). Removing an entry removes its vectors and
    revisions too, and leaves a tombstone at the scope's new seq. *dropped_scopes* removes
    everything of a scope, its row included; *dropped_threads* removes thread rows (their messages
    are among *removed*). *raised* only sets the seq of an entry. *embedded* records (scope id,
    embedder, processed seq). *dropped_evidence* unlinks (scope id, thread id, message id).
    *dropped_revisions* removes (scope id, uid, version). *old_keys* drops the idempotency rows of a
    scope id stored before a time, and *compacted* its tombstones up to a seq.

    *audit* rows are only appended: each becomes the head of its chain, which is stored apart from
    the rows. *unnamed* then removes the actors' names from all rows of a chain. Neither belongs to
    a scope's row, so dropping a scope leaves both alone.

    *dropped_sides* are removed before *sides* are written; these replace the row at their address.
    """

    scopes: Sequence[ScopeRow] = ()
    threads: Sequence[ThreadRow] = ()
    messages: Sequence[MessageRow] = ()
    memories: Sequence[MemoryRow] = ()
    revisions: Sequence[RevisionRow] = ()
    removed: Sequence[Removal] = ()
    dropped_revisions: Sequence[tuple[int, int, int]] = ()
    dropped_threads: Sequence[ThreadRow] = ()
    dropped_scopes: Sequence[int] = ()
    vectors: Sequence[VectorRow] = ()
    raised: Sequence[Removal] = ()
    embedded: Sequence[tuple[int, str, int]] = ()
    idempotency: Sequence[IdempotencyRow] = ()
    old_keys: Sequence[tuple[int, int]] = ()
    compacted: Sequence[tuple[int, int]] = ()
    dropped_evidence: Sequence[tuple[int, str, str]] = ()
    receipts: Sequence[ReceiptRow] = ()
    formations: Sequence[FormationRow] = ()
    sides: Sequence[SideRow] = ()
    dropped_sides: Sequence[SideRow] = ()
    audit: Sequence[AuditRow] = ()
    unnamed: Sequence[bytes] = ()


writes_of: Final = values_of(Effect)
"""Takes the writes of an effect, field by field."""
changed_effect: Final = changer_of(Effect)
"""Like `dataclasses.replace` for an effect."""


def together(effects: Iterable[Effect]) -> Effect:
    """Return one effect with the writes of all *effects*, in order."""
    parts: dict[str, list[Any]] = {}
    for effect in effects:
        for name in Effect.__slots__:
            if part := getattr(effect, name):
                parts.setdefault(name, []).extend(part)
    return Effect(**parts)


@dataclass(frozen=True, slots=True, kw_only=True)
class Removal:
    """An entry that is removed at *seq*, or whose seq is set to it."""

    scope_id: int
    uid: int
    seq: int


@dataclass(frozen=True, slots=True)
class PlannedWrite(Generic[ResultT_co]):
    """The outcome of a plan: its writes, and its result once they are committed."""

    effect: Effect
    result: ResultT_co


NOTHING = Effect()
"""The effect of a plan that writes nothing."""

Proviso: TypeAlias = Callable[[Rows], None]
"""A check inside a write transaction; it raises an error to prevent the change."""

Plan: TypeAlias = Callable[[Rows], PlannedWrite[ResultT]]
"""A write operation, run inside one transaction; it may be run again after a conflict."""

Query: TypeAlias = Callable[[Rows], ResultT]
"""A read operation, run inside one transaction."""
