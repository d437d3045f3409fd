"""What today's recall ranks for each question of a set, kept in a file: the work of a reranker."""

from __future__ import annotations

import gzip
import json
from collections import defaultdict
from collections.abc import Container, Iterable, Iterator, Sequence
from contextlib import AsyncExitStack
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Final

from benchmarks.conversation_files import BenchmarkConversation, BenchmarkMessage, BenchmarkQuestion
from benchmarks.datasets import DATASETS, Dataset
from benchmarks.metrics import count_tokens
from benchmarks.recollect_system import new_message
from benchmarks.search_controls import spoken_text
from recollect.memory.facade import Recollect
from recollect.ports import Embedder
from recollect.records import Message
from recollect.stores.locator import open_store

CANDIDATES: Final = 50
"""So many of the best entries a reranker may look at."""
RANKED_MAX: Final = 200
_BATCH: Final = 1_000
_SCOPE: Final = ("talk",)


@dataclass(frozen=True, slots=True)
class SpokenLine:
    """A message, and what was said just before it in its session."""

    id: str
    speaker: str
    day: str
    text: str
    before: str
    tokens: int


@dataclass(frozen=True, slots=True)
class RankedQuestion:
    """A question, the ids that it rests on, and the ids and scores of a recall, best first."""

    set: str
    id: str
    conversation: str
    text: str
    category: str
    evidence: tuple[str, ...]
    ids: tuple[str, ...]
    scores: tuple[float, ...]


@dataclass(frozen=True, slots=True)
class RankedSet:
    """The questions of a set, and the messages of its conversations by conversation and id."""

    questions: Sequence[RankedQuestion]
    lines: dict[str, dict[str, SpokenLine]]

    def only(self, ids: Container[str]) -> RankedSet:
        """Return the set with the questions of *ids* alone."""
        return RankedSet([each for each in self.questions if each.id in ids], self.lines)


async def rank_set(
    dataset: Dataset, folder: Path, embedder: Embedder | None, limit: int | None = None
) -> Iterable[RankedQuestion | tuple[str, SpokenLine]]:
    """Return the messages of each conversation, then its questions as recall answers them."""
    waiting: dict[str, list[BenchmarkQuestion]] = defaultdict(list)
    for question in [each for each in dataset.questions(folder) if dataset.counts(each)][:limit]:
        if question.evidence:
            waiting[question.conversation_id].append(question)
    found: list[RankedQuestion | tuple[str, SpokenLine]] = []
    for conversation in dataset.conversations(folder):
        if questions := waiting.pop(conversation.conversation_id, []):
            found += [(conversation.conversation_id, line) for line in lines_of(conversation)]
            found += await _ask(dataset.name, conversation, questions, embedder)
    return found


async def _ask(
    name: str,
    conversation: BenchmarkConversation,
    questions: Sequence[BenchmarkQuestion],
    embedder: Embedder | None,
) -> list[RankedQuestion]:
    worded = [each for each in conversation.messages if each.text or each.image_caption]
    found = []
    async with AsyncExitStack() as stack:
        memory = Recollect(open_store("memory:"), embedder=embedder or "none")
        await stack.enter_async_context(memory)
        for start in range(0, len(worded), _BATCH):
            batch = [new_message(each) for each in worded[start : start + _BATCH]]
            await memory.append(_SCOPE, "conversation", batch)
        await memory.settled(_SCOPE)
        for question in questions:
            recall = await memory.recall(
                _SCOPE, question.text, limit=RANKED_MAX, asked_at=question.asked
            )
            kept = {each.message_id for each in conversation.kept_before(question)}
            ranked = [
                (each.content.id, each.score)
                for each in recall.entries
                if isinstance(each.content, Message) and each.content.id in kept
            ]
            found.append(
                RankedQuestion(
                    set=name,
                    id=question.question_id,
                    conversation=conversation.conversation_id,
                    text=question.text,
                    category=question.category,
                    evidence=question.evidence,
                    ids=tuple(each for each, _ in ranked),
                    scores=tuple(round(score, 5) for _, score in ranked),
                )
            )
    return found


def lines_of(conversation: BenchmarkConversation) -> Iterator[SpokenLine]:
    """Yield the messages of a conversation with the line before each."""
    last: BenchmarkMessage | None = None
    for each in conversation.messages:
        before = ""
        if last and last.session_id == each.session_id:
            before = f"{last.speaker}: {last.text}"
        yield SpokenLine(
            id=each.message_id,
            speaker=each.speaker,
            day=f"{each.time:%-d %B %Y}",
            text=_words_of(each),
            before=before,
            tokens=count_tokens(spoken_text(each)),
        )
        last = each


def _words_of(message: BenchmarkMessage) -> str:
    if not message.image_caption:
        return message.text
    return f"{message.text} [shares {message.image_caption}]"


def ranked_of(rows: Iterable[RankedQuestion | tuple[str, SpokenLine]]) -> RankedSet:
    """Gather what `rank_set` returns."""
    questions: list[RankedQuestion] = []
    lines: dict[str, dict[str, SpokenLine]] = defaultdict(dict)
    for row in rows:
        if isinstance(row, RankedQuestion):
            questions.append(row)
        else:
            lines[row[0]][row[1].id] = row[1]
    return RankedSet(questions, dict(lines))


def write_ranked(rows: Iterable[RankedQuestion | tuple[str, SpokenLine]], path: Path) -> None:
    """Write what `rank_set` returns as JSON Lines, compressed."""
    with gzip.open(path, "wt", encoding="utf-8") as file:
        for row in rows:
            if isinstance(row, RankedQuestion):
                file.write(json.dumps(asdict(row), ensure_ascii=False) + "\n")
            else:
                line = {"of": row[0], **asdict(row[1])}
                file.write(json.dumps(line, ensure_ascii=False) + "\n")


def read_ranked(path: Path) -> RankedSet:
    """Read what `write_ranked` wrote."""
    with gzip.open(path, "rt", encoding="utf-8") as file:
        return ranked_of(_row_of(json.loads(text)) for text in file)


def _row_of(row: dict[str, Any]) -> RankedQuestion | tuple[str, SpokenLine]:
    if "of" in row:
        return row["of"], SpokenLine(**{name: row[name] for name in SpokenLine.__slots__})
    lists = {name: tuple(row[name]) for name in ("evidence", "ids", "scores")}
    return RankedQuestion(**{**row, **lists})


def dataset_named(name: str) -> Dataset:
    """Return a set that the benchmarks know."""
    return DATASETS[name]
