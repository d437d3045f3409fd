"""Apply changes to an agent's rules, and refuse invalid ones; pure functions."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final, Literal, TypeAlias

from recollect.errors import ProposalRefusedError, UsageError
from recollect.formation.evidence import TracedOperation, traced
from recollect.formation.instruction_rules import (
    INSTRUCTIONS_CHARACTERS_MAX,
    RULES_MAX,
    wrong_rules,
)
from recollect.formation.value_identity import normalised
from recollect.records import Evidence, EvidenceMap, JsonObject, Memory
from recollect.stores.json_pointers import covers, is_list, shown, texts_in
from recollect.stores.provenance import (
    NO_WORDS,
    Found,
    Source,
    Words,
    grouped,
    quoted,
    unusual,
    words_of,
)
from recollect.stores.validation import POSITION_MAX
from recollect.text.scope_paths import written_scope

CHANGES_MAX: Final = 2 * RULES_MAX
"""Changes in one proposal, at most: every rule replaced, and as many added."""
REASONS_CHARACTERS_MAX: Final = 20_000
"""Characters of the reasons in one proposal together, at most."""

_UNSTORABLE: Final = re.compile("[\0\ud800-\udfff]")

ChangeKind: TypeAlias = Literal["add", "replace", "remove"]


@dataclass(frozen=True, slots=True, kw_only=True)
class RuleChange:
    """
    One change of the rules, and its reason.

    *number* counts the rules as shown to the model, from 1, the fixed ones first. An added rule
    has none.
    """

    kind: ChangeKind
    reason: str
    rule: str = ""
    number: int | None = None


def check_rules(
    rules: Sequence[str],
    fixed: Sequence[str] = (),
    *,
    characters_max: int,
    stored: Sequence[str] = (),
) -> None:
    """
    Check *rules* against the limits.

    A *stored* rule may repeat a fixed one, as the program may have fixed it after it was stored.

    Raises:
        ProposalRefusedError: There is no rule; one is blank, has more than one line, or is
            repeated (also among the *fixed* ones); or they are too many or too long.
    """
    if not rules:
        raise ProposalRefusedError("no rule is left: instructions need at least one")
    if wrong := wrong_rules(rules, characters_max=characters_max):
        raise ProposalRefusedError(wrong)
    above = {normalised(each) for each in fixed} - {normalised(each) for each in stored}
    seen: set[str] = set()
    for each in rules:
        words = normalised(each)
        if words in above | seen:
            raise ProposalRefusedError(f"the rule {each[:80]!r} is there already")
        seen.add(words)


def check_changes(changes: Sequence[RuleChange]) -> None:
    """
    Check that each change has a reason, and that the changes are within the limits.

    Raises:
        ProposalRefusedError: A reason is blank; or the changes, reasons or rules are too many or
            too long; or a rule is invalid.
    """
    if len(changes) > CHANGES_MAX:
        msg = f"it has {len(changes)} changes; the limit CHANGES_MAX is {CHANGES_MAX}"
        raise ProposalRefusedError(msg)
    if any(not each.reason.strip() for each in changes):
        raise ProposalRefusedError("a change has no reason: give what went wrong, and why it helps")
    length = sum(len(each.reason) for each in changes)
    if length > REASONS_CHARACTERS_MAX:
        limit = f"the limit REASONS_CHARACTERS_MAX is {REASONS_CHARACTERS_MAX}"
        raise ProposalRefusedError(f"its reasons have {length} characters; {limit}")
    if wrong := wrong_rules([each.rule for each in changes if each.kind != "remove"]):
        raise ProposalRefusedError(wrong)


def recordable(changes: Sequence[RuleChange]) -> tuple[RuleChange, ...]:
    """
    Return *changes* in a form that can be stored, for any text that a model wrote.

    Content beyond the limits of `check_changes` is cut, characters that cannot be stored are
    replaced, and numbers that cannot be stored are omitted.
    """
    kept: list[RuleChange] = []
    reasons, rules = REASONS_CHARACTERS_MAX, INSTRUCTIONS_CHARACTERS_MAX
    for each in changes[:CHANGES_MAX]:
        reason, rule = _storable(each.reason[:reasons]), _storable(each.rule[:rules])
        reasons, rules = reasons - len(reason), rules - len(rule)
        number = None if abs(each.number or 0) > POSITION_MAX else each.number
        kept.append(replace(each, reason=reason, rule=rule, number=number))
    return tuple(kept)


def _storable(text: str) -> str:
    return _UNSTORABLE.sub("\ufffd", text)


def applied(
    rules: Sequence[str],
    evidence: EvidenceMap,
    changes: Sequence[RuleChange],
    *,
    fixed: Sequence[str],
    grounds: Sequence[Source] = (),
) -> tuple[tuple[str, ...], EvidenceMap]:
    """
    Return the rules after *changes*, and the evidence of each.

    Numbers are those before any change. A new rule's evidence is the *grounds* (the conversations
    that the model was shown) that share a word with it, or all of them if none does.

    Raises:
        ProposalRefusedError: A change touches a fixed rule or an unknown one, or two changes touch
            the same rule.
    """
    named = [each.number for each in changes if each.number is not None]
    for number in named:
        if 1 <= number <= len(fixed):
            msg = f"rule {number} is fixed and cannot change: {fixed[number - 1][:80]!r}"
            raise ProposalRefusedError(msg)
        if not len(fixed) < number <= len(fixed) + len(rules):
            msg = f"there is no rule {shown(number)}; there are {len(fixed) + len(rules)}"
            raise ProposalRefusedError(msg)
    if len(set(named)) < len(named):
        raise ProposalRefusedError("two changes name the same rule: make them one")
    # From the last rule to the first, so that a removal does not shift the numbers still to come.
    last_first = sorted(changes, key=lambda each: -(each.number or 0))
    steps = [_step(each, len(fixed), grounds) for each in last_first if each.kind != "add"]
    steps += [_step(each, len(fixed), grounds) for each in changes if each.kind == "add"]
    said = _words_by_message(grounds)
    value, rests = traced(
        {"rules": list(rules)}, evidence, steps, said=lambda each: said.get(each, quoted(each))
    )
    return rules_in(value), rests


def _words_by_message(grounds: Sequence[Source]) -> dict[Evidence, Words]:
    """Return the words that each message may have: all words of its conversation."""
    found: dict[Evidence, Words] = {}
    for each in grounds:
        for message in each.evidence:
            found[message] = found.get(message, NO_WORDS) | each.words
    return found


def _grounds(rule: str, grounds: Sequence[Source]) -> Found:
    """Return the evidence of a rule: whole conversations, as its exact message is unknown."""
    words = words_of(rule)
    telling = [each for each in grounds if unusual(each).words & words]
    return grouped([each for some in telling or grounds for each in some.evidence])


def _step(change: RuleChange, before: int, talks: Sequence[Source]) -> TracedOperation:
    place = "-" if change.number is None else str(change.number - before - 1)
    operation: JsonObject = {"op": change.kind, "path": f"/rules/{place}"}
    if change.kind == "remove":
        return TracedOperation(operation=operation)
    grounds = _grounds(change.rule, talks)
    rests = {"": grounds} if grounds else {}
    return TracedOperation(operation={**operation, "value": change.rule.strip()}, evidence=rests)


def rules_in(value: JsonObject) -> tuple[str, ...]:
    """Return the rules in a document's value, without elements that are not text."""
    return tuple(texts_in(value.get("rules")))


