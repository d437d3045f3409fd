"""Restrictions: who wants something for a part alone denies it of the rest, and not of all."""

from typing import Any, Final

import pytest

from benchmarks.support import verdict_on
from recollect.formation.support import polarity
from tests.harness.answer_cases import case, user

FORECAST: Final = "t: forecast: 12 C, rain"


def told(said: str, value: str) -> dict[str, Any]:
    """Return a case in which a wish rests on *said*, beside a forecast."""
    call = user({"conversation_preferences": [value]}, f"1: {said}")
    return dict(case([f"u: {said}", FORECAST], call))


RIGHT: Final = [
    told("而家唔使乜都point form 淨係講價錢數字先要 其他講兩句人話得㗎啦",
         "淨係講價錢數字先用point form，其他正常講兩句人話"),
    told("唔好成日用table 淨係比較價錢嗰陣先用", "淨係比較價錢時用table"),
    told("唔使次次都講英文term 我問先講", "問到先講英文term"),
    told("不必每次都給code 問到先給", "問到才給code"),
    told("不用什么都列bullet 只有步骤才列", "只有步骤用bullet列"),
    told("别动不动就上markdown 写代码才用", "只有写代码才用markdown"),
    told("not everything needs a table, only prices", "Tables only for prices"),
    told("don't put it all in bullets, just the steps", "Bullets for the steps only"),
    told("no emojis unless it's a birthday", "Emojis only for birthdays"),
    told("stop with the headings except for long reports", "Headings only in long reports"),
]  # fmt: skip
WRONG: Final = [
    told("而家唔使乜都point form 淨係講價錢數字先要", "乜都用point form，價錢數字唔使"),
    told("唔好成日用table 淨係比較價錢嗰陣先用", "成日用table"),
    told("唔好用table", "淨係用table"),
    told("不用什么都列bullet 只有步骤才列", "所有内容都列bullet"),
    told("别用markdown", "用markdown"),
    told("别用markdown", "只用markdown"),
    told("not everything needs a table, only prices", "Everything in a table"),
    told("don't put it all in bullets, just the steps", "Everything in bullets"),
    told("no emojis", "Emojis only"),
]  # fmt: skip


@pytest.mark.parametrize("number", range(len(RIGHT)))
def test_what_is_wanted_for_a_part_is_told_of_it(number: int) -> None:
    """Without the denial of all."""
    verdict = verdict_on(RIGHT[number])

    assert verdict.passes, verdict.reasons


@pytest.mark.parametrize("number", range(len(WRONG)))
def test_it_is_not_told_of_all(number: int) -> None:
    """Nor does "only" stand for a denial."""
    assert 0 == verdict_on(WRONG[number]).as_user


def test_restrictions_that_nothing_reads_are_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of a value and of what was said."""
    monkeypatch.setattr(polarity, "widens", lambda *_: False)
    assert any(verdict_on(each).as_user for each in WRONG)

    monkeypatch.setattr(polarity, "restricts", lambda _: False)
    assert not all(verdict_on(each).passes for each in RIGHT)
