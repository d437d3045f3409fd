"""The report of an evaluation run, with the figures of its controls, as text and as JSON."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Final

from recollect.evaluation.measures import CaseVerdict, Figures, Measured, total
from recollect.records import Json, JsonObject

FORMAT: Final = 1

Figure = Callable[[Figures], float | None]


@dataclass(frozen=True, slots=True, kw_only=True)
class CaseReport:
    """The results of one case in a report."""

    name: str
    language: str
    tags: tuple[str, ...]
    verdicts: tuple[CaseVerdict, ...]
    figures: Figures
    failures: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class EvalReport:
    """
    The results of *model* on cases; *controls* are totals of other models on the same.

    The controls of a run are ``oracle``, which answers as the cases expect, and ``nothing``, which
    remembers nothing: figures are meaningful between the two.
    """

    model: str
    cases: tuple[CaseReport, ...]
    controls: Mapping[str, Figures] = field(default_factory=dict)

    @property
    def figures(self) -> Figures:
        """The totals of all cases."""
        return total(each.figures for each in self.cases)

    @property
    def is_met(self) -> bool:
        """Whether every must is met, no must-not is violated, and no formation failed."""
        return all(v.met for case in self.cases for v in case.verdicts) and not any(
            case.failures for case in self.cases
        )


def report_of(
    model: str,
    measured: Sequence[Measured],
    controls: Mapping[str, Sequence[Measured]] | None = None,
) -> EvalReport:
    """Return the report of cases that *model* formed, and of its *controls*."""
    return EvalReport(
        model=model,
        cases=tuple(
            CaseReport(
                name=each.case.name,
                language=each.case.language,
                tags=each.case.tags,
                verdicts=each.verdicts,
                figures=each.figures,
                failures=each.failures,
            )
            for each in measured
        ),
        controls={
            name: total(each.figures for each in every) for name, every in (controls or {}).items()
        },
    )


@dataclass(frozen=True, slots=True)
class ReportFigure:
    """One row of figures: its name, how it is computed, and which direction is better."""

    name: str
    figure: Figure
    form: str = "{count}"
    better: int = 0  # 1: more is better, -1: less is better, 0: neither


def _rate(name: str) -> Figure:
    return lambda figures: figures.a_formation(name)


def _count(name: str) -> Figure:
    return lambda figures: float(getattr(figures, name))


ROWS: Final = (
    ReportFigure("recall of musts", lambda f: f.recall, "share", 1),
    ReportFigure("precision of formed leaves", lambda f: f.precision, "share", 1),
    ReportFigure("must-nots remembered", _count("violations"), "count", -1),
    ReportFigure("duplicates, exact", _count("duplicates"), "count", -1),
    ReportFigure("duplicates, near", _count("near_duplicates"), "count", -1),
    ReportFigure("ungrounded, attempted", _count("attempted"), "count", -1),
    ReportFigure("ungrounded, stored", _count("invented"), "count", -1),
    ReportFigure("overwritten without reason", _count("overwritten"), "count", -1),
    ReportFigure("failed formations", _count("failures"), "count", -1),
    ReportFigure("inserted a formation", _rate("inserted"), "rate"),
    ReportFigure("patched a formation", _rate("patched"), "rate"),
    ReportFigure("ended a formation", _rate("ended"), "rate"),
    ReportFigure("merged a formation", _rate("merged"), "rate"),
    ReportFigure("calls a formation", _rate("calls"), "rate", -1),
    ReportFigure("repairs", _count("repairs"), "count", -1),
    ReportFigure("tokens read a formation", _rate("input_tokens"), "rate", -1),
    ReportFigure("tokens written a formation", _rate("output_tokens"), "rate", -1),
)
"""The figures of a run, in the order of the report."""


def written(row: ReportFigure, figures: Figures) -> str:
    """Return a figure as text."""
    value = row.figure(figures)
    if value is None:
        return "-"
    if row.form == "share":
        return f"{value * 100:.1f} %"
    return f"{value:,.2f}" if row.form == "rate" else f"{value:,.0f}"


def page(report: EvalReport) -> str:
    """Return a readable report: the cases, the problems, and the figures of model and controls."""
    blocks = [_cases_table(report), *_problems(report), _figures_table(report)]
    return "\n\n".join(blocks) + "\n"


_COLUMNS: Final[tuple[tuple[str, Figure, str], ...]] = (
    ("recall", lambda f: f.recall, "share"),
    ("prec.", lambda f: f.precision, "share"),
    ("not", _count("violations"), "count"),
    ("dup.", lambda f: float(f.duplicates + f.near_duplicates), "count"),
    ("ungr.", lambda f: float(f.attempted + f.invented), "count"),
    ("over", _count("overwritten"), "count"),
    ("ins.", _count("inserted"), "count"),
    ("patch", _count("patched"), "count"),
    ("end", _count("ended"), "count"),
    ("calls", _count("calls"), "count"),
    ("tokens", lambda f: float(f.input_tokens + f.output_tokens), "count"),
)
_NAME_WIDTH: Final = 60


def _cases_table(report: EvalReport) -> str:
    width = max(len(heading) for heading, *_ in _COLUMNS) + 2
    head = " " * _NAME_WIDTH + "".join(heading.rjust(width) for heading, *_ in _COLUMNS)
    lines = [f"{report.model}: {len(report.cases)} cases", head]
    for case in report.cases:
        cells = "".join(
            written(ReportFigure("", figure, form), case.figures).replace(".0 %", "").rjust(width)
            for _, figure, form in _COLUMNS
        )
        lines.append(_padded(case.name, _NAME_WIDTH) + cells)
    return "\n".join(lines)


def _problems(report: EvalReport) -> list[str]:
    lines = []
    for case in report.cases:
        wrong = [f"{v.about}: {v.found}" for v in case.verdicts if not v.met]
        wrong += [f"formation failed: {each}" for each in case.failures]
        lines += [f"{case.name}", *(f"    {each}" for each in wrong)] if wrong else []
    return ["\n".join(["not as it should be:", *lines])] if lines else []


def _figures_table(report: EvalReport) -> str:
    columns = {report.model: report.figures, **report.controls}
    width = max(14, *(len(name) + 2 for name in columns))
    lines = [" " * 30 + "".join(name.rjust(width) for name in columns)]
    for row in ROWS:
        cells = "".join(written(row, figures).rjust(width) for figures in columns.values())
        lines.append(f"{row.name:<30}{cells}")
    return "\n".join(lines)


def _padded(name: str, width: int) -> str:
    """Return *name* cut or padded to *width* terminal columns; Chinese characters take two."""
    cut, used = "", 0
    for character in name:
        wide = 2 if ord(character) > 0x2E7F else 1  # CJK blocks begin at U+2E80
        if used + wide > width - 1:
            break
        cut, used = cut + character, used + wide
    return cut + " " * (width - used)


def as_json(report: EvalReport) -> JsonObject:
    """Return the report as one JSON object; `from_json` reads it."""
    return {
        "format": FORMAT,
        "model": report.model,
        "recall": report.figures.recall,
        "precision": report.figures.precision,
        "figures": asdict(report.figures),
        "controls": {name: asdict(each) for name, each in report.controls.items()},
        "cases": [_case_json(each) for each in report.cases],
    }


def _case_json(case: CaseReport) -> JsonObject:
    return {
        "name": case.name,
        "language": case.language,
        "tags": list(case.tags),
        "recall": case.figures.recall,
        "precision": case.figures.precision,
        "figures": asdict(case.figures),
        "verdicts": [asdict(each) for each in case.verdicts],
        "failures": list(case.failures),
    }


def write_report(path: Path, report: EvalReport) -> None:
    """Write *report* as one JSON object."""
    text = json.dumps(as_json(report), ensure_ascii=False, indent=2)
    path.write_text(text + "\n", encoding="utf-8")


def from_json(document: Json) -> EvalReport:
    """
    Return the report that `as_json` wrote.

    Raises:
        ValueError: *document* is not such a report.
    """
    try:
        if not isinstance(document, Mapping) or document["format"] != FORMAT:
            raise ValueError(f"its format is not {FORMAT}")
        return EvalReport(
            model=str(document["model"]),
            cases=tuple(_case(each) for each in _listed(document["cases"])),
            controls={
                name: Figures(**_object(each))
                for name, each in _object(document["controls"]).items()
            },
        )
    except (KeyError, TypeError) as error:
        raise ValueError(f"{type(error).__name__}: {error}") from error


def _case(document: Json) -> CaseReport:
    found = _object(document)
    return CaseReport(
        name=str(found["name"]),
        language=str(found["language"]),
        tags=tuple(str(each) for each in _listed(found["tags"])),
        verdicts=tuple(CaseVerdict(**_object(each)) for each in _listed(found["verdicts"])),
        figures=Figures(**_object(found["figures"])),
        failures=tuple(str(each) for each in _listed(found["failures"])),
    )


def _object(value: object) -> dict[str, Any]:
    if not isinstance(value, Mapping):
        raise TypeError(f"an object is a {type(value).__name__}")
    return dict(value)


def _listed(value: object) -> list[Json]:
    if not isinstance(value, list):
        raise TypeError(f"a list is a {type(value).__name__}")
    return value
