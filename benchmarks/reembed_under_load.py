"""Quality of recall under load during a change of embedder."""

from __future__ import annotations

import random
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from statistics import fmean
from threading import Lock
from typing import Final

import anyio
import numpy as np

from benchmarks.conversation_files import BenchmarkConversation, BenchmarkQuestion
from benchmarks.datasets import Dataset
from benchmarks.recollect_system import new_message
from recollect.embedders import EmbedderChoice
from recollect.memory.facade import Recollect
from recollect.ports import Embedder, Vector
from recollect.records import Message, NewMessage, Scope
from recollect.stores.locator import open_store

DEPTH: Final = 10
ASKERS: Final = 4
"""Concurrent readers, beside one writer."""
PARTS: Final = 5
"""Stages of the re-embedding, by the share of new vectors."""
SAMPLES_MIN: Final = 20
"""Questions that a stage needs to be judged."""
_WRITE_EVERY_S: Final = 0.1
_BATCH: Final = 1_000
_LOAD: Final[Scope] = ("bench", "load")
_TALK: Final = "conversation"
_SEED: Final = 7

Shares = dict[str, float]
"""The share of each question's evidence among the first ``DEPTH`` entries."""
Progress = Callable[[str], None]


class ProjectedEmbedder:
    """
    An embedder's vectors, randomly projected into fewer dimensions.

    Distances are nearly preserved (Johnson and Lindenstrauss 1984), but vectors of different *seed*
    are not comparable: it represents a new embedder. It counts the texts that it embedded.
    """

    def __init__(self, embedder: Embedder, dimensions: int, seed: int) -> None:
        self._embedder = embedder
        self._lock = Lock()
        self.dimensions: Final = dimensions
        self.identity: Final = f"{embedder.identity}/projected {dimensions} {seed}"
        self.embedded = 0
        chance = np.random.default_rng(seed)
        self._turn = chance.standard_normal((embedder.dimensions, dimensions)).astype(np.float32)

    def embed(self, texts: Sequence[str]) -> Sequence[Vector | None]:
        """Return one unit-length vector for each text; ``None`` where there is none."""
        found = [
            None if each is None else self._turned(each) for each in self._embedder.embed(texts)
        ]
        with self._lock:
            self.embedded += len(texts) if len(texts) > 1 else 0  # a text alone is a query
        return found

    def _turned(self, vector: Vector) -> Vector:
        turned = vector @ self._turn
        return turned / np.linalg.norm(turned)


