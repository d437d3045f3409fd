"""Recall with embedders of different quality, at default, declared and tuned strengths."""

from __future__ import annotations

import tempfile
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from hashlib import blake2b
from pathlib import Path
from statistics import fmean
from typing import Final

import numpy as np
from numpy.typing import NDArray

from benchmarks.datasets import Dataset
from benchmarks.recollect_system import new_message
from benchmarks.reembed_under_load import (
    DEPTH,
    QuestionSet,
    counting_questions,
    filled,
    scope_of,
)
from recollect import SampleQuestion, Tuning
from recollect.memory.facade import Recollect
from recollect.ports import Embedder, Vector
from recollect.recall.ranking import text_to_embed
from recollect.stores.locator import open_store
from recollect.text.searchable import message_text

Progress = Callable[[str], None]


class OracleEmbedder:
    """
    An artificial embedder that knows the answers: its cosine is the truth plus noise.

    Each question has a direction of its own. A message's vector is the sum of the directions of
    the questions that it answers, and *noise* times a direction by chance.
    """

    def __init__(self, noise: float, answers: Mapping[str, Sequence[str]]) -> None:
        self.dimensions: Final = 256
        self.identity: Final = f"oracle/noise {noise:g}"
        self._noise = noise
        self._answers = answers

    def embed(self, texts: Sequence[str]) -> list[Vector | None]:
        """Return one unit-length vector per text; that of an unknown text is noise alone."""
        return [self._vector(text) for text in texts]

    def _vector(self, text: str) -> Vector:
        vector = self._noise * self._direction(f"noise {text}")
        for question in self._answers.get(text, ()):
            vector = vector + self._direction(f"question {question}")
        return np.asarray(vector / np.linalg.norm(vector), np.float32)

    def _direction(self, name: str) -> NDArray[np.float64]:
        seed = int.from_bytes(blake2b(name.encode(), digest_size=8).digest(), "little")
        found = np.random.default_rng(seed).standard_normal(self.dimensions)
        return np.asarray(found / np.sqrt(self.dimensions))


def answers_in(dataset: Dataset, data: Path) -> dict[str, list[str]]:
    """Return the questions that each embedded text answers; a question answers itself."""
    folder = dataset.find_folder(data)
    asked = defaultdict(list)
    for each in counting_questions(dataset, data):
        asked[each.conversation_id].append(each)
    found: dict[str, list[str]] = defaultdict(list)
    for conversation in dataset.conversations(folder):
        said = {each.message_id: new_message(each) for each in conversation.messages}
        speakers = list({each.name for each in said.values() if each.name})
        for question in asked[conversation.conversation_id]:
            for text in {question.text, text_to_embed(question.text, speakers)}:
                found[text].append(question.question_id)
            for id_ in question.evidence:
                if (message := said.get(id_)) is not None:
                    text = message_text(message.text, message.name, message.content)
                    found[text].append(question.question_id)
    return found


class DeclaredEmbedder:
    """An embedder that declares its strength class; ``None`` declares nothing."""

    def __init__(self, embedder: Embedder, strength: str | None) -> None:
        self._embedder = embedder
        self.strength = strength
        self.identity = embedder.identity
        self.dimensions = embedder.dimensions

    def embed(self, texts: Sequence[str]) -> Sequence[Vector | None]:
        """Return the embedder's vectors."""
        return self._embedder.embed(texts)


@dataclass(frozen=True, slots=True, kw_only=True)
class MeasuredEmbedder:
    """An embedder to measure, with the class that it would declare."""

    name: str
    embedder: Embedder
    declares: str


@dataclass(frozen=True, slots=True, kw_only=True)
class StrengthRow:
    """Mean recall on the questions outside the sample, and the strengths."""

    embedder: str
    declares: str
    usual: float
    declared: float
    tuned: float
    strength: float
    gain: float
    error: float


@dataclass(frozen=True, slots=True, kw_only=True)
class StrengthReport:
    """The rows of all embedders, with words alone on the same questions as control."""

    dataset: str
    sample: int
    questions: int
    by_words: float
    depth: int = DEPTH
    rows: list[StrengthRow] = field(default_factory=list)

    def as_json(self) -> dict[str, object]:
        """Return the report as a JSON object."""
        return asdict(self)


async def run(
    dataset: Dataset,
    data: Path,
    embedders: Sequence[MeasuredEmbedder],
    sample: int,
    progress: Progress,
) -> StrengthReport:
    """Tune each of *embedders* on *sample* questions, and measure recall of the others."""
    found = {(each.conversation_id, each.text): each for each in counting_questions(dataset, data)}
    questions = list(found.values())  # of a question that is asked twice, one
    tried = [
        SampleQuestion(
            query=each.text,
            scope=scope_of(each.conversation_id),
            messages=each.evidence,
            asked_at=each.asked,
        )
        for each in questions[:sample]
    ]
    held = QuestionSet(questions[sample:])
    with tempfile.TemporaryDirectory(prefix="recollect-bench-") as folder:
        path = Path(folder, "memory.db")
        progress("by words")
        async with Recollect(open_store(path), embedder="none") as memory:
            await filled(memory, dataset, data)
            by_words = fmean((await held.all(memory)).values())
        report = StrengthReport(
            dataset=dataset.name, sample=sample, questions=len(held.questions), by_words=by_words
        )
        for each in embedders:
            report.rows.append(await _measured(path, each, tried, held, progress))
    return report


async def _measured(
    path: Path,
    measured: MeasuredEmbedder,
    sample: Sequence[SampleQuestion],
    held: QuestionSet,
    progress: Progress,
) -> StrengthRow:
    asking = _AskedEmbedder(path, measured.embedder, held)
    progress(f"{measured.name}: as it is")
    usual, _ = await asking.recall(None)
    progress(f"{measured.name}: declared")
    declared, _ = await asking.recall(measured.declares)
    progress(f"{measured.name}: tuned")
    tuned, (tuning,) = await asking.recall(None, sample)
    return StrengthRow(
        embedder=measured.name,
        declares=measured.declares,
        usual=usual,
        declared=declared,
        tuned=tuned,
        strength=tuning.strength,
        gain=tuning.gain,
        error=tuning.error,
    )


@dataclass(frozen=True, slots=True)
class _AskedEmbedder:
    """An embedder on a filled store, with the measured questions."""

    path: Path
    embedder: Embedder
    held: QuestionSet

    async def recall(
        self, strength: str | None, *samples: Sequence[SampleQuestion]
    ) -> tuple[float, list[Tuning]]:
        """Return the mean recall with *strength* declared, tuned on *samples* first."""
        chosen = DeclaredEmbedder(self.embedder, strength)
        async with Recollect(open_store(self.path), embedder=chosen) as memory:
            for question in self.held.questions:
                await memory.settled(scope_of(question.conversation_id))
            tunings = [await memory.tune(each) for each in samples]
            return fmean((await self.held.all(memory)).values()), tunings
