"""Write questions with their contexts for readers, and the gold answers separately."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Final

from benchmarks.asked_memory import (
    SCOPE,
    AskedMemory,
    AskedQuestion,
    QuestionChoice,
    askable_questions,
    asked_conversations,
)
from benchmarks.conversation_files import BenchmarkQuestion
from benchmarks.datasets import Dataset
from benchmarks.prompt_blocks import shown_by_context
from benchmarks.recall_runner import Progress
from benchmarks.shown_evidence import is_shown
from recollect.ports import Embedder
from recollect.recall.context import Context

NOTHING: Final = "(nothing is remembered that bears on it)"


@dataclass(frozen=True, slots=True, kw_only=True)
class ReaderBlock:
    """One question with the context that a reader sees and the facts that a judge needs."""

    dataset: str
    asked: AskedQuestion
    context: Context

    @property
    def text(self) -> str:
        """The block and the question, without the gold answer."""
        shown = str(self.context) or NOTHING
        return f"{shown}\n\n{_asked(self.asked.question)}\n"

    def gold(self, file: str) -> dict[str, object]:
        """Return the facts by which the answer in *file* is judged."""
        question, evidence = self.asked.question, self.asked.evidence
        words = shown_by_context(self.context).words
        found = [is_shown(each, words.get(each.message_id), self.asked.answer) for each in evidence]
        return {
            "file": file,
            "set": self.dataset,
            "id": question.question_id,
            "question": question.text,
            "kind": question.category,
            "unanswerable": question.is_unanswerable,
            "answer": self.asked.answer,
            "evidence_shown": bool(found) and all(found),
            "share_shown": sum(found) / len(found) if found else 0.0,
            "tokens": self.context.tokens,
        }


def _asked(question: BenchmarkQuestion) -> str:
    when = f" (asked on {_day(question.asked)})" if question.asked else ""
    return f"Question{when}: {question.text}"


def _day(moment: datetime) -> str:
    return f"{moment:%A} {moment.day} {moment:%B} {moment.year}"


async def reader_blocks(
    dataset: Dataset,
    data: Path,
    embedder: Embedder | None,
    choice: QuestionChoice,
    *,
    budget: int,
    progress: Progress = lambda _done, _total: None,
) -> list[ReaderBlock]:
    """Return the chosen questions of a set with their contexts, by default settings."""
    total = len(choice.of(askable_questions(dataset, dataset.find_folder(data))))
    blocks: list[ReaderBlock] = []
    for conversation, asked in asked_conversations(dataset, data, choice):
        async with AskedMemory(conversation, embedder) as held:
            for each in asked:
                await held.advance(each.question)
                context = await held.memory.context(
                    SCOPE, each.question.text, budget_tokens=budget, asked_at=each.question.asked
                )
                blocks.append(ReaderBlock(dataset=dataset.name, asked=each, context=context))
                progress(len(blocks), total)
    return blocks


def write_blocks(folder: Path, blocks: Sequence[ReaderBlock]) -> None:
    """Write the blocks into *folder* as ``001.txt`` and so on, with ``gold.json``."""
    folder.mkdir(parents=True, exist_ok=True)
    for file, block in _named(blocks):
        (folder / file).write_text(block.text, encoding="utf-8")
    gold = [block.gold(file) for file, block in _named(blocks)]
    text = json.dumps(gold, ensure_ascii=False, indent=2)
    (folder / "gold.json").write_text(text + "\n", encoding="utf-8")


def _named(blocks: Sequence[ReaderBlock]) -> Iterator[tuple[str, ReaderBlock]]:
    for number, block in enumerate(blocks, start=1):
        yield f"{number:03}.txt", block
