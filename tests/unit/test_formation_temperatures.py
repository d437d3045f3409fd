"""Temperature scales: a letter is read as the scale that it stands for, and none is exchanged."""

from typing import Any, Final

import pytest

from benchmarks.support import verdict_on
from recollect.formation import claims
from tests.harness.answer_cases import case, note, user

FORECAST: Final = "t: forecast: 12 C, rain"


def told(said: str, value: str, *, is_wish: bool = True) -> dict[str, Any]:
    """Return a case in which *value* rests on *said*, beside a forecast."""
    quote = f"1: {said}"
    call = user({"conversation_preferences": [value]}, quote) if is_wish else note(value, quote)
    return dict(case([f"u: {said}", FORECAST], call))


RIGHT: Final = [
    told("give me temps in F pls", "Temperatures in Fahrenheit"),
    told("temps in F not C, always", "Always give temperatures in Fahrenheit, not Celsius"),
    told("use C for temperatures, I dont get F",
         "Temperatures in Celsius; doesn't understand Fahrenheit"),
    told("F not C for temps", "Prefers Fahrenheit to Celsius for temperatures"),
    told("I used F but it's C now, for temps", "Temperatures in Celsius, no longer Fahrenheit"),
    told("I dont want to see a pound or a fahrenheit again", "Never pounds or Fahrenheit"),
    told("switch temps from F to C", "Temperatures in Celsius instead of Fahrenheit"),
    told("fridge sits at 38F", "The fridge is at 38 degrees Fahrenheit", is_wish=False),
    told("kiln goes to 1240c", "The kiln goes to 1240 degrees Celsius", is_wish=False),
    told("温度都给我用F，别用C", "温度用华氏度，不用摄氏度"),
    told("发酵罐一直19C", "发酵罐一直19摄氏度", is_wish=False),
    told("溫度用F 唔好C", "溫度用華氏，不要攝氏"),
    told("焗爐得450F", "焗爐最多華氏450度", is_wish=False),
]  # fmt: skip
WRONG: Final = [
    told("give me temps in F pls", "Temperatures in Celsius"),
    told("temps in F not C, always", "Always give temperatures in Celsius, not Fahrenheit"),
    told("temps in F", "Temperatures not in Fahrenheit"),
    told("switch temps from F to C", "Temperatures in Fahrenheit"),
    told("fridge sits at 38F", "The fridge is at 38 degrees Celsius", is_wish=False),
    told("kiln goes to 1240c", "The kiln goes to 1240 °F", is_wish=False),
    told("I got an F in maths", "Wants Fahrenheit in maths"),
    told("温度都给我用F，别用C", "温度用摄氏度，不用华氏度"),
    told("发酵罐一直19C", "发酵罐一直19华氏度", is_wish=False),
    told("溫度用F 唔好C", "溫度用攝氏，不要華氏"),
    told("焗爐得450F", "焗爐最多攝氏450度", is_wish=False),
]  # fmt: skip


@pytest.mark.parametrize("number", range(len(RIGHT)))
def test_a_letter_stands_for_its_scale(number: int) -> None:
    """Of a wish, and of what was measured."""
    verdict = verdict_on(RIGHT[number])

    assert verdict.passes, verdict.reasons


@pytest.mark.parametrize("number", range(len(WRONG)))
def test_no_scale_is_exchanged(number: int) -> None:
    """Nor is one that was only denied wanted."""
    assert 0 == verdict_on(WRONG[number]).as_user


def test_scales_that_nothing_compares_are_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    """In Chinese, where a scale is no name, nothing else holds them off."""
    monkeypatch.setattr(claims, "exchanged", lambda *_: False)

    assert any(verdict_on(each).as_user for each in WRONG)


def test_letters_that_are_no_scales_are_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    """A model writes the scale in full."""
    monkeypatch.setattr(claims.Heard, "_is_scale", lambda *_: False)

    assert not all(verdict_on(each).passes for each in RIGHT)
