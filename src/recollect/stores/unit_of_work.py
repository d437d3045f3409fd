"""
The unit of work: what a plan may read, and what it wants written, in one transaction.

Every operation of the contract is one plain function, a *plan*: it reads rows, decides,
and returns an `Effect` with its answer. A backend gives the rows and writes the effect,
so that what an operation means is written once and cannot differ between backends.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Generic, Protocol, TypeAlias, TypeVar

from recollect.records import FormationStatus, MemoryState, Scope
from recollect.stores.filters import Condition
from recollect.stores.rows import (
    AuditRow,
    FeedBlocks,
    FeedEntry,
    FormationRow,
    IdempotencyRow,
    MemoryRow,
    MemorySummaries,
    MessageRow,
    Place,
    ReadMoment,
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

    In a writing transaction the scope rows that it reads stay locked until it ends.
    """

    @property
    def settings_stamp(self) -> int | None:
        """Return the stamp of the store's settings as they are now, where it keeps one."""
        ...

    @property
    def moment(self) -> ReadMoment | None:
        """Return the moment of which everything that is read here is, where the store names it."""
        ...

    def expect(self, addresses: Mapping[Scope, Sequence[tuple[str, str]]]) -> None:
        """
        Record that these scopes will be asked for, and then the memories at (type, key) in each.

        A backend for which every answer is a trip may fetch them together; nothing depends on it.
        """
        ...

    def new_number(self) -> int:
        """
        Return a larger number than this store ever gave; only in a writing transaction.

        Scope ids, epochs and thread numbers are such numbers.
        """
        ...

    def scope(self, segments: Scope) -> ScopeRow | None:
        """Return the row of exactly this scope."""
        ...

    def scope_by_id(self, scope_id: int) -> ScopeRow | None:
        """Return the row with this id."""
        ...

    def scopes_below(self, prefix: Scope, after: Scope | None) -> Iterator[ScopeRow]:
        """Yield *prefix* itself and all scopes below it, after *after*, by their segments."""
        ...

    def scopes_holding(
        self, type_: str, now: int, prefix: Scope, after: Scope | None
    ) -> Iterator[Scope]:
        """Yield the scopes of `scopes_below` that hold a memory of a type in force at *now*."""
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
        Return a side record that many transactions rest on at a time, and rarely one changes.

        Unlike `scope` it locks nothing. On PostgreSQL a change that is committed between this
        read and the end of the transaction is not seen; elsewhere there is none between them.
        """
        ...

    def memories_at(
        self, scope_id: int, addresses: Sequence[tuple[str, str]]
    ) -> Sequence[MemoryRow]:
        """Return those of the memories at (type, key) that exist, in any order."""
        ...

    def memories(
        self,
        scope_id: int,
        type_: str | None,
        after: tuple[str, str] | None,
        state: MemoryState | None = None,
    ) -> Iterator[MemoryRow]:
        """Yield memories in a *state* by (type, key), after the address *after*, expired or not."""
        ...

    def memories_matching(
        self, scope_id: int, type_: str | None, conditions: Sequence[Condition]
    ) -> Iterator[MemoryRow]:
        """Yield memories whose value satisfies *conditions*, by (type, key), expired or not."""
        ...

    def updates(self, scope_id: int, type_: str, now: int) -> Sequence[tuple[int, int]]:
        """Return (updated_at, uid) of the memories of a type in force at *now*, by key."""
        ...

    def side_records_at(self, scope_id: int, places: Sequence[SidePlace]) -> Sequence[SideRow]:
        """Return those of the side records at *places* that exist, expired or not, in any order."""
        ...

    def side_records(
        self, scope_id: int, within: Sequence[str], after: SidePlace | None
    ) -> Iterator[SideRow]:
        """
        Yield side records by their place, after the place *after*, expired or not.

        *within* is the beginning of their place: nothing, a thread, or a thread and a kind.
        """
        ...

    def memories_resting_on(
        self, scope_id: int, messages: Sequence[tuple[str, str]]
    ) -> Sequence[MemoryRow]:
        """Return memories of which any version names one of these (thread, message) as evidence."""
        ...

    def evidence_in(self, scope_id: int, thread: str) -> Sequence[str]:
        """Return the ids of a thread's messages that any version of a memory names as evidence."""
        ...

    def revisions(self, scope_id: int, uid: int) -> Sequence[RevisionRow]:
        """Return the past versions of a memory, oldest first."""
        ...

    def idempotency(self, scope_ids: Sequence[int], key: str) -> IdempotencyRow | None:
        """Return what was done under a key, in the first of these scopes that has it."""
        ...

    def keys_of(self, scope_id: int) -> Sequence[IdempotencyRow]:
        """Return what was done under all keys of a scope."""
        ...

    def changed(self, scope_id: int, after: int, embedder: str | None) -> Sequence[FeedEntry]:
        """
        Return the live entries with a seq above *after*, by (seq, uid).

        Each comes with the vector by *embedder* of its present text, if there is one.
        """
        ...

    def feed_blocks(self, scope_id: int, embedder: str | None) -> FeedBlocks | None:
        """Return what ``changed(scope_id, 0, embedder)`` lists; ``None`` if that is no slower."""
        ...

    def memory_summaries(self, scope_id: int) -> MemorySummaries | None:
        """Return all live memories of a scope; ``None`` if ``changed`` lists them as quickly."""
        ...

    def removed(self, scope_id: int, after: int) -> Sequence[int]:
        """Return the ids of the tombstones with a seq above *after*."""
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
        """Return due threads whose scope is not leased at *now*, the longest due first."""
        ...

    def due_threads_of(self, scope_id: int, now: int, limit: int) -> Sequence[ThreadRow]:
        """Return the due threads of one scope, the longest due first."""
        ...

    def waiting_threads(
        self, prefix: Scope, *, below: bool, after: tuple[Scope, str] | None, limit: int
    ) -> Sequence[tuple[ScopeRow, ThreadRow]]:
        """
        Return threads of which something waits to be formed, by (scope, id), after *after*.

        They are those of exactly the scope *prefix*, or with *below* also those below it.
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
        """Return the calls and tokens of the formations that were committed at *since* or later."""
        ...

    def unembedded_scopes(self, embedder: str, limit: int) -> Sequence[int]:
        """Return ids of scopes with changes that this embedder has not looked at."""
        ...

    def unembedded(
        self, scope_id: int, after: int, embedder: str, limit: int
    ) -> Sequence[tuple[int, int]]:
        """Return (uid, seq) of entries above *after* whose text it has no vector of, by seq."""
        ...

    def embedded_seq(self, scope_id: int, embedder: str) -> int:
        """Return the seq up to which this embedder has looked at a scope."""
        ...

    def receipts(self, *, unclean: bool) -> Sequence[ReceiptRow]:
        """Return erase receipts by time, all or those whose bytes are not gone yet."""
        ...

    def audit_head(self, chain: bytes) -> tuple[int, bytes] | None:
        """Return number and hash of the last row that was put into a chain, ``None`` of none."""
        ...

    def audit(self, chain: bytes, after: int, limit: int) -> Sequence[AuditRow]:
        """Return the rows of a chain by their number, after the number *after*."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Effect:
    """
    The writes of a plan, which a store commits atomically.

    Puts replace the row with the same key (scope id; thread number; uid of message or
    memory; uid and version of revision; id of formation). A removed entry takes its vectors and
    revisions along and leaves a tombstone at the scope's new seq. *dropped_scopes*
    takes everything of a scope, the row itself included; *dropped_threads* removes thread
    rows (their messages are among *removed*). *raised* only sets an entry's seq. *embedded*
    notes (scope id, embedder, seq looked at); *dropped_evidence* unlinks (scope id, thread id,
    message id); *dropped_revisions* names (scope id, uid, version); *old_keys* drops the
    idempotency rows of (scope id) kept before a moment; *compacted* the tombstones of (scope id)
    up to a seq.

    *audit* rows are added, never replaced: each becomes the head of its chain, which is kept
    apart from the rows. *unnamed* then takes the actors' names out of all rows of a chain.
    Neither belongs to a scope's row, and dropping a scope leaves both alone.

    *dropped_sides* are the rows of side records that go, before any of *sides* is put; a put
    replaces the row at the same place.
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


def together(effects: Iterable[Effect]) -> Effect:
    """Return an effect that does what all of *effects* do, in their order."""
    parts: dict[str, list[Any]] = {}
    for effect in effects:
        for name in Effect.__slots__:
            if part := getattr(effect, name):
                parts.setdefault(name, []).extend(part)
    return Effect(**parts)


@dataclass(frozen=True, slots=True, kw_only=True)
class Removal:
    """An entry that goes away, or whose seq is raised, at *seq*."""

    scope_id: int
    uid: int
    seq: int


@dataclass(frozen=True, slots=True)
class PlannedWrite(Generic[ResultT_co]):
    """A plan's outcome: what to write, and what to answer once it is written."""

    effect: Effect
    result: ResultT_co


NOTHING = Effect()
"""The effect of a plan that only had to look."""

Proviso: TypeAlias = Callable[[Rows], None]
"""Raises an error, inside a writing transaction, where a change must not be carried out."""

Plan: TypeAlias = Callable[[Rows], PlannedWrite[ResultT]]
"""One writing operation, run inside one transaction; it may be run again after a conflict."""

Query: TypeAlias = Callable[[Rows], ResultT]
"""One reading operation, run inside one transaction."""
