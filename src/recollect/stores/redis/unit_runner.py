"""
Units of work: run a plan or query optimistically, and retry it if its reads were inconsistent.

Nothing is locked while a plan runs. One Lua function then compares the versions of everything it
read and applies its effect, or reports a conflict: then the plan is retried. After several
conflicts a unit holds the scopes it works on for one attempt.
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
    outrun,
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
"""After so many conflicts a unit locks its scopes, so that no other commits before it again."""
HOLD_S: Final = 10.0
"""A hold ends by itself after so long, should its holder have died."""
TURN_S: Final = 1.0
"""A thread waits so long at most for another one of its store that writes in the same scope."""

_PAUSE_S: Final = 0.002
_LANES: Final = 64
_CHANCE: Final = SystemRandom()


class RedisUnits:
    """Runs plans and queries, each as if it were alone with the server."""

    def __init__(self, server: RedisConnections, *, patience_s: float) -> None:
        """Set the time after which a unit that keeps losing races gives up."""
        self._server = server
        self._patience_s = patience_s
        self._turns: Final = tuple(Lock() for _ in range(_LANES))

    def carry_out(self, plan: Plan[ResultT], written: Callable[[Effect], None]) -> ResultT:
        """
        Run *plan*, and commit its effect; call *written* with the effect.

        Raises:
            StoreError: Redis failed, or others wrote in the same place for too long.
        """
        return self._repeated(_Unit(plan, self._turns), written)

    def look(self, query: Query[ResultT]) -> ResultT:
        """
        Run *query* on consistent rows.

        Raises:
            StoreError: Redis failed, or others wrote in the same place for too long.
        """
        unit = _Unit[ResultT](lambda rows: PlannedWrite(NOTHING, query(rows)), ())
        return self._repeated(unit, lambda _: None)

    def _repeated(self, unit: _Unit[ResultT], written: Callable[[Effect], None]) -> ResultT:
        late_at = timer_s() + self._patience_s
        beaten = lost = 0
        with store_errors(self._server.name):
            while True:
                try:
                    with self._held(unit if beaten >= OUTRUN_MAX else None, late_at):
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
                beaten += 1
                if timer_s() > late_at:
                    raise outrun(self._server.name)
                sleep(_PAUSE_S * 2 ** min(beaten, OUTRUN_MAX) * _CHANCE.random())

    @contextmanager
    def _held(self, unit: _Unit[ResultT] | None, late_at: float) -> Iterator[None]:
        """Hold the scopes that *unit* read in its last attempt; other commits wait."""
        client, taken = self._server.client, list[str]()
        try:
            # Take holds in one global order, so that units cannot deadlock.
            for each in sorted(unit.seen if unit else ()):
                key = f"{each}:hold"
                while unit and not client.set(key, unit.hold, nx=True, px=int(HOLD_S * 1_000)):
                    if timer_s() > late_at:
                        raise outrun(self._server.name)
                    sleep(_PAUSE_S * 4 * _CHANCE.random())
                taken.append(key)
            yield
        finally:
            # What cannot be given back ends by itself; what ended meanwhile may be another's.
            try:
                for key in taken:
                    if unit and client.get(key) == unit.hold:
                        client.delete(key)
            except RedisError as error:
                LOG.debug("a hold ends by itself: %s", kind_of(error))


class _Unit(Generic[ResultT]):
    """A plan, and the result of its last attempt."""

    result: ResultT

    def __init__(self, plan: Plan[ResultT], turns: Sequence[Lock]) -> None:
        self._plan = plan
        self._turns = turns
        self.hold: Final = secrets.token_bytes(12)
        self.effect = NOTHING
        self.seen: Sequence[str] = ()
        """The keys of the versions that it read."""

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
            # What a plan refuses, it may have refused because of rows that never stood together.
            commit = Commit(reading, self.hold)
        is_done = commit.send(server, late_at) == "done"
        if not commit.is_writing and server.generation != reading.generation:
            return False
        if is_done and planning.error:
            raise planning.error
        return is_done


class _Turn:
    """
    A thread's turn to write in a scope, among the threads of its store.

    Only an optimisation: a unit that reads while another one writes would have to be retried.
    """

    def __init__(self, turns: Sequence[Lock]) -> None:
        self._turns = turns
        self._taken: Lock | None = None

    def take(self, place: bytes) -> None:
        """Wait, for a limited time, for the turn of the first place that is read."""
        if self._turns and self._taken is None:
            turn = self._turns[hash(place) % len(self._turns)]
            if turn.acquire(timeout=TURN_S):
                self._taken = turn

    def give_back(self) -> None:
        """Release the turn."""
        if self._taken:
            self._taken.release()
            self._taken = None
