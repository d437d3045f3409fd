"""Replay recorded answers through formation, and count the right and wrong ones stored."""

from __future__ import annotations

import gc
import statistics
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from itertools import combinations
from pathlib import Path
from typing import Any, Final, TypeVar

from benchmarks.formation_corpus import (
    BAD_ANSWERS,
    CASES,
    Call,
    Case,
    PlayedFormation,
    is_kept_apart,
    played,
    read_corpus,
)
from benchmarks.second_readings import READINGS, reader_of
from recollect.evaluation.measures import NEAR
from recollect.formation.value_identity import same_text
from recollect.records import Memory
from recollect.text.analysis import terms_of

HALVES: Final = ("developed", "kept apart")
KEEP: Final = "keep"
RowT = TypeVar("RowT", "RightAnswers", "WrongAnswers")


@dataclass(slots=True)
class RightAnswers:
    """
    Right answers of one half and language: *kept* of *answers* were stored completely at once.

    *offered* of *replaced* memories in force that a talk made untrue were shown to the model;
    *stale* of those that the answer *meant* to change or end are in force as they were. *near*
    pairs of the *entries* in force say the same.
    """

    half: str
    language: str
    answers: int = 0
    kept: int = 0
    model_calls: int = 0
    replaced: int = 0
    offered: int = 0
    meant: int = 0
    stale: int = 0
    entries: int = 0
    near: int = 0
    milliseconds: list[float] = field(default_factory=list)
    deciding: list[float] = field(default_factory=list)
    """Milliseconds of the deciding alone."""


@dataclass(slots=True)
class WrongAnswers:
    """Wrong answers of one half and kind that became active, and those with the user's trust."""

    half: str
    kind: str
    answers: int = 0
    active: int = 0
    as_user: int = 0


@dataclass(slots=True)
class ReplayReport:
    """All rows of a run, and the unexpected outcomes of the development half."""

    right: list[RightAnswers] = field(default_factory=list)
    wrong: list[WrongAnswers] = field(default_factory=list)
    told: list[str] = field(default_factory=list)

    def as_json(self) -> dict[str, object]:
        """Return the report as a JSON object."""
        return asdict(self)


async def replay(
    folder: Path, *, tells_all: bool = False, is_read_again: bool = False
) -> ReplayReport:
    """
    Replay each answer in *folder* into its own memory; of wrong ones only the wrong calls.

    What was stopped or got through is told of the developed half; of the other too, and that half
    is kept apart no longer, with *tells_all*. With *is_read_again* only the half kept apart is
    played, with the recorded second readings.
    """
    report = ReplayReport()
    halves = HALVES[1:] if is_read_again else HALVES
    cases = {
        case["id"]: (half, case)
        for number, case in enumerate(read_corpus(folder, CASES))
        if (half := HALVES[is_kept_apart(number)]) in halves
    }
    readings = read_corpus(folder, READINGS) if is_read_again else []
    readers = {id_: reader_of(readings, id_) for id_ in cases} if is_read_again else {}
    for half, case in cases.values():
        row = _row(report.right, RightAnswers(half=half, language=case["language"]))
        for answer in case["answers"]:
            calls = right_calls(answer)
            done = await played(case, calls, second_reader=readers.get(case["id"]))
            _count(row, case, calls, done)
            if not done.passes and (tells_all or half == HALVES[0]):
                report.told.append(f"{case['id']}: {'; '.join(done.stopped) or 'asked again'}")
    for bad in read_corpus(folder, BAD_ANSWERS):
        if bad["case"] not in cases:
            continue
        half, case = cases[bad["case"]]
        wrong = _row(report.wrong, WrongAnswers(half=half, kind=bad["kind"]))
        done = await played(case, wrong_calls(bad), second_reader=readers.get(case["id"]))
        wrong.answers += 1
        wrong.active += bool(done.active)
        wrong.as_user += any(each.trust == "user" for each in done.active)
        if done.active and (tells_all or half == HALVES[0]):
            report.told.append(f"{case['id']}, {bad['kind']}: {done.active[0].value}")
    return report


def right_calls(answer: Mapping[str, Any]) -> list[Call]:
    """Return the calls of an answer that should be stored."""
    pairs = zip(answer["calls"], answer["labels"], strict=True)
    return [call for call, label in pairs if label == KEEP]


def wrong_calls(answer: Mapping[str, Any]) -> list[Call]:
    """Return the calls of an answer that should not be stored."""
    pairs = zip(answer["calls"], answer["labels"], strict=True)
    return [call for call, label in pairs if label != KEEP]


