"""The one thread that writes: it groups the commits of callers that wait at the same time."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from itertools import groupby
from threading import Thread
from typing import Any, Final, TypeAlias

import apsw

from recollect.errors import StoreFullError, StoreUnavailableError
from recollect.stores.sqlite.calls import Call, Outcome, answer
from recollect.stores.sqlite.connect import Identity, Location, connect
from recollect.stores.sqlite.effects import write_effect
from recollect.stores.sqlite.failures import store_errors
from recollect.stores.sqlite.line import Line
from recollect.stores.sqlite.reserve import Reserve
from recollect.stores.sqlite.rows import SQLiteRows
from recollect.stores.unit import Effect, Plan

GROUP_CALLS_MAX: Final = 256
"""At most this many calls share a commit."""


@dataclass(frozen=True, slots=True)
class Errand:
    """Something to be done on the writing connection outside any transaction."""

    run: Callable[[apsw.Connection], None]


Work: TypeAlias = Plan[Any] | Errand


class Writer:
    """
    Carries out plans in the order in which they came, many in one commit.

    Whoever comes while a commit is being made durable waits for the next one, together;
    whoever comes alone is served at once. Each plan has its own savepoint: what it raises
    concerns its caller alone. What goes wrong with the commit concerns all of its group,
    and nothing of the group is written.
    """

    def __init__(self, location: Location, connection: apsw.Connection) -> None:
        self._location = location
        self._identity = Identity(location.path)
        self._reserve = Reserve(location.path)
        self._connection: apsw.Connection | None = connection
        self._frees_room = False
        self._line: Line[Work] = Line(location.path)
        # A daemon: a program that forgets to close its store can still end, and loses
        # nothing by it, because every answered call is in the log.
        self._thread = Thread(target=self._serve, name="recollect-sqlite-writer", daemon=True)
        self._thread.start()

    def carry_out(self, work: Work) -> asyncio.Future[Any]:
        """
        Put *work* in line; the answer comes when it is durable.

        A caller that no longer awaits it leaves open whether it is done.

        Raises:
            StoreClosedError: The writer was closed.
        """
        return self._line.join(work)

    def close(self) -> None:
        """Let the thread finish what waits, close its connection and end; wait for that."""
        self._line.close(threads=1)
        self._thread.join()

    def _serve(self) -> None:
        self._reserve.fill()
        ended = False
        while not ended and (first := self._line.take()):
            more, ended = self._line.take_more(GROUP_CALLS_MAX - 1)
            waited_for = [call for call in (first, *more) if not call.future.cancelled()]
            for are_errands, calls in groupby(waited_for, key=_is_errand):
                (self._run_errands if are_errands else self._commit_group)(list(calls))
        self._drop_connection()

    def _run_errands(self, calls: list[Call[Work]]) -> None:
        for call in calls:
            if isinstance(call.work, Errand):
                with call, store_errors(self._location.path):
                    self._identity.check()
                    call.work.run(self._connected())
        answer(calls)

    def _commit_group(self, calls: list[Call[Work]]) -> None:
        error = self._attempt(calls)
        if isinstance(error, StoreFullError):
            if len(calls) > 1:
                # One that is too large for what is left must not keep the small ones out.
                for call in calls:
                    self._commit_group([call])
                return
            if self._frees_room and self._make_room():
                error = self._attempt(calls)
        if error:
            for call in calls:
                call.fail(error)
        answer(calls)

    def _attempt(self, calls: list[Call[Work]]) -> BaseException | None:
        """Carry out *calls* in one transaction; return what kept it from being committed."""
        attempt = Outcome()
        with attempt, store_errors(self._location.path):
            self._transact(calls)
        if isinstance(attempt.error and attempt.error.__cause__, _BREAKING):
            # What SQLite still believes of the file may be wrong: begin with it anew.
            self._drop_connection()
        return attempt.error

    def _transact(self, calls: list[Call[Work]]) -> None:
        connection = self._connected()
        connection.execute("BEGIN IMMEDIATE")
        try:
            self._identity.check()
            for call in calls:
                self._carry_out(connection, call)
            self._commit(connection)
        except BaseException:
            if connection.in_transaction:
                connection.execute("ROLLBACK")
            raise
        self._identity.check()

    def _carry_out(self, connection: apsw.Connection, call: Call[Work]) -> None:
        """Run the plan of *call* in a savepoint; only an error of the whole file gets out."""
        rows = SQLiteRows(connection)
        connection.execute("SAVEPOINT plan")
        with call, store_errors(self._location.path):
            try:
                planned = call.work(rows)  # type: ignore[operator]
                self._frees_room = _frees_room(planned.effect)
                write_effect(connection, planned.effect)
                call.result = planned.result
            finally:
                rows.close()
        if call.error is None:
            connection.execute("RELEASE plan")
        elif isinstance(call.error.__cause__, apsw.Error) and not isinstance(
            call.error.__cause__, apsw.ConstraintError
        ):
            raise call.error
        else:
            connection.execute("ROLLBACK TO plan")
            connection.execute("RELEASE plan")

    def _commit(self, connection: apsw.Connection) -> None:
        try:
            connection.execute("COMMIT")
        except apsw.IOError as error:
            msg = (
                f"{self._location.path!r}: the commit failed on its way to the disk, and whether "
                "it will be there after a crash is unknown: repeat it with the same ids or "
                f"idempotency key ({error})"
            )
            raise StoreUnavailableError(msg) from error

    def _make_room(self) -> bool:
        if not self._reserve.release():
            return False
        # The log can be begun anew once it is in the file, for which there is room now.
        with suppress(apsw.Error):
            self._connected().wal_checkpoint(mode=apsw.SQLITE_CHECKPOINT_RESTART)
        return True

    def _connected(self) -> apsw.Connection:
        if self._connection is None:
            self._identity.check()
            self._connection = connect(self._location, for_reading=False)
        return self._connection

    def _drop_connection(self) -> None:
        connection, self._connection = self._connection, None
        if connection:
            connection.close(force=True)


_BREAKING = (apsw.IOError, apsw.CorruptError, apsw.NotADBError, apsw.MisuseError)


def _is_errand(call: Call[Work]) -> bool:
    return isinstance(call.work, Errand)


def _frees_room(effect: Effect) -> bool:
    """Say whether an effect is one of erasing, which a full disk must not prevent."""
    return bool(effect.removed or effect.dropped_scopes or effect.receipts)
