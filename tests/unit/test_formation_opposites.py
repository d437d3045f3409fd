"""Opposites that a value may not exchange, and words that only look like one of them."""

from collections.abc import Mapping
from typing import Any, Final

import pytest

from benchmarks.support import verdict_on
from recollect.formation.support import later_corrections
from tests.harness.answer_cases import case, note


def told(said: str, value: str) -> Mapping[str, Any]:
    """Return a case in which *value* rests on *said*."""
    return case([f"u: {said}"], note(value, f"1: {said}"))


RIGHT: Final = [
    told("I am having one stationery shop, it closes at 9 only",
         "The user has a stationery shop, which closes at 9 in the evening"),
    told("am having my own bakery, open till 8",
         "The user has a bakery, open till 8 in the evening"),
    told("who am i kidding, i only paint after work",
         "The user paints only in the evening, after work"),
    told("my helper left last week, so I shut early",
         "The user's helper left right away last week"),
    told("that's all right, he sits by the door",
         "He sits by the door, on the left"),
    told("the train is at 7 am", "The train goes at 7 in the morning"),
]  # fmt: skip
WRONG: Final = [
    told("the train is at 7 am", "The train goes at 7 in the evening"),
    told("the train is at 7am on fridays", "The train goes on Fridays at 7 in the evening"),
    told("i swim tuesday am", "The user swims on Tuesday evening"),
    told("i am at the pool every morning", "The user is at the pool every evening"),
    told("i hurt my left knee", "The user hurt the right knee"),
    told("the stopcock is on the right", "The stopcock is on the left"),
    told("我每天早上游泳", "用户每天晚上游泳"),
    told("我左膝蓋痛", "用戶右膝蓋痛"),
]  # fmt: skip


@pytest.mark.parametrize("number", range(len(RIGHT)))
def test_a_verb_is_no_time_of_day(number: int) -> None:
    verdict = verdict_on(RIGHT[number])

    assert verdict.passes, verdict.reasons


@pytest.mark.parametrize("number", range(len(WRONG)))
def test_an_opposite_is_refused(number: int) -> None:
    """As a morning told as evening, and a left knee as the right one."""
    assert 0 == verdict_on(WRONG[number]).as_user


def test_opposites_that_nobody_compares_are_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    """The rule is needed."""
    monkeypatch.setattr(later_corrections, "_turned_round", lambda *_: iter(()))

    assert sum(verdict_on(each).as_user for each in WRONG) > len(WRONG) / 2
