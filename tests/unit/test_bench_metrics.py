"""The measures of a ranking, against small cases reckoned by hand."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks import metrics

places = st.lists(st.none() | st.integers(1, 80), min_size=1, max_size=8)


@pytest.mark.parametrize(
    ("depth", "expected"), [(5, (0.5, 1.0, 0.0)), (1, (0.0, 0.0, 0.0)), (20, (0.75, 1.0, 0.0))]
)
def test_recall_any_and_all_count_what_is_among_the_first(
    depth: int, expected: tuple[float, float, float]
) -> None:
    """Evidence at 2, 5, 11 and nowhere: two of four are among five, three among twenty."""
    ranks = (2, 5, 11, None)

    found = tuple(at(ranks, depth) for at in (metrics.recall_at, metrics.any_at, metrics.all_at))

    assert expected == found


def test_all_is_reached_at_the_last_piece_of_evidence() -> None:
    """A place equal to the depth is inside."""
    assert (0.0, 1.0) == (metrics.all_at((3, 10), 9), metrics.all_at((3, 10), 10))


def test_ndcg_discounts_rank_two() -> None:
    """One piece at rank 2: 1/log2(3), since the ideal is rank 1."""
    assert math.isclose(1 / math.log2(3), metrics.ndcg_at((2,), 10))


def test_ndcg_compares_with_the_best_ranking_of_that_depth() -> None:
    """Three pieces, two places: ranks 1 and 2 are the best there is, whatever the third."""
    assert math.isclose(1.0, metrics.ndcg_at((2, 1, 40), 2))


def test_ndcg_of_ranks_one_and_four() -> None:
    """(1 + 1/log2(5)) / (1 + 1/log2(3))."""
    expected = (1 + 1 / math.log2(5)) / (1 + 1 / math.log2(3))

    assert math.isclose(expected, metrics.ndcg_at((1, 4), 10))


@given(places)
def test_deeper_never_finds_less(ranks: list[int | None]) -> None:
    """Recall, any and all do not fall with depth, and all <= recall <= any at each."""
    measures = metrics.ranking_measures(ranks)

    for name in ("recall", "any", "all"):
        by_depth = [measures[f"{name}@{depth}"] for depth in metrics.DEPTHS]
        assert sorted(by_depth) == by_depth
    for depth in metrics.DEPTHS:
        three = [measures[f"{name}@{depth}"] for name in ("all", "recall", "any")]
        assert sorted(three) == three


def test_a_budget_holds_evidence_that_ends_inside_it() -> None:
    """A text that ends at token 1,000 is inside 1k; one that ends at 1,001 is not."""
    found = metrics.budget_measures((1_000, 1_001, None))

    assert {"tokens_1k": 1 / 3, "tokens_2k": 2 / 3, "tokens_4k": 2 / 3} == found


@pytest.mark.parametrize(
    ("text", "tokens"),
    [("", 0), ("abcd", 1), ("abcde", 2), ("猫喜欢鱼", 4), ("猫 cat", 2), ("。", 1)],
)
def test_tokens_are_four_characters_or_one_cjk_character(text: str, tokens: int) -> None:
    """Partial tokens are rounded up, once for the text."""
    assert tokens == metrics.count_tokens(text)


def test_places_count_from_one_and_keep_the_order_asked_for() -> None:
    """A repeated id has its place twice; one that was not returned has none."""
    assert (3, 1, 3, None) == metrics.places_of(["c", "a", "c", "x"], ["a", "b", "c"])


def test_token_ends_add_up_the_texts_returned_before() -> None:
    """The evidence's own text is part of what had to be returned."""
    sizes = {"a": 7, "b": 20, "c": 5}

    assert (32, 7, None) == metrics.token_ends_of(["c", "a", "x"], ["a", "b", "c"], sizes)


def test_a_session_stands_where_its_best_message_stands() -> None:
    """Sessions come in order of first appearance."""
    session_of = {"m1": "s1", "m2": "s2", "m3": "s1", "m4": "s3"}

    assert ("s2", "s1", "s3") == metrics.sessions_in_order(["m2", "m3", "m1", "m4"], session_of)


@pytest.mark.parametrize(("share", "expected"), [(0.0, 1.0), (0.5, 3.0), (0.95, 9.4), (1.0, 11.0)])
def test_percentiles_lie_between_neighbours(share: float, expected: float) -> None:
    """Of 1, 2, 3, 3, 11 the 95th percentile is four fifths of the way from 3 to 11."""
    assert math.isclose(expected, metrics.percentile([3.0, 11.0, 1.0, 2.0, 3.0], share))


def test_the_mean_of_nothing_is_nothing() -> None:
    """A level without questions has no measures, not zeros."""
    assert {} == metrics.mean_measures([])
