"""Ends that follow from what was told: nights from a day, a month and its day, "that weekend"."""

from typing import Final

import pytest

from tests.unit.test_formation_forms import decided, talk

RIGHT: Final = [
    ("booked two nights in Porto from 12 May", "2023-05-14"),
    ("we're in Halden for her birthday, May 12, four nights", "2023-05-16"),
    ("订了民宿，5月12号起住三晚", "2023-05-15"),
    ("訂了民宿，5月12號入住，兩晚", "2023-05-14"),
    ("四天三夜，5月12号出发", "2023-05-15"),
    ("we go to Turin in May, 12th for six days", "2023-05-17"),
    ("walking holiday in June, from the 3rd, 5 nights", "2023-06-08"),
    ("六月去花莲，3号走，五天", "2023-06-07"),
    ("六月去花蓮，3號走，住四晚", "2023-06-07"),
    ("my cousin marries on May 20, so nothing that weekend please", "2023-05-21"),
    ("表姐5月20号结婚，那个周末别安排事", "2023-05-21"),
    ("表姊5月20號結婚，那週末別排事情", "2023-05-21"),
]
WRONG: Final = [
    ("booked two nights in Porto from 12 May", "2023-05-24"),
    ("I'm on nights from 12 May", "2023-05-14"),
    ("订了民宿，5月12号周三晚上到", "2023-05-15"),
    ("5月12号晚上到，初三晚饭", "2023-05-15"),
    ("we go to Turin in May, 12th for six days", "2023-05-27"),
    ("we move in June, 3rd floor, 5 nights a week it is loud", "2023-06-08"),
    ("my cousin marries on May 20, so nothing that weekend please", "2023-05-23"),
    ("my cousin marries on May 20", "2023-05-21"),
    ("my cousin marries on May 17, so nothing that day", "2023-05-21"),
    ("表姐5月20号结婚，那天别安排事", "2023-05-21"),
]


def left_out(said: str, until: str) -> bool:
    operation, _ = decided(talk(said), "A plan", f"1: {said}", until=until)
    return operation.until is None


@pytest.mark.parametrize(("said", "until"), RIGHT)
def test_an_end_that_follows_is_kept(said: str, until: str) -> None:
    assert not left_out(said, until)


@pytest.mark.parametrize(("said", "until"), WRONG)
def test_an_end_that_does_not_follow_is_left_out(said: str, until: str) -> None:
    assert left_out(said, until)
