"""Which days a question means, and whether it, or an entry, speaks of time at all."""

import re
from datetime import date, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recollect.text import time_expressions as dates
from recollect.text.days import Days
from recollect.text.time_expressions import asks_when, days_meant, has_time_expression

ASKED_AT = date(2024, 5, 15)  # a Wednesday
YEARS = [2022, 2023]

# Question and the stretches that it means, first and last day of each.
ENGLISH = [
    ("What happened on 8 May 2023?", "2023-05-08..2023-05-08"),
    ("May 8th, 2023", "2023-05-08..2023-05-08"),
    ("the 8th of May", "2022-05-08..2022-05-08 2023-05-08..2023-05-08"),
    ("Sept 3, 2023", "2023-09-03..2023-09-03"),
    ("08.05.2023", "2023-05-08..2023-05-08"),
    ("since 2023-05-08", "2023-05-08..2023-05-08"),
    ("in 2023/5", "2023-05-01..2023-05-31"),
    ("in May 2023", "2023-05-01..2023-05-31"),
    ("December of 2022", "2022-12-01..2022-12-31"),
    ("in May", "2022-05-01..2022-05-31 2023-05-01..2023-05-31"),
    ("early June?", "2022-06-01..2022-06-30 2023-06-01..2023-06-30"),
    ("in March 2022", "2022-03-01..2022-03-31"),
    ("what did they do in 2022", "2022-01-01..2022-12-31"),
    ("2022 and 2023", "2022-01-01..2022-12-31 2023-01-01..2023-12-31"),
    ("in May, or on 3 June 2023", "2023-06-03..2023-06-03"),
    ("May 2023, not yesterday", "2023-05-01..2023-05-31"),
]
LEAP_AND_INVALID = [
    ("29 February 2024", "2024-02-29..2024-02-29"),
    ("29 February 2023", "2023-02-01..2023-02-28"),
    ("30 February 2023", "2023-02-01..2023-02-28"),
    ("2023-02-30", "2023-01-01..2023-12-31"),
    ("2023-13", "2023-01-01..2023-12-31"),
    ("0 May 2023", "2023-05-01..2023-05-31"),
    ("13\u67081\u65e5", ""),
    ("2\u670830\u65e5", ""),
    ("2024\u5e742\u670829\u65e5", "2024-02-29..2024-02-29"),
]
RELATIVE = [
    ("yesterday", "2024-05-13..2024-05-15"),
    ("tonight", "2024-05-14..2024-05-16"),
    ("two weeks ago", "2024-04-27..2024-05-05"),
    ("a month ago", "2024-04-02..2024-04-26"),
    ("a couple of days ago", "2024-05-12..2024-05-14"),
    ("3 years ago", "2021-02-14..2021-08-13"),
    ("last Tuesday", "2024-05-13..2024-05-15"),
    ("on Wednesday", "2024-05-07..2024-05-09"),
    ("last weekend", "2024-05-06..2024-05-14"),
    ("last week", "2024-05-05..2024-05-15"),
    ("in the past 3 months", "2024-01-17..2024-05-15"),
    ("last year", "2023-01-01..2023-12-31"),
    ("the year before last", "2022-01-01..2022-12-31"),
    ("earlier this year", "2024-01-01..2024-12-31"),
    ("yesterday, not last year", "2024-05-13..2024-05-15"),
    ("in the last 2 years", "2021-10-08..2024-05-15"),
    (
        "two weeks ago, or on Tuesday",
        "2024-04-27..2024-05-05 2024-05-13..2024-05-15",
    ),
]
CHINESE = [
    ("2023\u5e745\u67088\u65e5\u53d1\u751f\u4e86\u4ec0\u4e48", "2023-05-08..2023-05-08"),
    ("2023 \u5e74 5 \u6708 8 \u53f7", "2023-05-08..2023-05-08"),
    ("5\u67088\u65e5", "2022-05-08..2022-05-08 2023-05-08..2023-05-08"),
    ("5\u6708\u4efd", "2022-05-01..2022-05-31 2023-05-01..2023-05-31"),
    ("2022\u5e7412\u6708\u5e95", "2022-12-21..2022-12-31"),
    ("2023\u5e742\u6708\u4e0b\u65ec", "2023-02-21..2023-02-28"),
    ("2023\u5e743\u6708\u521d", "2023-03-01..2023-03-10"),
    ("2023\u5e743\u6708\u4e2d\u65ec", "2023-03-11..2023-03-20"),
    ("\u6628\u5929", "2024-05-13..2024-05-15"),
    ("\u524d\u5929", "2024-05-12..2024-05-14"),
    ("\u4e0a\u5468", "2024-05-04..2024-05-12"),
    ("\u4e0a\u4e2a\u6708", "2024-03-30..2024-05-01"),
    ("2023\u5e74", "2023-01-01..2023-12-31"),
    ("\u53bb\u5e74", "2023-01-01..2023-12-31"),
    ("\u524d\u5e74", "2022-01-01..2022-12-31"),
    ("\u5927\u524d\u5e74", "2021-01-01..2021-12-31"),
    ("\u4eca\u5e74", "2024-01-01..2024-12-31"),
    ("\u53bb\u5e745\u6708", "2023-05-01..2023-05-31"),
    ("\u524d\u5e74\u76843\u67088\u65e5", "2022-03-08..2022-03-08"),
    ("\u53bb\u5e74\u548c\u4eca\u5e74", "2023-01-01..2023-12-31 2024-01-01..2024-12-31"),
    # "When they were young": no year is meant.
    ("\u4ee5\u524d\u5e74\u8f7b\u7684\u65f6\u5019", ""),
]
NO_DATE = ["may I ask", "what is 3.14", "in 20231", "in 1850", "next week", "Who is Ada?", ""]

