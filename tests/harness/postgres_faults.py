"""PostgreSQL stores that are watched, and mutants of them that a proof has to tell apart."""

from __future__ import annotations

import asyncio
import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, Final, TypeVar, Unpack

import psycopg
from psycopg.pq import TransactionStatus

from recollect.errors import RecollectError
from recollect.records import Write
from recollect.stores.plans.formation import Formed
from recollect.stores.plans.leases import Lease
from recollect.stores.postgres import (
    effects,
    foreseen_rows,
    rows,
    scope_rows,
    transaction,
    unit_attempt,
)
from recollect.stores.postgres import store as store_module
from recollect.stores.postgres.connections import Connections
from recollect.stores.postgres.location import PostgresLimits, PostgresLocation
from recollect.stores.postgres.row_security import Wall
from recollect.stores.postgres.statements import GROUP, QUERIES, SESSION, WRITES
from recollect.stores.postgres.store import PostgresStore
from recollect.stores.postgres.transaction import Connection, Transaction

ResultT = TypeVar("ResultT")

# What in the statements keeps to one scope, and what stands there instead.
_PREDICATES: Final = (
    (re.compile(r"\b(?:\w+\.)?scope_id = %s"), "%s::bigint IS NOT NULL"),
    (re.compile(r"(?<=WHERE )id = %s"), "%s::bigint IS NOT NULL"),
    (re.compile(r"\b\w+\.scope_id = (?:asked|old)\.scope_id\b"), "true"),
    (re.compile(r"\bs\.id = asked\.id AND s\.path = asked\.path"), "true"),
    (re.compile(r"\bdigest = %s AND path = %s"), "%s::bytea IS NOT NULL AND %s::bytea IS NOT NULL"),
    (re.compile(r"\b(?:s\.)?path < %s"), "%s::bytea IS NOT NULL"),
)


class WatchedStore(PostgresStore):
    """A store that counts, by class, the errors with which its calls ended."""

    def __init__(self, url: str, **limits: Unpack[PostgresLimits]) -> None:
        super().__init__(url, replicas=(), clock=None, ids=None, **limits)
        self.errors: Counter[str] = Counter()

    async def _run(self, work: Callable[[], ResultT]) -> ResultT:
        try:
            return await super()._run(work)
        except RecollectError as error:
            self.errors[type(error).__name__] += 1
            raise


def shorten_leases(store: PostgresStore, lease_s: float) -> None:
    """Have no claim last longer than *lease_s*, so that what a restart cut off is soon taken up."""
    open_ended: Any = store
    claim = open_ended.claim

    async def claimed(owner: str, **given: Any) -> Lease | None:
        given["lease_s"] = min(lease_s, given.get("lease_s", lease_s))
        found: Lease | None = await claim(owner, **given)
        return found

    open_ended.claim = claimed


def tear_commits(store: PostgresStore, pause_s: float) -> None:
    """Have a formation's effect and watermark committed apart; the first time *pause_s* apart."""
    torn: Any = store
    commit, pauses_s = torn.commit, [pause_s]

    async def committed(lease: Lease, writes: Sequence[Write], formed: Formed) -> object:
        await store.apply(lease.scope, writes)
        await asyncio.sleep(pauses_s.pop() if pauses_s else 0)
        return await commit(lease, [], formed)

    torn.commit = committed


@contextmanager
def changed(*changes: tuple[Any, str, object]) -> Iterator[None]:
    """Give attributes other values meanwhile."""
    before = [(target, name, getattr(target, name)) for target, name, _ in changes]
    for target, name, value in changes:
        setattr(target, name, value)
    try:
        yield
    finally:
        for target, name, value in before:
            setattr(target, name, value)


@contextmanager
def bytes_left() -> Iterator[None]:
    """Let cleaning leave the bytes: to write all tables anew takes long, and changes no answer."""
    with changed((store_module, "remove_deleted_bytes", lambda _: None)):
        yield


@contextmanager
def guessing() -> Iterator[None]:
    """Let a store run again what may have been committed, with nothing by which to find out."""
    with changed((unit_attempt.UnitAttempt, "is_commit_unknown", False)):
        yield


class HastyConnections(Connections):
    """Connections that a cancelled caller takes from under their transactions."""

    def __init__(self, location: PostgresLocation) -> None:
        super().__init__(location)
        self.taken: dict[Connection, float] = {}

    def take(self) -> tuple[Connection, float]:
        """Note who is at work."""
        connection, opened_at = super().take()
        self.taken[connection] = opened_at
        return connection, opened_at

    def give_back(self, connection: Connection, opened_at: float) -> None:
        """Give back once, however it came about."""
        if self.taken.pop(connection, None) is not None:
            super().give_back(connection, opened_at)

    def snatch(self) -> None:
        """Give everything back that is at work, as it is."""
        for connection, opened_at in list(self.taken.items()):
            self.taken.pop(connection, None)
            self._idle.append((connection, opened_at, opened_at))


class HastyStore(PostgresStore):
    """A store whose cancelled callers clean up after themselves, too early."""

    def __init__(self, url: str, **limits: Unpack[PostgresLimits]) -> None:
        super().__init__(url, replicas=(), clock=None, ids=None, **limits)
        self._hasty = HastyConnections(self._location)
        self._workshop.connections.close()
        self._workshop.connections = self._hasty

    async def _run(self, work: Callable[[], ResultT]) -> ResultT:
        try:
            return await super()._run(work)
        except asyncio.CancelledError:
            self._hasty.snatch()
            raise


def not_idle(store: PostgresStore) -> int:
    """Return how many connections that nobody uses are still in a transaction."""
    idle = store._workshop.connections._idle
    return sum(each.info.transaction_status != TransactionStatus.IDLE for each, _, _ in idle)


def without_predicates(statements: Mapping[str, str]) -> dict[str, str]:
    """Return the statements without what in them keeps to one scope."""
    mutated = {}
    for name, text in statements.items():
        for predicate, nothing in _PREDICATES:
            text = predicate.sub(nothing, text)  # noqa: PLW2901 - one after the other
        mutated[name] = text
    return mutated


@contextmanager
def dropped_predicates() -> Iterator[None]:
    """Take the application's own wall down: the statements no longer name their scope."""
    writes = without_predicates(WRITES)
    empty = tuple(text for name, text in writes.items() if name.startswith("empty_"))
    with changed(
        (rows, "QUERIES", without_predicates(QUERIES)),
        (scope_rows, "QUERIES", without_predicates(QUERIES)),
        (foreseen_rows, "GROUP", without_predicates(GROUP)),
        (effects, "WRITES", writes),
        (effects, "_EMPTY_SCOPE", empty),
    ):
        yield


@contextmanager
def lasting_settings() -> Iterator[None]:
    """Make the wall of settings of the session, once, as a pooled context often is."""
    entered: Counter[int] = Counter()
    enter = Transaction._enter

    def enter_once(self: Transaction, wall: Wall) -> None:
        if not self.writing:
            entered[id(self._connection)] += 1
        # To find the scope, and then to read in it.
        if entered[id(self._connection)] <= 2:
            enter(self, wall)

    lasting = {**SESSION, "enter": SESSION["enter"].replace("true", "false")}
    with changed((transaction, "SESSION", lasting), (Transaction, "_enter", enter_once)):
        yield


def sessions_of(url: str) -> int:
    """Return how many other sessions the server has on the database of *url*."""
    statement = (
        "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database()"
        " AND backend_type = 'client backend' AND pid <> pg_backend_pid()"
    )
    with psycopg.connect(url) as connection:
        found = connection.execute(statement).fetchone()
    return int(found[0]) if found else 0
