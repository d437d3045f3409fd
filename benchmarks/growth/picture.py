"""Curves of growth as SVG: two panels with logarithmic axes, ours beside the control."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from benchmarks.growth.report import GrowthReport, GrowthRow

WIDTH: Final = 860
HEIGHT: Final = 300
_TOP: Final = 64
_BOTTOM: Final = 250
_PANEL: Final = 320
_LEFTS: Final = (80, 500)
_INK: Final = "#334155"
_GRID: Final = "#e2e8f0"
_STYLE: Final = 'font-family="system-ui, sans-serif" font-size="13" role="img"'

Figure = Callable[[GrowthRow], float | None]


@dataclass(frozen=True, slots=True, kw_only=True)
class GrowthPicture:
    """One figure by entries and by scopes, and the name of its control."""

    name: str
    title: str
    control: str
    has_below: bool = False


PICTURES: Final = (
    GrowthPicture(
        name="recall",
        title="Recall, ms of the processor",
        control="a scan by LIKE of the same texts in SQLite",
        has_below=True,
    ),
    GrowthPicture(
        name="append",
        title="Append with its vector, ms of the processor",
        control="a bare commit of one row",
    ),
    GrowthPicture(
        name="memory",
        title="Private memory after the first recall, MB",
        control="the scope's texts in a list",
    ),
    GrowthPicture(
        name="disk",
        title="Disk, MB, with vectors and index files",
        control="the same texts in a bare table",
    ),
    GrowthPicture(
        name="start",
        title="Start of a process and its first recall, ms of the processor",
        control="a start of Python and a scan in SQLite",
    ),
    GrowthPicture(
        name="formation",
        title="Formation of a thread of 20 messages by a model of rules, ms of the processor",
        control="a bare commit of 20 rows",
    ),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Curve:
    label: str
    colour: str
    dash: str
    value: Figure

    def points(self, rows: Mapping[int, GrowthRow]) -> list[tuple[int, float]]:
        """Return the sizes that were measured, with the figure of each."""
        values = ((size, self.value(row)) for size, row in rows.items())
        return [(size, value) for size, value in values if value is not None]


def write_pictures(report: GrowthReport, folder: Path) -> list[Path]:
    """Write a picture of each figure into *folder*."""
    written = []
    for picture in PICTURES:
        path = folder / f"growth_{picture.name}.svg"
        path.write_text(drawn(picture, report), "utf-8")
        written.append(path)
    return written


def drawn(picture: GrowthPicture, report: GrowthReport) -> str:
    """Return *picture* as SVG."""
    curves = _curves(picture)
    entries = {row.shape.messages: row for row in report.entries}
    scopes = {row.shape.scopes: row for row in report.scopes}
    low, high = _decades(
        [value for rows in (entries, scopes) for curve in curves for _, value in curve.points(rows)]
    )
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" {_STYLE}>',
        f"<title>{picture.title}</title>",
        f'<rect width="{WIDTH}" height="{HEIGHT}" fill="#ffffff"/>',
        f'<text x="{_LEFTS[0]}" y="20" font-size="15" fill="#0f172a">{picture.title}</text>',
        *_legend(curves),
    ]
    panels = (("messages in one scope", entries), ("scopes of ten messages each", scopes))
    for left, (name, rows) in zip(_LEFTS, panels, strict=True):
        if rows:
            shown = curves if rows is scopes else curves[:2]
            parts += _panel(left, name, rows, shown, (low, high))
    return "\n".join([*parts, "</svg>", ""])


def _curves(picture: GrowthPicture) -> list[_Curve]:
    def ours(row: GrowthRow) -> float:
        return float(getattr(row.ours, picture.name))

    def bare(row: GrowthRow) -> float:
        return float(getattr(row.bare, picture.name))

    curves = [
        _Curve(label="Recollect", colour="#0f766e", dash="none", value=ours),
        _Curve(label=picture.control, colour="#94a3b8", dash="none", value=bare),
    ]
    if picture.has_below:
        curves.append(
            _Curve(
                label="Recollect, all scopes",
                colour="#0f766e",
                dash="5 4",
                value=lambda row: row.ours.below,
            )
        )
    return curves


def _decades(values: Sequence[float]) -> tuple[int, int]:
    """Return the powers of ten below and above all *values*, at least one apart."""
    low = math.floor(math.log10(min(values)))
    return low, max(low + 1, math.ceil(math.log10(max(values))))


def _legend(curves: Sequence[_Curve]) -> Iterator[str]:
    left = _LEFTS[0]
    for curve in curves:
        yield (
            f'<line x1="{left}" y1="38" x2="{left + 22}" y2="38" stroke="{curve.colour}" '
            f'stroke-width="2.5" stroke-dasharray="{curve.dash}"/>'
        )
        yield f'<text x="{left + 28}" y="42" fill="{_INK}">{curve.label}</text>'
        left += 60 + 7 * len(curve.label)


def _panel(
    left: int,
    name: str,
    rows: Mapping[int, GrowthRow],
    curves: Sequence[_Curve],
    decades: tuple[int, int],
) -> Iterator[str]:
    low, high = decades
    first, last = _decades(list(rows))

    def x(size: float) -> float:
        return round(left + (math.log10(size) - first) / (last - first) * _PANEL, 1)

    def y(value: float) -> float:
        return round(_BOTTOM - (math.log10(value) - low) / (high - low) * (_BOTTOM - _TOP), 1)

    for power in range(low, high + 1):
        at = y(10.0**power)
        yield f'<path d="M{left} {at}h{_PANEL}" stroke="{_GRID}"/>'
        yield _text(left - 8, at + 4, f"{10.0**power:,g}", "end")
    for size in rows:
        yield _text(x(size), _BOTTOM + 18, f"{size:,}")
    yield _text(left + _PANEL / 2, _BOTTOM + 40, name)
    for curve in curves:
        points = [(x(size), y(value)) for size, value in curve.points(rows)]
        path = " ".join(f"{across},{down}" for across, down in points)
        yield (
            f'<polyline points="{path}" fill="none" stroke="{curve.colour}" stroke-width="2.5" '
            f'stroke-dasharray="{curve.dash}"/>'
        )
        for across, down in points:
            yield f'<circle cx="{across}" cy="{down}" r="3.5" fill="{curve.colour}"/>'


def _text(across: float, down: float, words: str, anchor: str = "middle") -> str:
    return f'<text x="{across}" y="{down}" text-anchor="{anchor}" fill="{_INK}">{words}</text>'