# What questions about time are made of, so that random ones come near to real ones.
PIECES = st.sampled_from(
    [
        *"may sep feb sun 0 1 12 29 30 31 99 999 1900 2000 2024 2099 . - / , of the in on".split(),
        *"last past ago day week months years tuesday sunday a few couple '".split(),
        *"\u5e74 \u6708 \u65e5 \u4e0a\u5468 \u53bb\u5e74".split(),
    ]
)
QUESTIONS = st.lists(PIECES, max_size=8).flatmap(
    lambda pieces: st.sampled_from([" ".join(pieces), "".join(pieces)])
)
# Years in which something can have been said, short of those at which the calendar ends.
COMMON_YEARS = st.lists(st.integers(1, 9998), max_size=3)


def written(found: list[Days]) -> str:
    """Return the stretches in the form of the tables above."""
    return " ".join(f"{days.first}..{days.last}" for days in found)


@given(QUESTIONS, COMMON_YEARS)
def test_no_question_that_names_days_is_passed_over(question: str, years: list[int]) -> None:
    """What is looked for first, to leave most questions at once, stands in all that name days."""
    found = days_meant(question, ASKED_AT, years)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(dates, "_ANY_DAYS_IN_LOWER_ASCII", re.compile(""))
        assert days_meant(question, ASKED_AT, years) == found


@pytest.mark.parametrize(
    ("question", "days"),
    [*ENGLISH, *LEAP_AND_INVALID, *RELATIVE, *CHINESE, *((q, "") for q in NO_DATE)],
)
def test_a_question_means_these_days(question: str, days: str) -> None:
    """Each way to write a date stands for its days, in the years that the entries span."""
    assert days == written(days_meant(question, ASKED_AT, YEARS))


@pytest.mark.parametrize(
    ("question", "named"),
    [
        ("8 May 2023", {"is_chinese": False, "is_relative": False}),
        ("5\u67088\u65e5", {"is_chinese": True, "is_relative": False}),
        ("yesterday", {"is_chinese": False, "is_relative": True}),
        ("\u6628\u5929", {"is_chinese": False, "is_relative": True}),
    ],
)
def test_days_say_how_they_were_named(question: str, named: dict[str, bool]) -> None:
    """How far sessions are lifted depends on whether a date is Chinese or relative."""
    (found,) = days_meant(question, ASKED_AT, [2023])

    assert named == {"is_chinese": found.is_chinese, "is_relative": found.is_relative}


def test_a_month_without_a_year_stands_for_every_year_once() -> None:
    """Years given in any order, and twice, are taken in order and once."""
    found = days_meant("in May", ASKED_AT, [2023, 2021, 2023])

    assert [2021, 2023] == [days.first.year for days in found]


def test_a_month_without_a_year_means_nothing_where_nothing_was_said() -> None:
    """Without entries there are no years that it could be in."""
    assert days_meant("in May", ASKED_AT, []) == []


@pytest.mark.parametrize("asked_at", [date(2024, 5, 13) + timedelta(days=n) for n in range(7)])
def test_a_weekday_is_the_last_one_before_today(asked_at: date) -> None:
    """Asked on any day, "last Tuesday" is the newest Tuesday that is over."""
    (found,) = days_meant("last Tuesday", asked_at, [])

    middle = found.first + timedelta(days=1)
    assert middle.strftime("%A") == "Tuesday"
    assert 1 <= (asked_at - middle).days <= 7


