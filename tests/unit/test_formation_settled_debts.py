"""Debts: who paid the rest owed it before, and whoever still owes needs other words."""

from typing import Any, Final

import pytest

from benchmarks.support import verdict_on
from recollect.formation.support import judgement
from tests.harness.answer_cases import case, note


def told(said: str, value: str) -> dict[str, Any]:
    """Return a case in which *value* rests on *said*."""
    return dict(case([f"u: {said}"], note(value, f"1: {said}")))


RIGHT: Final = [
    told("he's paid me the rest, all of it, so we're square, Ian and me",
         "Ian has paid back all he owed the user, so they are square"),
    told("Rosa sent everything back this morning", "Rosa has sent back all that she owed"),
    told("i repaid my uncle in march", "The user repaid the uncle all that was owed"),
    told("Tom and I are quits now", "Tom's debt to the user is settled"),
    told("老李把剩下的钱都还我了", "老李欠的钱已经还清"),
    told("阿強找清條數俾我", "阿強欠的錢已經找清"),
    told("我同阿珍两清了", "阿珍欠的钱已两清"),
]  # fmt: skip
WRONG: Final = [
    told("he's paid me the rest, so we're square", "Ian owes the user the rest"),
    told("he's paid me the rest, so we're square", "Ian still owed the user the rest"),
    told("he's paid me the rest, so we're square", "The user paid back all the user owed Ian"),
    told("he's paid me the rest, so we're square", "Ian paid back the £400 that he owed"),
    told("he will pay me the rest if he gets the job", "Ian has paid back all he owed"),
    told("he hasn't paid, but he says we're square", "Ian's debts are cleared"),
    told("Ian came round for tea, all good", "Ian has paid back all he owed"),
    told("the garden is forty square metres", "Ian's debt is settled"),
    told("老李说等发工资再还我剩下的", "老李欠的钱已经还清"),
    told("阿強把剩下的錢都還我了", "用戶欠阿強的錢已經還清"),
    told("老李来喝茶 挺高兴", "老李欠的钱已经还清"),
]  # fmt: skip


@pytest.mark.parametrize("number", range(len(RIGHT)))
def test_who_paid_all_owed_it(number: int) -> None:
    verdict = verdict_on(RIGHT[number])

    assert verdict.passes, verdict.reasons


@pytest.mark.parametrize("number", range(len(WRONG)))
def test_a_debt_that_is_open_or_of_another_needs_the_word(number: int) -> None:
    """As one of another amount, and one that only was promised."""
    assert 0 == verdict_on(WRONG[number]).as_user


def test_a_debt_that_is_always_or_never_paid_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    """The rule is needed, and what it excepts."""
    monkeypatch.setattr(judgement, "is_settled_debt", lambda *_: True)
    assert sum(verdict_on(each).as_user for each in WRONG) > len(WRONG) / 3

    monkeypatch.setattr(judgement, "is_settled_debt", lambda *_: False)
    assert not all(verdict_on(each).passes for each in RIGHT)
