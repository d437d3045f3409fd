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
"""Recall is measured at this depth."""
FOLDS: Final = 5
"""Folds of the cross-validation."""
SPLITS: Final = 20
"""Random splits into folds, to average out the luck of one split."""
ERRORS_MIN: Final = 1.64
"""
Standard errors by which a new strength must gain on held-out questions.

By chance alone that happens one time in twenty.
"""
_SEED: Final = 7

Ranks = NDArray[np.intp]
Scores = NDArray[np.float64]


@dataclass(frozen=True, slots=True, kw_only=True)
class SampleScores:
    """
    The results of a sample at each of ``STRENGTHS``: questions × strengths.

    *recall* is the share of a question's entries among the first ``DEPTH``. *gain* is the smooth
    measure by which strengths are chosen: the discounted gain of all ranks (nDCG without a cut),
    which distinguishes near misses from far ones.
    """

    recall: Scores
    gain: Scores


@dataclass(frozen=True, slots=True, kw_only=True)
class StrengthChoice:
    """
    The strength chosen by a sample; the current one unless another *helps*.

    *before* is the sample's recall at the current strength, *after* that of held-out questions at
    the strengths that the others chose. *gain* is the mean difference of the smooth measure, and
    *error* its standard error.
    """

    strength: float
    helps: bool
    before: float
    after: float
    gain: float
    error: float


def ranks_of(collection: Collection, score: Floats, places: NDArray[np.intp]) -> Ranks:
    """
    Return the ranks (from 0) of the entries at *places*, in ascending order.

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
    Return the discounted gain of *ranks*, as a share of the highest possible one.

    >>> gain_of(np.array([0, 1])), round(gain_of(np.array([0, 9])), 2)
    (1.0, 0.79)
    """
    best = np.arange(len(ranks))
    return float(np.sum(1 / np.log2(ranks + 2)) / np.sum(1 / np.log2(best + 2)))


def chosen_strength(scores: SampleScores, current: float) -> StrengthChoice:
    """
    Return which of ``STRENGTHS`` to use instead of *current*, or *current* itself.

    Another strength is chosen only if, picked by some questions, it clearly helps the others.
    """
    now = STRENGTHS.index(current)
    recall, gain = _held_out(scores, now)
    differences = gain - scores.gain[:, now]
    error = float(np.std(differences, ddof=1) / np.sqrt(len(differences)))
    mean = float(np.mean(differences))
    before, after = float(np.mean(scores.recall[:, now])), float(np.mean(recall))
    best = _best(scores.gain, now)
    # The smooth gain separates strengths with few questions; recall is what users notice, and
    # must not fall for it.
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
    """Return the place of the strength with the highest gain; of equals, the nearest to *now*."""
    means = np.mean(gain, axis=0)
    equal: Sequence[int] = np.flatnonzero(np.isclose(means, means.max())).tolist()
    return min(equal, key=lambda each: abs(each - now))
