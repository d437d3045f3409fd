"""Killing: a note accuses nobody of it if the killer is no person, and else needs the word."""

from typing import Any, Final

import pytest

from benchmarks.support import verdict_on
from recollect.formation.support import judgement
from tests.harness.answer_cases import case, note


def told(said: str, value: str) -> dict[str, Any]:
    """Return a case in which *value* rests on *said*."""
    return dict(case([f"u: {said}"], note(value, f"1: {said}")))


RIGHT: Final = [
    told("the heat dealt with my snails, I have like 250 remaining",
         "Heat killed some of the user's snails; 250 remain"),
    told("frost got the dahlias", "The frost killed the user's dahlias"),
    told("slugs had all my lettuces overnight", "Slugs killed all of the user's lettuces"),
    told("fox had two of the hens last night", "Two of the user's hens were killed by a fox"),
    told("lost half the tomatoes to blight", "Blight killed half of the tomatoes"),
    told("bees all gone, varroa i reckon", "Varroa killed the bees, the user thinks"),
    told("霜打了番茄 一棵不剩", "霜冻杀死了全部番茄"),
    told("虫子把白菜啃光了", "虫害杀死了白菜"),
    told("鱼缸的鱼全热没了", "高温杀死了鱼缸里的鱼"),
    told("白蟻搞掂咗棵樹", "白蟻殺死了那棵樹"),
]  # fmt: skip
WRONG: Final = [
    told("Rob dealt with the dog", "Rob killed the dog"),
    told("my brother dealt with the snails in the heat", "The user's brother killed the snails"),
    told("the heat got to my brother, he left", "The heat killed the user's brother"),
    told("the cold got Ann, she left early", "The cold killed Ann"),
    told("frost tonight, Rob has gone to the pub", "Rob killed a man in the frost"),
    told("the heat is bad, I like it", "The heat killed the dahlias"),
    told("lost half the tomatoes to blight, my boss laughed", "The boss killed the tomatoes"),
    told("老王把鱼带走了，天热", "老王杀死了鱼"),
    told("霜很大 小李把番茄收完了", "小李殺死了番茄"),
    told("霜凍好大 老王走咗", "霜凍殺死了老王"),
]  # fmt: skip


@pytest.mark.parametrize("number", range(len(RIGHT)))
def test_a_natural_cause_accuses_nobody(number: int) -> None:
    """Where a loss by it was told in other words."""
    verdict = verdict_on(RIGHT[number])

    assert verdict.passes, verdict.reasons


@pytest.mark.parametrize("number", range(len(WRONG)))
def test_a_person_needs_the_word(number: int) -> None:
    """As who kills, and as who is killed."""
    assert 0 == verdict_on(WRONG[number]).as_user


def test_a_cause_that_counts_always_or_never_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    """The rule is needed, and what it excepts."""
    monkeypatch.setattr(judgement, "is_killed_by_nature", lambda *_: True)
    assert sum(verdict_on(each).as_user for each in WRONG) > len(WRONG) / 2

    monkeypatch.setattr(judgement, "is_killed_by_nature", lambda *_: False)
    assert not any(verdict_on(each).passes for each in RIGHT)