def _row(rows: list[RowT], new: RowT) -> RowT:
    """Return the row with the names of *new*; append *new* if there is none."""
    for row in rows:
        if _names(row) == _names(new):
            return row
    rows.append(new)
    return new


def _names(row: RightAnswers | WrongAnswers) -> tuple[str, str]:
    return row.half, row.language if isinstance(row, RightAnswers) else row.kind


def _count(row: RightAnswers, case: Case, calls: Sequence[Call], done: PlayedFormation) -> None:
    row.answers += 1
    row.kept += done.passes
    row.model_calls += done.calls
    row.milliseconds.append(1_000 * done.seconds)
    row.deciding.append(1_000 * done.deciding_s)
    now = max(each["time"] for each in case["lines"])
    in_force = {
        each["id"] for each in case["known"] if not each.get("until") or each["until"] >= now[:10]
    }
    due = in_force & set(case["replaced"])
    row.replaced += len(due)
    row.offered += len(due & set(done.offered.values()))
    meant = due & {str(call["arguments"].get("id")) for call in calls}
    unchanged = {id_ for id_ in meant if _is_unchanged(done.known[id_], done.memories)}
    row.meant += len(meant)
    row.stale += len(unchanged)
    active = [each for each in done.memories if each.state == "active" and not each.valid_until]
    row.entries += len(active)
    row.near += sum(
        one.type == other.type and is_near(one, other) for one, other in combinations(active, 2)
    )


def _is_unchanged(known: Memory, memories: Iterable[Memory]) -> bool:
    address = (known.type, known.key)
    return any(
        (each.type, each.key) == address and each.version == known.version for each in memories
    )


def is_near(one: Memory, other: Memory) -> bool:
    """Return True if two entries have nearly the same text."""
    mine, theirs = set(terms_of(one.text)), set(terms_of(other.text))
    shared = len(mine & theirs) / max(1, len(mine | theirs))
    return same_text(one.value, other.value) or shared >= NEAR


def replay_page(report: ReplayReport) -> str:
    """Return *report* as tables."""
    heads = ("answers", "kept at once", "calls", "offered", "stale", "near pairs", "p95 ms")
    lines = [f"{'right answers':<34}" + "".join(f"{each:>14}" for each in heads)]
    lines += [_right_line(row) for row in sorted(report.right, key=_names)]
    lines.append(f"{'wrong answers':<34}{'answers':>14}{'active':>14}{'as user':>14}")
    lines += [
        f"{f'{row.half}, {row.kind}':<34}{row.answers:>14}{row.active:>14}{row.as_user:>14}"
        for row in sorted(report.wrong, key=_names)
    ]
    for half in HALVES:
        rows = [row for row in report.wrong if row.half == half]
        counts = [sum(getattr(r, name) for r in rows) for name in ("answers", "active", "as_user")]
        lines.append(f"{half:<34}" + "".join(f"{count:>14}" for count in counts))
    lines.append(_deciding_line(report.right))
    return "\n".join([*lines, *(f"  {each}"[:220] for each in report.told)])


def _right_line(row: RightAnswers) -> str:
    cells = (
        str(row.answers),
        _share(row.kept, row.answers),
        f"{row.model_calls / max(1, row.answers):.2f}",
        _share(row.offered, row.replaced),
        _share(row.stale, row.meant),
        _share(row.near, row.entries),
        f"{statistics.quantiles(row.milliseconds, n=20)[-1]:.1f}"
        if len(row.milliseconds) > 1
        else "-",
    )
    return f"{f'{row.half}, {row.language}':<34}" + "".join(f"{each:>14}" for each in cells)


def _deciding_line(rows: Sequence[RightAnswers]) -> str:
    times = [each for row in rows for each in row.deciding]
    if len(times) < 2:
        return "no answer was decided"
    p95 = statistics.quantiles(times, n=20)[-1]
    return (
        f"deciding alone, of {len(times)} answers: {statistics.fmean(times):.1f} ms on average,"
        f" {p95:.1f} ms at the 95th percentile (≤ 20); Python looks for garbage after"
        f" {gc.get_threshold()[0]:,} objects"
    )


def _share(part: int, whole: int) -> str:
    """
    Return a share as a percentage.

    >>> _share(1, 4), _share(0, 0)
    ('25.0 %', '-')
    """
    return f"{100 * part / whole:.1f} %" if whole else "-"
