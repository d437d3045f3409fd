"""Shares of honest and manipulated answers that formation's support check accepts."""

from __future__ import annotations

import itertools
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final, TypeAlias

from benchmarks.formation_corpus import Case, read_corpus
from recollect.formation.answer import read_answer
from recollect.formation.grounding.grounds import Grounds, decide, grounds_of
from recollect.formation.grounding.implied_citations import completed
from recollect.formation.offer import Offer, offer_of
from recollect.formation.operation_outcomes import Grounded, OperationOutcome, Present
from recollect.formation.operations import Operation
from recollect.formation.reconciliation import reconcile
from recollect.formation.support import HeardWindow, Support
from recollect.formation.types.builtin import BUILTIN_TYPES, DEFAULT_TYPES
from recollect.formation.window import Window, WindowLine
from recollect.ports import ModelAnswer, ToolCall
from recollect.records import EndMemory, Memory, Message, PutMemory

Decide: TypeAlias = Callable[[Operation, HeardWindow], tuple[Operation, Grounds]]
HONEST: Final = ("honest",)
ATTACKS: Final = ("attacks", "attacks_later")
LANGUAGES: Final = {
    "English": ("en",),
    "Chinese, simplified": ("zh",),
    "Chinese, traditional": ("tw",),
    "five others": ("de", "es", "fr", "ja", "pt"),
}
"""The prefix of honest cases' ids."""
BEFORE: Final = datetime(2020, 1, 1, tzinfo=UTC)


@dataclass(frozen=True, slots=True, kw_only=True)
class SupportVerdict:
    """
    The outcome of one answer.

    *passes* is True if nothing is repaired, refused or quarantined. *as_user* is what is in force
    afterwards as the user's own words, or has ended; *active* is everything in force.
    """

    case: str
    passes: bool
    active: int
    as_user: int
    reasons: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class SupportRow:
    """The results of one gate on one file, or a part of it."""

    gate: str
    file: str
    cases: int
    passing: int
    active: int
    as_user: int
    seconds: float


@dataclass(slots=True)
class SupportReport:
    """All rows of a run, and the cases with unexpected outcomes."""

    rows: list[SupportRow] = field(default_factory=list)
    wrong: list[SupportVerdict] = field(default_factory=list)

    def as_json(self) -> dict[str, object]:
        """Return the report as a JSON object."""
        return asdict(self)


def measure_support(folder: Path) -> SupportReport:
    """Run all cases in *folder* through the gate and its control, which accepts any shared word."""
    report = SupportReport()
    gates: tuple[tuple[str, Decide], ...] = (("support", decide), ("control", decide_by_a_word))
    for gate, decides in gates:
        for name in (*HONEST, *ATTACKS):
            for group, cases in _groups_of(name, read_corpus(folder, name)):
                began = time.process_time()
                verdicts = [verdict_on(each, decides) for each in cases]
                report.rows.append(_row(gate, group, verdicts, time.process_time() - began))
                if gate == "support":
                    is_wrong = _is_refused if name in HONEST else _is_obeyed
                    report.wrong += filter(is_wrong, verdicts)
    return report


def _groups_of(name: str, cases: Sequence[Case]) -> Iterator[tuple[str, Sequence[Case]]]:
    """Group the cases: attacks together, honest ones by half and by language."""
    if name not in HONEST:
        yield name, cases
        return
    english = [each for each in cases if each["id"].startswith("en-")]
    others = [each for each in cases if not each["id"].startswith("en-")]
    for half, first in (("developed", 0), ("kept apart", 1)):
        chosen = [*english[first::2], *others[first::2]]
        for language, prefixes in LANGUAGES.items():
            yield f"{half}, {language}", [e for e in chosen if e["id"][:2] in prefixes]


def decide_by_a_word(operation: Operation, heard: HeardWindow) -> tuple[Operation, Grounds]:
    """
    Return the decision of the control: one word shared with a quote suffices.

    Numbers, names and dates have to be said, and nothing else; no words are traced.
    """
    whole = completed(operation, heard, traces_words=False)
    return whole, grounds_of(whole, heard, _no_support)


def _no_support(_: object, __: object) -> Support:
    return Support()


def _row(gate: str, file: str, verdicts: Sequence[SupportVerdict], seconds: float) -> SupportRow:
    return SupportRow(
        gate=gate,
        file=file,
        cases=len(verdicts),
        passing=sum(each.passes for each in verdicts),
        active=sum(each.active > 0 for each in verdicts),
        as_user=sum(each.as_user > 0 for each in verdicts),
        seconds=round(seconds, 2),
    )


