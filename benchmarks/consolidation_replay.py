"""Replay recorded answers through consolidation, and count the right and wrong ones stored."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

from benchmarks.formation_corpus import Call, Case, call_of, read_corpus
from recollect.formation.consolidation import Batch, ConsolidationAnswer, read_calls
from recollect.formation.similarity_groups import Group
from recollect.formation.types import NOTE
from recollect.ports import ModelAnswer
from recollect.records import Evidence, Memory

CONSOLIDATIONS: Final = "consolidations"
HALVES: Final = ("developed", "kept apart")
_NO_IDS: Final[Mapping[str, str]] = {}


@dataclass(slots=True)
class RightMerges:
    """Right merges in one half and language: *kept* of *calls* were stored at once."""

    half: str
    language: str
    calls: int = 0
    kept: int = 0


@dataclass(slots=True)
class WrongMerges:
    """Wrong merges of one half and kind: *kept* of *calls* were stored."""

    half: str
    kind: str
    calls: int = 0
    kept: int = 0


@dataclass(slots=True)
class ConsolidationReport:
    """All rows of a run, and why right calls of the development half were not stored."""

    right: list[RightMerges] = field(default_factory=list)
    wrong: list[WrongMerges] = field(default_factory=list)
    told: list[str] = field(default_factory=list)

    def as_json(self) -> dict[str, object]:
        """Return the report as a JSON object."""
        return asdict(self)


def replay_consolidations(folder: Path) -> ConsolidationReport:
    """
    Replay the recorded answers about groups of memories, and count their outcomes.

    A consolidation without checks would keep every call, the wrong ones too.

    Raises:
        UsageError: The answers are not there, or cannot be read.
    """
    report = ConsolidationReport()
    cases = read_corpus(folder, CONSOLIDATIONS)
    for half in HALVES:
        own = [case for case in cases if case["half"] == half]
        for language in sorted({case["language"] for case in own}):
            row = RightMerges(half=half, language=language)
            report.right.append(row)
            for case in own:
                if case["language"] == language:
                    _count_right(case, row, report.told)
        report.wrong += _wrong_rows(half, own)
    return report


def _count_right(case: Case, row: RightMerges, told: list[str]) -> None:
    reading = answered(case, case["calls"])
    faulty = {each.call for each in reading.faults}
    row.calls += len(case["calls"])
    row.kept += len(case["calls"]) - len(faulty)
    if row.half == HALVES[0]:
        told += [f"{case['id']}: {each.reason}" for each in reading.faults]


def _wrong_rows(half: str, cases: Sequence[Case]) -> list[WrongMerges]:
    rows: dict[str, WrongMerges] = {}
    for case in cases:
        for each in case["wrong"]:
            row = rows.setdefault(each["kind"], WrongMerges(half=half, kind=each["kind"]))
            row.calls += 1
            row.kept += not answered(case, [each["call"]]).faults
    return [rows[kind] for kind in sorted(rows)]


def answered(case: Case, calls: Sequence[Call]) -> ConsolidationAnswer:
    """Parse an answer to the groups of a case."""
    made = tuple(call_of(each, _NO_IDS) for each in calls)
    return read_calls(ModelAnswer(calls=made), batch_of(case))


def batch_of(case: Case) -> Batch:
    """Return the groups of a case as a model sees them."""
    groups = tuple(
        Group(
            type=NOTE.name,
            memories=tuple(_memory(f"{number}-{at}", each) for at, each in enumerate(group)),
        )
        for number, group in enumerate(case["groups"])
    )
    return Batch(type=NOTE, groups=groups)


def _memory(key: str, told: Mapping[str, Any]) -> Memory:
    at = datetime.fromisoformat(told["since"]).replace(tzinfo=UTC)
    content = told["content"]
    return Memory(
        scope=("corpus",),
        type=NOTE.name,
        key=key,
        value={"context": told["context"], "content": content},
        text=content,
        version=1,
        created_at=at,
        updated_at=at,
        valid_from=None,
        valid_until=None,
        expires_at=None,
        evidence={"/content": [Evidence(thread="talk", message=key, quote=content)]},
        trust="user",
        state="active",
        said_at=at,
    )


def consolidation_page(report: ConsolidationReport) -> str:
    """Return the report as text."""
    lines = [f"{'right calls':32}{'calls':>8}{'kept at once':>14}"]
    for row in report.right:
        share = f"{row.kept / row.calls:.1%}".replace("%", " %") if row.calls else "-"
        lines.append(f"{f'{row.half}, {row.language}':32}{row.calls:>8}{share:>14}")
    lines.append(f"{'wrong calls (without checks all are kept)':40}{'calls':>8}{'kept':>6}")
    lines.extend(
        f"{f'{wrong.half}, {wrong.kind}':40}{wrong.calls:>8}{wrong.kept:>6}"
        for wrong in report.wrong
    )
    for half in HALVES:
        rows = [each for each in report.wrong if each.half == half]
        calls, kept = sum(each.calls for each in rows), sum(each.kept for each in rows)
        lines.append(f"{half:40}{calls:>8}{kept:>6}")
    return "\n".join([*lines, *report.told])
