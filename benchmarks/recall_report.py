"""Compute the figures of a run from its rows alone."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Final

from benchmarks.answer_rows import QuestionOutcome
from benchmarks.datasets import DATASETS
from benchmarks.metrics import (
    budget_measures,
    mean_measures,
    percentile,
    ranking_measures,
)
from benchmarks.official import Sections
from recollect.errors import UsageError

Measures = Mapping[str, float]

_DECIMALS: Final = 6


@dataclass(frozen=True, slots=True, kw_only=True)
class Levels:
    """
    Means over some questions, by level.

    The ``n`` of each level counts the questions whose evidence the set names at that
    level; where it is 0 there is no other measure.
    """

    n: int
    turn: Measures
    session: Measures


@dataclass(frozen=True, slots=True, kw_only=True)
class SystemFigures:
    """The results of one system, over all questions and by category; *ms* is ``p50``, ``p95``."""

    turn: Measures
    session: Measures
    ms: Measures
    categories: Mapping[str, Levels]


@dataclass(frozen=True, slots=True, kw_only=True)
class OfficialFigures:
    """The results of each system and official baseline by the official metric."""

    name: str
    systems: Mapping[str, Sections]


@dataclass(frozen=True, slots=True, kw_only=True)
class RecallReport:
    """
    The figures of one run: shares between 0 and 1, times in milliseconds.

    *n* counts the questions, and *systems* come in the order of their first row.
    """

    dataset: str
    n: int
    embedder: str
    systems: Mapping[str, SystemFigures]
    official: OfficialFigures | None


def from_rows(outcomes: Sequence[QuestionOutcome]) -> RecallReport:
    """
    Return every figure of a run, from its rows alone.

    Raises:
        UsageError: There are no rows, or they are of several runs.
    """
    runs = sorted({(outcome.dataset, outcome.embedder) for outcome in outcomes})
    if len(runs) != 1:
        msg = f"the rows are of {len(runs)} runs {runs!r}: give the rows of exactly one run"
        raise UsageError(msg)
    ((dataset, embedder),) = runs
    counted = [each for each in outcomes if each.is_counted and each.ms is not None]
    return RecallReport(
        dataset=dataset,
        n=len({each.question_id for each in counted}),
        embedder=embedder,
        systems={name: _system(held) for name, held in _by_system(counted).items()},
        official=_official(dataset, outcomes),
    )


def _by_system(outcomes: Iterable[QuestionOutcome]) -> dict[str, list[QuestionOutcome]]:
    found: dict[str, list[QuestionOutcome]] = defaultdict(list)
    for outcome in outcomes:
        found[outcome.system].append(outcome)
    return dict(found)


def _system(outcomes: Sequence[QuestionOutcome]) -> SystemFigures:
    times = [outcome.ms for outcome in outcomes if outcome.ms is not None]
    overall = _levels(outcomes)
    return SystemFigures(
        turn=overall.turn,
        session=overall.session,
        ms=_rounded({"p50": percentile(times, 0.5), "p95": percentile(times, 0.95)}),
        categories={
            category: _levels([each for each in outcomes if each.category == category])
            for category in sorted({outcome.category for outcome in outcomes})
        },
    )


def _levels(outcomes: Sequence[QuestionOutcome]) -> Levels:
    turns = [
        ranking_measures(each.evidence_places) | budget_measures(each.evidence_token_ends)
        for each in outcomes
        if each.evidence
    ]
    sessions = [
        ranking_measures(each.evidence_session_places)
        for each in outcomes
        if each.evidence_sessions
    ]
    return Levels(
        n=len(outcomes),
        turn={"n": len(turns)} | _rounded(mean_measures(turns)),
        session={"n": len(sessions)} | _rounded(mean_measures(sessions)),
    )


def _official(dataset: str, outcomes: Sequence[QuestionOutcome]) -> OfficialFigures | None:
    official = DATASETS[dataset].official if dataset in DATASETS else None
    judged = [each for each in outcomes if each.official is not None]
    if official is None or not judged:
        return None
    systems = {}
    for name, held in _by_system(judged).items():
        sections = official.figures([(each.category, each.official or {}) for each in held])
        systems[name] = {section: _rounded(found) for section, found in sections.items()}
    return OfficialFigures(name=official.name, systems=systems)


def _rounded(measures: Measures) -> dict[str, float]:
    return {name: round(value, _DECIMALS) for name, value in measures.items()}


def write_report(path: Path, report: RecallReport) -> None:
    """
    Write *report* as one JSON object.

    ``{"dataset", "n", "embedder", "systems": {name: {"turn", "session", "ms",
    "categories"}}, "official": {"name", "systems"} or null}``.
    """
    text = json.dumps(asdict(report), ensure_ascii=False, indent=2)
    path.write_text(text + "\n", encoding="utf-8")
