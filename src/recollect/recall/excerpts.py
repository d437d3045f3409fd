"""
Excerpts: the passages of a long text that bear on a query.

A passage scores by the query terms it holds (weighted by rarity, saturated as in BM25 but without a
length norm), slightly by its position, and by its neighbours, because an answer often stands beside
the words of the question. The constants were chosen on the development halves of public sets;
docs/benchmarks_context.md has their gain.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from recollect.ports import TokenCounter
from recollect.text.analysis import terms_of
from recollect.text.passages import PassageSpan, passages_of
from recollect.text.terms import term_hash
from recollect.text.word_caches import word_cache

GAP: Final = "[…]"
"""The mark in an excerpt for passages that are left out."""
_PLACE: Final = re.compile(r"\b(\d{1,3})(?:st|nd|rd|th)\b|第(\d{1,3})")
_SATURATION: Final = 0.6
"""Occurrences of a term that give it half of its weight, as K1 does in BM25."""
_LATER: Final = 0.001
"""Cost of each passage before one: of equals the first wins."""
_NEIGHBOUR: Final = 0.4
"""Share of a passage's score that each of its neighbours gets."""


@dataclass(frozen=True, slots=True)
class Excerpt:
    """An excerpt of a text: some of its passages, in their order, or all of it."""

    text: str
    is_whole: bool


def excerpt_of(
    text: str, weights: Mapping[int, float], *, budget_tokens: int, count: TokenCounter
) -> Excerpt:
    """
    Return the best passages of *text* that fit *budget_tokens*; the best one even if it does not.

    Args:
        text: The whole text, which is returned unchanged if it fits or has one passage.
        weights: The weight of each query term, by its hash.
        budget_tokens: The highest cost of the excerpt, with its marks.
        count: Returns the number of tokens of a text.
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
    Return *weights* with the numbers of the list items that *query* asks for.

    "The 27th in your list" is written "27." in the list, which shares no term with "27th".
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


@word_cache(maxsize=4_096)
def _terms(passage: str) -> Counter[int]:
    return Counter(map(term_hash, terms_of(passage)))


def _joined(text: str, passages: Sequence[PassageSpan], chosen: set[int]) -> str:
    """Join the *chosen* passages in the order of the text, with a mark for each gap."""
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
