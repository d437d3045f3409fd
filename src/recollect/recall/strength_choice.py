"""Choose an embedder's strength from ranks of a labelled sample, cross-validated; pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from recollect.recall.candidates import Collection, Floats
from recollect.recall.strength import STRENGTHS

DEPTH: Final = 10
"""Recall is counted among so many of the best."""
FOLDS: Final = 5
SPLITS: Final = 20
"""The sample is parted into folds so many times, each time otherwise."""
ERRORS_MIN: Final = 1.64
"""
So many standard errors a strength must gain on held-out questions: by chance alone that happens one
time in twenty.
"""
_SEED: Final = 7

Ranks = NDArray[np.intp]
Scores = NDArray[np.float64]


@dataclass(frozen=True, slots=True, kw_only=True)
class SampleScores:
    """
    The results of a sample at each of ``STRENGTHS``: questions × strengths.

    *recall* is the share of its entries among the first ``DEPTH``, *gain* the same smoothly: the
    discounted gain of all ranks (nDCG without a cut), which tells near misses from far ones.
    """

    recall: Scores
    gain: Scores


@dataclass(frozen=True, slots=True, kw_only=True)
class StrengthChoice:
    """
    The strength that a sample speaks for; the one in force unless it *helps*.

    *before* and *after* are the sample's recall at the strength in force, and on held-out
    questions at those that the others chose; *gain* and *error* are the difference of the smooth
    measure, and its standard error.
    """

    strength: float
    helps: bool
    before: float
    after: float
    gain: float
    error: float


def ranks_of(collection: Collection, score: Floats, places: NDArray[np.intp]) -> Ranks:
    """
    Return the ranks from 0 of the entries at *places*, in ascending order.

    Ties are broken as in an answer: by time, newest first, then by the entry's id.
    """
    time, uid = collection.time, collection.uid
    found = []
    for at in places:
        is_tied = score == score[at]
        is_before = (time > time[at]) | ((time == time[at]) & (uid < uid[at]))
        found.append(np.count_nonzero(score > score[at]) + np.count_nonzero(is_tied & is_before))
    return np.sort(np.array(found, np.intp))


def recall_of(ranks: Ranks) -> float:
    """Return the share of *ranks* below ``DEPTH``."""
    return float(np.mean(ranks < DEPTH))


def gain_of(ranks: Ranks) -> float:
    """
    Return the discounted gain of *ranks*, as a share of the best that there could be.

    >>> gain_of(np.array([0, 1])), round(gain_of(np.array([0, 9])), 2)
    (1.0, 0.79)
    """
    best = np.arange(len(ranks))
    return float(np.sum(1 / np.log2(ranks + 2)) / np.sum(1 / np.log2(best + 2)))


def chosen_strength(scores: SampleScores, current: float) -> StrengthChoice:
    """
    Return which of ``STRENGTHS`` to take, where *current* is in force.

    A strength is taken only if, chosen on some questions, it finds clearly more for the others.
    """
    now = STRENGTHS.index(current)
    recall, gain = _held_out(scores, now)
    differences = gain - scores.gain[:, now]
    error = float(np.std(differences, ddof=1) / np.sqrt(len(differences)))
    mean = float(np.mean(differences))
    before, after = float(np.mean(scores.recall[:, now])), float(np.mean(recall))
    best = _best(scores.gain, now)
    helps = best != now and mean > ERRORS_MIN * error and after >= before
    return StrengthChoice(
        strength=STRENGTHS[best] if helps else current,
        helps=helps,
        before=before,
        after=after if helps else before,
        gain=mean,
        error=error,
    )


def _held_out(scores: SampleScores, now: int) -> tuple[Scores, Scores]:
    """Return each question's recall and gain at the strengths that other questions chose."""
    count = len(scores.gain)
    chance = np.random.default_rng(_SEED)
    recall, gain = np.zeros(count), np.zeros(count)
    for _ in range(SPLITS):
        for held in np.array_split(chance.permutation(count), FOLDS):
            others = np.delete(scores.gain, held, axis=0)
            best = _best(others, now)
            recall[held] += scores.recall[held, best]
            gain[held] += scores.gain[held, best]
    return recall / SPLITS, gain / SPLITS


def _best(gain: Scores, now: int) -> int:
    """Return which strength gains most; of equal ones the nearest to that in force."""
    means = np.mean(gain, axis=0)
    equal: Sequence[int] = np.flatnonzero(np.isclose(means, means.max())).tolist()
    return min(equal, key=lambda each: abs(each - now))
