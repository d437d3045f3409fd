"""The day on which something began is read of words that say so, and of no others."""

from datetime import date

import pytest

from recollect.text.begun_days import begun_day


@pytest.mark.parametrize(
    ("words", "day"),
    [
        ("We moved in June", "2026-06-01"),
        ("I moved to Bergen in December", "2025-12-01"),
        ("I have lived there since 3 May", "2026-05-03"),
        ("I started there yesterday", "2026-09-03"),
        ("I moved to Bergen on 1 September", "2026-09-01"),
        ("我三月开始在那里工作", "2026-03-01"),
        ("我昨天搬家了", "2026-09-03"),
        ("我們去年十月搬家", "2025-10-01"),
        ("We meet in June", "None"),
        ("We moved last summer", "None"),
        ("We moved in 2019", "None"),
        ("We moved in June and began in July", "None"),
        ("We moved", "None"),
    ],
)
def test_a_beginning_is_read(words: str, day: str) -> None:
    assert day == str(begun_day(words, date(2026, 9, 4)))
