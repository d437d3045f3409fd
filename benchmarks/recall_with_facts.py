"""Recall of messages with formed memories beside them: evidence found, and tokens used."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Final

from benchmarks.conversation_files import BenchmarkConversation, BenchmarkQuestion
from benchmarks.datasets import Dataset
from benchmarks.recollect_system import new_message
from benchmarks.recorded_facts import RECORDINGS, RecordedFact, Session, read_sessions
from recollect.embedders import EmbedderChoice
from recollect.memory.facade import Recollect
from recollect.recall.results import Recalled
from recollect.records import Evidence, Message, NewMessage, PutMemory, Scope
from recollect.stores.locator import open_store
from recollect.text.analysis import terms_of
from recollect.text.searchable import message_text
from recollect.text.terms import date_terms
from recollect.text.token_estimate import estimated_tokens

SCOPE: Final[Scope] = ("bench",)
THREAD: Final = "conversation"
RANKED: Final = 50
DEPTHS: Final = (5, 10, 20, 50)
BUDGETS: Final = (500, 1_000, 2_000, 4_000)
BATCH: Final = 1_000


@dataclass(frozen=True, slots=True)
class RecalledEntry:
    """One recalled entry: its messages or sources, its words, and its tokens."""

    messages: frozenset[str]
    words: frozenset[str]
    tokens: int


@dataclass(frozen=True, slots=True)
class Gold:
    """
    The evidence of a question; *words* are those of the answer that the evidence contains.

    A message is credited with itself, and so is each memory that rests on it, whatever it says
    (`recall`, `all`); or an entry is credited with the words that stand in its own text
    (`words`), which a memory of another fact of the same message does not have.
    """

    evidence: frozenset[str]
    words: frozenset[str]


@dataclass(slots=True)
class FactsReport:
    """
    Mean share of the evidence among the first k entries, and within token budgets.

    *worded* of the *questions* have an answer of which the evidence has words: the mean of the
    figures by words is over these.
    """

    questions: int = 0
    worded: int = 0
    embedder: str = "none"
    systems: dict[str, dict[str, float]] = field(default_factory=dict)

    def as_json(self) -> dict[str, object]:
        """Return the report as a JSON object."""
        return asdict(self)


async def ask_all(
    dataset: Dataset,
    data: Path,
    embedder: EmbedderChoice,
    progress: Callable[[str], None] = lambda _: None,
) -> FactsReport:
    """Ask every question of *dataset* with and without the recorded facts; print nothing."""
    folder = dataset.find_folder(data)
    questions: dict[str, list[BenchmarkQuestion]] = defaultdict(list)
    for question in dataset.questions(folder):
        if dataset.counts(question) and question.evidence:
            questions[question.conversation_id].append(question)
    facts = _facts_of(read_sessions(RECORDINGS[dataset.name], data))
    report = FactsReport()
    sums: dict[str, dict[str, float]] = defaultdict(lambda: defaultdict(float))
    for conversation in dataset.conversations(folder):
        progress(conversation.conversation_id)
        asked = questions[conversation.conversation_id]
        golds = _golds_of(conversation, asked)
        report.questions += len(asked)
        report.worded += sum(bool(each.words) for each in golds)
        recorded = facts[conversation.conversation_id]
        for name, kept in (("messages", []), ("messages and facts", recorded)):
            async with Recollect(open_store("memory:"), embedder=embedder) as memory:
                await _fill(memory, conversation, kept)
                report.embedder = memory.embedder or "none"
                for question, gold in zip(asked, golds, strict=True):
                    found = await memory.recall(SCOPE, question.text, limit=RANKED)
                    entries = [_found(each) for each in found.entries]
                    for figure, value in _figures(gold, entries):
                        sums[name][figure] += value
    report.systems = {
        name: {
            figure: total / max(1, report.worded if "words" in figure else report.questions)
            for figure, total in figures.items()
        }
        for name, figures in sums.items()
    }
    return report


def _golds_of(
    conversation: BenchmarkConversation, asked: Sequence[BenchmarkQuestion]
) -> list[Gold]:
    """Return the evidence of each question, with the answer's words in it."""
    said = {each.message_id: _words_of_new(new_message(each)) for each in conversation.messages}
    return [
        Gold(
            evidence=frozenset(each.evidence),
            words=frozenset(terms_of(each.extras.optional_text("answer") or ""))
            & frozenset().union(*(said.get(id_, frozenset()) for id_ in each.evidence)),
        )
        for each in asked
    ]


