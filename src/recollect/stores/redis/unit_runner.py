"""
Run units of work, a plan or a query, optimistically; retry them if their reads were inconsistent.

Nothing is locked while a plan runs. Then one Lua function compares the versions of everything that
it read, and applies its effect or reports a conflict, upon which the plan is run again. After
several conflicts a unit holds the scopes it works on for one attempt, so that it does not starve.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from random import SystemRandom
from threading import Lock
from time import sleep
from typing import Final, Generic, TypeVar

from redis.exceptions import ConnectionError as LostError
from redis.exceptions import RedisError
from redis.exceptions import TimeoutError as SilentError

from recollect.observability.logs import kind_of
from recollect.stores.redis.commit import (
    LOST_MAX,
    LOST_PAUSE_S,
    Commit,
    conflict_error,
    takes_room,
    written_by,
)
from recollect.stores.redis.connections import RedisConnections
from recollect.stores.redis.driver_errors import LOG, store_errors
from recollect.stores.redis.effects import commands_of
from recollect.stores.redis.optimistic_reads import OptimisticReads
from recollect.stores.redis.rows import RedisRows
from recollect.stores.system_clock import timer_s
from recollect.stores.thread_calls import CallOutcome
from recollect.stores.unit_of_work import NOTHING, Effect, Plan, PlannedWrite, Query

ResultT = TypeVar("ResultT")

OUTRUN_MAX: Final = 4
"""Conflicts after which a unit holds its scopes, so that no other one commits before it again."""
HOLD_S: Final = 10.0
"""Time after which a hold expires, in case its holder has died."""
TURN_S: Final = 1.0
"""How long a thread waits, at most, for another one of its store in the same scope."""

_PAUSE_S: Final = 0.002
_LANES: Final = 64
"""Locks among which the scopes are distributed."""
_CHANCE: Final = SystemRandom()


class RedisUnits:
    """Runs plans and queries as if each were alone on the server."""

    def __init__(self, server: RedisConnections, *, patience_s: float) -> None:
        """Set up the runner; a unit gives up after conflicts for *patience_s* seconds."""
        self._server = server
        self._patience_s = patience_s
        self._turns: Final = tuple(Lock() for _ in range(_LANES))

    def carry_out(self, plan: Plan[ResultT], written: Callable[[Effect], None]) -> ResultT:
        """
        Run *plan* and commit its effect, then call *written* with the effect.

        Raises:
            StoreError: Redis failed, or every attempt conflicted with the writes of others.
        """
        return self._retry(_Unit(plan, self._turns), written)

    def read(self, query: Query[ResultT]) -> ResultT:
        """
        Run *query* on consistent rows.

        Raises:
            StoreError: Redis failed, or every attempt conflicted with the writes of others.
        """
        unit = _Unit[ResultT](lambda rows: PlannedWrite(NOTHING, query(rows)), ())
        return self._retry(unit, lambda _: None)

    def _retry(self, unit: _Unit[ResultT], written: Callable[[Effect], None]) -> ResultT:
        late_at = timer_s() + self._patience_s
        conflicts = lost = 0
        with store_errors(self._server.name):
            while True:
                try:
                    with self._held(unit if conflicts >= OUTRUN_MAX else None, late_at):
                        is_done = unit.run(self._server, late_at)
                except (LostError, SilentError):
                    lost += 1
                    if lost == LOST_MAX or timer_s() > late_at:
                        raise
                    sleep(LOST_PAUSE_S * 5 ** (lost - 1) * _CHANCE.uniform(0.5, 1.5))
                    continue
                if is_done:
                    written(unit.effect)
                    return unit.result
                conflicts += 1
                if timer_s() > late_at:
                    raise conflict_error(self._server.name)
                sleep(_PAUSE_S * 2 ** min(conflicts, OUTRUN_MAX) * _CHANCE.random())

    @contextmanager
    def _held(self, unit: _Unit[ResultT] | None, late_at: float) -> Iterator[None]:
        """Hold the scopes that *unit* read in its last attempt, so that other commits wait."""
        client, taken = self._server.client, list[str]()
        try:
            # Take holds in one global order, so that units cannot deadlock.
            for each in sorted(unit.seen if unit else ()):
                key = f"{each}:hold"
                while unit and not client.set(key, unit.hold, nx=True, px=int(HOLD_S * 1_000)):
                    if timer_s() > late_at:
                        raise conflict_error(self._server.name)
                    sleep(_PAUSE_S * 4 * _CHANCE.random())
                taken.append(key)
            yield
        finally:
            # Release only a hold that is still ours: an expired one may belong to another unit.
            try:
                for key in taken:
                    if unit and client.get(key) == unit.hold:
                        client.delete(key)
            except RedisError as error:
                LOG.debug("a hold could not be released, and will expire: %s", kind_of(error))


class _Unit(Generic[ResultT]):
    """A plan, and the result of its last attempt."""

    result: ResultT

    def __init__(self, plan: Plan[ResultT], turns: Sequence[Lock]) -> None:
        self._plan = plan
        self._turns = turns
        self.hold: Final = secrets.token_bytes(12)
        self.effect = NOTHING
        self.seen: Sequence[str] = ()
        """The keys of the versions that the last attempt read."""

    def run(self, server: RedisConnections, late_at: float) -> bool:
        """Try once; return False on a conflict."""
        turn = _Turn(self._turns)
        reading = OptimisticReads(server.client, server.generation, turn.take)
        try:
            return self._attempt(server, reading, late_at)
        finally:
            self.seen = tuple(reading.versions)
            turn.give_back()

    def _attempt(self, server: RedisConnections, reading: OptimisticReads, late_at: float) -> bool:
        """Run the plan and send its commit; return False on a conflict."""
        rows, planning = RedisRows(reading), CallOutcome()
        commit = Commit(reading, self.hold)
        with planning:
            planned = self._plan(rows)
            self.effect, self.result = planned.effect, planned.result
            if self.effect != NOTHING:
                commands = commands_of(self.effect, rows)
                written = written_by(self.effect, reading)
                commit = Commit(
                    reading,
                    self.hold,
                    written=written,
                    commands=commands,
                    takes_room=takes_room(self.effect),
                )
        if isinstance(planning.error, RedisError | KeyboardInterrupt | SystemExit):
            raise planning.error
        if planning.error or not commit.is_writing:
            # Compare versions even if the plan raised: it may have done so because of rows that
            # were never there at the same time.
            commit = Commit(reading, self.hold)
        is_done = commit.send(server, late_at) == "done"
        # The server was restarted meanwhile, and scopes read before have a newer epoch now.
        if not commit.is_writing and server.generation != reading.generation:
            return False
        if is_done and planning.error:
            raise planning.error
        return is_done


class _Turn:
    """
    A thread's turn to write in a scope, among the threads of its store.

    This is only an optimisation: it avoids conflicts between these threads, and so retries.
    """

    def __init__(self, turns: Sequence[Lock]) -> None:
        self._turns = turns
        self._taken: Lock | None = None

    def take(self, place: bytes) -> None:
        """Wait for the lock of the first scope that is read, for `TURN_S` at most."""
        # One lock at most, so that two threads cannot deadlock.
        if self._turns and self._taken is None:
            turn = self._turns[hash(place) % len(self._turns)]
            if turn.acquire(timeout=TURN_S):
                self._taken = turn

    def give_back(self) -> None:
        if self._taken:
            self._taken.release()
            self._taken = None
