"""
Relevance: the probability that an entry bears on a query, on one scale for all scopes.

Scores of a search are standardised per query, so that the best entry of every search stands out,
even if nothing bears on the query. Relevance instead weighs the words that an entry shares with the
query by how rare they are in everyday talk and in the collection together: a greeting shares only
common words, in a scope of five entries as in one of a million.

The weights were fitted by logistic regression on the development halves of public sets of talk:
evidence of an answer against all other ranked entries, and against the entries of idle queries.
`docs/benchmarks_context.md` has the reliability curve.
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
from recollect.recall.index_names import MESSAGE
from recollect.text.data_files import read_rows

IDLE_BELOW: Final = 0.025
IDLE_BELOW_BY_WORDS: Final = 0.0125
"""
Relevance that the best entry must reach for any to be shown, by default: with vectors, without.

On the sets the levels were chosen on, fewer than two in a hundred answerable questions stay below;
on talk by other authors, four.
"""
_TALK_SIZE: Final = 1_000
"""Messages of everyday talk that ``common_terms.txt`` was counted in."""
_RARE: Final = 0.2
_RARE_CHARACTER: Final = 3.0
"""Messages, of these 1,000, assumed to hold a term, or a Chinese character, that is not listed."""
_HAN: Final = re.compile("[\u3400-\u9fff]")
_COMMON_TERMS: Final = {
    term: float(count)
    for count, *terms in read_rows(__package__, "common_terms.txt")
    for term in terms
}


@dataclass(frozen=True, slots=True)
class _Fit:
    """
    The weights of a logistic regression.

    *coverage* of the query's words by the entry and its neighbours, *share* of them in the entry
    itself, and *behind*: the distance of its score from the best one.
    """

    intercept: float
    coverage: float
    share: float
    behind: float


_WITH_VECTORS: Final = _Fit(intercept=-5.9, coverage=1.41, share=1.33, behind=0.91)
_BY_WORDS: Final = _Fit(intercept=-7.1, coverage=1.37, share=3.06, behind=0.36)
_ALL: Final = 0.999
"""Share of the weight of a query's words that counts as all of them, with rounding."""
_MEANING_MAX: Final = 0.5
_MEANING_SLOPE: Final = 16.0
_MEANING_MIDDLE: Final = 0.47
_MEANING_GROWTH: Final = 0.024
"""
Relevance by the similarity of vectors alone, for entries with other words than the query.

It is at most ``_MEANING_MAX``. Half of that is reached at a similarity that grows with the
logarithm of the number of entries, because among many entries some are near by chance.
"""
_PERSONAL: Final = 1.2
_PERSONAL_LEAST: Final = 0.04
"""Bonus and minimum for a question about oneself: it asks for memories, and small talk does not."""


@dataclass(frozen=True, slots=True, kw_only=True)
class QueryMatches:
    """
    The matches of a query's terms and vector in a collection.

    *weights* is the weight of each term, by its hash (see `term_weights`); *places* are the entries
    that hold each, in the same order. *similarity* are the cosines of the ranked entries, ``None``
    without vectors. *asked_length* is the length, in terms, of a message that only asks the query.
    *is_personal* is True for a question about oneself.
    """

    weights: Mapping[int, float]
    places: Sequence[NDArray[np.intp]]
    similarity: Floats | None
    asked_length: int = 0
    is_personal: bool = False


def term_weights(
    terms: Mapping[int, str], entries: int, places: Sequence[NDArray[np.intp]]
) -> dict[int, float]:
    """
    Return the weight of each query term, by its hash: its idf in everyday talk and collection.

    *terms* are the query's terms by their hashes; *places* are the entries that hold each, of
    *entries* in all.
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
    Return the relevance of the entries at *order*.

    Args:
        collection: All entries that were searched.
        matches: The matches of the query in *collection*.
        order: The positions of the ranked entries, best first.
        score: Their scores.
    """
    if not len(order):
        return np.empty(0, np.float32)
    own, near = _coverage(collection, matches, order)
    similarity = matches.similarity
    fit = _BY_WORDS if similarity is None else _WITH_VECTORS
    total = sum(matches.weights.values())
    # An earlier asking of the query outscores every answer, which must not count against them.
    is_asked = (own >= _ALL * total) & (collection.kind[order] == MESSAGE)
    is_asked &= collection.length[order] <= matches.asked_length
    best = score[int(np.argmin(is_asked))]
    logit = (
        fit.intercept
        + fit.coverage * np.log1p(near)
        + fit.share * own / max(total, 1.0)
        + fit.behind * np.minimum(score - best, 0)
    )
    by_words = np.where(near > 0, _sigmoid(logit), 0)
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
    """Return the weight of the query terms that each entry holds, alone and with its neighbours."""
    n, begins = len(collection), collection.begins_session
    before = np.maximum(order - 1, 0)
    after = np.minimum(order + 1, n - 1)
    has_before = ~begins[order]
    has_after = (order + 1 < n) & ~begins[after]
    own, near = np.zeros(len(order), np.float32), np.zeros(len(order), np.float32)
    holds = np.zeros(n, np.bool_)
    for at, weight in zip(matches.places, matches.weights.values(), strict=True):
        if not len(at):
            continue
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
