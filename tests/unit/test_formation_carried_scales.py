"""Scales of amounts: "75" beside "68 grand" is 75 grand, and 75 chairs stay chairs."""

from collections.abc import Mapping
from typing import Any, Final

import pytest

from benchmarks.support import verdict_on
from recollect.formation import claims
from recollect.formation.claims import carried_scales
from tests.harness.answer_cases import case, known_note, note, patch

QUOTE: Final = "u: the builder's quote for the extension came today, 68 grand"
BUDGET: Final = {
    "id": "m1",
    "type": "Note",
    "value": {
        "context": "Budget of the kitchen, in thousands",
        "content": "The limit for the kitchen is 75 all in. The credit union came back with 35.",
    },
}


def told(said: str, value: str) -> Mapping[str, Any]:
    """Return a case in which *value* rests on one message."""
    return case([f"u: {said}"], note(value, f"1: {said}"))


def beside(first: str, said: str, value: str) -> Mapping[str, Any]:
    """Return a case in which *value* cites the second message alone."""
    return case([first, "a: Good to know.", f"u: {said}"], note(value, f"3: {said}"))


def billed(value: str, *, bill: str = "the final bill came, 74,200, so under") -> Mapping[str, Any]:
    """Return a case in which a note in thousands is changed."""
    change = patch("m1", "replace", "/content", f"1: {bill}", value)
    return case([f"u: {bill}"], change, known=[BUDGET])


RIGHT: Final = [
    beside(QUOTE, "we said 75 all in, and the credit union gives us 40 of that",
           "The limit for the extension is 75 grand all in; the credit union gives 40 grand"),
    beside(QUOTE, "we said 75, not a cent over", "The limit is 75,000 and not a cent over"),
    told("he went to the supermarket, 16 thousand a month. I was giving 11",
         "He went to the supermarket for 16 thousand a month; the user gave 11 thousand"),
    told("she agreed 1.1 million and paid 660 already",
         "She agreed 1.1 million and has paid 660k already"),
    told("the van is £12k and they'd let it go for 11",
         "The van is £12k; they'd let it go for £11,000"),
    told("they wanted $80,000 and I got them down to 72",
         "They wanted $80,000, and the user got them down to $72,000"),
    billed("The final bill came: 74,200, under the limit of 75,000. The credit union lent 35,000."),
    told("装修报价68万，我们说好最多75，信用社给40", "装修报价68万，预算最多75万，信用社给40万"),
    told("他去超市了，月薪16千，我这边只给11", "他去超市月薪16千，用户只给11千"),
    told("裝修報價68萬，我們說好最多75，不能再多了", "裝修報價68萬，預算最多75萬，不能再多"),
    beside("u: 師傅報價68萬", "我們說好最多75，農會給40啦", "預算最多75萬，農會給40萬"),
]  # fmt: skip
WRONG: Final = [
    # no thousands anywhere
    told("we said 75 all in, and the credit union gives us 40 of that",
         "The limit is 75 grand all in; the credit union gives 40 of that"),
    told("我们说好最多75，信用社给40", "预算最多75万，信用社给40"),
    # counts something else
    beside(QUOTE, "we rented 75 chairs for the party", "The user rented chairs for 75 grand"),
    beside(QUOTE, "my dad is 75 and he thinks it's mad", "The user's dad says 75 grand is mad"),
    told("quote is 68 grand, and 40 of us will be at the party",
         "The quote is 68 grand, and the party is 40 grand"),
    told("the shop made 16 thousand, and it closes at 9",
         "The shop made 16 thousand, then 9 thousand"),
    told("装修报价68万，租了75把椅子", "装修报价68万，椅子75万"),
    told("裝修報價68萬，我爸今年75了", "裝修報價68萬，爸爸出75萬"),
    told("裝修報價68萬，來了40個人", "裝修報價68萬，訂金40萬"),
    # another magnitude
    beside(QUOTE, "we said 75 all in", "The limit is 75 million all in"),
    beside(QUOTE, "we said 3 tops for the shelf", "The limit for the shelf is 3 grand"),
    told("装修报价68万，我们说好最多75", "装修报价68万，预算最多75亿"),
    told("裝修報價68萬，我們說好最多75", "裝修報價68萬，預算最多75千"),
    billed("The bill came: 74,200, under the limit of 75 million."),
    # another amount
    beside(QUOTE, "we said 75 all in", "The limit is 57 grand all in"),
    billed("The bill came: 74,200, under 75,000. The credit union lent 53,000."),
]  # fmt: skip


@pytest.mark.parametrize("number", range(len(RIGHT)))
def test_a_scale_carries_over_to_the_next_amount(number: int) -> None:
    verdict = verdict_on(RIGHT[number])

    assert verdict.passes, verdict.reasons


@pytest.mark.parametrize("number", range(len(WRONG)))
def test_what_counts_something_else_takes_no_scale(number: int) -> None:
    """As an age, and a number of another size."""
    assert 0 == verdict_on(WRONG[number]).as_user


def test_a_memory_lends_its_scale_to_what_changes_it_alone() -> None:
    said = "we said 75 all in"
    other = known_note("The car cost 68 grand.")

    verdict = verdict_on(
        case([f"u: {said}"], note("The limit is 75 grand all in", f"1: {said}"), known=[other])
    )

    assert 0 == verdict.as_user


def test_a_scale_for_every_number_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    """The rule is needed, and each of what it excepts."""
    with monkeypatch.context() as patched:
        patched.setattr(carried_scales, "_is_bare", lambda *_: True)
        assert sum(verdict_on(each).as_user > 0 for each in WRONG[2:9]) >= 3
    with monkeypatch.context() as patched:
        patched.setattr(carried_scales, "RATIO_MAX", 10**9)
        assert sum(verdict_on(each).as_user > 0 for each in WRONG) >= 1
    monkeypatch.setattr(claims, "carries", lambda *_: False)
    assert not any(verdict_on(each).passes for each in RIGHT[:3])
