"""What a model's order is worth: evidence found and shown, fused with today's scores."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean, pstdev
from typing import Final

from benchmarks.metrics import places_of, recall_at, token_ends_of
from training.candidates import RankedQuestion, RankedSet

WEIGHTS: Final = (0.0, 0.1, 0.2, 0.35, 0.5, 0.75, 1.0, 1.5, 2.5, 5.0)
"""Weights of the model's scores beside today's, both standardised over a question's candidates."""
BUDGET: Final = 1_000
"""Tokens of the bare texts, in the order of the ranking."""


@dataclass(frozen=True, slots=True)
class EvidenceFigures:
    """Means over questions: share of the evidence in the first ten, all of it within `BUDGET`."""

    questions: int
    recall_10: float
    whole_1k: float


def fused_order(question: RankedQuestion, scores: Sequence[float], weight: float) -> list[str]:
    """Return the question's ids, its first candidates by both scores, the rest as they were."""
    count = min(len(scores), len(question.ids))
    both = zip(_standard(question.scores[:count]), _standard(scores[:count]), strict=True)
    summed = [today + weight * other for today, other in both]
    head = sorted(range(count), key=lambda at: -summed[at])
    return [question.ids[at] for at in head] + list(question.ids[count:])


def _standard(values: Sequence[float]) -> list[float]:
    mean, spread = fmean(values), pstdev(values) or 1.0
    return [(each - mean) / spread for each in values]


def figures(ranked: RankedSet, orders: Mapping[str, Sequence[str]]) -> EvidenceFigures:
    """Return the figures of *orders*, the ids of each question by its id."""
    return _mean(_each(ranked, orders).values())


def figures_by_kind(
    ranked: RankedSet, orders: Mapping[str, Sequence[str]]
) -> dict[str, EvidenceFigures]:
    """Return the figures by category, and of questions that rest on several messages."""
    found = _each(ranked, orders)
    kinds: dict[str, list[tuple[float, float]]] = defaultdict(list)
    for question in ranked.questions:
        kinds[question.category].append(found[question.id])
        if len(question.evidence) > 1:
            kinds["several messages"].append(found[question.id])
    return {kind: _mean(each) for kind, each in sorted(kinds.items())}


def _each(ranked: RankedSet, orders: Mapping[str, Sequence[str]]) -> dict[str, tuple[float, float]]:
    found = {}
    for question in ranked.questions:
        order = orders[question.id]
        sizes = {name: line.tokens for name, line in ranked.lines[question.conversation].items()}
        ends = token_ends_of(question.evidence, order, sizes)
        found[question.id] = (
            recall_at(places_of(question.evidence, order), 10),
            float(all(end is not None and end <= BUDGET for end in ends)),
        )
    return found


def _mean(found: Iterable[tuple[float, float]]) -> EvidenceFigures:
    each = list(found)
    return EvidenceFigures(len(each), fmean(a for a, _ in each), fmean(b for _, b in each))


Scores = Mapping[str, Sequence[float]]
"""The model's scores of each question's candidates, by the question's id."""


def at_weight(ranked: RankedSet, scores: Scores, weight: float) -> EvidenceFigures:
    """Return the figures with the model's scores at *weight*."""
    return figures(ranked, _orders(ranked, scores, weight))


def kinds_at_weight(ranked: RankedSet, scores: Scores, weight: float) -> dict[str, EvidenceFigures]:
    """Return the figures by kind with the model's scores at *weight*."""
    return figures_by_kind(ranked, _orders(ranked, scores, weight))


def _orders(ranked: RankedSet, scores: Scores, weight: float) -> dict[str, list[str]]:
    return {
        each.id: fused_order(each, scores[each.id], weight) if weight else list(each.ids)
        for each in ranked.questions
    }


def weight_without(name: str, gains: Mapping[str, Mapping[float, float]]) -> float:
    """Return the weight that is best on average over all sets but *name*; 0 if it is alone."""
    others = [by_weight for other, by_weight in gains.items() if other != name]
    if not others:
        return 0.0
    return max(WEIGHTS, key=lambda weight: fmean(each[weight] for each in others))


def figure_lines(title: str, ranked: RankedSet) -> list[str]:
    """Return lines that tell what the ranking as it stands is worth, and of several messages."""
    orders = {each.id: each.ids for each in ranked.questions}
    found = figures(ranked, orders)
    lines = [
        f"{title} ({found.questions}): recall@10 {found.recall_10:.3f}  whole {found.whole_1k:.3f}"
    ]
    if several := figures_by_kind(ranked, orders).get("several messages"):
        lines.append(f"   several messages: {several.recall_10:.3f}  whole {several.whole_1k:.3f}")
    return lines


def first_alike(one: Sequence[float], other: Sequence[float], count: int = 10) -> float:
    """
    Return the share of the *count* best by *one* that are among the best by *other*.

    >>> first_alike([3.0, 2.0, 1.0], [1.0, 2.0, 3.0], count=2)
    0.5
    """
    best = [_best(scores, count) for scores in (one, other)]
    return len(best[0] & best[1]) / len(best[0]) if best[0] else 1.0


def _best(scores: Sequence[float], count: int) -> set[int]:
    return set(sorted(range(len(scores)), key=lambda at: -scores[at])[:count])