def test_relative_days_follow_the_day_of_asking() -> None:
    """The same words asked a month later mean a month later."""
    (early,) = days_meant("yesterday", date(2024, 1, 1), [])
    (late,) = days_meant("yesterday", date(2024, 3, 1), [])

    assert (date(2023, 12, 30), date(2024, 2, 28)) == (early.first, late.first)


@given(QUESTIONS, st.dates(), COMMON_YEARS)
def test_no_question_breaks_the_calendar(question: str, asked_at: date, years: list[int]) -> None:
    """Whatever is asked, on the first and last days of the calendar too, stretches are in order."""
    found = days_meant(question, asked_at, years)

    assert all(days.first <= days.last for days in found)


@pytest.mark.parametrize("asked_at", [date.min, date.max])
@pytest.mark.parametrize("question", [question for question, _ in (*ENGLISH, *RELATIVE, *CHINESE)])
def test_no_day_of_asking_breaks_the_calendar(question: str, asked_at: date) -> None:
    """A question asked at either end of the calendar has an answer."""
    found = days_meant(question, asked_at, [1, 9998])

    assert all(days.first <= days.last for days in found)


@pytest.mark.parametrize(
    ("question", "year"), [("in December", 9999), ("12\u6708", 9999), ("in May", 0)]
)
def test_no_year_of_an_entry_breaks_the_calendar(question: str, year: int) -> None:
    """A memory valid from the last month of the calendar on does not break a question."""
    found = days_meant(question, ASKED_AT, [year])

    assert all(days.first <= days.last for days in found)


@pytest.mark.parametrize(
    "question", ["\u017fep 2023", "3 \u017fept 2023", "in \u017feptember", "on \u017funday"]
)
def test_no_old_letter_breaks_a_question(question: str) -> None:
    """A long s, as scans of old prints have it, is read as s or not at all."""
    found = days_meant(question, ASKED_AT, YEARS)

    assert all(days.first <= days.last for days in found)


@pytest.mark.parametrize(
    "question",
    [
        "When did Ada move?",
        "  when?",
        "How long did it take?",
        "Since when?",
        "Which year was it?",
        "what date is the party",
        "On which day?",
        "\u4ed6\u4ec0\u4e48\u65f6\u5019\u6765",
        "\u4f55\u65f6",
        "\u51e0\u6708",
        "\u54ea\u4e00\u5e74",
        "\u7b49\u4e86\u591a\u4e45",
    ],
)
def test_a_question_for_a_time_is_seen(question: str) -> None:
    """English asks when at its beginning, Chinese anywhere."""
    assert asks_when(question)


@pytest.mark.parametrize(
    "question",
    ["Who moved when Ada did?", "Whenever", "how many", "Which yearling?", "\u4ec0\u4e48", ""],
)
def test_a_question_for_something_else_is_not_taken_for_one(question: str) -> None:
    """A subordinate when, and words that only begin alike, ask for something else."""
    assert not asks_when(question)


@pytest.mark.parametrize(
    "text",
    [
        "We met last week",
        "since 2019",
        "on Sunday",
        "in May",
        "two years ago",
        "I just ate",
        "\u6211\u6628\u5929\u53bb\u4e86",
        "5\u6708\u51fa\u53d1",
        "\u661f\u671f\u4e09",
        "2023\u5e74",
    ],
)
def test_a_text_that_speaks_of_time_is_seen(text: str) -> None:
    """Days, months, years and words like ago are expressions of time."""
    assert has_time_expression(text)


@pytest.mark.parametrize(
    "word",
    """
    yesterday today tonight tomorrow last next ago week weekend month year years recently just
    this_week mon tuesday wednes thursday fri saturday sun january february march
    april may june july august september october november december 1999 2023
    """.split(),
)
def test_a_time_is_seen_in_ascii_as_in_any_text(word: str) -> None:
    """A text in ASCII is searched in another way, to the same end, whatever its case."""
    text = f"So, {word.replace('_', ' ').title()}."

    assert has_time_expression(text)
    assert has_time_expression(f"{text} \N{LATIN SMALL LETTER E WITH ACUTE}")


@pytest.mark.parametrize(
    "text", ["We met", "a weekly justice", "12345", "20231", "blast", "\u6211\u517b\u732b", ""]
)
def test_a_text_without_time_is_not_taken_for_one(text: str) -> None:
    """Words that merely contain one, and other numbers, are not expressions of time."""
    assert not has_time_expression(text)
