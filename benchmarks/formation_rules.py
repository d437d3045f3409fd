"""Count the right and wrong answers of the corpus that each formation check stops."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, Literal, TypeAlias

from benchmarks.formation_corpus import BAD_ANSWERS, CASES, Case, is_kept_apart, read_corpus
from benchmarks.formation_replay import right_calls, wrong_calls
from benchmarks.support import ATTACKS, HONEST, SupportVerdict, verdict_on

AnswerKind: TypeAlias = Literal["right", "wrong", "attack"]
KINDS: Final[tuple[AnswerKind, ...]] = ("right", "wrong", "attack")
LATER: Final = "later_answers"
_PLACE: Final = re.compile(r"^(?:(?:refused|quarantined): )?(?:[/\w-]*: )?")
_DETAIL: Final = re.compile(
    r"""'(?:[^']|'(?=\w))*'|"[^"]*"|\S*\d\S*|\bmessages? [\d, ]+|(?<=the number )\S+"""
    r"|(?<=the date )\S+|^\S+(?= says it of)|(?<=of )\S+$"
)
RULE_CHARACTERS: Final = 70


@dataclass(slots=True)
class RuleCounts:
    """Answers of each kind that a check stops, and those that no other check stops."""

    rule: str
    stopped: Counter[AnswerKind] = field(default_factory=Counter)
    alone: Counter[AnswerKind] = field(default_factory=Counter)


@dataclass(slots=True)
class RuleReport:
    """Judged answers by kind, the active ones among them, and the counts of each check."""

    answers: Counter[AnswerKind] = field(default_factory=Counter)
    passed: Counter[AnswerKind] = field(default_factory=Counter)
    rules: dict[str, RuleCounts] = field(default_factory=dict)

    def as_json(self) -> dict[str, object]:
        """Return the report as a JSON object."""
        return {
            "answers": _counted(self.answers),
            "passed": _counted(self.passed),
            "rules": [
                {
                    "rule": each.rule,
                    "stopped": _counted(each.stopped),
                    "alone": _counted(each.alone),
                }
                for each in self.rules.values()
            ],
        }


def _counted(counts: Counter[AnswerKind]) -> dict[str, int]:
    return {str(kind): count for kind, count in counts.items()}


def count_rules(folder: Path) -> RuleReport:
    """Judge the answers in *folder* outside the held-out half; count the checks that stop them."""
    report = RuleReport()
    for kind, case in _answers(folder):
        verdict = verdict_on(case)
        report.answers[kind] += 1
        report.passed[kind] += verdict.passes if kind == "right" else verdict.active > 0
        rules = {rule_of(each) for each in _reasons(verdict)}
        for rule in rules:
            counts = report.rules.setdefault(rule, RuleCounts(rule))
            counts.stopped[kind] += 1
            counts.alone[kind] += len(rules) == 1
    return report


def _answers(folder: Path) -> Iterator[tuple[AnswerKind, Case]]:
    """Yield each answer as a case with only its calls."""
    cases = {each["id"]: (number, each) for number, each in enumerate(read_corpus(folder, CASES))}
    for number, case in cases.values():
        for answer in () if is_kept_apart(number) else case["answers"]:
            yield "right", {**case, "calls": right_calls(answer)}
    for bad in read_corpus(folder, BAD_ANSWERS):
        number, case = cases[bad["case"]]
        if not is_kept_apart(number):
            yield "wrong", {**case, "calls": wrong_calls(bad)}
    for case in read_corpus(folder, LATER):
        yield "right", case
        for wrong in case["wrong"]:
            yield "wrong", {**case, "calls": [wrong["call"]]}
    for name in HONEST:
        yield from (("right", each) for each in read_corpus(folder, name))
    for name in ATTACKS:
        yield from (("attack", each) for each in read_corpus(folder, name))


def _reasons(verdict: SupportVerdict) -> Iterator[str]:
    for reason in verdict.reasons:
        yield from re.split(r"; (?=/|it |nobody)", reason)


def rule_of(reason: str) -> str:
    """
    Return a reason without places, quotes and numbers, so that all of one check are equal.

    >>> rule_of("/content: the number 42 is not in message 1, 3")
    'the number … is not in …'
    """
    return _DETAIL.sub("…", _PLACE.sub("", reason))[:RULE_CHARACTERS]


def rules_page(report: RuleReport) -> str:
    """Return *report* as a table, with the checks that stop most right answers first."""
    heads = "".join(f"{each:>9}{'alone':>7}" for each in KINDS)
    lines = [f"{'rule':<{RULE_CHARACTERS + 2}}{heads}"]

    def stops(counts: RuleCounts) -> tuple[int, int, str]:
        return -counts.stopped["right"], -counts.stopped["wrong"], counts.rule

    for each in sorted(report.rules.values(), key=stops):
        cells = "".join(f"{each.stopped[kind]:>9}{each.alone[kind]:>7}" for kind in KINDS)
        lines.append(f"{each.rule:<{RULE_CHARACTERS + 2}}{cells}")
    for name, counts in (("answers", report.answers), ("kept", report.passed)):
        cells = "".join(f"{counts[kind]:>9}{'':>7}" for kind in KINDS)
        lines.append(f"{name:<{RULE_CHARACTERS + 2}}{cells}".rstrip())
    return "\n".join(lines)
