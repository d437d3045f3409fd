"""A cross-encoder: reads a question and a message together, and says how well they fit."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, count
from pathlib import Path
from typing import Final

import torch
from torch import Tensor, nn

from recollect.embedders.wordpiece import WordPiece
from training.candidates import RankedQuestion, RankedSet, SpokenLine
from training.descent import Report, descend
from training.minilm import MiniLm, PieceBatch, batch_of, mean_of, published
from training.pairs import PairWords
from training.work_files import vocabulary_of

_SCORED: Final = 64


@dataclass(frozen=True, slots=True, kw_only=True)
class TrainingPlan:
    """
    How a reranker is trained.

    A group is a message that a question rests on and *negatives* others, taken from the first
    *depth* of today's ranking; *batch* groups make a step.
    """

    epochs: int = 2
    batch: int = 4
    negatives: int = 4
    depth: int = 30
    rate: float = 6e-5
    seed: int = 1
    minutes_max: float = 600.0


class Reranker(nn.Module):
    """MiniLM over the pair; its first piece and its mean are read by two small layers."""

    def __init__(self, encoder: MiniLm) -> None:
        super().__init__()
        self.encoder = encoder
        width = encoder.words.embedding_dim
        self.read = nn.Sequential(nn.Linear(2 * width, width), nn.Tanh(), nn.Dropout(0.1))
        self.score = nn.Linear(width, 1)

    def forward(self, batch: PieceBatch) -> Tensor:
        """Return a score for each pair: (pairs,)."""
        hidden = self.encoder(batch)
        both = torch.cat([hidden[:, 0], mean_of(hidden, batch)], dim=1)
        return self.score(self.read(both)).squeeze(1)


@dataclass(frozen=True, slots=True)
class _Group:
    """A question with one message that it rests on, and the pool that the others come from."""

    question: str
    right: SpokenLine
    wrong: Sequence[SpokenLine]


def groups_of(ranked: RankedSet, depth: int) -> list[_Group]:
    """Return a group for each message that a question rests on."""
    found = []
    for question in ranked.questions:
        lines = ranked.lines[question.conversation]
        wrong = [lines[each] for each in question.ids[:depth] if each not in question.evidence]
        found += [
            _Group(question.text, lines[each], wrong) for each in question.evidence if each in lines
        ]
    return [each for each in found if each.wrong]


def train(
    model: Reranker, ranked: RankedSet, words: PairWords, plan: TrainingPlan, report: Report
) -> None:
    """Train *model* in place: the right one of each group is to score highest (softmax)."""
    torch.manual_seed(plan.seed)
    draw = random.Random(plan.seed)  # noqa: S311 (it protects nothing)
    groups = groups_of(ranked, plan.depth)
    batches = chain.from_iterable(shuffled(groups, plan.batch, draw) for _ in count())

    def loss_of_next() -> Tensor:
        chosen = next(batches)
        lines = [[each.right, *_drawn(each.wrong, plan.negatives, draw)] for each in chosen]
        pairs = [
            words.pair(each.question, line)
            for each, own in zip(chosen, lines, strict=True)
            for line in own
        ]
        scores = model(batch_of(pairs)).view(len(chosen), plan.negatives + 1)
        return -scores.log_softmax(1)[:, 0].mean()

    steps = plan.epochs * (len(groups) // plan.batch)
    descend(
        model,
        loss_of_next,
        steps=steps,
        rate=plan.rate,
        minutes_max=plan.minutes_max,
        report=report,
    )


def _drawn(pool: Sequence[SpokenLine], size: int, draw: random.Random) -> list[SpokenLine]:
    """Return so many of *pool*, with repetition where it is too small."""
    if len(pool) >= size:
        return draw.sample(pool, size)
    return draw.choices(pool, k=size)


def shuffled(groups: Sequence[_Group], size: int, draw: random.Random) -> Iterator[list[_Group]]:
    """Yield batches in a new order, each of questions and messages of about the same length."""
    order = sorted(groups, key=lambda each: len(each.right.text) + draw.random() * 60)
    batches = [list(order[at : at + size]) for at in range(0, len(order) - size + 1, size)]
    draw.shuffle(batches)
    return iter(batches)


@torch.inference_mode()
def scores_of(
    model: Reranker,
    words: PairWords,
    question: RankedQuestion,
    lines: dict[str, SpokenLine],
    depth: int,
) -> list[float]:
    """Return the score of each of the question's first *depth* messages."""
    pairs = [words.pair(question.text, lines[each]) for each in question.ids[:depth]]
    order = sorted(range(len(pairs)), key=lambda at: len(pairs[at][0]))
    found = [0.0] * len(pairs)
    for start in range(0, len(order), _SCORED):
        part = order[start : start + _SCORED]
        for at, score in zip(
            part, model(batch_of([pairs[at] for at in part])).tolist(), strict=True
        ):
            found[at] = score
    return found


def write(model: nn.Module, path: Path) -> None:
    """Keep a model's weights."""
    torch.save(model.state_dict(), path)


def untrained_reranker(weights: Path) -> tuple[Reranker, PairWords]:
    """Return an untrained reranker over the published weights, and what cuts its texts."""
    torch.manual_seed(0)  # the new layers start alike each time
    model = Reranker(published(weights / "model.safetensors"))
    return model, PairWords(WordPiece(vocabulary_of(weights)))
