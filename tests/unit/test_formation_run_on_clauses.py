"""Whom a clause speaks of, where it runs on into the next, or reports what somebody thinks."""

from collections.abc import Mapping
from typing import Any, Final

import pytest

from benchmarks.support import verdict_on
from recollect.formation.support import told_of_whom
from tests.harness.answer_cases import case, note


def told(said: str, value: str) -> Mapping[str, Any]:
    """Return a case in which *value* rests on *said*."""
    return case([f"u: {said}"], note(value, f"1: {said}"))


RIGHT: Final = [
    told("savannah's swapping with me, she does the mac i do the green beans",
         "Savannah's swapping with the user: she does the mac, user does the green beans"),
    told("i drive out there she drives home", "The user drives out there; Savannah drives home"),
    told("he gets the van we get the trailer", "He gets the van; the user gets the trailer"),
    told("阿敏跟我换，她做通心粉我做四季豆", "阿敏跟用户换：她做通心粉，用户做四季豆"),
    told("阿敏同我換，佢整通粉我整四季豆", "阿敏同用戶換：佢整通粉，用戶整四季豆"),
    told("我洗碗她倒垃圾", "用户洗碗，她倒垃圾"),
    told("My mother thinks I should buy land in Moniya with it",
         "The user's mother thinks she should buy land in Moniya with the money"),
    told("my brother says i should sell the boat",
         "The user's brother says the user should sell the boat"),
    told("我妈觉得我应该在老家买地", "用户的妈妈觉得用户应该在老家买地"),
    told("我媽說我應該在老家買地", "用戶的媽媽說用戶應該在老家買地"),
    told("老婆話我捱夜捱到面青", "用戶老婆話佢捱夜捱到面青。"),
    told("我阿媽成日話我食嘢太鹹", "用戶阿媽成日話佢食嘢太鹹"),
    told("個仔話我開車太快", "用戶個仔話用戶開車太快"),
    told("佢話我瞓得太少", "用戶老婆話用戶瞓得太少"),
]  # fmt: skip
WRONG: Final = [
    told("savannah's swapping with me, she brings the lasagne i bring the green beans",
         "The user brings the lasagne"),
    told("she drives the van out there", "The user drives the van out there"),
    told("she knows what i eat, i'm allergic to crab", "The user's sister is allergic to crab"),
    told("her boat leaks so she says i should help", "The user's boat leaks"),
    told("she plays the cello that i tuned", "The user plays the cello"),
    told("阿敏跟我换，她做通心粉我做四季豆", "用户做通心粉"),
    told("My mother bought land in Moniya", "The user bought land in Moniya"),
    told("I bought land in Moniya and my mother thinks land is good",
         "The user's mother bought land in Moniya"),
    told("我妈在银行上班", "用户在银行上班"),
    told("我媽在銀行上班我在家", "用戶在銀行上班"),
    told("我老婆捱夜捱到面青", "用戶捱夜捱到面青"),
    told("老婆話佢捱夜捱到面青", "用戶捱夜捱到面青"),
    told("我捱夜捱到面青", "用戶老婆捱夜捱到面青"),
    told("老婆話我捱夜捱到面青", "用戶老婆捱夜捱到面青"),
    told("我老婆電話壞咗要換新嘅", "用戶電話壞咗要換新嘅"),
    told("佢普通話考試攞咗二甲", "用戶普通話考試攞咗二甲"),
]  # fmt: skip


@pytest.mark.parametrize("number", range(len(RIGHT)))
def test_each_part_speaks_of_its_own_subject(number: int) -> None:
    verdict = verdict_on(RIGHT[number])

    assert verdict.passes, verdict.reasons


@pytest.mark.parametrize("number", range(len(WRONG)))
def test_persons_are_not_exchanged(number: int) -> None:
    assert 0 == verdict_on(WRONG[number]).as_user


def test_exchanged_persons_that_nobody_sees_are_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    """The rule is needed, and both of what it excepts."""
    with monkeypatch.context() as patched:
        patched.setattr(told_of_whom, "_exchanged_with_user", lambda *_: iter(()))
        assert sum(verdict_on(each).as_user for each in WRONG) > len(WRONG) / 2
    monkeypatch.setattr(told_of_whom, "parts_of", lambda clause: iter((clause,)))
    assert not verdict_on(RIGHT[0]).passes
