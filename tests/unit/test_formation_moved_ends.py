"""The end of a plan moves with the day that its text names."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from recollect.formation.moved_ends import moved_end
from tests.harness.sample_contents import sample_memory

EXAM = "Has an exam on 22 May 2025 and is not available from about 8 May 2025"
PUT_OFF = "Has an exam on 29 May 2025 (not 22 May) and is not available from about 8 May 2025"
RECOVERY = "After the operation on 2025-05-20 no driving for six weeks"
VISIT = "The mother flies over on 28 November 2025 for three weeks"


@pytest.mark.parametrize(
    ("before", "until", "after", "moved"),
    [
        (EXAM, "2025-05-22", PUT_OFF, "2025-05-29"),
        (VISIT, "2025-12-19", VISIT.replace("28", "30"), "2025-12-21"),
        ("Trip on 2025-10-18", "2025-10-20", "Trip on 2025-11-08", "2025-11-10"),
        ("Trip on 2025-10-18", "2025-10-18", "Trip on 2025-10-11", "2025-10-11"),
        (
            "In mid-October 2025; not booked by 2025-08-07",
            "2025-10-31",
            "From 2025-10-16 to 2025-10-19",
            "2025-10-19",
        ),
        (
            "口試抓2025年9月底",
            "2025-09-30",
            "口試改在2025年10/17（五）（原本抓9月底）",
            "2025-10-17",
        ),
        # The end is told in words, and a day long before is of something else.
        (
            "Flies on 2 December 2025 for two weeks",
            "2025-12-16",
            "Flies on 8 January 2026 till 29 January 2026, 3 weeks",
            "2026-01-29",
        ),
        ("去住，2025年12月2日出发", "2025-12-16", "改了，住到2026年1月29日止", "2026-01-29"),
        (
            "Potatoes for Christmas dinner, to be planted on 30 August 2025",
            "2025-12-25",
            "Potatoes for Christmas dinner; the plot must be clear by 19 October 2025",
            "2025-12-25",
        ),
        # The year of the new day is told with the old one alone.
        ("考核在2025年10月30日", "2025-10-30", "从2025年10月30日改到11月12日周三", "2025-11-12"),
        ("考核在2025年12月30日", "2025-12-30", "考核2025年12月30日推迟到1月5日", "2026-01-05"),
        (
            "Exam on 30 October 2025",
            "2025-10-30",
            "Exam moved from 30 October 2025 to 12 November",
            "2025-11-12",
        ),
        ("考核在2025年10月30日", "2025-10-30", "考核2025年10月30日，11月12日出分", "2025-10-30"),
        # The text tells the end, or the year of a feast.
        (
            RECOVERY,
            "2025-07-01",
            f"{RECOVERY.replace('05-20', '06-18')} (to 2025-07-30)",
            "2025-07-30",
        ),
        (
            f"{RECOVERY} (to 2025-07-30)",
            "2025-07-30",
            "No driving till Monday 2025-08-11",
            "2025-08-11",
        ),
        ("不开车，直到2025-07-30为止", "2025-07-30", "不开车，直到2025-08-11为止", "2025-08-11"),
        (
            "Her mom stays during the tour",
            "2025-10-18",
            "She comes at Thanksgiving 2025",
            "2025-11-30",
        ),
        ("妈妈来住到国庆", "2025-10-08", "妈妈改成2026年春节来", "2026-02-24"),
        ("Gym on Mondays", "2025-12-31", "Gym on Tuesdays; Mondays until 2025-05-01", "2025-12-31"),
        ("端午去外婆家", "2025-05-31", "端午去外婆家，五月初五到", "2025-05-31"),
        # The old day is told beside another, or the end is: nothing was moved.
        (VISIT, "2025-12-19", f"{VISIT}, and sees a doctor on 1 December 2025", "2025-12-19"),
        (VISIT, "2025-12-19", "She flies on 2025-11-30, back on 2025-12-19", "2025-12-19"),
        (VISIT, "2025-12-19", "The mother flies over for three weeks", "2025-12-19"),
    ],
)
def test_an_end_moves_with_its_day(before: str, until: str, after: str, moved: str) -> None:
    """Beside the months that a label names: of a plan only its days are compared."""
    memory = sample_memory(
        value={"context": "Planning for May 2025", "content": before},
        valid_until=datetime.fromisoformat(until).replace(tzinfo=UTC),
    )

    end = moved_end(memory, {"context": "Planning for May 2025", "content": after})

    assert end is not None
    assert moved == f"{end:%Y-%m-%d}"


def test_what_has_no_end_gets_none() -> None:
    assert moved_end(sample_memory(value={"content": EXAM}), {"content": PUT_OFF}) is None


@pytest.mark.parametrize(
    ("before", "after", "is_over"),
    [
        (
            "Wants to join the school tour, 2025-05-08 to 09",
            "Withdrew from the tour, 2025-05-08 to 09",
            0,
        ),
        (
            "晴晴想參加考察團（2025-05-08至09）",
            "晴晴抽到考察團（2025-05-08至09），但係退咗，480會退返",
            0,
        ),
        (
            "Mom comes for the tour, 2025-05-09",
            "Mom doesn't need to come for the tour, 2025-05-09",
            0,
        ),
        ("5月9日去桂林，可免费取消", "2025年5月9日去桂林，可免费取消", 1),
        ("The trip on 2025-05-09 is not cancelled", "The trip on 2025-05-09 was cancelled", 0),
        ("Mom comes on 2025-05-09", "Mom is not coming on 2025-05-09 but on 2025-06-09", 1),
        ("The trip of 2025-05-09 is off", "The trip of 2025-05-09 is off, they refund it", 1),
    ],
)
def test_what_was_called_off_stays_told(before: str, after: str, is_over: int) -> None:
    """That somebody withdrew is true after the day as well: a plan alone is over with it."""
    until = datetime(2025, 5, 9, tzinfo=UTC)

    end = moved_end(sample_memory(value={"content": before}, valid_until=until), {"content": after})

    assert bool(is_over) == (end is not None)
