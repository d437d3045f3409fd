"""An end on a last day lasts until that day is over; any other day begins what follows."""

from datetime import UTC, datetime
from typing import Final

import pytest

from recollect.formation.grounding import validity
from recollect.formation.grounding.validity import ended_at

SAID: Final = datetime(2025, 10, 2, 20, tzinfo=UTC)
LAST: Final = [
    ("2025-09-19", "物理治療9/19最後一次,結束了"),
    ("2025-09-30", "跳舞9月30上埋最後一堂,完咗"),
    ("2024-12-27", "护工也停了,王师傅干到27号"),
    ("2025-09-19", "my last session was on the 19th"),
    ("2025-09-19", "had the physio till the 19th"),
]
FIRST: Final = [
    ("2025-03-22", "driving since Saturday 22nd"),
    ("2025-09-10", "鐵劑9/10停了"),
    ("2025-09-10", "she left on the 10th"),
]


@pytest.mark.parametrize(("day", "told"), LAST)
def test_a_last_day_belongs_to_what_ends(day: str, told: str) -> None:
    end = ended_at(day, told, SAID)

    assert end is not None
    assert (end.date().isoformat(), end.hour) == (day, 23)


@pytest.mark.parametrize(("day", "told"), FIRST)
def test_another_day_begins_what_follows(day: str, told: str) -> None:
    end = ended_at(day, told, SAID)

    assert end is not None
    assert (end.date().isoformat(), end.hour) == (day, 0)


def test_what_ended_today_is_over_when_it_is_said() -> None:
    """Until midnight it would still be told as so."""
    assert ended_at("2025-10-02", "last lesson today, done", SAID) == SAID


def test_a_last_day_to_come_is_not_over() -> None:
    end = ended_at("2025-10-10", "last lesson on the 10th", SAID)

    assert end is not None
    assert end > datetime(2025, 10, 10, 23, tzinfo=UTC)


LATER: Final = datetime(2025, 12, 2, tzinfo=UTC)
IN_A_MONTH: Final = [
    ("2025-10", "I left Acme in October", "2025-10-31"),
    ("October 2025", "the lease from Mr. Ode ran out in October", "2025-10-31"),
    ("2025年10月", "我十月份离职了", "2025-10-31"),
    ("2025 年 10 月", "我十月份離職了", "2025-10-31"),
    ("2025-W40", "I was sick in the last week of it", "2025-10-05"),
    ("2025年第40週", "那一週之後就沒去了", "2025-10-05"),
    ("2024", "we gave the car up in 2024", "2024-12-31"),
    ("2024年", "2024年就不养猫了", "2024-12-31"),
]
BEGUN_IN: Final = [
    ("2025-10", "I moved to Turku in October", "2025-10-01"),
    ("2025-10", "it is 40 a month from October 2025", "2025-10-01"),
    ("2025年10月", "从十月起租金涨到两千", "2025-10-01"),
    ("2025年10月", "我十月份搬到台北了", "2025-10-01"),
    ("2024", "on my own since 2024", "2024-01-01"),
]


@pytest.mark.parametrize(("written", "told", "day"), IN_A_MONTH)
def test_an_end_in_a_month_is_over_with_it(written: str, told: str, day: str) -> None:
    end = ended_at(written, told, LATER)

    assert end is not None
    assert (end.date().isoformat(), end.hour) == (day, 23)


@pytest.mark.parametrize(("written", "told", "day"), BEGUN_IN)
def test_what_begins_in_a_month_follows_from_its_first_day(
    written: str, told: str, day: str
) -> None:
    end = ended_at(written, told, LATER)

    assert end is not None
    assert (end.date().isoformat(), end.hour) == (day, 0)


def test_what_ended_this_month_is_over_when_it_is_said() -> None:
    assert ended_at("2025-10", "I left Acme in October", SAID) == SAID


def test_a_month_to_come_is_not_over() -> None:
    end = ended_at("2025-11", "the contract ends in November", SAID)

    assert end is not None
    assert end.date().isoformat() == "2025-11-30"


def test_an_end_in_the_month_of_the_beginning_comes_after_it() -> None:
    began = datetime(2025, 10, 9, tzinfo=UTC)

    end = ended_at("2025-10", "I moved on in October again", LATER, began)

    assert end is not None
    assert end.date().isoformat() == "2025-10-31"


def test_each_day_taken_for_a_first_one_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(validity, "end_of", validity.moment_of)

    for day, told in LAST:
        end = ended_at(day, told, SAID)
        assert end is None or end.hour != 23
