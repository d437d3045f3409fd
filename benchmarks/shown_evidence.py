"""
Evidence, answers' words and waste in a prompt by its tokens, beside controls.

A message counts as shown if all its words stand in the text, or, where an excerpt leaves words
out, if those words of the answer that the message holds stand in the excerpt; an excerpt of a
message that holds none of the answer's words does not count. The text itself is searched, so that
no system is credited with what it merely ranked.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import pairwise
from pathlib import Path
from statistics import mean
from typing import Final

from benchmarks.asked_memory import (
    SCOPE,
    AskedMemory,
    AskedQuestion,
    QuestionChoice,
    askable_questions,
    asked_conversations,
)
from benchmarks.conversation_files import BenchmarkConversation, BenchmarkMessage
from benchmarks.datasets import Dataset
from benchmarks.idle_queries import FITTED, SECOND_UNSEEN, UNSEEN
from benchmarks.prompt_blocks import (
    CONTROLS,
    RANKED,
    RenderedRecall,
    ShownText,
    shown_by_context,
)
from benchmarks.recall_runner import Progress
from benchmarks.search_controls import PlainBm25, PlainCosine, dated_text, spoken_text
from recollect.ports import Embedder
from recollect.records import Message
from recollect.text.analysis import terms_of
from recollect.text.token_estimate import estimated_tokens

BUDGETS: Final = (500, 1_000, 2_000, 4_000)
DEFAULT_BUDGET: Final = 2_000
_COLUMNS: Final = ("whole", "share", "words", "prec.", "tokens", "lost")
_HEADING: Final = f"{'':20} {'budget':>6} {' '.join(f'{each:>6}' for each in _COLUMNS)}"


@dataclass
class ShownTally:
    """The counts of one system at one budget."""

    whole: list[bool] = field(default_factory=list)
    share: list[float] = field(default_factory=list)
    answered: list[bool] = field(default_factory=list)
    tokens: list[int] = field(default_factory=list)
    useful: list[float] = field(default_factory=list)
    empty: list[bool] = field(default_factory=list)

    def figures(self) -> dict[str, float]:
        """Return the means."""
        return {
            "whole": _mean(self.whole),
            "share": _mean(self.share),
            "words": _mean(self.answered),
            "precision": _mean(self.useful),
            "tokens": _mean(self.tokens),
            "lost": _mean(self.empty),
        }


@dataclass
class ShownReport:
    """The figures of each system at each budget, and the counts of empty contexts."""

    dataset: str
    embedder: str
    questions: int = 0
    tallies: dict[tuple[str, int], ShownTally] = field(
        default_factory=lambda: defaultdict(ShownTally)
    )
    nothing: dict[str, list[bool]] = field(default_factory=lambda: defaultdict(list))
    """By kind of query: whether only the profile was shown."""
    bearing: list[tuple[float, bool]] = field(default_factory=list)
    """The relevance of each entry of a context, and whether it is evidence."""

    def as_json(self) -> dict[str, object]:
        """Return the report as a JSON object."""
        by_budget = sorted(self.tallies.items(), key=lambda one: one[0][1])
        return {
            "set": self.dataset,
            "embedder": self.embedder,
            "questions": self.questions,
            "shown": [
                {"system": system, "budget": budget, **tally.figures()}
                for (system, budget), tally in by_budget
            ],
            "tokens_at_equal_coverage": self.tokens_at_equal_coverage(),
            "nothing_shown": {kind: _mean(empty) for kind, empty in self.nothing.items()},
            "reliability": reliability(self.bearing),
        }

    def tokens_at_equal_coverage(self) -> dict[str, float]:
        """
        Return by system the ratio of the context's tokens to the system's at 2,000.

        The context's are those at which it shows as much whole evidence, on a straight line
        between the budgets that were measured; systems that show more than it ever does are
        left out, and so is everything unless several budgets were measured.
        """
        curve = [
            (_mean(tally.whole), _mean(tally.tokens))
            for (system, _), tally in sorted(self.tallies.items(), key=lambda one: one[0][1])
            if system == "context"
        ]
        found = {}
        for (system, budget), tally in self.tallies.items():
            if budget == DEFAULT_BUDGET and system != "context":
                tokens = tokens_for(_mean(tally.whole), curve)
                if tokens is not None:
                    found[system] = tokens / max(_mean(tally.tokens), 1.0)
        return found


@dataclass(frozen=True)
class ShownReports:
    """The reports of several sets."""

    reports: Sequence[ShownReport]

    def as_json(self) -> dict[str, object]:
        """Return the reports as a JSON object, by set."""
        return {each.dataset: each.as_json() for each in self.reports}


def tokens_for(wanted: float, curve: Sequence[tuple[float, float]]) -> float | None:
    """
    Return the tokens at which *curve*, of (share, tokens), reaches *wanted*; ``None`` if never.

    >>> tokens_for(0.75, [(0.5, 100), (1.0, 300)]), tokens_for(0.2, [(0.5, 100), (1.0, 300)])
    (200.0, None)
    """
    for (low, fewer), (high, more) in pairwise(curve):
        if low <= wanted <= high:
            return fewer + (more - fewer) * (wanted - low) / ((high - low) or 1.0)
    return None


async def measure_shown(
    dataset: Dataset,
    data: Path,
    embedder: Embedder | None,
    choice: QuestionChoice,
    *,
    budgets: Sequence[int] = BUDGETS,
    progress: Progress = lambda _done, _total: None,
) -> ShownReport:
    """Ask every question of a set, and examine the text that each system would show a model."""
    total = len(choice.of(askable_questions(dataset, dataset.find_folder(data))))
    report = ShownReport(dataset.name, embedder.identity if embedder else "none")
    for conversation, asked in asked_conversations(dataset, data, choice):
        control = await _control(conversation, embedder)
        async with AskedMemory(conversation, embedder) as held:
            for each in asked:
                await held.advance(each.question)
                if each.question.is_unanswerable:
                    await _note_nothing(held, report, "unanswerable", each.question.text)
                else:
                    await _ask(held, control, each, report, budgets)
                report.questions += 1
                progress(report.questions, total)
            for text in FITTED:
                await _note_nothing(held, report, "idle, of the fit", text)
            for text in UNSEEN:
                await _note_nothing(held, report, "idle, unseen", text)
            for text in SECOND_UNSEEN:
                await _note_nothing(held, report, "idle, second unseen", text)
    return report


async def _control(
    conversation: BenchmarkConversation, embedder: Embedder | None
) -> PlainBm25 | PlainCosine:
    control = PlainCosine(embedder, spoken_text) if embedder else PlainBm25(terms_of, dated_text)
    await control.load(conversation)
    return control


async def _note_nothing(held: AskedMemory, report: ShownReport, kind: str, text: str) -> None:
    shown = await held.memory.context(SCOPE, text)
    report.nothing[kind].append(not shown.entries)


async def _ask(
    held: AskedMemory,
    control: PlainBm25 | PlainCosine,
    asked: AskedQuestion,
    report: ShownReport,
    budgets: Sequence[int],
) -> None:
    question, memory = asked.question, held.memory
    recall = await memory.recall(SCOPE, question.text, limit=RANKED, asked_at=question.asked)
    rendered = RenderedRecall(recall)
    by_id = {each.message_id: each for each in held.kept}
    ranked = [by_id[each] for each in await control.rank(question) if each in by_id][:RANKED]
    lines = {form.name: form.lines(ranked) for form in CONTROLS}
    for budget in budgets:
        context = await memory.context(
            SCOPE, question.text, budget_tokens=budget, asked_at=question.asked
        )
        _count(report.tallies["context", budget], shown_by_context(context), asked)
        _count(report.tallies["render()", budget], rendered.shown(budget), asked)
        fixed = rendered.shown(budget, limit=10)
        _count(report.tallies["render(), limit=10", budget], fixed, asked)
        for form in CONTROLS:
            _count(report.tallies[form.name, budget], form.shown(lines[form.name], budget), asked)
        if budget == DEFAULT_BUDGET:
            report.bearing += [
                (each.entry.relevance, each.entry.content.id in question.evidence)
                for each in context.entries
                if isinstance(each.entry.content, Message)
            ]


def _count(tally: ShownTally, shown: ShownText, asked: AskedQuestion) -> None:
    found = [
        is_shown(each, shown.words.get(each.message_id), asked.answer) for each in asked.evidence
    ]
    tokens = estimated_tokens(shown.text) if shown.text else 0
    useful = sum(
        estimated_tokens(shown.words[each.message_id])
        for each in asked.evidence
        if each.message_id in shown.words
    )
    tally.whole.append(all(found))
    tally.share.append(mean(found) if found else 0.0)
    tally.answered.append(_terms(asked.answer) <= _terms_shown(shown.text))
    tally.tokens.append(tokens)
    tally.useful.append(useful / tokens if tokens else 0.0)
    tally.empty.append(not shown.words)


def _terms_shown(text: str) -> set[str]:
    return set[str]().union(*map(_terms, text.split("\n")))


@lru_cache(maxsize=20_000)
def _terms(text: str) -> frozenset[str]:
    return frozenset(terms_of(text))


def is_shown(message: BenchmarkMessage, words: str | None, answer: str) -> bool:
    """Return True if the *words* shown of *message* contain its evidence."""
    if words is None:
        return False
    seen, whole = _terms(words), _terms(message.text)
    if whole <= seen:
        return True
    wanted = whole & _terms(answer)
    return bool(wanted) and wanted <= seen


def _mean(values: Iterable[float]) -> float:
    listed = list(values)
    return mean(listed) if listed else 0.0


def reliability(bearing: Sequence[tuple[float, bool]]) -> list[tuple[float, float, int]]:
    """Return the mean relevance, the share of evidence and the count of each band of relevance."""
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
    head = f"{report.dataset}, embedder {report.embedder}: {report.questions} questions;"
    lines = [f"{head} whole evidence shown, by rendered tokens", _HEADING]
    for (system, budget), tally in sorted(report.tallies.items(), key=lambda one: one[0][1]):
        each = tally.figures()
        lines.append(
            f"{system:20} {budget:6,} {each['whole']:6.3f} {each['share']:6.3f}"
            f" {each['words']:6.3f} {each['precision']:6.3f}"
            f" {each['tokens']:6.0f} {each['lost']:6.3f}"
        )
    ratios = report.tokens_at_equal_coverage()
    lines += [f"tokens at equal coverage, to {name}: {ratios[name]:.2f}" for name in ratios]
    lines += [
        f"nothing but the profile, {kind}: {_mean(empty):.3f} of {len(empty)}"
        for kind, empty in report.nothing.items()
    ]
    lines.append("relevance, share that is evidence, entries:")
    lines += [f"  {said:.2f} {true:.2f} {n:6,}" for said, true, n in reliability(report.bearing)]
    return "\n".join(lines)
