"""Evidence shown for Chinese questions by script: simplified and traditional, in all pairs."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from importlib.resources import files
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
from benchmarks.conversation_files import BenchmarkConversation
from benchmarks.datasets import Dataset
from benchmarks.prompt_blocks import shown_by_context
from benchmarks.recall_runner import Progress
from benchmarks.shown_evidence import is_shown
from recollect.ports import Embedder
from recollect.text.chinese_scripts import simplified

BUDGETS: Final = (1_000, 2_000)
SCRIPTS: Final = ("simplified", "traditional")


@dataclass
class ScriptReport:
    """The questions whose whole evidence was shown, by scripts and budget."""

    dataset: str
    whole: dict[tuple[str, str, int], list[bool]] = field(default_factory=lambda: defaultdict(list))
    """Keyed by the script of the conversation, that of the question, and the budget."""
    share: dict[tuple[str, str, int], list[float]] = field(
        default_factory=lambda: defaultdict(list)
    )

    def as_json(self) -> dict[str, object]:
        """Return the report as a JSON object."""
        return {
            "set": self.dataset,
            "questions": max(map(len, self.whole.values()), default=0),
            "shown": [
                {"talk": key[0], "question": key[1], "budget": key[2], **self.figures(key)}
                for key in self.whole
            ],
        }

    def figures(self, key: tuple[str, str, int]) -> dict[str, float]:
        """Return the share of questions with whole evidence, and the mean share of evidence."""
        whole, share = self.whole[key], self.share[key]
        return {"whole": sum(whole) / len(whole), "share": sum(share) / len(share)}

    def differing(self, talk: str, budget: int) -> int:
        """Return the number of questions whose whole evidence is shown in only one script."""
        pairs = zip(*(self.whole[talk, script, budget] for script in SCRIPTS), strict=True)
        return sum(one is not other for one, other in pairs)


@dataclass(frozen=True)
class ScriptReports:
    """The reports of several sets."""

    reports: Sequence[ScriptReport]

    def as_json(self) -> dict[str, object]:
        """Return the reports as a JSON object, by set."""
        return {each.dataset: each.as_json() for each in self.reports}


async def measure_scripts(
    dataset: Dataset,
    data: Path,
    embedder: Embedder | None,
    choice: QuestionChoice,
    *,
    budgets: Sequence[int] = BUDGETS,
    progress: Progress = lambda _done, _total: None,
) -> ScriptReport:
    """Ask every question in both scripts about the conversation in both scripts."""
    total = len(SCRIPTS) * len(choice.of(askable_questions(dataset, dataset.find_folder(data))))
    report, done = ScriptReport(dataset.name), 0
    for conversation, asked in asked_conversations(dataset, data, choice):
        for talk in SCRIPTS:
            async with AskedMemory(in_script(conversation, talk), embedder) as held:
                for each in asked:
                    done += 1
                    progress(done, total)
                    if not each.question.is_unanswerable:
                        await held.advance(each.question)
                        await _ask(held, talk, each, report, budgets)
    return report


async def _ask(
    held: AskedMemory,
    talk: str,
    asked: AskedQuestion,
    report: ScriptReport,
    budgets: Sequence[int],
) -> None:
    for script in SCRIPTS:
        for budget in budgets:
            context = await held.memory.context(
                SCOPE,
                written_in(asked.question.text, script),
                budget_tokens=budget,
                asked_at=asked.question.asked,
            )
            words = shown_by_context(context).words
            found = [
                is_shown(each, words.get(each.message_id), asked.answer) for each in asked.evidence
            ]
            report.whole[talk, script, budget].append(all(found))
            report.share[talk, script, budget].append(sum(found) / len(found))


def in_script(conversation: BenchmarkConversation, script: str) -> BenchmarkConversation:
    """Return *conversation* with all texts in *script*."""
    messages = (replace(each, text=written_in(each.text, script)) for each in conversation.messages)
    return replace(conversation, messages=tuple(messages))


def written_in(text: str, script: str) -> str:
    """
    Return *text* in simplified or traditional characters, character by character.

    >>> written_in("图书馆", "traditional"), written_in("圖書館", "simplified")
    ('圖書館', '图书馆')
    """
    return text.translate(_TRADITIONAL) if script == "traditional" else simplified(text)


def _read_traditional() -> dict[int, str]:
    lines = files("recollect.text").joinpath("simplified.txt").read_text("utf-8").splitlines()
    _, traditional, simple = lines
    # If several traditional characters share a simplified one, the last is used.
    return dict(zip(map(ord, simple), traditional, strict=True))


_TRADITIONAL: Final = _read_traditional()


def scripts_page(report: ScriptReport) -> str:
    """Return a report as lines to print."""
    asked = max(map(len, report.whole.values()), default=0)
    lines = [f"{report.dataset}: {asked} questions in both scripts; whole evidence, share"]
    for key in sorted(report.whole):
        talk, script, budget = key
        figures = report.figures(key)
        lines.append(
            f"talk {talk:11} question {script:11} {budget:6,}"
            f" {figures['whole']:6.3f} {figures['share']:6.3f}"
        )
    for talk, _, budget in sorted(key for key in report.whole if key[1] == SCRIPTS[0]):
        differing = report.differing(talk, budget)
        lines.append(f"talk {talk}, {budget:,}: shown in one script alone: {differing} of {asked}")
    return "\n".join(lines)
