"""Which replica is asked, and when none is."""

import asyncio
from collections.abc import Sequence

import pytest

from recollect.errors import StoreUnavailableError
from recollect.observability.health import BackgroundTasks
from recollect.records import Scope
from recollect.stores.change_feed import Cursor, StaleBound
from recollect.stores.postgres import replicas
from recollect.stores.postgres.location import location_of
from recollect.stores.postgres.replica_lag import PrimaryPosition
from recollect.stores.postgres.replicas import Replica, Replicas
from recollect.stores.remote.notifications import Bell

CURSORS = [Cursor(scope=("ada",))]


class FakeReplica(Replica):
    """A replica that answers with its number, or fails."""

    def __init__(self, number: int, tasks: BackgroundTasks) -> None:
        location = location_of(f"postgresql://pg{number}/memory", is_replica=True)
        super().__init__(number, location, Bell(lambda: 0), tasks)
        self.fails = False
        self.asked = 0

    async def read(self, *_: object) -> int:  # type: ignore[override]
        """Return the number."""
        self.asked += 1
        if self.fails:
            msg = "away"
            raise StoreUnavailableError(msg)
        return self.number


async def primary(scopes: Sequence[Scope]) -> PrimaryPosition:
    """Return the position of a primary."""
    places = {each: Cursor(scope=each, seq=0, epoch=0) for each in scopes}
    return PrimaryPosition(scopes=places, wal=100, now_us=0, asked_at=0.0)


async def demoted(_: Sequence[Scope]) -> PrimaryPosition:
    """Return the position of a server that is no primary any more."""
    return PrimaryPosition(scopes={}, wal=None, now_us=0, asked_at=0.0)


async def untold(_: Sequence[Scope]) -> PrimaryPosition:
    """Return nothing: nobody may ask."""
    raise AssertionError


def two_replicas() -> list[FakeReplica]:
    """Return two replicas."""
    return [FakeReplica(number, BackgroundTasks()) for number in (1, 2)]


async def origins(asked: Replicas, reads: int) -> list[int | None]:
    """Return the replicas that answer so many reads."""
    found = [await asked.read(lambda _: 0, 0, StaleBound(CURSORS, 5.0)) for _ in range(reads)]
    return [each[1].replica if each else None for each in found]


def test_replicas_are_asked_in_turn() -> None:
    """Each has its share of the work."""
    assert [1, 2, 1, 2] == asyncio.run(origins(Replicas(two_replicas(), b"", primary), 4))


def test_a_failed_replica_is_left_alone_for_a_while(monkeypatch: pytest.MonkeyPatch) -> None:
    """Then one caller tries it again; the others have their answer elsewhere."""
    now = [100.0]
    monkeypatch.setattr(replicas, "timer_s", lambda: now[0])
    first, second = two_replicas()
    first.fails = True
    asked = Replicas([first, second], b"", primary)

    assert [2] * 6 == asyncio.run(origins(asked, 6))
    assert 1 == first.asked
    now[0] += replicas.RETRY_S
    assert [2] * 6 == asyncio.run(origins(asked, 6))
    assert 2 == first.asked
    first.fails = False
    now[0] += replicas.RETRY_S
    assert {1, 2} == set(asyncio.run(origins(asked, 6)))


def test_without_replicas_the_primary_is_not_even_asked_where_it_is() -> None:
    """Nor where all have failed, or no scope is read."""
    failed = two_replicas()
    for each in failed:
        each.note_failure(StoreUnavailableError("away"))

    assert [None] == asyncio.run(origins(Replicas([], b"", untold), 1))
    assert [None] == asyncio.run(origins(Replicas(failed, b"", untold), 1))
    asked = Replicas(two_replicas(), b"", untold)
    assert asyncio.run(asked.read(lambda _: 0, 0, StaleBound([], 5.0))) is None


def test_a_primary_that_is_none_any_more_vouches_for_no_replica() -> None:
    """It does not know what was erased since."""
    both = two_replicas()

    assert [None] == asyncio.run(origins(Replicas(both, b"", demoted), 1))
    assert [0, 0] == [each.asked for each in both]
