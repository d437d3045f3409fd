"""Days, years and times that follow from what was said, without being said themselves."""

from datetime import UTC, datetime

import pytest

from recollect.formation.claims import Heard, SaidText

MARCH = datetime(2025, 3, 19, 14, 42, tzinfo=UTC)
JULY = datetime(2025, 7, 16, 18, 10, tzinfo=UTC)
NOVEMBER = datetime(2025, 11, 30, 8, 2, tzinfo=UTC)


def lacks(value: str, at: datetime, *said: str) -> tuple[str, ...]:
    """Return what a value claims that does not follow from the messages *said* at a time."""
    return Heard([SaidText(text=each, at=at, speaker=None) for each in said]).lacks_of(value)


@pytest.mark.parametrize(
    ("said", "value"),
    [
        ("My husband, Per, four year gone in May.", "Per died in May 2021."),
        ("My husband, Per, four year gone in May.", "Four years in May 2025."),
        ("We'll be twenty years married this August.", "They married in August 2005."),
        ("He is ten years sober in January, imagine.", "Sober since January 2015."),
    ],
)
def test_years_that_are_full_in_a_month_begin_in_it(said: str, value: str) -> None:
    assert () == lacks(value, MARCH, said)


@pytest.mark.parametrize("year", [2020, 2022, 2024])
def test_another_year_does_not_follow(year: int) -> None:
    missing = lacks(f"Per died in May {year}.", MARCH, "My husband, Per, four year gone in May.")

    assert (f"the date May {year}",) == missing


CONGRESS = "There is a congress in Kano, 21st to 23rd August, I am going"


@pytest.mark.parametrize("day", ["Wednesday 20 August 2025", "20 August 2025"])
def test_the_weekday_of_a_trip_is_the_one_beside_its_days(day: str) -> None:
    assert () == lacks(f"By coach, {day}.", JULY, CONGRESS, "By coach, on the Wednesday")


@pytest.mark.parametrize(
    ("day", "said"),
    [
        ("13 August 2025", "By coach, on the Wednesday"),
        ("19 August 2025", "By coach, on the Wednesday"),
        ("20 August 2025", "I teach on Wednesdays"),
    ],
)
def test_no_other_weekday_is(day: str, said: str) -> None:
    """Neither one a week off, nor that of a habit."""
    assert (f"the date {day}",) == lacks(f"By coach, {day}.", JULY, CONGRESS, said)


@pytest.mark.parametrize(
    ("season", "missing"),
    [
        ("2025/26", ()),
        ("2027/28", ("the number 2027/28",)),
        ("2025/27", ("the number 2025/27",)),
    ],
)
def test_a_season_of_two_years_is_that_of_its_days(season: str, missing: tuple[str, ...]) -> None:
    said = "They land 20 December and stay til 31 January"

    assert missing == lacks(f"Family visit, summer {season}", NOVEMBER, said)


@pytest.mark.parametrize(
    ("said", "value", "missing"),
    [
        ("每天早上七点一片", "每天早上七点吃", ()),
        ("每天早上七点一片", "每天早上八点吃", ("the time 早上八点",)),
        ("每天早上七点零五分", "每天早上7:05", ()),
        ("每天早上七点五分", "每天早上七点零五", ()),
        ("每天早上七点二十", "每天早上7:20", ()),
        ("每天早上七点一刻", "每天早上七点十五", ()),
        ("每天早上七点一刻", "每天早上七点二十", ("the time 早上七点二十",)),
    ],
)
def test_what_is_counted_behind_an_hour_is_no_minute(
    said: str, value: str, missing: tuple[str, ...]
) -> None:
    assert missing == lacks(value, NOVEMBER, said)
