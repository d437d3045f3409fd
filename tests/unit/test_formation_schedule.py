"""Cron lines: at which moments what waits is formed."""

from datetime import UTC, datetime, timedelta
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recollect.errors import UsageError
from recollect.formation.cron import check_schedule, has_struck

THREE = datetime(2026, 5, 1, 3, tzinfo=UTC)
INSTANT = timedelta(microseconds=1)


@pytest.mark.parametrize(
    "line", ["", "at night", "* * * *", "61 * * * *", "* * * * * * *", "0 3 * * 9"]
)
def test_what_is_no_cron_line_is_refused(line: str) -> None:
    """With the line, and what is wrong."""
    with pytest.raises(UsageError, match="is no cron line"):
        check_schedule(line)


@pytest.mark.parametrize("line", ["0 3 * * *", "*/5 * * * *", "0 9 * * 1-5", "0 0 1 1 *"])
def test_a_cron_line_is_one(line: str) -> None:
    assert line == check_schedule(line)


@pytest.mark.parametrize(
    ("after", "until", "struck"),
    [
        (THREE - INSTANT, THREE, True),
        (THREE, THREE + INSTANT, False),
        (THREE - INSTANT, THREE - INSTANT, False),
        (THREE - timedelta(days=3), THREE, True),
        (THREE, THREE + timedelta(days=1), True),
    ],
)
def test_it_strikes_at_its_moment(after: datetime, until: datetime, *, struck: bool) -> None:
    """After the first bound and up to the second, so that looks one after another meet it once."""
    assert struck == has_struck("0 3 * * *", after, until)


@pytest.mark.parametrize(
    ("zone", "hour"), [("UTC", 3), ("Asia/Taipei", 19), ("America/New_York", 7), ("-05:30", 8.5)]
)
def test_a_line_is_read_in_its_zone(zone: str, hour: float) -> None:
    strike = datetime(2026, 5, 1, tzinfo=UTC) + timedelta(hours=hour)

    assert has_struck("0 3 * * *", strike - INSTANT, strike, zone=zone)
    assert not has_struck("0 3 * * *", strike, strike + timedelta(hours=23), zone=zone)


def test_each_night_strikes_once_where_the_clocks_change() -> None:
    """At half past two, which one night in March lacks in Berlin, and one in October has twice."""
    for first in (datetime(2026, 3, 27, tzinfo=UTC), datetime(2026, 10, 23, tzinfo=UTC)):
        looks = [first + timedelta(minutes=10 * n) for n in range(6 * 24 * 5 + 1)]

        seen = [
            one.date()
            for one, other in pairwise(looks)
            if has_struck("30 2 * * *", one, other, zone="Europe/Berlin")
        ]

        assert 5 == len(seen) == len(set(seen))


@given(st.lists(st.integers(1, 90_000), min_size=1, max_size=40))
def test_looks_one_after_another_see_each_day_once(steps: list[int]) -> None:
    """However far they lie apart: no more strokes than nights, and none is skipped."""
    looks = [THREE + timedelta(hours=1)]
    for seconds in steps:
        looks.append(looks[-1] + timedelta(seconds=seconds))

    seen = sum(has_struck("0 3 * * *", one, other) for one, other in pairwise(looks))
    nights = (looks[-1] - THREE) // timedelta(days=1)

    assert has_struck("0 3 * * *", looks[0], looks[-1]) == (seen > 0) == (nights > 0)
    assert seen <= nights


def test_a_date_that_never_comes_is_no_endless_search() -> None:
    """The thirtieth of February."""
    with pytest.raises(UsageError):
        has_struck("0 0 30 2 *", THREE, THREE + timedelta(days=1))
