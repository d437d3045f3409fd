"""An encoder of single texts: a question lies near the messages that it rests on."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, count, islice
from typing import Final

import torch
from torch import Tensor, nn
from torch.nn import functional

from recollect.ports import Vector
from training.candidates import RankedSet
from training.descent import Report, descend
from training.minilm import MiniLm, batch_of, mean_of
from training.pairs import PairWords, embedded_text

PIECES: Final = 256
ROLES: Final = {"user": "user", "assistant": "assistant", "Assistant": "assistant"}
_TEMPERATURE: Final = 0.05
_TEACHER: Final = 1.0
_RIGHT: Final = 4.0
_TOGETHER: Final = 16  # texts of about one length: nothing is filled up for a longer one
_UNSCORED_DEPTH: Final = 30


@dataclass(frozen=True, slots=True, kw_only=True)
class EncoderPlan:
    """How an encoder is trained: *batch* questions make a step, each with *negatives* others."""

    epochs: int = 2
    batch: int = 16
    negatives: int = 3
    rate: float = 2e-5
    seed: int = 2
    minutes_max: float = 600.0


@dataclass(frozen=True, slots=True)
class _Taught:
    """A question, a right message and others, each with the score that the reranker gave it."""

    question: str
    texts: Sequence[str]
    scores: Sequence[float]


def taught(ranked: RankedSet, scores: Mapping[str, Sequence[float]]) -> list[_Taught]:
    """
    Return each right message with its question's candidates and the reranker's scores.

    Where the reranker scored nothing, the right one alone counts.
    """
    found = []
    for question in ranked.questions:
        lines = ranked.lines[question.conversation]
        given = dict(zip(question.ids, scores.get(question.id, ()), strict=False))
        given = given or dict.fromkeys(question.ids[:_UNSCORED_DEPTH], 0.0)
        highest = max(given.values()) if question.id in scores else _RIGHT
        wrong = [each for each in given if each not in question.evidence]
        for right in question.evidence:
            if right in lines and wrong:
                texts = [embedded_text(lines[each], ROLES) for each in (right, *wrong)]
                own = max(given.get(right, highest), highest)
                found.append(_Taught(question.text, texts, [own, *(given[at] for at in wrong)]))
    return found


def vectors_of(model: MiniLm, words: PairWords, texts: Sequence[str]) -> Tensor:
    """Return the unit vectors of *texts*: (texts, 384)."""
    cut = [words.single(text, PIECES) for text in texts]
    order = sorted(range(len(cut)), key=lambda at: cut[at][1])
    rows = [
        _row_vectors(model, [cut[at] for at in order[start : start + _TOGETHER]])
        for start in range(0, len(order), _TOGETHER)
    ]
    places = torch.tensor(order).argsort()
    return torch.cat(rows)[places]


def _row_vectors(model: MiniLm, texts: Sequence[tuple[Sequence[int], int]]) -> Tensor:
    batch = batch_of(texts)
    return functional.normalize(mean_of(model(batch), batch), dim=1)


def train(
    model: MiniLm, examples: list[_Taught], words: PairWords, plan: EncoderPlan, report: Report
) -> None:
    """
    Train *model* in place.

    The loss is the softmax over the messages of all questions of a step (the own one is right)
    and, for each question's own messages, the divergence from the reranker's softmax.
    """
    torch.manual_seed(plan.seed)
    draw = random.Random(plan.seed)  # noqa: S311 (it protects nothing)
    order = chain.from_iterable(draw.sample(examples, len(examples)) for _ in count())

    def loss_of_next() -> Tensor:
        return _loss(model, words, list(islice(order, plan.batch)), plan.negatives, draw)

    steps = plan.epochs * (len(examples) // plan.batch)
    descend(
        _Held(model),
        loss_of_next,
        steps=steps,
        rate=plan.rate,
        minutes_max=plan.minutes_max,
        report=report,
    )


class _Held(nn.Module):
    """Gives the encoder's weights the names by which `descend` knows them."""

    def __init__(self, encoder: MiniLm) -> None:
        super().__init__()
        self.encoder = encoder


def _loss(
    model: MiniLm,
    words: PairWords,
    chosen: Sequence[_Taught],
    negatives: int,
    draw: random.Random,
) -> Tensor:
    picked = []
    for each in chosen:
        pool = range(1, min(len(each.texts), 31))
        others = draw.sample(pool, min(negatives, len(pool)))
        picked.append([0, *others, *[others[-1]] * (negatives - len(others))])
    texts = [each.texts[at] for each, row in zip(chosen, picked, strict=True) for at in row]
    asked = vectors_of(model, words, [each.question for each in chosen])
    said = vectors_of(model, words, texts)
    near = asked @ said.T / _TEMPERATURE
    right = torch.arange(len(chosen)) * (negatives + 1)
    own = torch.stack([near[row, at : at + negatives + 1] for row, at in enumerate(right.tolist())])
    told = torch.tensor(
        [[each.scores[at] for at in row] for each, row in zip(chosen, picked, strict=True)]
    )
    teacher = (told / _TEACHER).softmax(1)
    distilled = functional.kl_div(own.log_softmax(1), teacher, reduction="batchmean")
    return functional.cross_entropy(near, right) + distilled


def mixed(one: MiniLm, other: MiniLm, share: float) -> MiniLm:
    """Return a model between two: *share* of the second, the rest of the first."""
    model = MiniLm()
    ours, theirs = one.state_dict(), other.state_dict()
    model.load_state_dict({name: (1 - share) * ours[name] + share * theirs[name] for name in ours})
    return model


class TrainedEmbedder:
    """The `Embedder` of a model in PyTorch: exact, slower than the graph that is installed."""

    def __init__(self, model: MiniLm, words: PairWords, name: str) -> None:
        self._model = model.eval()
        self._words = words
        self.identity = name
        self.dimensions = 384

    @torch.inference_mode()
    def embed(self, texts: Sequence[str]) -> list[Vector | None]:
        """Return a vector of unit length for each text."""
        found: list[Vector | None] = [None] * len(texts)
        order = sorted(range(len(texts)), key=lambda at: len(texts[at]))
        for start in range(0, len(order), 32):
            part = order[start : start + 32]
            rows = vectors_of(self._model, self._words, [texts[at][:1_800] for at in part])
            for at, row in zip(part, rows.cpu().numpy(), strict=True):
                found[at] = row
        return found
