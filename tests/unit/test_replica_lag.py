"""How old a replica's state is, as log positions and commit times tell."""

import pytest

from recollect.stores.postgres import replica_lag
from recollect.stores.postgres.location import location_of
from recollect.stores.postgres.replica_lag import PrimaryPosition, ReplayProgress, ReplayState

NOW_US = 1_000_000_000


def primary(at: float, wal: int | None, *, now_us: int = NOW_US) -> PrimaryPosition:
    """Return a primary that was asked at this time, and had written so much."""
    return PrimaryPosition(scopes={}, wal=wal, now_us=now_us, asked_at=at)


def replica(wal: int | None, *, age_s: float | None = None) -> ReplayState:
    """Return a replica that has replayed so much, its last commit so many seconds old."""
    replayed_us = None if age_s is None else NOW_US - round(age_s * 1_000_000)
    return ReplayState(wal=wal, replayed_us=replayed_us)


def test_nothing_is_known_at_first() -> None:
    """Without a position that was reached or a commit time its age is unknown."""
    progress = ReplayProgress()
    progress.note(primary(10, 100), replica(90))

    assert progress.behind_s(primary(10, 100), replica(90)) is None


def test_the_last_commit_that_was_replayed_bounds_the_age() -> None:
    """It may be older than what is missing, never younger."""
    assert 7.0 == ReplayProgress().behind_s(primary(10, 100), replica(90, age_s=7))


def test_a_position_that_was_reached_bounds_the_age_better_than_an_idle_hour() -> None:
    """Everything before it has been replayed, however old the last commit is."""
    progress = ReplayProgress()
    progress.note(primary(10, 100), replica(100, age_s=3_600))

    assert 2.0 == progress.behind_s(primary(12, 150), replica(120, age_s=3_602))


def test_a_position_that_is_awaited_counts_once_it_is_reached() -> None:
    """Then the replica is as old as the time at which the primary was there."""
    progress = ReplayProgress()
    progress.note(primary(10, 100), replica(90))
    progress.note(primary(11, 200), replica(95))
    progress.note(primary(15, 300), replica(250))

    assert 5.0 == progress.behind_s(primary(15, 300), replica(250))


def test_a_time_that_was_reached_does_not_go_back() -> None:
    """Answers of two readers may be noted in any order."""
    progress = ReplayProgress()
    progress.note(primary(20, 100), replica(100))
    progress.note(primary(10, 50), replica(100))

    assert 1.0 == progress.behind_s(primary(21, 120), replica(110))


def test_commits_stamped_by_another_clock_say_nothing() -> None:
    """Ahead of the primary's time: that of a former primary, whose clock was wrong."""
    progress = ReplayProgress()

    assert progress.behind_s(primary(10, 100), replica(90, age_s=-3_600)) is None
    # A commit that came after the primary was asked is no reason for doubt.
    assert 0.0 == progress.behind_s(primary(10, 100), replica(90, age_s=-0.5))


def test_lateness_is_counted_from_the_first_position_that_is_missing(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """And ends when the replica has all that the primary had."""
    monkeypatch.setattr(replica_lag, "timer_s", lambda: 30.0)
    progress = ReplayProgress()
    assert 0.0 == progress.late_s()

    progress.note(primary(10, 100), replica(90))
    progress.note(primary(20, 200), replica(90))
    assert 20.0 == progress.late_s()
    progress.note(primary(25, 200), replica(150))
    assert 5.0 == progress.late_s()
    progress.note(primary(29, 200), replica(200))
    assert 0.0 == progress.late_s()


def test_servers_without_positions_are_neither_late_nor_in_time() -> None:
    """Some services have no log positions: commit times are left."""
    progress = ReplayProgress()
    progress.note(primary(10, None), replica(90))
    progress.note(primary(10, 100), replica(None))

    assert 0.0 == progress.late_s()
    assert 3.0 == progress.behind_s(primary(11, 100), replica(None, age_s=3))


def test_of_several_servers_in_a_replicas_address_a_standby_is_chosen() -> None:
    """The primary is not a replica, and one that is away shall not cost five seconds."""
    two = location_of("postgresql://pg1,pg2/memory", is_replica=True).parameters
    one = location_of("postgresql://pg1/memory", is_replica=True).parameters

    assert "standby" == two["target_session_attrs"]
    assert "target_session_attrs" not in one
    assert 2 == one["connect_timeout"]
