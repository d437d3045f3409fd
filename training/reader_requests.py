"""Questions with the blocks of two rankings, in files that do not tell which is which."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from benchmarks.asked_memory import QuestionChoice
from benchmarks.conversation_files import BenchmarkQuestion
from benchmarks.datasets import Dataset
from benchmarks.reader_blocks import NOTHING, ReaderBlock, reader_blocks
from recollect.ports import Embedder

TOKENS: Final = 2_000
FILE_LINES_MAX: Final = 40
BOTH: Final = "both"
"""The arm of a block that is the same in each."""
_ID_BITS: Final = 40


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswerableChoice(QuestionChoice):
    """So many of the questions that have an answer, drawn under the seed."""

    def of(self, questions: Sequence[BenchmarkQuestion]) -> list[BenchmarkQuestion]:
        """Return those of *questions* that are asked, in their order."""
        answerable = [
            each
            for each in questions
            if not each.is_unanswerable and each.extras.values.get("answer")
        ]
        return QuestionChoice.of(self, answerable)


@dataclass(frozen=True, slots=True, kw_only=True)
class ReaderRequest:
    """
    A question with one block, under an id that tells nothing.

    *gold* is what a judge needs; *arm* names the ranking, or is `BOTH`.
    """

    id: str
    arm: str
    question: str
    block: str
    date: str
    gold: Mapping[str, object]

    def shown(self) -> dict[str, object]:
        """Return what a reader sees."""
        row: dict[str, object] = {"id": self.id, "question": self.question, "block": self.block}
        return {**row, "date": self.date} if self.date else row

    def key(self) -> dict[str, object]:
        """Return what a judge sees, and the count."""
        return {"arm": self.arm, **self.gold}


async def blocks_of(
    dataset: Dataset, data: Path, embedders: Mapping[str, Embedder | None], count: int, seed: int
) -> dict[str, list[ReaderBlock]]:
    """Return the contexts of *count* drawn questions by each of *embedders*."""
    choice = AnswerableChoice(sample=count, seed=seed)
    return {
        arm: await reader_blocks(dataset, data, embedder, choice, budget=TOKENS)
        for arm, embedder in embedders.items()
    }


def requests_of(
    blocks: Mapping[str, Sequence[ReaderBlock]], draw: random.Random
) -> Iterator[tuple[ReaderRequest, ...]]:
    """Yield the requests of each question: one for each arm in a drawn order, or one for all."""
    for same in zip(*blocks.values(), strict=True):
        by_arm = dict(zip(blocks, same, strict=True))
        if len({str(each.context) for each in same}) == 1:
            yield (_request(BOTH, same[0], draw),)
        else:
            arms = draw.sample(list(by_arm), len(by_arm))
            yield tuple(_request(arm, by_arm[arm], draw) for arm in arms)


def _request(arm: str, block: ReaderBlock, draw: random.Random) -> ReaderRequest:
    question = block.asked.question
    gold = block.gold("")
    del gold["file"]
    return ReaderRequest(
        id=f"{draw.getrandbits(_ID_BITS):010x}",
        arm=arm,
        question=question.text,
        block=str(block.context) or NOTHING,
        date=f"{question.asked:%Y-%m-%d}" if question.asked else "",
        gold=gold,
    )


def write_requests(
    folder: Path, requests: Sequence[tuple[ReaderRequest, ...]], draw: random.Random
) -> list[Path]:
    """
    Write ``requests_01.jsonl`` and on, of `FILE_LINES_MAX` lines at most, and ``key.json``.

    The second block of a question stands in no file that holds a first one.
    """
    folder.mkdir(parents=True, exist_ok=True)
    first = [each[0] for each in requests]
    second = [each[1] for each in requests if len(each) > 1]
    written: list[Path] = []
    for part in (first, second):
        draw.shuffle(part)
        for start in range(0, len(part), FILE_LINES_MAX):
            path = folder / f"requests_{len(written) + 1:02}.jsonl"
            rows = [each.shown() for each in part[start : start + FILE_LINES_MAX]]
            path.write_text("".join(json.dumps(e, ensure_ascii=False) + "\n" for e in rows))
            written.append(path)
    key = {each.id: each.key() for each in (*first, *second)}
    text = json.dumps(key, ensure_ascii=False, indent=1)
    (folder / "key.json").write_text(text + "\n", encoding="utf-8")
    return written
