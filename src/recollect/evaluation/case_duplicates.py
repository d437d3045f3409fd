"""Count the duplicates at the end of a case: memories that are equal, or nearly so."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import combinations
from typing import Final

from recollect.evaluation.case_runner import CaseRun
from recollect.evaluation.cases import EvaluationCase, Expectation
from recollect.evaluation.oracle_script import pattern_of
from recollect.evaluation.value_leaves import grouped
from recollect.formation.succession import holds_from
from recollect.formation.value_identity import normalised, same_text
from recollect.records import Memory
from recollect.stores.json_pointers import leaves
from recollect.text.analysis import terms_of

NEAR: Final = 0.6
"""Share of common terms, of all terms of both, from which two entries are near duplicates."""


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
