"""
Measure a run: which expectations are met, and how much was formed, lost or invented.

Recall is the share of musts that are met; precision the share of formed leaves (fields and
list elements that formation wrote) that a must or may covers.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from datetime import datetime
from itertools import combinations
from typing import Final

from recollect.evaluation.case_runner import CaseRun, FormationStep
from recollect.evaluation.cases import EvaluationCase, Expectation, objects_in
from recollect.evaluation.oracle_script import pattern_of
from recollect.evaluation.value_leaves import (
    ValueLeaf,
    allows_loss,
    covers,
    grouped,
    heard_texts,
    is_ended,
    is_unsupported,
    leaves_of,
    same_place,
)
from recollect.formation.succession import holds_from
from recollect.formation.value_identity import normalised, same_text
from recollect.records import Formation, Json, Memory
from recollect.stores.json_pointers import leaves
from recollect.text.analysis import terms_of

NEAR: Final = 0.6
"""Share of common terms, of all terms of both, from which two entries are near duplicates."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CaseVerdict:
    """Whether the expectation *about* is met; if not, *found* shows what there was instead."""

    kind: str
    about: str
    met: bool
    found: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Figures:
    """
    Counts over one or more cases.

    *formed* leaves are those that formation wrote, *covered* the expected ones among them.
    *overwritten* leaves were changed, removed or ended although no expectation allows it.
    *attempted* operations were refused or quarantined as unsupported; *invented* leaves were stored
    with a number, name or date that no message contains.
    """

    musts: int = 0
    met: int = 0
    formed: int = 0
    covered: int = 0
    violations: int = 0
    duplicates: int = 0
    near_duplicates: int = 0
    attempted: int = 0
    invented: int = 0
    overwritten: int = 0
    formations: int = 0
    failures: int = 0
    inserted: int = 0
    patched: int = 0
    ended: int = 0
    merged: int = 0
    quarantined: int = 0
    calls: int = 0
    repairs: int = 0
    input_tokens: int = 0
    output_tokens: int = 0

    @property
    def recall(self) -> float | None:
        """The share of musts that are met; ``None`` if there are none."""
        return self.met / self.musts if self.musts else None

    @property
    def precision(self) -> float | None:
        """The share of formed leaves that are covered; ``None`` if nothing was formed."""
        return self.covered / self.formed if self.formed else None

    def a_formation(self, name: str) -> float | None:
        """Return the count *name* per formation; ``None`` if there was none."""
        count: int = getattr(self, name)
        return count / self.formations if self.formations else None


@dataclass(frozen=True, slots=True, kw_only=True)
class Measured:
    """A case with its verdicts and figures."""

    case: EvaluationCase
    verdicts: tuple[CaseVerdict, ...]
    figures: Figures
    failures: tuple[str, ...] = ()

    @property
    def problems(self) -> tuple[str, ...]:
        """The unmet expectations and the failures, which fail the case."""
        unmet = [
            f"{each.about}: {each.found}" if each.found else each.about
            for each in self.verdicts
            if not each.met
        ]
        return (*unmet, *(f"formation failed: {each}" for each in self.failures))


def measured(run: CaseRun) -> Measured:
    """Return the verdicts and figures of a case that was run."""
    verdicts = [
        _verdict(each, step)
        for each in run.case.expectations
        if each.kind != "may"
        for step in run.steps
        if step.talk == each.after
    ]
    musts = [each for each in verdicts if each.kind == "must"]
    counted = _operations([each for step in run.steps for each in step.formations])
    counted.update(_leaf_counts(run))
    counted.update(duplicate_counts(run))
    counted["attempted"] = _attempted(run)
    return Measured(
        case=run.case,
        verdicts=tuple(verdicts),
        failures=tuple(failure for step in run.steps for failure in step.failures),
        figures=Figures(
            musts=len(musts),
            met=sum(each.met for each in musts),
            violations=sum(not each.met for each in verdicts if each.kind == "must_not"),
            failures=sum(len(step.failures) for step in run.steps),
            **counted,
        ),
    )


