"""
Excerpts: show of a long text the passages that bear on a query.

A passage scores by the query's terms that stand in it (weighted by how rare they are, saturated as
in BM25 but without a length norm), a little by how early it stands, and by its neighbours, because
an answer often stands beside the words that were asked for. The constants were chosen on the
development halves; docs/benchmarks_context.md has what they gain.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from recollect.ports import TokenCounter
from recollect.text.analysis import terms_of
from recollect.text.passages import PassageSpan, passages_of
from recollect.text.terms import term_hash

GAP: Final = "[…]"
"""The mark in an excerpt for passages left out between two others."""
_PLACE: Final = re.compile(r"\b(\d{1,3})(?:st|nd|rd|th)\b|第(\d{1,3})")
_SATURATION: Final = 0.6
_LATER: Final = 0.001
_NEIGHBOUR: Final = 0.4


@dataclass(frozen=True, slots=True)
class Excerpt:
    """The shown part of a text: some of its passages, in their order, or all of it."""

    text: str
    is_whole: bool


def excerpt_of(
    text: str, weights: Mapping[int, float], *, budget_tokens: int, count: TokenCounter
) -> Excerpt:
    """
    Return the best passages of *text* that fit *budget_tokens*; the best one even if it does not.

    Args:
        text: The whole text, which is returned as it is if it fits.
        weights: How much each term of the query counts, by its hash.
        budget_tokens: What the excerpt may cost, the marks of its gaps included.
        count: How many tokens a text costs.
    """
    if count(text) <= budget_tokens:
        return Excerpt(text, is_whole=True)
    passages = passages_of(text)
    if len(passages) < 2:
        return Excerpt(text, is_whole=True)
    order = _best_first(text, passages, weights)
    chosen = {order[0]}
    for at in order[1:]:
        if count(_joined(text, passages, chosen | {at})) <= budget_tokens:
            chosen.add(at)
    return Excerpt(_joined(text, passages, chosen), is_whole=len(chosen) == len(passages))


def with_places(weights: Mapping[int, float], query: str) -> Mapping[int, float]:
    """
    Return *weights* with the numbers of places in a list that *query* asks for.

    "the 27th in your list" stands there as "27.".
    """
    places = [
        term_hash(str(int(number)))
        for found in _PLACE.finditer(query)
        for number in found.groups()
        if number
    ]
    heaviest = max(weights.values(), default=0.0)
    return {**weights, **dict.fromkeys(places, heaviest)} if places else weights


def _best_first(
    text: str, passages: Sequence[PassageSpan], weights: Mapping[int, float]
) -> list[int]:
    alone = [
        _score(_terms(text[each.start : each.end]), weights) - _LATER * at
        for at, each in enumerate(passages)
    ]
    near = [0.0, *alone, 0.0]
    score = [near[at + 1] + _NEIGHBOUR * (near[at] + near[at + 2]) for at in range(len(passages))]
    return sorted(range(len(passages)), key=lambda at: (-score[at], at))


def _score(terms: Mapping[int, int], weights: Mapping[int, float]) -> float:
    return sum(
        weight * terms[term] / (terms[term] + _SATURATION)
        for term, weight in weights.items()
        if term in terms
    )


@lru_cache(maxsize=4_096)
def _terms(passage: str) -> Counter[int]:
    return Counter(map(term_hash, terms_of(passage)))


def _joined(text: str, passages: Sequence[PassageSpan], chosen: set[int]) -> str:
    """Return the *chosen* passages in the order of the text, with marks for what is left out."""
    parts: list[str] = []
    before = -1
    for at in sorted(chosen):
        if at > before + 1:
            parts.append(GAP)
        parts.append(text[passages[at].start : passages[at].end])
        before = at
    if before + 1 < len(passages):
        parts.append(GAP)
    return "\n".join(parts)
