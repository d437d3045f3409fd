"""Results of injected faults, and their report."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

REASONS_MAX: Final = 5


@dataclass(slots=True)
class FaultOutcome:
    """The result of injected faults: counts of broken promises."""

    tried: int = 0
    acknowledged: int = 0
    failures: Counter[str] = field(default_factory=Counter)
    told: Counter[str] = field(default_factory=Counter)
    """Counts of documented errors that callers got, by name."""
    reasons: list[str] = field(default_factory=list)
    seen: set[str] = field(default_factory=set)
    """Findings of the current file that are already counted."""

    def add(self, what: str, found: Iterable[str]) -> None:
        """Count *found* as failures of one kind, each once; the first ones are kept as reasons."""
        new = [each for each in found if each not in self.seen]
        self.seen.update(new)
        if new:
            self.failures[what] += len(new)
            self.reasons += [f"{what}: {each:.200}" for each in new]
            del self.reasons[REASONS_MAX:]

    def add_all(self, found: Mapping[str, Iterable[str]]) -> None:
        """Count failures of several kinds."""
        for what, each in found.items():
            self.add(what, each)


@dataclass(frozen=True, slots=True, kw_only=True)
class FaultRow:
    """The faults of one kind, with controls in which a promise is broken on purpose."""

    name: str
    outcome: FaultOutcome
    controls: Mapping[str, FaultOutcome]
    took_s: float


@dataclass(frozen=True, slots=True)
class FaultReport:
    """All faults of one run."""

    rows: Sequence[FaultRow]

    @property
    def holds(self) -> bool:
        """Whether every control failed, and nothing else."""
        controls = [control for row in self.rows for control in row.controls.values()]
        failed = any(row.outcome.failures for row in self.rows)
        return not failed and all(control.failures for control in controls)

    def as_json(self) -> dict[str, object]:
        """Return the report as a JSON object."""
        rows = [
            {
                "name": row.name,
                "took_s": row.took_s,
                **_plain(row.outcome),
                "controls": {name: _plain(each) for name, each in row.controls.items()},
            }
            for row in self.rows
        ]
        return {"holds": self.holds, "rows": rows}

    def __str__(self) -> str:
        lines = [f"{'':<36}{'tried':>8}{'promised':>12}{'s':>7}  what must not happen"]
        for row in self.rows:
            lines.append(_line(row.name, row.outcome, f"{row.took_s:,.0f}"))
            lines += [f"    {reason}" for reason in row.outcome.reasons]
            lines += [_line(f"  {name}", each, "") for name, each in row.controls.items()]
        return "\n".join(lines)


def _plain(outcome: FaultOutcome) -> dict[str, object]:
    return {
        "tried": outcome.tried,
        "acknowledged": outcome.acknowledged,
        "failures": dict(outcome.failures),
        "told": dict(outcome.told),
        "reasons": list(outcome.reasons),
    }


def _line(name: str, outcome: FaultOutcome, took_s: str) -> str:
    failures = _counted(outcome.failures) or "0"
    told = f" (told {_counted(outcome.told)})" if outcome.told else ""
    return f"{name:<36}{outcome.tried:>8,}{outcome.acknowledged:>12,}{took_s:>7}  {failures}{told}"


def _counted(times: Mapping[str, int]) -> str:
    return ", ".join(f"{what} {number:,}" for what, number in times.items())
