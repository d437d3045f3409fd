"""Compare two evaluation runs: which cases got better, and which worse."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from recollect.errors import NotFoundError, UsageError
from recollect.evaluation.eval_report import ROWS, CaseReport, EvalReport, from_json, written
from recollect.evaluation.measures import Figures, total


@dataclass(frozen=True, slots=True, kw_only=True)
class CaseChange:
    """The changes in a case, one sentence each."""

    case: str
    better: tuple[str, ...]
    worse: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """
    A run compared with an earlier one, over the cases of both.

    *changes* are the cases in which something changed. *only_now* and *only_then* are the names of
    cases in one run only, which are not in the figures.
    """

    now: str
    then: str
    figures_now: Figures
    figures_then: Figures
    changes: tuple[CaseChange, ...]
    only_now: tuple[str, ...]
    only_then: tuple[str, ...]

    @property
    def is_worse(self) -> bool:
        """Whether anything got worse."""
        return any(each.worse for each in self.changes)


def read_report(path: Path) -> EvalReport:
    """
    Return the report in a file.

    Raises:
        NotFoundError: The file does not exist.
        UsageError: It is not a report of an evaluation.
    """
    try:
        return from_json(json.loads(path.read_text("utf-8")))
    except FileNotFoundError:
        msg = f"there is no report at {str(path)!r}: `recollect eval --json {path}` writes one"
        raise NotFoundError(msg) from None
    except (OSError, ValueError, RecursionError) as error:
        raise UsageError(f"{str(path)!r} is not a report of `recollect eval`: {error}") from error


def compared(now: EvalReport, then: EvalReport) -> Comparison:
    """Compare the run *now* with the earlier run *then*."""
    earlier = {each.name: each for each in then.cases}
    both = [(each, earlier[each.name]) for each in now.cases if each.name in earlier]
    names = {each.name for each in now.cases}
    changes = [_change(*pair) for pair in both]
    return Comparison(
        now=now.model,
        then=then.model,
        figures_now=total(each.figures for each, _ in both),
        figures_then=total(each.figures for _, each in both),
        changes=tuple(each for each in changes if each.better or each.worse),
        only_now=tuple(each.name for each in now.cases if each.name not in earlier),
        only_then=tuple(name for name in earlier if name not in names),
    )


def _change(now: CaseReport, then: CaseReport) -> CaseChange:
    met_then = {each.about: each.met for each in then.verdicts}
    better = [v.about for v in now.verdicts if v.met and met_then.get(v.about) is False]
    worse = [
        f"{v.about}: {v.found}" for v in now.verdicts if not v.met and met_then.get(v.about) is True
    ]
    for is_better, sentence in _figure_changes(now.figures, then.figures):
        (better if is_better else worse).append(sentence)
    return CaseChange(case=now.name, better=tuple(better), worse=tuple(worse))


def _figure_changes(now: Figures, then: Figures) -> Iterator[tuple[bool, str]]:
    """Yield the figures that got better or worse, except costs, as pairs of is_better and text."""
    for row in ROWS:
        is_cost = row.form == "rate" or not row.better
        value, before = row.figure(now), row.figure(then)
        if is_cost or value is None or before is None or value == before:
            continue
        if row.name in {"recall of musts", "must-nots remembered"}:
            continue  # the verdicts of the single expectations show these
        is_better = (value > before) == (row.better > 0)
        yield is_better, f"{row.name}: {written(row, then)} -> {written(row, now)}"


def comparison_page(comparison: Comparison) -> str:
    """Return a readable report: the figures of both runs, then the cases that changed."""
    width = max(14, len(comparison.now) + 2, len(comparison.then) + 2)
    then, now = comparison.figures_then, comparison.figures_now
    lines = [" " * 30 + comparison.then.rjust(width) + comparison.now.rjust(width)]
    lines += [
        f"{row.name:<30}{written(row, then).rjust(width)}{written(row, now).rjust(width)}"
        for row in ROWS
    ]
    for heading, side in (("worse:", "worse"), ("better:", "better")):
        said = [(each.case, getattr(each, side)) for each in comparison.changes]
        lines += _section(heading, [(case, changes) for case, changes in said if changes])
    lines += _names("only in this run:", comparison.only_now)
    lines += _names("only in the other:", comparison.only_then)
    if not comparison.changes:
        lines += ["", "nothing got better or worse"]
    return "\n".join(lines) + "\n"


def _section(heading: str, said: Sequence[tuple[str, Sequence[str]]]) -> list[str]:
    lines = [
        line for case, changes in said for line in (case, *(f"    {each}" for each in changes))
    ]
    return ["", heading, *lines] if lines else []


def _names(heading: str, names: Sequence[str]) -> list[str]:
    return ["", heading, *(f"    {each}" for each in names)] if names else []
