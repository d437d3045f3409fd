"""The rows of a run: each system's answer to each question, from which all figures follow."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Final

from benchmarks.conversation_files import RowFields, read_fields
from benchmarks.official import Facts
from recollect.errors import UsageError

LISTED_MAX: Final = 50
"""Ranked ids that a row lists, at most; ranks refer to the whole ranking."""

Places = tuple[int | None, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class QuestionOutcome:
    """
    One system's answer to one question.

    Places count from 1 over the whole ranking, `None` where the evidence was not returned.
    *evidence_token_ends* says how many tokens were returned by the end of each evidence
    message. *ms* is `None` for a baseline that belongs to the official metric alone, which
    has no part in the other figures; *is_counted* is false for a question that only the
    official metric counts, and *official* is `None` for one that it does not.
    """

    dataset: str
    embedder: str
    system: str
    question_id: str
    conversation_id: str
    category: str
    is_counted: bool
    ranked: tuple[str, ...]
    ranked_sessions: tuple[str, ...]
    evidence: tuple[str, ...]
    evidence_places: Places
    evidence_token_ends: Places
    evidence_sessions: tuple[str, ...]
    evidence_session_places: Places
    ms: float | None
    official: Facts | None


def write_rows(path: Path, outcomes: Iterable[QuestionOutcome]) -> None:
    """Write the rows as JSON Lines, in the given order."""
    with path.open("w", encoding="utf-8") as file:
        for outcome in outcomes:
            file.write(json.dumps(asdict(outcome), ensure_ascii=False) + "\n")


def read_rows(path: Path) -> list[QuestionOutcome]:
    """
    Read the rows that `write_rows` wrote.

    Raises:
        UsageError: The file does not exist, or a row lacks a field.
    """
    return [_outcome(row) for row in read_fields(path.parent, path.name)]


def _outcome(row: RowFields) -> QuestionOutcome:
    return QuestionOutcome(
        dataset=row.text("dataset"),
        embedder=row.text("embedder"),
        system=row.text("system"),
        question_id=row.text("question_id"),
        conversation_id=row.text("conversation_id"),
        category=row.text("category"),
        is_counted=row.flag("is_counted"),
        ranked=row.texts("ranked"),
        ranked_sessions=row.texts("ranked_sessions"),
        evidence=row.texts("evidence"),
        evidence_places=_places(row, row.values.get("evidence_places")),
        evidence_token_ends=_places(row, row.values.get("evidence_token_ends")),
        evidence_sessions=row.texts("evidence_sessions"),
        evidence_session_places=_places(row, row.values.get("evidence_session_places")),
        ms=_milliseconds(row),
        official=_facts(row),
    )


def _places(row: RowFields, value: object) -> Places:
    if not isinstance(value, Sequence) or not all(isinstance(x, int | None) for x in value):
        msg = f"{row.place}: {value!r:.80} is not a list of places: write the rows anew"
        raise UsageError(msg)
    return tuple(value)


def _milliseconds(row: RowFields) -> float | None:
    value = row.values.get("ms")
    if isinstance(value, int | float | None):
        return value
    msg = f"{row.place}: 'ms' is {value!r:.80}, not a number or null: write the rows anew"
    raise UsageError(msg)


def _facts(row: RowFields) -> Facts | None:
    value = row.values.get("official")
    if value is None:
        return None
    if not isinstance(value, Mapping):
        msg = f"{row.place}: 'official' is {value!r:.80}, not an object: write the rows anew"
        raise UsageError(msg)
    return {name: _places(row, places) for name, places in value.items()}
