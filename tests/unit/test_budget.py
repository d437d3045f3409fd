"""A budget of tokens is kept, by whole entries, best first, without saying things twice."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recollect.recall.duplicates import SaidAlready
from recollect.recall.recall_packing import Packed, packed
from recollect.recall.results import Recalled
from recollect.text.token_estimate import estimated_tokens
from tests.harness.sample_contents import sample_message

WORDS = st.sampled_from("kite red sky \u6211\u517b\u732b Zo\u00eb ! yesterday".split())
TEXTS = st.lists(st.lists(WORDS, max_size=12).map(" ".join), max_size=15)
LIMITS = st.integers(1, 12)
BUDGETS = st.integers(1, 60)


def pack(texts: list[str], *, limit: int = 100, budget_tokens: int | None = None) -> Packed:
    """Pack messages with these *texts*, ranked as given, by the estimate of tokens."""
    entries = [message(number, text) for number, text in enumerate(texts)]
    said = SaidAlready(entries, is_tight=budget_tokens is not None)
    return packed(
        texts, limit=limit, budget_tokens=budget_tokens, count=estimated_tokens, said=said
    )


def message(number: int, text: str) -> Recalled:
    """Return a recalled message of the user's with a *text*."""
    content = sample_message(id=str(number), position=number, text=text)
    return Recalled(scope=("ada",), content=content, score=1, signals={})


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        ("", 0),
        ("a", 1),
        ("four", 1),
        ("fives", 2),
        ("eight ch", 2),
        ("\u6211\u517b\u732b", 3),
        ("\u6211\u517b\u732b abcd", 5),
        ("\u304b\u306a", 2),
        ("\ud55c\uae00", 2),
        ("\U0001f98a", 1),
        ("x" * 4_000, 1_000),
    ],
)
def test_tokens_are_estimated(text: str, tokens: int) -> None:
    """A character of a script without spaces costs one token, four others cost one."""
    assert tokens == estimated_tokens(text)


@given(TEXTS, LIMITS, BUDGETS)
def test_a_budget_is_kept(texts: list[str], limit: int, budget: int) -> None:
    """What is kept costs no more than the budget, but for a single first entry."""
    found = pack(texts, limit=limit, budget_tokens=budget)

    assert sum(estimated_tokens(texts[place]) for place in found.kept) == found.tokens
    assert found.tokens <= budget or found.kept == (0,)
    assert len(found.kept) <= limit


@given(TEXTS, LIMITS, BUDGETS | st.none())
def test_every_entry_is_kept_or_dropped_in_order(
    texts: list[str], limit: int, budget: int | None
) -> None:
    """Each ranked entry appears once, whole, on one side, in the order of the ranking."""
    found = pack(texts, limit=limit, budget_tokens=budget)

    dropped = [place for place, _ in found.dropped]
    assert sorted(found.kept) == list(found.kept)
    assert list(range(len(texts))) == sorted([*found.kept, *dropped])


@given(TEXTS, LIMITS)
def test_without_a_budget_only_the_limit_counts(texts: list[str], limit: int) -> None:
    """The best entries are kept, repeated or not, and the rest is over the limit."""
    found = pack(texts, limit=limit)

    assert tuple(range(min(limit, len(texts)))) == found.kept
    assert {reason for _, reason in found.dropped} <= {"limit"}


@given(TEXTS, BUDGETS)
def test_what_was_dropped_for_the_budget_did_not_fit(texts: list[str], budget: int) -> None:
    """Nothing that would have fitted beside what ranks above it was left out."""
    found = pack(texts, budget_tokens=budget)

    for place, reason in found.dropped:
        before = sum(estimated_tokens(texts[kept]) for kept in found.kept if kept < place)
        assert reason == "repeats" or before + estimated_tokens(texts[place]) > budget


def test_the_best_entry_is_kept_even_if_it_exceeds_the_budget() -> None:
    """An answer is never empty because its best part is long."""
    found = pack(["x" * 400, "short"], budget_tokens=10)

    assert Packed(kept=(0,), dropped=((1, "budget"),), tokens=100) == found


def test_a_smaller_entry_behind_one_that_does_not_fit_may_fit() -> None:
    """An entry that is skipped does not end the packing."""
    found = pack(["a" * 20, "b" * 200, "c" * 20], budget_tokens=10)

    assert Packed(kept=(0, 2), dropped=((1, "budget"),), tokens=10) == found


def test_repetition_is_dropped_with_a_budget() -> None:
    """An entry whose words stand in a row in one that is kept costs tokens for nothing."""
    texts = ["We flew the red kite, at Zo\u00eb's.", "RED KITE!", "zoe", "kite red", "the red kite"]

    found = pack(texts, budget_tokens=100)

    assert (0, 3) == found.kept
    assert ((1, "repeats"), (2, "repeats"), (4, "repeats")) == found.dropped


@pytest.mark.parametrize("again", ["the red kite", "the", "kite", "THE  RED, kite."])
def test_a_repetition_may_stand_at_either_end(again: str) -> None:
    """The first and the last words of an entry are said as well, and so is all of it."""
    found = pack(["the red kite", again], budget_tokens=100)

    assert ((1, "repeats"),) == found.dropped


def test_a_part_of_a_word_is_not_a_repetition() -> None:
    """Words are compared whole."""
    found = pack(["kites and skylights", "kite", "light"], budget_tokens=100)

    assert (0, 1, 2) == found.kept


def test_a_repetition_of_what_was_dropped_is_kept() -> None:
    """Only what the answer really says counts as said."""
    found = pack(["a" * 20, "red kite " * 40, "red kite"], budget_tokens=10)

    assert (0, 2) == found.kept


def test_entries_without_words_are_no_repetition_of_each_other() -> None:
    """Signs and pictures say nothing that another entry could say already."""
    found = pack(["\U0001f44d", "\U0001f389", ""], budget_tokens=100)

    assert (0, 1, 2) == found.kept


def test_tokens_are_counted_by_the_caller() -> None:
    """The count that is passed in decides what fits."""
    found = packed(["a b c", "d e", "f"], limit=9, budget_tokens=4, count=lambda t: len(t.split()))

    assert Packed(kept=(0, 2), dropped=((1, "budget"),), tokens=4) == found
