"""Memories queried in the middle of a conversation: they contain only what was said before."""

from __future__ import annotations

import random
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Self

from benchmarks.conversation_files import BenchmarkConversation, BenchmarkMessage, BenchmarkQuestion
from benchmarks.datasets import Dataset
from benchmarks.recollect_system import new_message
from recollect.errors import UsageError
from recollect.memory.facade import Recollect
from recollect.ports import Embedder
from recollect.records import Scope
from recollect.stores.locator import open_store

SCOPE: Final[Scope] = ("bench",)
_THREAD: Final = "conversation"
_BATCH: Final = 1_000


@dataclass(frozen=True, slots=True, kw_only=True)
class QuestionChoice:
    """Selects the questions to ask: the first *limit*, or a random *sample* drawn with *seed*."""

    limit: int | None = None
    sample: int | None = None
    seed: int = 0

    def of(self, questions: Sequence[BenchmarkQuestion]) -> list[BenchmarkQuestion]:
        """Return the selected *questions*, in order."""
        if self.sample is None or self.sample >= len(questions):
            return list(questions[: self.limit])
        drawn = random.Random(self.seed).sample(range(len(questions)), self.sample)  # noqa: S311
        return [questions[at] for at in sorted(drawn)]


@dataclass(frozen=True, slots=True, kw_only=True)
class AskedQuestion:
    """A question, the messages that are its evidence, and its gold answer ("" if none)."""

    question: BenchmarkQuestion
    evidence: tuple[BenchmarkMessage, ...]
    answer: str


class AskedMemory:
    """A memory of one conversation, filled up to the point of each question."""

    def __init__(self, conversation: BenchmarkConversation, embedder: Embedder | None) -> None:
        self._conversation = conversation
        self._kept = 0
        self.memory = Recollect(open_store("memory:"), embedder=embedder or "none")
        self._exit = AsyncExitStack()

    async def __aenter__(self) -> Self:
        await self._exit.enter_async_context(self.memory)
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._exit.aclose()

    @property
    def kept(self) -> Sequence[BenchmarkMessage]:
        """The messages that the memory holds."""
        return self._conversation.messages[: self._kept]

    async def advance(self, question: BenchmarkQuestion) -> None:
        """Append the messages before *question*; questions must be given in order."""
        until = len(self._conversation.kept_before(question))
        if until == self._kept:
            return
        new = self._conversation.messages[self._kept : until]
        worded = [new_message(each) for each in new if each.text or each.image_caption]
        for start in range(0, len(worded), _BATCH):
            await self.memory.append(SCOPE, _THREAD, worded[start : start + _BATCH])
        await self.memory.settled(SCOPE)
        await self.memory.context(SCOPE, "warm")
        self._kept = until


def asked_conversations(
    dataset: Dataset, data: Path, choice: QuestionChoice
) -> Iterator[tuple[BenchmarkConversation, list[AskedQuestion]]]:
    """
    Yield each conversation with its questions, in order.

    Those count that name messages as evidence, and those that nothing answers.

    Raises:
        UsageError: The files are missing or malformed.
    """
    folder = dataset.find_folder(data)
    waiting = _by_conversation(choice.of(askable_questions(dataset, folder)))
    for conversation in dataset.conversations(folder):
        if not waiting:
            return
        asked = waiting.pop(conversation.conversation_id, ())
        if asked:
            asked = sorted(asked, key=lambda each: len(conversation.kept_before(each)))
            yield conversation, [_with_evidence(each, conversation) for each in asked]
    if waiting:
        msg = f"no messages of the conversations {sorted(waiting)[:5]!r}: check the set's files"
        raise UsageError(msg)


def askable_questions(dataset: Dataset, folder: Path) -> list[BenchmarkQuestion]:
    """Return the questions with messages as evidence, and the unanswerable ones."""
    return [
        each
        for each in dataset.questions(folder)
        if each.is_unanswerable or (dataset.counts(each) and each.evidence)
    ]


def _by_conversation(
    questions: Sequence[BenchmarkQuestion],
) -> dict[str, Sequence[BenchmarkQuestion]]:
    found: Mapping[str, list[BenchmarkQuestion]] = defaultdict(list)
    for each in questions:
        found[each.conversation_id].append(each)
    return dict(found)


def _with_evidence(
    question: BenchmarkQuestion, conversation: BenchmarkConversation
) -> AskedQuestion:
    wanted = set(question.evidence)
    return AskedQuestion(
        question=question,
        evidence=tuple(each for each in conversation.messages if each.message_id in wanted),
        answer=str(question.extras.values.get("answer") or ""),
    )
