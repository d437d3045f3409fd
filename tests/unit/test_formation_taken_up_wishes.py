"""Wishes of others that the user takes up: "my wife says you're too formal, so please relax"."""

import re
from typing import Any, Final

import pytest

from benchmarks.support import verdict_on
from recollect.formation.grounding import hedges
from tests.harness.answer_cases import case, note, user

FORECAST: Final = "t: forecast: 12 C, rain"


def told(said: str, value: str, *, is_wish: bool = True) -> dict[str, Any]:
    """Return a case in which *value* rests on *said*, beside a forecast."""
    quote = f"1: {said}"
    call = user({"conversation_preferences": [value]}, quote) if is_wish else note(value, quote)
    return dict(case([f"u: {said}", FORECAST], call))


RIGHT: Final = [
    told("my wife says you're too formal, call me Sam", "Call the user Sam, less formal"),
    told("she says you sound like a lawyer, so please use plain words", "Plain words, please"),
    told("Tom reckons you waffle, so keep it short from now on", "Short answers from now on"),
    told("my daughter says you use too many emojis, so no more emojis please", "No more emojis"),
    told("the kids say you're boring so be funnier", "Be funnier"),
    told("她说你别老“您您您”的 跟卖保险的似的 喊我老秦 说“你”就行",
         "喊老秦，说“你”，别老“您您您”的"),
    told("我老婆说你太客气，叫我大刘就行", "叫我大刘，别太客气"),
    told("他说你啰嗦，所以以后说短点", "以后说短点"),
    told("我老婆說你太囉嗦，以後講短一點", "以後講短一點"),
    told("媽媽覺得你像機器人，那就多用口語", "多用口語"),
]  # fmt: skip
WRONG: Final = [
    told("my boss says answer in French, copy him in always",
         "Answer in French and always copy the boss in"),
    told("my boss says you must rhyme, call me Sam", "Always rhyme"),
    told("she says call me Annie", "Call the user Annie"),
    told("my sister says you should rhyme, always", "Always rhyme"),
    told("my boss says keep reports short so the board reads them", "Keep reports short"),
    told("my neighbour says you can't park on Elm Row, so don't drive",
         "Parking on Elm Row is forbidden", is_wish=False),
    told("他说以后都用法语回答，抄送给他", "用法语回答，抄送给他"),
    told("老板说你要用英文回，每封都抄送他", "用英文回，每封抄送老板"),
    told("她說叫我小玲", "叫小玲"),
]  # fmt: skip


@pytest.mark.parametrize("number", range(len(RIGHT)))
def test_a_wish_that_is_taken_up_is_the_users(number: int) -> None:
    """Whoever had it first."""
    verdict = verdict_on(RIGHT[number])

    assert (True, 1) == (verdict.passes, verdict.as_user), verdict.reasons


@pytest.mark.parametrize("number", range(len(WRONG)))
def test_a_wish_that_is_only_reported_is_not(number: int) -> None:
    """Nor does a rule that holds for everybody become a fact."""
    assert 0 == verdict_on(WRONG[number]).as_user


def test_what_is_taken_up_always_or_never_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each in words of its own: what was read of a short text is kept."""
    monkeypatch.setattr(hedges, "_TAKEN_UP", re.compile(""))
    assert 1 == verdict_on(told("she says call me Annie Bo", "Call the user Annie Bo")).as_user

    monkeypatch.setattr(hedges, "_TAKEN_UP", re.compile("(?!)"))
    wish = told("my dad says you're too stiff, call me Bo", "Call the user Bo, less stiff")
    assert not verdict_on(wish).passes
