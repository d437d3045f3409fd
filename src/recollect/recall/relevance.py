"""
How likely an entry bears on a query: one scale from 0 to 1 for all scopes and embedders.

Scores of a search are standardised, so that the best entry of every search stands out; whether
it has anything to do with the query they do not tell. Here the words that an entry shares with
the query count by how rare they are in everyday talk and in the collection together: a greeting
shares common words at most, in a scope of five entries as in one of a million.

The weights were fitted by logistic regression on the development halves of public sets of talk,
evidence against everything else that a search ranks, and idle queries; `docs/benchmarks_context.md`
has the reliability curve. *Bearing* means there: named as evidence of the answer.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from recollect.recall.candidates import Collection, Floats
from recollect.text.data_files import read_rows
from recollect.text.terms import term_hash

IDLE_BELOW: Final = 0.025
IDLE_BELOW_BY_WORDS: Final = 0.0125
"""
A query whose best entry is below is answered with nothing, where the default is asked for: with
vectors, and without. Fewer than two in a hundred questions of the sets it was chosen on stay below,
four of talk by other authors.
"""
_TALK_SIZE: Final = 1_000
_RARE: Final = 0.2
_RARE_CHARACTER: Final = 3.0
"""How many of 1,000 messages hold a term, or one Chinese character, that the table lacks."""
_HAN: Final = re.compile("[\u3400-\u9fff]")
_COMMON_TERMS: Final = {
    term: float(count)
    for count, *terms in read_rows(__package__, "common_terms.txt")
    for term in terms
}


@dataclass(frozen=True, slots=True)
class _Fit:
    """The weights of a logistic regression."""

    intercept: float
    coverage: float
    share: float
    behind: float


_WITH_VECTORS: Final = _Fit(intercept=-5.9, coverage=1.41, share=1.33, behind=0.91)
_BY_WORDS: Final = _Fit(intercept=-7.1, coverage=1.37, share=3.06, behind=0.36)
_MEANING_MAX: Final = 0.5
_MEANING_SLOPE: Final = 16.0
_MEANING_MIDDLE: Final = 0.47
_MEANING_GROWTH: Final = 0.024
"""
Relevance by the similarity of vectors alone, where words say less: at most so much, half of it at a
similarity that rises with the logarithm of the number of entries, since among many one is near
by chance.
"""
_PERSONAL: Final = 1.2
_PERSONAL_LEAST: Final = 0.04
"""Bonus of a question about oneself: it asks for memories, and small talk does not."""


@dataclass(frozen=True, slots=True, kw_only=True)
class QueryMatches:
    """
    Where a query's terms stand in a collection, and what its vector is like.

    *weights* says how much each term tells, by its hash (see `term_weights`), *places* at which
    entries each stands, in the same order. *similarity* are the cosines of the ranked entries'
    vectors with the query's, ``None`` without; *is_personal* is True for a question about oneself.
    """

    weights: Mapping[int, float]
    places: Sequence[NDArray[np.intp]]
    similarity: Floats | None
    is_personal: bool = False


def term_weights(
    terms: Mapping[int, str], entries: int, places: Sequence[NDArray[np.intp]]
) -> dict[int, float]:
    """
    Return how much each term of a query tells, by its hash: its idf in talk and collection.

    *terms* are the query's terms by their hashes, *places* says which of the *entries* have each.
    """
    return {
        hash_: _weight(entries, len(found) + _per_thousand(term))
        for (hash_, term), found in zip(terms.items(), places, strict=True)
    }


def _weight(entries: int, holding: float) -> float:
    return math.log(1 + (entries + _TALK_SIZE - holding + 0.5) / (holding + 0.5))


def relevance(
    collection: Collection, matches: QueryMatches, order: NDArray[np.intp], score: Floats
) -> Floats:
    """
    Return for the entries at *order* how likely they bear on the query.

    Args:
        collection: All entries that were searched.
        matches: The query's words and its vector among them.
        order: The places of the ranked entries, best first.
        score: Their scores.
    """
    if not len(order):
        return np.empty(0, np.float32)
    own, near = _coverage(collection, matches, order)
    similarity = matches.similarity
    fit = _BY_WORDS if similarity is None else _WITH_VECTORS
    told = (
        fit.intercept
        + fit.coverage * np.log1p(near)
        + fit.share * own / max(sum(matches.weights.values()), 1.0)
        + fit.behind * (score - score[0])
    )
    by_words = np.where(near > 0, _sigmoid(told), 0)
    if similarity is None:
        least = _PERSONAL_LEAST if matches.is_personal else 0.0
        return np.asarray(np.maximum(by_words, least), np.float32)
    middle = _MEANING_MIDDLE + _MEANING_GROWTH * math.log(len(collection))
    prior = _PERSONAL if matches.is_personal else 0.0
    by_meaning = _MEANING_MAX * _sigmoid(_MEANING_SLOPE * (similarity - middle) + prior)
    return np.asarray(np.maximum(by_words, by_meaning), np.float32)


def _sigmoid(x: Floats) -> Floats:
    return np.asarray(1 / (1 + np.exp(-x)), np.float32)


def _coverage(
    collection: Collection, matches: QueryMatches, order: NDArray[np.intp]
) -> tuple[Floats, Floats]:
    """Return the weight of the terms that entries hold themselves, and with their neighbours."""
    n, begins = len(collection), collection.begins_session
    before = np.maximum(order - 1, 0)
    after = np.minimum(order + 1, n - 1)
    has_before = ~begins[order]
    has_after = (order + 1 < n) & ~begins[after]
    own, near = np.zeros(len(order), np.float32), np.zeros(len(order), np.float32)
    holds = np.zeros(n, np.bool_)
    for at, weight in zip(matches.places, matches.weights.values(), strict=True):
        holds[at] = True
        mine = holds[order]
        own += np.float32(weight) * mine
        near += np.float32(weight) * (
            mine | (holds[before] & has_before) | (holds[after] & has_after)
        )
        holds[at] = False
    return own, near


def _per_thousand(term: str) -> float:
    known = _COMMON_TERMS.get(term)
    if known is not None:
        return known
    return _RARE_CHARACTER if len(term) == 1 and _HAN.match(term) else _RARE


def query_terms(terms: list[str]) -> dict[int, str]:
    """Return a query's terms by their hashes."""
    return {term_hash(term): term for term in terms}