def rules_of(stored: Memory | None) -> tuple[str, ...]:
    """
    Return the rules of a stored document; none if there is no document.

    Raises:
        UsageError: They break a limit: another program wrote them without `check_rules`.
    """
    if stored is None:
        return ()
    rules = stored.value.get("rules", ())
    wrong = wrong_rules(rules) if is_list(rules) else f"{shown(rules)} is not a list of rules"
    if wrong:
        raise UsageError(
            f"version {stored.version} of the instructions {stored.key!r} of "
            f"{written_scope(stored.scope)} cannot be used: {wrong}. Write new rules, or roll back"
        )
    return rules_in(stored.value)


def carried(
    rules: Sequence[str], old: Sequence[str], evidence: EvidenceMap
) -> dict[str, tuple[Evidence, ...]]:
    """
    Return the evidence of *rules*; unchanged *old* ones keep theirs.

    >>> said = Evidence(thread="t", message="m")
    >>> sorted(carried(["new", "old"], ["old"], {"/rules/0": [said]}))
    ['/rules/1']
    """
    found: dict[str, tuple[Evidence, ...]] = {}
    for at, rule in enumerate(rules):
        if rule not in old:
            continue
        place = f"/rules/{old.index(rule)}"
        rests = [
            each for pointer, some in evidence.items() if covers(pointer, place) for each in some
        ]
        if rests:
            found[f"/rules/{at}"] = tuple(dict.fromkeys(rests))
    return found
