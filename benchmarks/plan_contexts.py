"""Contexts for questions for what is coming: how many of the remembered plans they show."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from pathlib import Path
from typing import Final

from benchmarks.formation_corpus import Case, read_corpus
from benchmarks.session_replay import SCOPE, SESSIONS, formed_memory, time_of
from recollect.formation.plan_questions import ComingDays, first_day_within
from recollect.formation.succession import holds
from recollect.memory.facade import Recollect
from recollect.records import Memory, PutMemory

QUESTIONS: Final[Mapping[str, Sequence[str]]] = {
    "en": (
        *("What's coming up?", "What are my plans?", "Do I have any appointments?"),
        *("What do I have on this month?", "Anything planned for the next four weeks?"),
    ),
    "zh-hans": ("我接下来有什么安排？", "我最近有什么计划？", "未来四周有什么事？"),
    "zh-hant": ("我接下來有什麼安排？", "我最近有什麼計畫？", "未來四週有什麼事？"),
}
DAYS_AHEAD: Final = 28
SESSIONS_PLAYED: Final = (2, 3)
"""After so many of the four sessions it is asked: after the last one most plans are over."""
_TOKENS: Final = 2_000
_ENTRIES: Final = 80
_BATCH: Final = 200


@dataclass(frozen=True, slots=True)
class PlansShown:
    """Of each question: the plans that are remembered, and those that each form shows."""

    remembered: Counter[str] = field(default_factory=Counter)
    context: Counter[str] = field(default_factory=Counter)
    render: Counter[str] = field(default_factory=Counter)


async def plans_shown(folder: Path, *, every: int, fillers: int) -> PlansShown:
    """
    Ask for plans after two and three sessions of each *every*-th talk of the corpus.

    A plan is a memory in force that names one of the next days; with *fillers* the scope holds as
    many notes of other talks beside. The control is a recall's `render()` of
    the same tokens, which knows nothing of plans.
    """
    talks = read_corpus(folder, SESSIONS)
    shown = PlansShown()
    for talk in talks[::every]:
        notes = _notes_of_others(talks, talk, fillers)
        for count in SESSIONS_PLAYED:
            cut = {**talk, "sessions": talk["sessions"][:count]}
            asked_at = time_of(cut["sessions"][-1]["lines"][-1]) + timedelta(hours=2)
            async with formed_memory(cut) as (memory, _):
                plans = await _plans_in(memory, asked_at)
                for at in range(0, len(notes), _BATCH):
                    await memory.apply(SCOPE, notes[at : at + _BATCH])
                if plans:
                    await _ask(memory, QUESTIONS[talk["language"]], plans, asked_at, shown)
    return shown


def _notes_of_others(talks: Sequence[Case], talk: Case, count: int) -> list[PutMemory]:
    """Return notes of what the users of other talks in the same language said."""
    said = [
        line["text"]
        for other in talks
        if other["id"] != talk["id"] and other["language"] == talk["language"]
        for session in other["sessions"]
        for line in session["lines"]
        if line["role"] == "user" and len(line["text"]) < 300
    ]
    return [
        PutMemory(type="Note", key=f"filler-{number}", value={"content": text})
        for number, text in enumerate(said[:count])
    ]


async def _plans_in(memory: Recollect, now: datetime) -> dict[str, Memory]:
    page = await memory.memories(SCOPE, limit=500)
    asked = ComingDays(now.date(), now.date() + timedelta(days=DAYS_AHEAD))
    return {
        each.key: each
        for each in page.rows
        if each.type != "User" and holds(each, now) and first_day_within(asked, each.text, None)
    }


async def _ask(
    memory: Recollect,
    questions: Sequence[str],
    plans: Mapping[str, Memory],
    asked_at: datetime,
    shown: PlansShown,
) -> None:
    for question in questions:
        context = await memory.context(SCOPE, question, asked_at=asked_at, budget_tokens=_TOKENS)
        recall = await memory.recall(
            SCOPE, question, asked_at=asked_at, budget_tokens=_TOKENS, limit=_ENTRIES
        )
        shown.remembered[question] += len(plans)
        for name, entries in (
            ("context", [each.entry for each in context.entries]),
            ("render", recall.entries),
        ):
            keys = {each.content.key for each in entries if isinstance(each.content, Memory)}
            getattr(shown, name)[question] += len(keys & plans.keys())


def plans_page(shown: PlansShown) -> str:
    """Return a table of the shares, by question."""
    lines = ["plans of the next four weeks that are shown   context   render()"]
    for question, count in shown.remembered.items():
        shares = (shown.context[question] / count, shown.render[question] / count)
        lines.append(f"{question:<42} {shares[0]:9.3f} {shares[1]:9.3f}  of {count}")
    return "\n".join(lines)
