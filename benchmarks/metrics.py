"""Ranking metrics: pure functions of the ranks of the evidence."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import Final, TypeAlias

Ranks: TypeAlias = Sequence[int | None]
"""The place of each evidence item, counted from 1; `None` where it was not returned."""

DEPTHS: Final = (5, 10, 20, 50)
"""The depths k of recall@k, any@k and all@k."""
NDCG_DEPTH: Final = 10
BUDGETS: Final = {"1k": 1_000, "2k": 2_000, "4k": 4_000}
"""The token budgets of ``tokens_…``, by the name in reports."""

_CHARACTERS_PER_TOKEN: Final = 4
_CJK: Final = re.compile(
    "[\u2e80-\u303f\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff\uff00-\uffef"
    "\U00020000-\U0003ffff]"
)


def count_tokens(text: str) -> int:
    """
    Estimate the tokens of *text*: one per CJK character, one per four others, rounded up.

    >>> count_tokens("four four"), count_tokens("我养猫"), count_tokens("")
    (3, 3, 0)
    """
    wide = len(_CJK.findall(text))
    return wide + math.ceil((len(text) - wide) / _CHARACTERS_PER_TOKEN)


def recall_at(ranks: Ranks, depth: int) -> float:
    """
    Return the share of the evidence among the first *depth*.

    >>> recall_at([1, 7, None, 4], 5)
    0.5
    """
    return sum(rank is not None and rank <= depth for rank in ranks) / len(ranks)


def any_at(ranks: Ranks, depth: int) -> float:
    """
    Return 1 if some evidence is among the first *depth*, else 0.

    >>> any_at([None, 5], 5), any_at([6], 5)
    (1.0, 0.0)
    """
    return float(recall_at(ranks, depth) > 0)


def all_at(ranks: Ranks, depth: int) -> float:
    """
    Return 1 if all evidence is among the first *depth*, else 0.

    >>> all_at([2, 5], 5), all_at([2, None], 5)
    (1.0, 0.0)
    """
    return float(all(rank is not None and rank <= depth for rank in ranks))


def ndcg_at(ranks: Ranks, depth: int) -> float:
    """
    Return the normalised discounted cumulative gain of the first *depth*.

    Gains are binary and rank r is divided by log2(r + 1), as Järvelin and Kekäläinen
    (2002) are commonly read; the ideal ranking holds all evidence first.

    >>> round(ndcg_at([1, 3], 10), 4)
    0.9197
    """
    found = sum(1 / math.log2(rank + 1) for rank in ranks if rank is not None and rank <= depth)
    ideal = sum(1 / math.log2(rank + 1) for rank in range(1, min(depth, len(ranks)) + 1))
    return found / ideal


def ranking_measures(ranks: Ranks) -> dict[str, float]:
    """Return every measure of one ranking by name: ``recall@5`` … ``all@50``, ``ndcg@10``."""
    measures: dict[str, Callable[[Ranks, int], float]] = {
        "recall": recall_at,
        "any": any_at,
        "all": all_at,
    }
    found = {
        f"{name}@{depth}": measure(ranks, depth)
        for name, measure in measures.items()
        for depth in DEPTHS
    }
    return found | {f"ndcg@{NDCG_DEPTH}": ndcg_at(ranks, NDCG_DEPTH)}


def budget_measures(ends: Ranks) -> dict[str, float]:
    """
    Return the share of the evidence inside each token budget: ``tokens_1k`` ….

    Args:
        ends: For each evidence item how many tokens were returned by the end of it.

    >>> budget_measures([400, 1500, None, 4001])
    {'tokens_1k': 0.25, 'tokens_2k': 0.5, 'tokens_4k': 0.5}
    """
    return {f"tokens_{name}": recall_at(ends, budget) for name, budget in BUDGETS.items()}


def places_of(wanted: Sequence[str], ranked: Iterable[str]) -> tuple[int | None, ...]:
    """
    Return the place of each wanted id in a ranking, counted from 1.

    >>> places_of(["b", "x"], ["a", "b", "c"])
    (2, None)
    """
    missing = set(wanted)
    places: dict[str, int] = {}
    for place, each in enumerate(ranked, start=1):
        if each in missing:
            places[each] = place
            missing.remove(each)
            if not missing:
                break
    return tuple(places.get(each) for each in wanted)


def token_ends_of(
    wanted: Collection[str], ranked: Iterable[str], sizes: Mapping[str, int]
) -> tuple[int | None, ...]:
    """
    Return, for each wanted id, the tokens of the ranking up to its end.

    >>> token_ends_of(["b", "x"], ["a", "b", "c"], {"a": 10, "b": 5, "c": 1})
    (15, None)
    """
    missing = set(wanted)
    ends: dict[str, int] = {}
    spent = 0
    for each in ranked:
        if not missing:
            break
        spent += sizes[each]
        if each in missing:
            ends[each] = spent
            missing.remove(each)
    return tuple(ends.get(each) for each in wanted)


def sessions_in_order(ranked: Iterable[str], session_of: Mapping[str, str]) -> tuple[str, ...]:
    """
    Return the sessions of a ranking in order of first appearance: each by its best message.

    >>> sessions_in_order(["b1", "a2", "b9"], {"b1": "b", "a2": "a", "b9": "b"})
    ('b', 'a')
    """
    return tuple(dict.fromkeys(session_of[each] for each in ranked))


def mean_measures(cases: Sequence[Mapping[str, float]]) -> dict[str, float]:
    """
    Return the mean of each measure over *cases*; nothing for no cases.

    >>> mean_measures([{"any@5": 1.0}, {"any@5": 0.0}])
    {'any@5': 0.5}
    """
    if not cases:
        return {}
    return {name: math.fsum(case[name] for case in cases) / len(cases) for name in cases[0]}


def percentile(values: Sequence[float], share: float) -> float:
    """
    Return the value below which *share* of *values* lie, interpolated between neighbours.

    >>> percentile([3.0, 1.0, 2.0, 4.0], 0.5)
    2.5
    """
    ordered = sorted(values)
    at = share * (len(ordered) - 1)
    low = math.floor(at)
    high = math.ceil(at)
    return ordered[low] + (ordered[high] - ordered[low]) * (at - low)
