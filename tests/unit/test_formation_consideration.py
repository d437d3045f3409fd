"""Consideration: a user who will think about an offer, told as that and as no more."""

from typing import Any, Final

import pytest

from benchmarks.support import verdict_on
from recollect.formation.support import cited_passages, unasked_words
from tests.harness.answer_cases import case, note

ROUTES: Final = (
    "Two routes. Hire an electrician for about $900. Or go partial: a battery box and two LED "
    "lights now, and leave the panel for your brother. I'd do the partial set now so that the "
    "birthday is safe."
)
ROUTES_IN_CHINESE: Final = (
    "两个办法：一是请电工，大概三千；二是先装电瓶和两盏灯，配电盘留给你弟弟。我建议先装一部分。"
)


def told(reply: str, value: str) -> dict[str, Any]:
    """Return a case in which *value* rests on a *reply* to the assistant's offer."""
    offer = ROUTES if reply.isascii() else ROUTES_IN_CHINESE
    call = note(value, f"3: {reply}", context="Options on the wiring")
    return dict(case(["u: what are my options on the wiring", f"a: {offer}", f"u: {reply}"], call))


RIGHT: Final = [
    told("That last bit's not dumb. I'll think on it",
         "The user will think on doing the partial set and leaving the panel for their brother"),
    told("hmm let me sleep on it",
         "The user is still thinking about a partial set now, with the panel left for their "
         "brother, or an electrician"),
    told("not a bad idea, I'll think about it",
         "The user is considering the partial set now, the panel left for their brother"),
    told("ok I'll consider the partial one",
         "The user is considering the partial set: a battery box and two LED lights"),
    told("will think about it thanks", "The user is considering the partial set, the panel left"),
    told("让我想想", "用户在考虑先装电瓶和两盏灯"),
    told("諗諗先啦", "用戶考慮緊先裝電瓶同兩盞燈"),
    told("我和老婆商量一下", "用户在考虑先装电瓶和两盏灯，要和老婆商量"),
    told("我考虑考虑", "用户在考虑先装电瓶和两盏灯，配电盘留给弟弟"),
    told("有道理 我再想想", "用户在考虑先装一部分：电瓶和两盏灯"),
    told("等我諗下先", "用戶考慮緊先裝電瓶同兩盞燈"),
    told("我回去再想想吧", "用戶還在考慮：請電工，或先裝電瓶和兩盞燈"),
]  # fmt: skip
WRONG: Final = [
    told("That last bit's not dumb. I'll think on it",
         "The user does the partial set now and leaves the panel for their brother"),
    told("hmm let me sleep on it", "The user has decided on a battery box and two LED lights"),
    told("no, I'll think of something else",
         "The user is considering the partial set, a battery box and two LED lights"),
    told("not a bad idea, I'll think about it",
         "The user thought it over. A battery box and two LED lights are bought now, and the panel "
         "is left for the brother"),
    told("我考虑考虑", "用户决定先装电瓶和两盏灯，配电盘留给弟弟"),
    told("不行 我想别的办法", "用户在考虑先装电瓶和两盏灯"),
    told("等我諗下先", "用戶會裝電瓶同兩盞燈"),
]  # fmt: skip


@pytest.mark.parametrize("number", range(len(RIGHT)))
def test_what_is_thought_over_may_be_told_so(number: int) -> None:
    """In the assistant's words, and with no more trust than they have."""
    verdict = verdict_on(RIGHT[number])

    assert (True, 0) == (verdict.passes, verdict.as_user), verdict.reasons


@pytest.mark.parametrize("number", range(len(WRONG)))
def test_what_is_thought_over_is_not_settled(number: int) -> None:
    """Nor is what the user turned down thought over."""
    assert not verdict_on(WRONG[number]).passes


def test_considering_that_nothing_reads_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of the reply, and of the value."""
    with monkeypatch.context() as mutant:
        mutant.setattr(unasked_words, "considers", lambda _: True)
        assert any(verdict_on(each).passes for each in WRONG)
    with monkeypatch.context() as mutant:
        mutant.setattr(cited_passages, "ponders", lambda _: True)
        assert any(verdict_on(each).passes for each in WRONG)
    monkeypatch.setattr(cited_passages, "ponders", lambda _: False)
    assert not all(verdict_on(each).passes for each in RIGHT)
