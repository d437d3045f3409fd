"""Answers of readers who saw only a context, with a judge's verdicts."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Final

from recollect.errors import UsageError

KEPT: Final = Path(__file__).parent / "judged"
MISSES: Final = ("not shown", "reader", "gold")
"""Kinds of miss: evidence missing in the block; overlooked by the reader; wrong gold answer."""


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgedAnswer:
    """
    A reader's answer to one question of a set, with the verdict of a judge.

    *shown* tells whether the whole evidence stood in the reader's block of *tokens*; *miss* begins
    with one of `MISSES` and says why, and is empty for a right answer. The question is found in the
    set by its *id*.
    """

    id: str
    kind: str
    unanswerable: bool
    shown: bool
    tokens: int
    answer: str
    right: bool
    miss: str

    @property
    def kind_of_miss(self) -> str:
        """The one of `MISSES` that *miss* begins with."""
        return self.miss.partition(":")[0]


def judged_answers(blocks: Path, answers: Path) -> list[JudgedAnswer]:
    """
    Return the judged answers to the questions with blocks and gold answers in *blocks*.

    Args:
        blocks: The folder that ``context --write-blocks`` wrote, of one set.
        answers: A folder with ``answers.json`` (file to answer) and ``verdicts.json`` (file to
            ``{"right": ..., "miss": ...}``).

    Raises:
        UsageError: An answer or a verdict is missing, or a miss has no such name.
    """
    said, verdicts = _read(answers / "answers.json"), _read(answers / "verdicts.json")
    return [_judged(gold, said, verdicts) for gold in _read(blocks / "gold.json")]


def _judged(gold: dict[str, Any], said: dict[str, str], verdicts: dict[str, Any]) -> JudgedAnswer:
    file = gold["file"]
    if file not in said or file not in verdicts:
        msg = f"{file!r} has no answer or no verdict: every question of gold.json needs both"
        raise UsageError(msg)
    right, miss = verdicts[file]["right"], verdicts[file]["miss"]
    if not right and miss.partition(":")[0] not in MISSES:
        msg = f"the miss {miss!r} of {file!r} begins with none of: {', '.join(MISSES)}"
        raise UsageError(msg)
    return JudgedAnswer(
        id=gold["id"],
        kind=gold["kind"],
        unanswerable=gold["unanswerable"],
        shown=gold["evidence_shown"],
        tokens=gold["tokens"],
        answer=said[file],
        right=right,
        miss=miss,
    )


def _read(path: Path) -> Any:
    return json.loads(path.read_text("utf-8"))


def write_judged(name: str, judged: Sequence[JudgedAnswer], folder: Path = KEPT) -> None:
    """Store the judged answers of the set *name*."""
    folder.mkdir(exist_ok=True)
    rows = [json.dumps(asdict(each), ensure_ascii=False) for each in judged]
    text = "[\n  " + ",\n  ".join(rows) + "\n]\n"
    (folder / f"{name}.json").write_text(text, "utf-8")


def read_judged(folder: Path = KEPT) -> dict[str, list[JudgedAnswer]]:
    """Return the stored judged answers, by set."""
    return {
        path.stem: [JudgedAnswer(**row) for row in _read(path)]
        for path in sorted(folder.glob("*.json"))
    }


@dataclass(frozen=True, slots=True)
class ReaderReport:
    """The judged answers of each set."""

    judged: dict[str, list[JudgedAnswer]]

    def as_json(self) -> dict[str, object]:
        """Return the counts as a JSON object: right and of, by set and kind."""
        return {
            name: {kind: counts_of(rows) for kind, rows in _by_kind(judged)}
            for name, judged in self.judged.items()
        }


def counts_of(judged: Iterable[JudgedAnswer]) -> dict[str, int]:
    """Count questions and right answers by kind: answerable, shown, unanswerable; and misses."""
    counts = Counter[str]()
    for each in judged:
        kinds = ["unanswerable"] if each.unanswerable else ["answerable"]
        kinds += ["shown"] if each.shown and not each.unanswerable else []
        for kind in kinds:
            counts[kind] += 1
            counts[f"{kind} right"] += each.right
        if not each.right:
            counts[each.kind_of_miss] += 1
    return dict(counts)


def _by_kind(judged: Sequence[JudgedAnswer]) -> Iterator[tuple[str, list[JudgedAnswer]]]:
    for kind in sorted({each.kind for each in judged}):
        yield kind, [each for each in judged if each.kind == kind]
    yield "all", list(judged)


def readers_page(report: ReaderReport) -> str:
    """Return *report* as lines to print."""
    lines = ["right of: all answerable | evidence wholly shown | unanswerable; what a miss was"]
    for name, judged in report.judged.items():
        lines.append(f"{name} ({sum(each.tokens for each in judged) / len(judged):.0f} tokens)")
        lines += [f"  {kind:26}{_line(rows)}" for kind, rows in _by_kind(judged)]
    lines.append(f"{'together':28}{_line([e for each in report.judged.values() for e in each])}")
    lines += [
        f"  {name} {row.id}: {row.miss}"
        for name, judged in report.judged.items()
        for row in judged
        if not row.right
    ]
    return "\n".join(lines)


def _line(judged: Sequence[JudgedAnswer]) -> str:
    counts = counts_of(judged)
    parts = [_share(counts, kind) for kind in ("answerable", "shown", "unanswerable")]
    missed = ", ".join(f"{counts[miss]} {miss}" for miss in MISSES if counts.get(miss))
    return f"{' | '.join(parts)}{'; ' if missed else ''}{missed}"


def _share(counts: dict[str, int], kind: str) -> str:
    """
    Return a count and a share in columns.

    >>> _share({"shown": 4, "shown right": 3}, "shown"), _share({}, "shown").strip()
    ('  3 of   4  75.0 %', '-')
    """
    if kind not in counts:
        return f"{'-':>18}"
    right, of = counts[f"{kind} right"], counts[kind]
    return f"{right:3} of {of:3} {100 * right / of:5.1f} %"
