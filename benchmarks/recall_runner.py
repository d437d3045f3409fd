"""Run recall on any set: load each conversation, ask its questions, and rank the evidence."""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import AsyncExitStack, nullcontext
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final, Protocol

from benchmarks.answer_rows import LISTED_MAX, QuestionOutcome
from benchmarks.cached_embedder import CachedEmbedder
from benchmarks.conversation_files import BenchmarkConversation, BenchmarkQuestion
from benchmarks.datasets import Dataset
from benchmarks.metrics import count_tokens, places_of, sessions_in_order, token_ends_of
from benchmarks.official import OfficialRanking, Ranker
from benchmarks.search_controls import EntryText, spoken_text
from recollect.errors import UsageError

NO_EMBEDDER: Final = "none"

Progress = Callable[[int, int], None]
"""Called after each question with the number done and the total."""


class System(Protocol):
    """A system under test: stores a conversation and ranks its messages."""

    @property
    def name(self) -> str:
        """Its unique name in reports."""
        ...

    async def load(self, conversation: BenchmarkConversation) -> None:
        """Replace the loaded conversation; ready to search on return; not timed."""
        ...

    async def rank(self, question: BenchmarkQuestion) -> Sequence[str]:
        """
        Return message ids, best first, without repetition; timed.

        The whole conversation, or at least its first few hundred: what is left out counts
        as not found. Sessions are ranked by their first message in this order.
        """
        ...

    async def close(self) -> None:
        """Release all resources."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class RecallPlan:
    """
    The data and the systems of a run.

    *data* is the set's folder or its parent. The first of *systems* is the one that
    reports compare with the others. *embedder* is what the systems embed with: its file is
    bypassed while a search is timed. *limit* asks only the first this many questions.
    *entry_text* gives the text of a message whose tokens are counted.
    """

    dataset: Dataset
    data: Path
    systems: Sequence[System]
    embedder: CachedEmbedder | None = None
    limit: int | None = None
    entry_text: EntryText = spoken_text


@dataclass(frozen=True, slots=True, kw_only=True)
class _Held:
    """The conversation being asked about."""

    conversation: BenchmarkConversation
    session_of: Mapping[str, str]
    sizes: Mapping[str, int]
    baselines: Mapping[str, Ranker]


async def run(
    plan: RecallPlan, progress: Progress = lambda _done, _total: None
) -> list[QuestionOutcome]:
    """
    Ask every system of *plan* every question, and close the systems.

    One conversation is in memory at a time.

    Returns:
        One outcome per question and system, and per question and official baseline, in the
        order of the conversations.

    Raises:
        UsageError: The files are missing or malformed, or a system returned a duplicate or unknown
            id.
    """
    async with AsyncExitStack() as closing:
        for system in plan.systems:
            closing.push_async_callback(system.close)
        return await _run(plan, progress)


async def _run(plan: RecallPlan, progress: Progress) -> list[QuestionOutcome]:
    folder = plan.dataset.find_folder(plan.data)
    waiting = questions_asked(plan.dataset, folder, plan.limit)
    total = sum(map(len, waiting.values()))
    outcomes: list[QuestionOutcome] = []
    done = 0
    for conversation in plan.dataset.conversations(folder):
        questions = waiting.pop(conversation.conversation_id, [])
        if not questions:
            continue
        held = await _load(plan, conversation)
        for question in questions:
            outcomes += await _ask(plan, held, question)
            done += 1
            progress(done, total)
        if not waiting:
            return outcomes
    msg = f"no messages of the conversations {sorted(waiting)[:5]!r}: check the set's files"
    raise UsageError(msg)


def questions_asked(
    dataset: Dataset, folder: Path, limit: int | None
) -> dict[str, list[BenchmarkQuestion]]:
    """Return the first *limit* counted questions, by conversation."""
    official = dataset.official
    asked = [
        question
        for question in dataset.questions(folder)
        if dataset.counts(question) or (official and official.counts(question))
    ]
    by_conversation: dict[str, list[BenchmarkQuestion]] = defaultdict(list)
    if not asked:
        msg = f"no question in {str(folder)!r} names evidence: a set without gold has no figures"
        raise UsageError(msg)
    for question in asked[:limit]:
        by_conversation[question.conversation_id].append(question)
    return dict(by_conversation)


async def _load(plan: RecallPlan, conversation: BenchmarkConversation) -> _Held:
    for system in plan.systems:
        await system.load(conversation)
    messages = conversation.messages
    official = plan.dataset.official
    return _Held(
        conversation=conversation,
        session_of={each.message_id: each.session_id for each in messages},
        sizes={each.message_id: count_tokens(plan.entry_text(each)) for each in messages},
        baselines={
            name: index(conversation)
            for name, index in (official.controls.items() if official else ())
        },
    )


async def _ask(plan: RecallPlan, held: _Held, question: BenchmarkQuestion) -> list[QuestionOutcome]:
    question = with_sessions(question, held.session_of)
    kept = {each.message_id for each in held.conversation.kept_before(question)}
    official = plan.dataset.official
    if official and not official.counts(question):
        official = None
    answers = []
    for system in plan.systems:
        ranked, ms = await _timed(plan, system, question)
        check_ranking(system.name, question, ranked, held.session_of)
        ranked = [each for each in ranked if each in kept]
        judged = official.ranking_of(held.conversation, ranked) if official else None
        answers.append(_Answer(system=system.name, ranked=ranked, ms=ms, official=judged))
    for name, rank in held.baselines.items() if official else ():
        answers.append(_Answer(system=name, ranked=(), ms=None, official=rank(question)))
    return [_outcome(plan, held, question, answer) for answer in answers]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Answer:
    """The result of one system, or one official baseline."""

    system: str
    ranked: Sequence[str]
    ms: float | None
    official: OfficialRanking | None


async def _timed(
    plan: RecallPlan, system: System, question: BenchmarkQuestion
) -> tuple[Sequence[str], float]:
    with plan.embedder.bypassed() if plan.embedder else nullcontext():
        began = time.perf_counter()
        ranked = await system.rank(question)
        took_s = time.perf_counter() - began
    return ranked, round(took_s * 1_000, 4)


def check_ranking(
    system: str, question: BenchmarkQuestion, ranked: Sequence[str], given: Collection[str]
) -> None:
    """Raise `UsageError` if *ranked* repeats an id, or holds one that was not *given*."""
    distinct = set(ranked)
    if len(distinct) != len(ranked):
        twice = next(each for each in ranked if ranked.count(each) > 1)
        msg = (
            f"system {system!r} returned {twice!r} twice for question {question.question_id!r}: "
            "a ranking must not repeat an id"
        )
        raise UsageError(msg)
    if unknown := sorted(distinct.difference(given)):
        msg = (
            f"system {system!r} returned {unknown[0]!r} for question {question.question_id!r}: "
            "a ranking must hold message ids of the loaded conversation only"
        )
        raise UsageError(msg)


def with_sessions(question: BenchmarkQuestion, session_of: Mapping[str, str]) -> BenchmarkQuestion:
    """Return *question* with the sessions of its evidence, if the set names none."""
    if question.evidence_sessions:
        return question
    sessions = dict.fromkeys(session_of[each] for each in question.evidence if each in session_of)
    return replace(question, evidence_sessions=tuple(sessions))


def _outcome(
    plan: RecallPlan, held: _Held, question: BenchmarkQuestion, answer: _Answer
) -> QuestionOutcome:
    ranked = answer.ranked
    sessions = sessions_in_order(ranked, held.session_of)
    official = plan.dataset.official if answer.official else None
    return QuestionOutcome(
        dataset=plan.dataset.name,
        embedder=plan.embedder.identity if plan.embedder else NO_EMBEDDER,
        system=answer.system,
        question_id=question.question_id,
        conversation_id=question.conversation_id,
        category=question.category,
        is_counted=plan.dataset.counts(question),
        ranked=tuple(ranked[:LISTED_MAX]),
        ranked_sessions=sessions[:LISTED_MAX],
        evidence=question.evidence,
        evidence_places=places_of(question.evidence, ranked),
        evidence_token_ends=token_ends_of(question.evidence, ranked, held.sizes),
        evidence_sessions=question.evidence_sessions,
        evidence_session_places=places_of(question.evidence_sessions, sessions),
        ms=answer.ms,
        official=official.facts(question, held.conversation, answer.official)
        if official and answer.official
        else None,
    )