def total(figures: Iterable[Figures]) -> Figures:
    """Return the sum of figures, count by count."""
    sums: Counter[str] = Counter()
    for each in figures:
        sums.update({name.name: getattr(each, name.name) for name in fields(Figures)})
    return Figures(**sums)


def _verdict(expectation: Expectation, step: FormationStep) -> CaseVerdict:
    pattern = pattern_of(expectation)
    all_of = [each for each in step.after.values() if each.type == expectation.type]
    state = is_ended if expectation.ended else holds_from
    fitting = [each for each in all_of if state(each, step.at) and pattern.matches(each.value)]
    found = [each for each in fitting if _is_dated(each, expectation)]
    if expectation.count is not None:
        met = len(found) == expectation.count
    else:
        met = bool(found) == (expectation.kind == "must" and not expectation.absent)
    shown = [each for each in found or all_of if each.state == "active"]
    instead = "; ".join(_memory_line(each, step.at) for each in shown[:5])
    return CaseVerdict(
        kind=expectation.kind,
        about=str(expectation),
        met=met,
        found="" if met else f"there is {instead or 'nothing'}",
    )


def _is_dated(memory: Memory, expectation: Expectation) -> bool:
    """Return True if the validity of *memory* begins and ends on the expected days."""
    ends = expectation.at if expectation.ended else expectation.until
    pairs = [(expectation.since, memory.valid_from), (ends, memory.valid_until)]
    return all(day is None or (m is not None and m.date() == day) for day, m in pairs)


def _memory_line(memory: Memory, now: datetime) -> str:
    texts = [f"{pointer[1:]} {leaf!r}" for pointer, leaf in leaves(memory.value)]
    return f"{', '.join(texts)}{'' if holds_from(memory, now) else ' (ended)'}"


def _operations(formations: Sequence[Formation]) -> dict[str, int]:
    """Return counts of the formations' operations and cost."""
    formed = [each for each in formations if each.status == "formed"]
    counts: Counter[str] = Counter()
    for each in formed:
        recorded = each.receipt.get("counts")
        counts.update(recorded if isinstance(recorded, dict) else {})
    return {
        "formations": len(formed),
        "inserted": counts["stored"],
        "patched": counts["changed"],
        "ended": counts["ended"],
        "merged": counts["merged"],
        "quarantined": counts["quarantined"],
        "calls": sum(each.calls for each in formations),
        "repairs": sum(max(0, each.calls - 1) for each in formations),
        "input_tokens": sum(_count(each.receipt.get("input_tokens")) for each in formations),
        "output_tokens": sum(_count(each.receipt.get("output_tokens")) for each in formations),
    }


def _count(value: Json) -> int:
    return value if isinstance(value, int) else 0


def _attempted(run: CaseRun) -> int:
    """Return how many operations were refused or quarantined as unsupported."""
    held = {
        (step.talk, address): memory
        for step in run.steps
        for address, memory in step.after.items()
        if memory.state == "quarantined" and address not in step.before
    }
    refused = [
        (str(each.get("type", "")), _value(each.get("value")))
        for step in run.steps
        for formation in step.formations
        for each in objects_in(formation.receipt.get("refused"))
        # The kinds for unsupported content; other faults are malformed calls.
        if each.get("kind") in {"quote", "claim", "hedge"}
    ]
    attempts = [(each.type, each.value) for each in held.values()] + refused
    return sum(not _is_tried(type_, value, run.case) for type_, value in attempts)


def _value(written: Json) -> Json:
    """Return a value that a receipt stores as JSON text; the text itself if it was truncated."""
    try:
        found: Json = json.loads(written) if isinstance(written, str) else written
    except ValueError:
        return written
    return found


def _is_tried(type_: str, value: Json, case: EvaluationCase) -> bool:
    """Return True if the case's oracle tries this operation on purpose (`Expectation.tried`)."""
    return isinstance(value, Mapping) and any(
        each.tried and each.type == type_ and pattern_of(each).matches(value)
        for each in case.expectations
    )


