"""Find and lock the scopes of one PostgreSQL transaction, and the threads that are due in them."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from hashlib import sha256
from typing import Final, LiteralString, TypeVar

from recollect.records import Scope
from recollect.stores.columns import both_rows, revision_row, scope_row, side_row, thread_row
from recollect.stores.plans.leases import DUE_THREADS_MAX
from recollect.stores.postgres.array_parameters import Bound
from recollect.stores.postgres.row_security import SWEEPING, finding, finding_below, inside
from recollect.stores.postgres.statements import GROUP, QUERIES
from recollect.stores.postgres.transaction import Question, Stored, Transaction
from recollect.stores.query_rows import QueryRows
from recollect.stores.rows import Citation, RevisionRow, ScopeRow, SidePlace, SideRow, ThreadRow
from recollect.stores.scope_paths import range_below, stored_path

RowT = TypeVar("RowT")

NUMBERS_AHEAD: Final = 4
"""Numbers fetched with a new scope: for its id, its epoch, and its first threads."""
HEAD_BYTES: Final = 1_024
"""Length of a path's beginning in the index that orders scopes."""
CLAIM_TRIES_MAX: Final = 8
"""Attempts of a claim to find scopes that no other worker has formed meanwhile."""

_FIRST_PAGE: Final = 16
_PAGE_MAX: Final = 512
# The lock writes to the server's log, so that even a retry that finds its idempotency key and
# writes nothing waits for a synchronous standby. The commit that it found may still lack one.
_LOCKED: Final[LiteralString] = " FOR UPDATE"
_CLAIMED: Final[LiteralString] = " FOR UPDATE OF s SKIP LOCKED"