def _words_of_new(message: NewMessage) -> frozenset[str]:
    return _words(message_text(message.text, message.name, message.content), message.time)


def _words(text: str, time: datetime | None) -> frozenset[str]:
    """Return the terms of a text and of its date, which a prompt shows beside it."""
    return frozenset([*terms_of(text), *(date_terms(text, time) if time else ())])


def _facts_of(sessions: Sequence[Session]) -> dict[str, list[tuple[Session, RecordedFact]]]:
    found: dict[str, list[tuple[Session, RecordedFact]]] = defaultdict(list)
    for session in sessions:
        found[session.conversation] += [(session, fact) for fact in session.facts]
    return found


async def _fill(
    memory: Recollect,
    conversation: BenchmarkConversation,
    facts: Sequence[tuple[Session, RecordedFact]],
) -> None:
    messages = [new_message(each) for each in conversation.messages if each.text]
    for at in range(0, len(messages), BATCH):
        await memory.append(SCOPE, THREAD, messages[at : at + BATCH])
    writes = [_write(session, fact, number) for number, (session, fact) in enumerate(facts)]
    for at in range(0, len(writes), BATCH):
        await memory.apply(SCOPE, writes[at : at + BATCH])
    await memory.settled(SCOPE)


def _write(session: Session, fact: RecordedFact, number: int) -> PutMemory:
    return PutMemory(
        type="Note",
        key=str(number),
        value={"context": fact.subject, "content": fact.text},
        valid_from=session.began,
        evidence={"": [Evidence(thread=THREAD, message=id_) for id_ in fact.evidence]},
    )


def _found(entry: Recalled) -> RecalledEntry:
    tokens, words = estimated_tokens(entry.text), _words(entry.text, entry.time)
    if isinstance(entry.content, Message):
        return RecalledEntry(frozenset({entry.content.id}), words, tokens)
    cited = [each.message for evidence in entry.content.evidence.values() for each in evidence]
    return RecalledEntry(frozenset(cited), words, tokens)


def _figures(gold: Gold, entries: Sequence[RecalledEntry]) -> Iterator[tuple[str, float]]:
    for depth in DEPTHS:
        first = entries[:depth]
        found = _union(first)
        yield f"recall@{depth}", len(gold.evidence & found) / len(gold.evidence)
        yield f"all@{depth}", float(gold.evidence <= found)
        yield f"words@{depth}", _share_of_words(gold, first)
        yield f"tokens@{depth}", float(sum(each.tokens for each in first))
    for budget in BUDGETS:
        within = list(_within(entries, budget))
        yield f"in {budget} tokens", len(gold.evidence & _union(within)) / len(gold.evidence)
        yield f"words in {budget} tokens", _share_of_words(gold, within)


def _share_of_words(gold: Gold, entries: Sequence[RecalledEntry]) -> float:
    """Return the share of the answer's words found in evidence entries; 0 without words."""
    said = [each.words for each in entries if not gold.evidence.isdisjoint(each.messages)]
    return len(gold.words.intersection(frozenset().union(*said))) / max(1, len(gold.words))


def _within(entries: Sequence[RecalledEntry], budget: int) -> Iterator[RecalledEntry]:
    """Yield the best entries up to the first that does not fit."""
    for entry in entries:
        budget -= entry.tokens
        if budget < 0:
            return
        yield entry


def _union(entries: Sequence[RecalledEntry]) -> frozenset[str]:
    return frozenset().union(*(each.messages for each in entries))


def facts_page(report: FactsReport) -> str:
    """Return the figures as a table, a column for each system."""
    lines = [
        f"facts beside messages, embedder {report.embedder}, n={report.questions}",
        f"words: of the {report.worded} answers that share words with their evidence",
    ]
    names = list(report.systems)
    lines.append(f"{'':<22}" + "".join(f"{name:>22}" for name in names))
    for figure in report.systems[names[0]] if names else ():
        values = "".join(f"{report.systems[name][figure]:>22.3f}" for name in names)
        lines.append(f"{figure:<22}{values}")
    return "\n".join(lines) + "\n"
