"""Form many recorded facts, and check the outcome of each."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import AsyncIterator, Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from itertools import chain
from typing import Final

from benchmarks.recollect_system import new_message
from benchmarks.recorded_facts import FactModel, RecordedFact, Session
from recollect.formation.config import FormationSettings
from recollect.formation.types import NOTE
from recollect.formation.value_identity import normalised
from recollect.memory.facade import Recollect
from recollect.memory.pagination import each_memory
from recollect.records import Formation, Memory, Scope
from recollect.stores.locator import open_store
from recollect.text.analysis import terms_of
from recollect.worker.formation_result import FormationResult

ROWS_A_PAGE: Final = 100
REASONS_SHOWN: Final = 12
MOSTLY_SAID: Final = 0.5
_REASONS: Final = tuple(
    (re.compile(pattern), why)
    for pattern, why in (
        (r"the number ", "a number that nobody said"),
        (r"the date ", "a date that nobody said"),
        (r"the name ", "a name that nobody said"),
        (r"was in doubt", "a doubt that was left out"),
        (r"reads as an instruction", "an instruction that no user said"),
        (r"^only a new message of", "no user said it"),
        (r" does not say ", "words that were not said"),
        (r" cites no message", "no message is cited"),
    )
)


@dataclass(slots=True)
class FormedRow:
    """The outcomes of the facts of one model."""

    model: str
    sessions: int = 0
    messages: int = 0
    offered: int = 0
    formations: int = 0
    calls: int = 0
    tokens: int = 0
    ends: Counter[str] = field(default_factory=Counter)
    actions: Counter[str] = field(default_factory=Counter)
    reasons: Counter[str] = field(default_factory=Counter)
    waiting: int = 0
    lost: int = 0
    of_user: int = 0
    """Facts that the user mostly said (`said_by_user`)."""
    of_user_active: int = 0
    of_user_reasons: Counter[str] = field(default_factory=Counter)


@dataclass(slots=True)
class FormedReport:
    """The rows of one run over the same sessions."""

    recorded: str
    rows: list[FormedRow] = field(default_factory=list)

    def as_json(self) -> dict[str, object]:
        """Return the report as a JSON object."""
        return asdict(self)


async def form_recorded(
    name: str, sessions: Sequence[Session], progress: Callable[[str], None] = lambda _: None
) -> FormedReport:
    """
    Form *sessions* with their recorded facts; print nothing.

    Faulty facts are repeated unchanged, and then quarantined or refused. The control has the same
    facts with invented quotes: all must be refused.
    """
    report = FormedReport(recorded=name)
    for label, misquotes in (("recorded", False), ("misquoted", True)):
        row = FormedRow(model=label)
        for talk in _talks(sessions):
            progress(f"{label}, {talk[0].conversation}")
            await _form_talk(row, talk, FactModel(misquotes=misquotes, insists=True))
        report.rows.append(row)
    return report


def _talks(sessions: Sequence[Session]) -> Iterator[list[Session]]:
    """Yield the sessions of each conversation."""
    talks: dict[str, list[Session]] = {}
    for session in sessions:
        talks.setdefault(session.conversation, []).append(session)
    yield from talks.values()


async def _form_talk(row: FormedRow, talk: Sequence[Session], model: FactModel) -> None:
    scope: Scope = ("bench", talk[0].conversation)
    settings = FormationSettings(types=(NOTE,))
    async with Recollect(
        open_store("memory:"), embedder="none", model=model, formation=settings, worker=False
    ) as memory:
        reasons = dict[str, str]()
        for session in talk:
            model.session = session
            # Without captions of pictures: the facts were recorded from the text alone.
            said = [replace(new_message(m), content=None) for m in session.messages if m.text]
            await memory.append(scope, session.id, said)
            row.messages += len(said)
            results = await memory.form(scope)
            _count(row, results)
            reasons |= {each.key: each.reason for one in results for each in one.outcomes}
        refused = [each async for each in _refusals(memory, scope)]
        notes = [each async for each in each_memory(memory, scope, NOTE.name)]
        kept = {str(each.value["content"]) for each in notes}
        threads = await memory.pending(scope, limit=ROWS_A_PAGE)
        row.waiting += len(threads.rows)
        _count_of_user(row, talk, notes, reasons)
    row.sessions += len(talk)
    row.offered += len(model.offered)
    row.calls += model.spent.calls
    row.tokens += model.spent.tokens
    row.actions["refused"] += len(refused)
    row.reasons.update(f"refused: {_why(each)}" for each in refused)
    missing = set(map(normalised, model.offered)) - set(map(normalised, kept))
    row.lost += max(0, len(missing) - len(refused))


def _count_of_user(
    row: FormedRow, talk: Sequence[Session], notes: Sequence[Memory], reasons: Mapping[str, str]
) -> None:
    """Count the facts that the user mostly said, and the active ones among them."""
    by_text = {normalised(str(each.value["content"])): each for each in notes}
    for session in talk:
        for fact in session.facts:
            if said_by_user(fact, session) < MOSTLY_SAID:
                continue
            row.of_user += 1
            note = by_text.get(normalised(fact.text))
            if note is not None and note.state == "active":
                row.of_user_active += 1
            else:
                row.of_user_reasons[_why(reasons.get(note.key, "") if note else "refused")] += 1


def said_by_user(fact: RecordedFact, session: Session) -> float:
    """Return the share of the terms of *fact* that occur in the cited messages of the user."""
    terms = set(terms_of(fact.text))
    cited = [m for m in session.messages if m.role == "user" and m.message_id in fact.evidence]
    said = set(chain.from_iterable(terms_of(each.text) for each in cited))
    return len(terms & said) / len(terms) if terms else 0.0


def _count(row: FormedRow, results: Sequence[FormationResult]) -> None:
    for result in results:
        row.formations += 1
        row.ends[result.end] += 1
        for outcome in result.outcomes:
            row.actions[outcome.action] += 1
            if outcome.action in {"quarantined", "refused"}:
                row.reasons[f"{outcome.action}: {_why(outcome.reason)}"] += 1


def _why(reason: str) -> str:
    """Return the kind of a reason, without its names and numbers."""
    return next((why for pattern, why in _REASONS if pattern.search(reason)), reason[:60])


async def _refusals(memory: Recollect, scope: Scope) -> AsyncIterator[str]:
    """Yield the first fault of each refused operation."""
    async for formation in _formations(memory, scope):
        refused = formation.receipt.get("refused", ())
        faults: dict[str, str] = {}
        for each in refused if isinstance(refused, Sequence) else ():
            if isinstance(each, Mapping):
                faults.setdefault(str(each.get("value")), str(each["reason"]))
        for reason in faults.values():
            yield reason
        left_out = formation.receipt.get("refused_left_out", 0)
        for _ in range(left_out if isinstance(left_out, int) else 0):
            yield "not told, for want of room"


async def _formations(memory: Recollect, scope: Scope) -> AsyncIterator[Formation]:
    cursor: str | None = None
    while True:
        page = await memory.formations(scope, cursor=cursor, limit=ROWS_A_PAGE)
        for each in page.rows:
            yield each
        cursor = page.cursor
        if cursor is None:
            return


def formed_page(report: FormedReport) -> str:
    """Return the rows as a table, followed by the reasons of refusals."""
    first = report.rows[0]
    said = f"{first.sessions:,} sessions, {first.messages:,} messages"
    actions = sorted({action for row in report.rows for action in row.actions})
    names = ("facts", "formations", "calls", *actions, "waiting", "lost")
    lines = [
        f"what becomes of the facts recorded in {report.recorded}: {said}",
        f"{'':<12}" + "".join(f"{name:>13}" for name in names),
    ]
    for row in report.rows:
        done = (row.actions[action] for action in actions)
        figures = (row.offered, row.formations, row.calls, *done, row.waiting, row.lost)
        lines.append(f"{row.model:<12}" + "".join(f"{each:>13,}" for each in figures))
    for row in report.rows:
        ends = ", ".join(f"{end} {count:,}" for end, count in row.ends.most_common())
        lines.append(f"{row.model}: formations that ended as {ends}")
        lines += [f"  {n:>7,}  {why}" for why, n in row.reasons.most_common(REASONS_SHOWN)]
        lines.append(
            f"{row.model}: of {row.of_user:,} facts of which the user said at least "
            f"{MOSTLY_SAID:.0%} of the words, {row.of_user_active:,} are in force"
        )
        lines += [f"  {n:>7,}  {why}" for why, n in row.of_user_reasons.most_common(REASONS_SHOWN)]
    return "\n".join(lines) + "\n"
