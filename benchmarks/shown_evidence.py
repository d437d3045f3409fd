"""
What a prompt is shown: evidence, answers' words and waste by rendered tokens, beside two controls.

A message counts as shown if all its words stand in the text, or, where an excerpt leaves words
out, if those words of the answer that the message holds stand in the excerpt; an excerpt of a
message that holds none of the answer's words does not count. The text itself is searched, so that
no system is credited with what it merely ranked.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from statistics import mean, median
from time import perf_counter
from typing import Final

from benchmarks.conversation_files import BenchmarkConversation, BenchmarkMessage, BenchmarkQuestion
from benchmarks.datasets import Dataset
from benchmarks.recall_runner import Progress, questions_asked
from benchmarks.recollect_system import new_message
from recollect.memory.facade import Recollect
from recollect.ports import Embedder
from recollect.recall.context import Context
from recollect.recall.rendering import render_block
from recollect.recall.results import Recall, Recalled, in_time, record_of
from recollect.records import Message, Scope
from recollect.stores.locator import open_store
from recollect.text.analysis import terms_of
from recollect.text.searchable import message_text
from recollect.text.token_estimate import estimated_tokens

BUDGETS: Final = (500, 1_000, 2_000, 4_000)
IDLE: Final = (
    *("Hello!", "asdf", "ok thanks", "How are you?", "lol", "qwerty zxcv", "Good morning"),
    *("thank you so much", "hmm", "What's 2+2?", "Tell me a joke", "你好", "test", "👍"),
    *("What is the capital of Mongolia?", "Explain quantum entanglement simply", "早上好", "谢谢"),
    *("Can you help me with something?", "write a haiku about autumn leaves"),
)
_SCOPE: Final[Scope] = ("bench",)
_THREAD: Final = "conversation"
_RANKED: Final = 200
_COLUMNS: Final = ("whole", "share", "words", "prec.", "tokens", "lost", "ms")
_HEADING: Final = f"{'':20} {'budget':>6} {' '.join(f'{each:>6}' for each in _COLUMNS)}"


@dataclass(frozen=True, slots=True)
class ShownText:
    """What a system shows for a question: its text, and the words of each message in it."""

    text: str
    words: Mapping[str, str]


@dataclass
class ShownTally:
    """What was counted of a system at one budget."""

    whole: list[bool] = field(default_factory=list)
    share: list[float] = field(default_factory=list)
    answered: list[bool] = field(default_factory=list)
    tokens: list[int] = field(default_factory=list)
    useful: list[float] = field(default_factory=list)
    empty: list[bool] = field(default_factory=list)
    ms: list[float] = field(default_factory=list)

    def figures(self) -> dict[str, float]:
        """Return the means, and the median time."""
        return {
            "whole": _mean(self.whole),
            "share": _mean(self.share),
            "words": _mean(self.answered),
            "precision": _mean(self.useful),
            "tokens": _mean(self.tokens),
            "lost": _mean(self.empty),
            "ms": median(self.ms) if self.ms else 0.0,
        }


@dataclass
class ShownReport:
    """The figures of each system at each budget, and how often nothing was shown."""

    dataset: str
    questions: int = 0
    tallies: dict[tuple[str, int], ShownTally] = field(
        default_factory=lambda: defaultdict(ShownTally)
    )
    idle_empty: list[bool] = field(default_factory=list)
    unanswerable_empty: list[bool] = field(default_factory=list)
    bearing: list[tuple[float, bool]] = field(default_factory=list)
    """Of each entry of a context: its relevance, and whether it is evidence."""

    def as_json(self) -> dict[str, object]:
        """Return the report as a JSON object."""
        by_budget = sorted(self.tallies.items(), key=lambda one: one[0][1])
        return {
            "set": self.dataset,
            "questions": self.questions,
            "shown": [
                {"system": system, "budget": budget, **tally.figures()}
                for (system, budget), tally in by_budget
            ],
            "nothing_where_idle": _mean(self.idle_empty),
            "nothing_where_unanswerable": _mean(self.unanswerable_empty),
            "reliability": reliability(self.bearing),
        }


@dataclass(frozen=True)
class ShownReports:
    """The reports of several sets."""

    reports: Sequence[ShownReport]

    def as_json(self) -> dict[str, object]:
        """Return the reports as a JSON object, by set."""
        return {each.dataset: each.as_json() for each in self.reports}


async def measure_shown(
    dataset: Dataset,
    data: Path,
    embedder: Embedder | None,
    *,
    limit: int | None = None,
    budgets: Sequence[int] = BUDGETS,
    progress: Progress = lambda _done, _total: None,
) -> ShownReport:
    """Ask every question of a set, and look at what each system would show a model."""
    folder = dataset.find_folder(data)
    waiting = questions_asked(dataset, folder, limit)
    total = sum(map(len, waiting.values()))
    report = ShownReport(dataset.name)
    for conversation in dataset.conversations(folder):
        asked = waiting.pop(conversation.conversation_id, [])
        if asked:
            async with AsyncExitStack() as exit_:
                memory = await _filled(exit_, conversation, embedder)
                for question in asked:
                    await _ask(memory, conversation, question, dataset, report, budgets)
                    report.questions += 1
                    progress(report.questions, total)
                for text in IDLE:
                    shown = await memory.context(_SCOPE, text)
                    report.idle_empty.append(not shown.entries)
        if not waiting:
            break
    return report


async def _filled(
    exit_: AsyncExitStack, conversation: BenchmarkConversation, embedder: Embedder | None
) -> Recollect:
    memory = Recollect(open_store("memory:"), embedder=embedder or "none")
    await exit_.enter_async_context(memory)
    worded = [each for each in conversation.messages if each.text or each.image_caption]
    for start in range(0, len(worded), 1_000):
        await memory.append(_SCOPE, _THREAD, [*map(new_message, worded[start : start + 1_000])])
    await memory.settled(_SCOPE)
    await memory.context(_SCOPE, "warm")
    return memory


async def _ask(
    memory: Recollect,
    conversation: BenchmarkConversation,
    question: BenchmarkQuestion,
    dataset: Dataset,
    report: ShownReport,
    budgets: Sequence[int],
) -> None:
    if question.is_unanswerable:
        shown = await memory.context(_SCOPE, question.text, asked_at=question.asked)
        report.unanswerable_empty.append(not shown.entries)
        return
    if not dataset.counts(question):
        return
    evidence = set(question.evidence)
    messages = [each for each in conversation.messages if each.message_id in evidence]
    answer = str(question.extras.values.get("answer") or "")
    began = perf_counter()
    recall = await memory.recall(_SCOPE, question.text, limit=_RANKED, asked_at=question.asked)
    recall_ms = (perf_counter() - began) * 1000
    for budget in budgets:
        began = perf_counter()
        context = await memory.context(
            _SCOPE, question.text, budget_tokens=budget, asked_at=question.asked
        )
        ms = (perf_counter() - began) * 1000
        _count(report.tallies["context", budget], shown_by_context(context), messages, answer, ms)
        plain = shown_by_recall(recall, budget)
        _count(report.tallies["render()", budget], plain, messages, answer, recall_ms)
        fixed = shown_by_recall(recall, budget, limit=10)
        _count(report.tallies["render(), limit=10", budget], fixed, messages, answer, recall_ms)
        if budget == 2_000:
            report.bearing += [
                (each.entry.relevance, each.entry.content.id in evidence)
                for each in context.entries
                if isinstance(each.entry.content, Message)
            ]


def shown_by_context(context: Context) -> ShownText:
    """Return what a context shows."""
    words = {
        each.entry.content.id: each.text
        for each in context.entries
        if isinstance(each.entry.content, Message)
    }
    return ShownText(str(context), words)


def shown_by_recall(recall: Recall, budget: int, limit: int = _RANKED) -> ShownText:
    """Return the best entries of *recall* whose rendered block costs no more than *budget*."""
    kept: list[Recalled] = []
    cost = estimated_tokens(render_block([]))
    for entry in recall.entries[:limit]:
        line = render_block([record_of(entry)]).split("\n")[1]
        own = estimated_tokens(line + "\n")
        if cost + own > budget:
            continue
        cost += own
        kept.append(entry)
    block = render_block([record_of(each) for each in sorted(kept, key=in_time)])
    words = {
        each.content.id: message_text(each.content.text, each.content.name, each.content.content)
        for each in kept
        if isinstance(each.content, Message)
    }
    return ShownText(block if kept else "", words)


def _count(
    tally: ShownTally,
    shown: ShownText,
    evidence: Sequence[BenchmarkMessage],
    answer: str,
    ms: float,
) -> None:
    found = [is_shown(each, shown.words.get(each.message_id), answer) for each in evidence]
    tokens = estimated_tokens(shown.text) if shown.text else 0
    useful = sum(
        estimated_tokens(shown.words[each.message_id])
        for each in evidence
        if each.message_id in shown.words
    )
    tally.whole.append(all(found))
    tally.share.append(mean(found) if found else 0.0)
    tally.answered.append(set(terms_of(answer)) <= set(terms_of(shown.text)))
    tally.tokens.append(tokens)
    tally.useful.append(useful / tokens if tokens else 0.0)
    tally.empty.append(not shown.words)
    tally.ms.append(ms)


def is_shown(message: BenchmarkMessage, words: str | None, answer: str) -> bool:
    """Return True if *words*, which are shown of *message*, hold what it is evidence of."""
    if words is None:
        return False
    seen, whole = set(terms_of(words)), set(terms_of(message.text))
    if whole <= seen:
        return True
    wanted = whole & set(terms_of(answer))
    return bool(wanted) and wanted <= seen


def _mean(values: Iterable[float]) -> float:
    listed = list(values)
    return mean(listed) if listed else 0.0


def reliability(bearing: Sequence[tuple[float, bool]]) -> list[tuple[float, float, int]]:
    """Return for each band of relevance its mean, the share that is evidence, and how many."""
    bounds = (0.0, 0.02, 0.05, 0.1, 0.2, 0.3, 0.5, 0.7, 1.01)
    bands = []
    for low, high in pairwise(bounds):
        within = [each for each in bearing if low <= each[0] < high]
        if within:
            bands.append(
                (mean(each[0] for each in within), _mean(each[1] for each in within), len(within))
            )
    return bands


def shown_page(report: ShownReport) -> str:
    """Return a report as lines to print."""
    lines = [
        f"{report.dataset}: {report.questions} questions; whole evidence shown, by rendered tokens",
        _HEADING,
    ]
    for (system, budget), tally in sorted(report.tallies.items(), key=lambda one: one[0][1]):
        each = tally.figures()
        lines.append(
            f"{system:20} {budget:6,} {each['whole']:6.3f} {each['share']:6.3f}"
            f" {each['words']:6.3f} {each['precision']:6.3f}"
            f" {each['tokens']:6.0f} {each['lost']:6.3f} {each['ms']:6.1f}"
        )
    lines.append(
        f"nothing but the profile: idle {_mean(report.idle_empty):.2f} of {len(report.idle_empty)},"
        f" unanswerable {_mean(report.unanswerable_empty):.2f} of {len(report.unanswerable_empty)}"
    )
    lines.append("relevance, share that is evidence, entries:")
    lines += [f"  {said:.2f} {true:.2f} {n:6,}" for said, true, n in reliability(report.bearing)]
    return "\n".join(lines)