class PostgresScopeRows(QueryRows):
    """
    The scopes that one transaction has found; valid until it ends.

    A write transaction locks every scope it reads, so that several statements see the same state. A
    read transaction has one snapshot.
    """

    settings_stamp: int | None = None
    moment: None = None

    def __init__(self, transaction: Transaction) -> None:
        self._transaction = transaction
        self._lock: LiteralString = _LOCKED if transaction.writing else ""
        # Cached answers: the scope is locked, so they cannot change during the transaction.
        self._scopes: dict[Scope, ScopeRow] = {}
        self._due: dict[tuple[int, int], list[ThreadRow]] = {}
        # Scopes that do not exist; a write transaction holds the lock on their names.
        self._absent: set[Scope] = set()
        self._numbers: list[int] = []
        self._numbers_at = 0
        self._given: set[int] = set()

    @property
    def seen(self) -> Collection[ScopeRow]:
        """The scopes that were found by name."""
        return self._scopes.values()

    def new_number(self) -> int:
        # Prefetched numbers are used only until the next round trip: it may lock another scope,
        # in which another transaction has used larger numbers since.
        if self._numbers and self._transaction.trips == self._numbers_at:
            number = self._numbers.pop()
        else:
            ((number,),) = self._transaction.fetch(QUERIES["new_number"], ())
        self._given.add(number)
        return int(number)

    def scope(self, segments: Scope) -> ScopeRow | None:
        if known := self._scopes.get(segments):
            return known
        if segments in self._absent:
            return None
        asked = QUERIES["scope"] + self._lock, key_of(segments), finding(segments)
        found = self._transaction.fetch(*asked)
        if not found and self._transaction.writing:
            found = self._locked_by_name(segments, asked)
        if not found:
            return None
        self._scopes[segments] = scope_row(found[0])
        return self._scopes[segments]

    def _locked_by_name(self, segments: Scope, asked: Question) -> list[Stored]:
        """
        Lock the name of a missing scope, and return its row if it was created meanwhile.

        Until this transaction ends, no other can create a scope of this name. Numbers are fetched
        after the lock, in the same round trip, so that they exceed all that earlier transactions
        used for a scope of this name.
        """
        _, (_, path), wall = asked
        numbers = GROUP["new_numbers"], (NUMBERS_AHEAD,), wall
        locking = QUERIES["lock_path"], (path,), wall
        _, found, numbered = self._transaction.fetch_all([locking, asked, numbers])
        if not found:
            self._absent.add(segments)
        self._numbers = [number for (number,) in reversed(numbered)]
        self._numbers_at = self._transaction.trips
        return found

    def scope_by_id(self, scope_id: int) -> ScopeRow | None:
        statement = QUERIES["scope_by_id"] + self._lock
        found = self._transaction.fetch(statement, (scope_id,), inside(scope_id))
        return scope_row(found[0]) if found else None

    def scopes_below(self, prefix: Scope, after: Scope | None) -> Iterator[ScopeRow]:
        first, end = range_below(prefix)
        wall, statement = finding_below(prefix), QUERIES["scopes_below"] + self._lock
        beyond = b"" if after is None else stored_path(after)

        def page(last: ScopeRow | None, limit: int) -> list[Stored]:
            past = beyond if last is None else stored_path(last.segments)
            head = max(first, past)[:HEAD_BYTES]
            return self._transaction.fetch(statement, (head, first, past, end, limit), wall)

        return paged(scope_row, page)

    def due_threads(self, now: int, limit: int) -> Sequence[tuple[ScopeRow, ThreadRow]]:
        values = (now, now, now, limit)
        if not self._transaction.writing:
            found = self._transaction.fetch(QUERIES["due_threads"], values, SWEEPING)
            return [both_rows(row) for row in found]
        return self._locked_due_threads(values)

    def _locked_due_threads(self, values: Bound) -> Sequence[tuple[ScopeRow, ThreadRow]]:
        """Return due threads of scopes that no other transaction has locked; lock them."""
        statement = QUERIES["due_threads"] + _CLAIMED
        now = int(str(values[0]))
        live: list[tuple[ScopeRow, ThreadRow]] = []
        for _ in range(CLAIM_TRIES_MAX):
            found = [both_rows(row) for row in self._transaction.fetch(statement, values, SWEEPING)]
            # FOR UPDATE returns the scope as of the lock, but its threads as of the statement's
            # start: another worker may have formed them in between.
            self._look_again({scope.id for scope, _ in found}, now)
            live = [pair for pair in found if self._due[pair[0].id, now]]
            if len(live) == len(found):
                break
        return live

    def _look_again(self, locked: Collection[int], now: int) -> None:
        """Fetch the due threads of the locked scopes, in one round trip."""
        statement, limit = QUERIES["due_threads_of"], DUE_THREADS_MAX
        answers = self._transaction.fetch_all(
            [(statement, (id_, now, now, limit), inside(id_)) for id_ in locked]
        )
        for id_, found in zip(locked, answers, strict=True):
            self._due[id_, now] = [thread_row(row) for row in found]

    def citations(self, asked: Mapping[int, Sequence[tuple[str, str]]]) -> Sequence[Citation]:
        found = self._of_each("citations", _columns_of(asked))
        return [(id_, *each) for id_, rows in found.items() for each in rows]

    def side_records_in(self, asked: Mapping[int, Sequence[SidePlace]]) -> Sequence[SideRow]:
        found = self._of_each("side_records_at", _columns_of(asked))
        return [side_row(row) for rows in found.values() for row in rows]

    def revisions_in(self, asked: Mapping[int, Sequence[int]]) -> Sequence[RevisionRow]:
        found = self._of_each("revisions_in", {id_: (uids,) for id_, uids in asked.items()})
        return [revision_row(row) for rows in found.values() for row in rows]

    def due_threads_of(self, scope_id: int, now: int, limit: int) -> Sequence[ThreadRow]:
        if limit <= DUE_THREADS_MAX and (scope_id, now) in self._due:
            return self._due[scope_id, now][:limit]
        found = self._of("due_threads_of", scope_id, now, now, limit)
        return [thread_row(row) for row in found]

    def _of(self, name: str, scope_id: int, *values: object) -> list[Stored]:
        """
        Fetch rows of one scope, under its row security.

        A scope that this transaction creates has no rows yet, so no query is sent.
        """
        if scope_id in self._given:
            return []
        return self._transaction.fetch(QUERIES[name], (scope_id, *values), inside(scope_id))

    def _of_each(self, name: str, asked: Mapping[int, Sequence[object]]) -> dict[int, list[Stored]]:
        """Fetch rows of several scopes by the values of each, in one round trip."""
        stored = {id_: values for id_, values in asked.items() if id_ not in self._given}
        if not stored:
            return {}
        questions = [(QUERIES[name], (id_, *each), inside(id_)) for id_, each in stored.items()]
        return dict(zip(stored, self._transaction.fetch_all(questions), strict=True))


def _columns_of(asked: Mapping[int, Sequence[tuple[str, ...]]]) -> dict[int, list[list[str]]]:
    """Return the columns of the rows asked for in each scope, without scopes that ask for none."""
    return {id_: list(map(list, zip(*asked[id_], strict=True))) for id_ in asked if asked[id_]}


def key_of(scope: Scope) -> tuple[bytes, bytes]:
    """Return the lookup key of a scope: the digest of its path, and the path."""
    path = stored_path(scope)
    return sha256(path).digest(), path


def paged(
    row_of: Callable[[Stored], RowT], page: Callable[[RowT | None, int], list[Stored]]
) -> Iterator[RowT]:
    """Yield the rows of all pages; the first page is short, because often one row is enough."""
    last: RowT | None = None
    limit = _FIRST_PAGE
    while True:
        found = page(last, limit)
        for row in found:
            last = row_of(row)
            yield last
        if len(found) < limit:
            return
        limit = _PAGE_MAX