@dataclass(frozen=True, slots=True, kw_only=True)
class RebuildStage:
    """The questions asked at one stage of the new vectors."""

    until: float
    questions: int
    found: float
    """Mean recall of these questions."""
    before: float
    """Mean recall of the same questions by the embedder in use before."""
    by_words: float
    """Mean recall of the same questions without an embedder."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ReembeddingReport:
    """Recall of all questions before, after and by words alone, and during the change by stage."""

    questions: int
    entries: int
    before: float
    after: float
    by_words: float
    beside: list[RebuildStage] = field(default_factory=list)
    control: list[RebuildStage] = field(default_factory=list)

    @property
    def holds(self) -> bool:
        """Whether no stage is below words alone, and one of the control falls below *before*."""
        kept = all(each.found >= each.by_words for each in self.beside)
        return bool(self.beside) and kept and any(each.found < each.before for each in self.control)

    def as_json(self) -> dict[str, object]:
        """Return the report as a JSON object."""
        return {**asdict(self), "holds": self.holds}


async def run(
    dataset: Dataset, data: Path, old: EmbedderChoice, target: Embedder, progress: Progress
) -> ReembeddingReport:
    """
    Change from *old* to another embedder under load, and sample recall during the change.

    The control opens the memory with the new embedder at once, whose vectors do not exist yet:
    what is not embedded is found by its words alone.

    Args:
        target: Of which the new embedders are made, by `ProjectedEmbedder`.
    """
    with tempfile.TemporaryDirectory(prefix="recollect-bench-") as folder:
        path = Path(folder, "memory.db")
        asked = QuestionSet(counting_questions(dataset, data))
        new, other = (
            ProjectedEmbedder(target, target.dimensions // 2, seed) for seed in (_SEED, _SEED + 1)
        )
        async with Recollect(open_store(path), embedder=old) as memory:
            progress("filling")
            entries = await filled(memory, dataset, data)
            progress("before")
            before = await asked.all(memory)
            async with Recollect(open_store(path), embedder="none") as worded:
                progress("by words")
                by_words = await asked.all(worded)
            progress("another embedder beside it")
            beside = _Sampled(asked, new, entries)
            await beside.sample(memory, lambda: memory.reembed(new))
            progress("after")
            after = await asked.all(memory)
        progress("the control")
        control = _Sampled(asked, other, entries)
        async with Recollect(open_store(path), embedder=other) as memory:
            await control.sample(memory, lambda: _settled(memory, asked))
    return ReembeddingReport(
        questions=len(asked.questions),
        entries=entries,
        before=fmean(before.values()),
        after=fmean(after.values()),
        by_words=fmean(by_words.values()),
        beside=beside.parts(before, by_words),
        control=control.parts(before, by_words),
    )


def counting_questions(dataset: Dataset, data: Path) -> list[BenchmarkQuestion]:
    """Return the counted questions in a seeded random order."""
    found = dataset.questions(dataset.find_folder(data))
    counting = [each for each in found if dataset.counts(each) and each.evidence]
    random.Random(_SEED).shuffle(counting)  # noqa: S311
    return counting


def scope_of(conversation_id: str) -> Scope:
    """Return the scope of a conversation."""
    return ("bench", conversation_id)


async def filled(memory: Recollect, dataset: Dataset, data: Path) -> int:
    """Store every conversation of the set in its own scope; return the number of messages."""
    count = 0
    for conversation in dataset.conversations(dataset.find_folder(data)):
        said = _said(conversation)
        count += len(said)
        for start in range(0, len(said), _BATCH):
            batch = said[start : start + _BATCH]
            await memory.append(scope_of(conversation.conversation_id), _TALK, batch)
        await memory.settled(scope_of(conversation.conversation_id))
    return count


def _said(conversation: BenchmarkConversation) -> list[NewMessage]:
    return [new_message(each) for each in conversation.messages if each.text or each.image_caption]


async def _settled(memory: Recollect, asked: QuestionSet) -> None:
    for conversation in {each.conversation_id for each in asked.questions}:
        await memory.settled(scope_of(conversation))


@dataclass(frozen=True, slots=True)
class QuestionSet:
    """The questions, and their recall on a memory."""

    questions: Sequence[BenchmarkQuestion]

    async def all(self, memory: Recollect) -> Shares:
        """Ask every question once."""
        return {each.question_id: await self.one(memory, each) for each in self.questions}

    async def one(self, memory: Recollect, question: BenchmarkQuestion) -> float:
        """Return the share of a question's evidence among the first ``DEPTH`` entries."""
        recall = await memory.recall(
            scope_of(question.conversation_id), question.text, limit=DEPTH, asked_at=question.asked
        )
        found = {each.content.id for each in recall.entries if isinstance(each.content, Message)}
        return len(found & set(question.evidence)) / len(question.evidence)


class _Sampled:
    """Results of questions asked during the re-embedding, with its progress at the time."""

    def __init__(self, asked: QuestionSet, embedder: ProjectedEmbedder, entries: int) -> None:
        self._asked = asked
        self._embedder = embedder
        self._entries = entries
        self._found: list[tuple[float, str, float]] = []
        self._is_over = False

    async def sample(self, memory: Recollect, work: Callable[[], object]) -> None:
        """Ask questions and write until *work* is done."""
        async with anyio.create_task_group() as group:
            for asker in range(ASKERS):
                group.start_soon(self._ask, memory, asker)
            group.start_soon(self._write, memory)
            await work()  # type: ignore[misc]
            self._is_over = True

    async def _ask(self, memory: Recollect, number: int) -> None:
        while not self._is_over:
            question = self._asked.questions[number % len(self._asked.questions)]
            begun = self._fraction
            share = await self._asked.one(memory, question)
            if not self._is_over:
                self._found.append((begun, question.question_id, share))
            number += ASKERS

    async def _write(self, memory: Recollect) -> None:
        while not self._is_over:
            await memory.append(_LOAD, _TALK, [NewMessage(role="user", text="I had some tea.")])
            await anyio.sleep(_WRITE_EVERY_S)

    @property
    def _fraction(self) -> float:
        return min(1.0, self._embedder.embedded / self._entries)

    def parts(self, before: Shares, by_words: Shares) -> list[RebuildStage]:
        """Return the results for each stage of the rebuild."""
        found = []
        for number in range(PARTS):
            first, last = number / PARTS, (number + 1) / PARTS
            here = [
                (name, share)
                for at, name, share in self._found
                if first <= at < last or (at == last == 1)
            ]
            if len(here) >= SAMPLES_MIN:
                found.append(
                    RebuildStage(
                        until=last,
                        questions=len(here),
                        found=fmean(share for _, share in here),
                        before=fmean(before[name] for name, _ in here),
                        by_words=fmean(by_words[name] for name, _ in here),
                    )
                )
        return found
