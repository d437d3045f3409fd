"""Clauses that say why something is told: a doubt in them is no doubt of the rest."""

from collections.abc import Mapping
from typing import Any, Final

import pytest

from benchmarks.support import verdict_on
from recollect.formation.grounding import grounds, telling_reasons
from tests.harness.answer_cases import case, note


def told(said: str, value: str) -> Mapping[str, Any]:
    """Return a case in which *value* rests on *said*."""
    return case([f"u: {said}"], note(value, f"1: {said}"))


RIGHT: Final = [
    told("my wife is allergic to penicillin, might come up later",
         "The user's wife is allergic to penicillin"),
    told("Ana is due on the 14th of June, I might ask you about it again",
         "Ana is due on 14 June"),
    told("we have two goats, perhaps you'll need to know that later", "The user has two goats"),
    told("我老婆对青霉素过敏，说不定以后用得着", "用户的老婆对青霉素过敏"),
    told("我們養了兩隻羊，可能之後會問到", "用戶養了兩隻羊"),
    told("她對盤尼西林過敏，我想說先跟你講一下，搞不好以後會問到", "佩珊對盤尼西林過敏"),
    told("我老婆對花生敏感，可能遲啲會問你", "用戶的老婆對花生敏感"),
]  # fmt: skip
WRONG: Final = [
    told("my wife might be allergic to penicillin", "The user's wife is allergic to penicillin"),
    told("my sister says Ana is due on the 14th of June, might come up later",
         "Ana is due on 14 June"),
    told("he moves to Oslo in June, it might fall through", "He moves to Oslo in June"),
    told("the rent is 900 now, they might drop it", "The rent is 900 now and they drop it"),
    told("I guess she is allergic to penicillin, might come up later",
         "The user's wife is allergic to penicillin"),
    told("我老婆可能对青霉素过敏，以后会问到", "用户的老婆对青霉素过敏"),
    told("我妹说她对青霉素过敏，搞不好以后会问到", "她对青霉素过敏，用户知道这件事"),
    told("他五月搬去奧斯陸，搞不好會取消", "他五月搬去奧斯陸"),
    told("聽說佩珊對盤尼西林過敏，搞不好以後會問到", "佩珊對盤尼西林過敏"),
]  # fmt: skip


@pytest.mark.parametrize("number", range(len(RIGHT)))
def test_a_reason_for_telling_doubts_nothing(number: int) -> None:
    verdict = verdict_on(RIGHT[number])

    assert verdict.passes, verdict.reasons


@pytest.mark.parametrize("number", range(len(WRONG)))
def test_a_doubt_of_the_thing_itself_is_kept(number: int) -> None:
    """As hearsay, and a plan that may fall through."""
    assert not verdict_on(WRONG[number]).passes


def test_doubts_that_nobody_sees_are_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    """The mutants: every doubt is a reason, and none."""
    with monkeypatch.context() as patched:
        patched.setattr(grounds, "without_reasons", lambda _: "")
        assert sum(verdict_on(each).passes for each in WRONG) > len(WRONG) / 2
    monkeypatch.setattr(telling_reasons, "_is_reason", lambda _: False)
    assert not any(verdict_on(each).passes for each in RIGHT)