def _is_refused(verdict: SupportVerdict) -> bool:
    return not verdict.passes


def _is_obeyed(verdict: SupportVerdict) -> bool:
    return verdict.as_user > 0


def verdict_on(case: Case, decides: Decide = decide) -> SupportVerdict:
    """Return the outcome of the answer in one case."""
    window, known = window_of_case(case), [_memory(each) for each in case["known"]]
    names = {each["name"] for each in case["calls"]} | {each.type for each in known}
    names |= {each.name for each in DEFAULT_TYPES}
    types = [each for each in BUILTIN_TYPES if each.name in names]
    today = max(each.message.time for each in window.lines).date()
    offer = offer_of(types, known, "", today=today)
    calls = tuple(
        ToolCall(name=each["name"], arguments=each["arguments"], id=f"c{number}")
        for number, each in enumerate(case["calls"])
    )
    reading = read_answer(ModelAnswer(calls=calls), offer)
    heard = HeardWindow(window, offer)
    decided = [decides(each, heard) for each in reading.operations]
    faults = [*reading.faults, *(fault for _, grounds in decided for fault in grounds.faults)]
    grounded = [
        Grounded(operation=operation, grounds=grounds)
        for operation, grounds in decided
        if not grounds.faults
    ]
    outcomes = reconcile(grounded, _present(window, offer, known))
    stopped = [each for each in outcomes if each.action in {"refused", "quarantined"}]
    trusts = [trust for each in outcomes if (trust := _trust_in_force(each))]
    return SupportVerdict(
        case=case["id"],
        passes=not faults and not stopped,
        active=len(trusts),
        as_user=sum(each in {"user", "ended"} for each in trusts),
        reasons=(*(each.reason for each in faults), *(each.reason for each in stopped)),
    )


def window_of_case(case: Case) -> Window:
    """Return the messages of a case as formation reads them."""
    lines = tuple(
        WindowLine(
            number=number, message=_message(each, number), text=each["text"], new=each["new"]
        )
        for number, each in enumerate(case["lines"], start=1)
    )
    return Window(scope=("bench",), lines=lines, watermarks={})


def _message(line: Mapping[str, Any], number: int) -> Message:
    return Message(
        thread="talk",
        id=f"m{number}",
        position=number,
        role=line["role"],
        text=line["text"],
        name=line["name"],
        time=datetime.fromisoformat(line["time"]).astimezone(UTC),
        session="s",
        source=None,
        content=None,
        metadata={},
    )


def _memory(known: Mapping[str, Any]) -> Memory:
    since = known.get("since")
    return Memory(
        scope=("bench",),
        type=known["type"],
        key=known["type"] if known["type"] in {"User", "Instructions"} else known["id"],
        value=known["value"],
        text="",
        version=1,
        created_at=BEFORE,
        updated_at=BEFORE,
        valid_from=datetime.fromisoformat(since).replace(tzinfo=UTC) if since else None,
        valid_until=None,
        expires_at=None,
        evidence={},
        trust=known.get("trust", "user"),
        state="active",
    )


def _present(window: Window, offer: Offer, known: Sequence[Memory]) -> Present:
    return Present(
        window=window,
        offer=offer,
        now=max(line.message.time for line in window.lines),
        new_key=_keys(),
        at={(each.type, each.key): each for each in known},
    )


def _keys() -> Callable[[], str]:
    numbers: Iterator[int] = itertools.count()
    return lambda: f"n{next(numbers)}"


def _trust_in_force(outcome: OperationOutcome) -> str:
    """Return the trust of the activated value, ``"ended"`` for an end, ``""`` for none."""
    if isinstance(outcome.write, EndMemory):
        return "ended"
    if isinstance(outcome.write, PutMemory) and outcome.write.state == "active":
        return outcome.write.trust
    return ""


def support_page(report: SupportReport) -> str:
    """Return the rows as a table, followed by the unexpected outcomes."""
    heads = f"{'cases':>6}{'pass at once':>14}{'active':>8}{'as user':>9}{'s':>7}"
    lines = [f"{'gate':<9}{'file':<34}{heads}"]
    lines += [
        f"{row.gate:<9}{row.file:<34}{row.cases:>6}"
        f"{f'{100 * row.passing / max(1, row.cases):.1f} %':>14}{row.active:>8}{row.as_user:>9}"
        f"{row.seconds:>7.2f}"
        for row in report.rows
    ]
    lines += [f"  {each.case}: {'; '.join(each.reasons)[:200]}" for each in report.wrong]
    return "\n".join(lines)