def _leaf_counts(run: CaseRun) -> dict[str, int]:
    counts: Counter[str] = Counter(formed=0, covered=0, invented=0, overwritten=0)
    for step in run.steps:
        before, after = leaves_of(step.before, step.at), leaves_of(step.after, step.at)
        formed, lost = _without(after, before), _without(before, after)
        heard = heard_texts(run.case, step.talk)
        counts["formed"] += len(formed)
        counts["covered"] += sum(
            any(covers(each, leaf, run.case) for each in run.case.expectations) for leaf in formed
        )
        counts["invented"] += sum(is_unsupported(leaf, heard, run.case) for leaf in formed)
        counts["overwritten"] += sum(
            not _is_allowed_loss(leaf, step, formed, run.case) for leaf in lost
        )
    return dict(counts)


def _without(leaves: Sequence[ValueLeaf], others: Sequence[ValueLeaf]) -> list[ValueLeaf]:
    """Return the leaves that are not among *others*, as a difference of multisets."""
    left = Counter(each.identity for each in others)
    found = []
    for each in leaves:
        if left[each.identity]:
            left[each.identity] -= 1
        else:
            found.append(each)
    return found


def _is_allowed_loss(
    lost: ValueLeaf, step: FormationStep, formed: Sequence[ValueLeaf], case: EvaluationCase
) -> bool:
    """Return True if the case allows *lost* to be removed or replaced."""
    memory = step.after.get((lost.memory.type, lost.memory.key))
    is_closed = memory is None or not holds_from(memory, step.at)
    if any(allows_loss(each, lost, is_closed=is_closed) for each in case.expectations):
        return True
    instead = [leaf for leaf in formed if same_place(leaf, lost)]
    return any(covers(each, leaf, case) for each in case.expectations for leaf in instead)


def duplicate_counts(run: CaseRun) -> dict[str, int]:
    """Return the numbers of exact and near duplicates at the end of a run."""
    last = run.steps[-1]
    current = [each for each in last.after.values() if holds_from(each, last.at)]
    exact = sum(_repeated_elements(each) for each in current)
    near = 0
    for one, other in _pairs(current):
        if same_text(one.value, other.value):
            exact += 1
        elif _is_near(one, other, run.case):
            near += 1
    return {"duplicates": exact, "near_duplicates": near}


def _pairs(memories: Sequence[Memory]) -> Iterator[tuple[Memory, Memory]]:
    for same_type in grouped(memories).values():
        yield from combinations(same_type, 2)


def _repeated_elements(memory: Memory) -> int:
    """Return the number of duplicate elements in a document's lists."""
    seen: Counter[tuple[str, str]] = Counter()
    for pointer, leaf in leaves(memory.value):
        parent, _, last = pointer.rpartition("/")
        if last.isdigit() and isinstance(leaf, str):
            seen[parent, normalised(leaf)] += 1
    return sum(count - 1 for count in seen.values())


def _is_near(one: Memory, other: Memory, case: EvaluationCase) -> bool:
    """Return True if two entries meet the same expectation, or have nearly the same words."""
    about = [e for e in case.expectations if e.type == one.type and _expects_one_entry(e)]
    mine = {at for at, e in enumerate(about) if pattern_of(e).matches(one.value)}
    theirs = {at for at, e in enumerate(about) if pattern_of(e).matches(other.value)}
    if mine - theirs and theirs - mine:  # each meets an expectation that the other does not
        return False
    if mine & theirs:
        return True
    first, second = _terms(one), _terms(other)
    return len(first & second) >= NEAR * len(first | second)


def _expects_one_entry(expectation: Expectation) -> bool:
    """Return True if *expectation* is about one entry, so that two which meet it are duplicates."""
    is_there = expectation.kind == "must" and not (expectation.absent or expectation.ended)
    says_which = bool(expectation.where or expectation.equals or expectation.contains)
    return is_there and says_which and expectation.count is None


def _terms(memory: Memory) -> set[str]:
    return {
        term for _, leaf in leaves(memory.value) if isinstance(leaf, str) for term in terms_of(leaf)
    }
