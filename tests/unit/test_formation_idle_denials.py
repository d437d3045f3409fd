"""Denials that turn down something else, and a kept name that stands beside a denial."""

from collections.abc import Mapping
from typing import Any, Final

import pytest

from benchmarks.support import verdict_on
from recollect.formation.support import polarity
from tests.harness.answer_cases import case, known_note, note, patch

PICKLE: Final = "Jaylen is the user's new roommate. Pickle the dog loves him more than the user"
DOUDOU: Final = "阿杰是用户的室友，豆豆更喜欢他"


def told(said: str, value: str) -> Mapping[str, Any]:
    """Return a case in which *value* rests on *said*."""
    return case([f"u: {said}"], note(value, f"1: {said}"))


def changed(before: str, said: str, value: str) -> Mapping[str, Any]:
    """Return a case in which *said* changes a note."""
    change = patch("m1", "replace", "/content", f"1: {said}", value)
    return case([f"u: {said}"], change, known=[known_note(before)])


RIGHT: Final = [
    told("nah savannah's swapping with me", "Savannah is swapping with the user"),
    told("nope tom will bring the beans", "Tom will bring the beans"),
    told("nah the vegan place is booked already", "The vegan place is booked"),
    told("no savannah's bringing the cake", "Savannah is bringing the cake"),
    told("没有啦阿明跟我换了班", "阿明跟用户换了班"),
    told("冇啊阿明同我換咗更", "阿明同用戶換咗更"),
    changed(PICKLE, "mrs kowalski's in florida so she cant do pickle, and jaylens on second shift",
            f"{PICKLE}. Jaylen is on second shift"),
    changed(DOUDOU, "她没法带豆豆，阿杰上晚班", f"{DOUDOU}，阿杰上晚班"),
    changed("阿傑是用戶的室友，豆豆更喜歡他", "她沒法帶豆豆，阿傑上晚班",
            "阿傑是用戶的室友，豆豆更喜歡他，阿傑上晚班"),
]  # fmt: skip
WRONG: Final = [
    told("nah no cameras in the house please", "The user wants cameras in the house"),
    told("nope tom won't bring the beans", "Tom will bring the beans"),
    told("nah mushrooms", "The user wants mushrooms"),
    told("no dogs in the flat", "There are dogs in the flat"),
    told("没有啦没带阿明去", "用户带阿明去"),
    told("我不吃香菜", "用户吃香菜"),
    told("冇啊冇帶阿明去", "用戶帶阿明去"),
    changed("The user drinks coffee", "i don't drink coffee anymore, i drink tea",
            "The user drinks coffee"),
    changed("Coffee is fine for the user", "i cant do coffee anymore, tea is what i have",
            "Coffee is fine for the user. The user has coffee"),
    changed(PICKLE, "she doesn't walk pickle, jaylens on second shift",
            "Jaylen is on second shift. She walks Pickle"),
    changed(DOUDOU, "我不带豆豆去", "用户带豆豆去"),
]  # fmt: skip


@pytest.mark.parametrize("number", range(len(RIGHT)))
def test_what_is_turned_down_is_something_else(number: int) -> None:
    verdict = verdict_on(RIGHT[number])

    assert verdict.passes, verdict.reasons


@pytest.mark.parametrize("number", range(len(WRONG)))
def test_a_denial_is_kept(number: int) -> None:
    assert 0 == verdict_on(WRONG[number]).as_user


def test_denials_that_count_for_nothing_are_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    """The mutants: every denial is idle, and every subject kept."""
    with monkeypatch.context() as patched:
        patched.setattr(polarity._Said, "_dropped", lambda *_: "")
        assert sum(verdict_on(each).as_user > 0 for each in WRONG) > len(WRONG) / 2
    with monkeypatch.context() as patched:
        patched.setattr(polarity, "without_kept_subject", lambda clause, *_: clause)
        assert not verdict_on(RIGHT[6]).passes
