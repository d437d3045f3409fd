"""One attempt to run a plan in a transaction."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Generic, TypeAlias, TypeVar

import psycopg

from recollect.observability.logs import kind_of
from recollect.stores.postgres.driver_errors import AGAIN, LOG, READ_ONLY
from recollect.stores.postgres.effects import write_effect
from recollect.stores.postgres.location import PostgresLocation
from recollect.stores.postgres.rows import PostgresRows
from recollect.stores.postgres.transaction import Connection, Transaction
from recollect.stores.rows import ScopeRow
from recollect.stores.unit_of_work import NOTHING, Effect, PlannedWrite

ResultT = TypeVar("ResultT")

UnitWork: TypeAlias = Callable[[PostgresRows], PlannedWrite[ResultT]]
"""A plan, or a query as a plan that writes nothing."""


class UnitAttempt(Generic[ResultT]):
    """One attempt to run a plan, and how far it got."""

    def __init__(self, plan: UnitWork[ResultT], *, writing: bool) -> None:
        self._plan = plan
        self._writing = writing
        self.seen: Sequence[ScopeRow] = ()
        """The scopes it read or wrote, in their latest state."""
        self.effect = NOTHING
        self._is_commit_sent = False
        self.is_committed = False
        self.is_lost = False
        """Whether the connection broke during this attempt."""

    def run(self, connection: Connection, location: PostgresLocation) -> ResultT:
        """Run the plan, and commit its effect; roll back after an error, which is raised."""
        transaction = Transaction(connection, location, writing=self._writing)
        try:
            planned = self._decide(transaction)
            self.effect = planned.effect
            write_effect(transaction, planned.effect)
            transaction.commit()
            self.is_committed = True
            self.seen = [*self.seen, *planned.effect.scopes]
        except BaseException:
            self._is_commit_sent = transaction.is_commit_sent
            try:
                transaction.roll_back()
            except psycopg.Error as error:
                LOG.debug("a transaction could not be rolled back: %s", kind_of(error))
            self.is_lost = connection.closed
            raise
        return planned.result

    def _decide(self, transaction: Transaction) -> PlannedWrite[ResultT]:
        """Run the plan; write nothing yet."""
        rows = self._rows(transaction)
        planned = self._plan(rows)
        self.seen = [*rows.seen]
        return planned

    def _rows(self, transaction: Transaction) -> PostgresRows:
        """Return the rows that the plan reads; a reading of a replica has others."""
        return PostgresRows(transaction)

    @property
    def is_commit_unknown(self) -> bool:
        """Return True if it may be committed, and a retry could not find out."""
        return self.may_be_committed and is_untraceable(self.effect)

    @property
    def may_be_committed(self) -> bool:
        """Whether the connection was lost after COMMIT was sent."""
        return self.is_lost and self._is_commit_sent

    def may_be_retried(self, error: psycopg.Error) -> bool:
        """Return True if a retry may succeed and cannot write twice."""
        return error.sqlstate in (*AGAIN, READ_ONLY) or self.is_lost


def is_untraceable(effect: Effect) -> bool:
    """Return True if a retry could not tell whether *effect* was committed."""
    # An erase rewrites the idempotency rows of others, but has no key of its own.
    has_key = bool(effect.idempotency) and not effect.receipts
    return effect != NOTHING and not has_key
