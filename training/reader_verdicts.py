"""What a judge said of the answers to `training.reader_requests`, counted by set and ranking."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from math import comb
from pathlib import Path
from typing import Any, Final

from recollect.errors import UsageError
from training.reader_requests import BOTH

ALL: Final = "together"


@dataclass(frozen=True, slots=True)
class JudgedPair:
    """The verdicts on one question of a set, by arm; a block of both arms counts for each."""

    set: str
    right: Mapping[str, bool]


def read_key(path: Path) -> dict[str, dict[str, Any]]:
    """Return the rows of a ``key.json`` by id; raise `UsageError` if it is not one."""
    found = _read_json(path)
    if not isinstance(found, dict) or not all("arm" in row for row in found.values()):
        msg = f"{path} is no key.json of `python -m training requests`"
        raise UsageError(msg)
    return found


def read_verdicts(path: Path) -> dict[str, bool]:
    """Return the verdicts by id; raise `UsageError` where one is not true or false."""
    found = _read_json(path)
    rows = found.items() if isinstance(found, dict) else ((row.get("id"), row) for row in found)
    verdicts = {}
    for name, row in rows:
        right = row.get("right") if isinstance(row, dict) else row
        if not isinstance(right, bool):
            msg = f"the verdict of {name!r} in {path} is {right!r}: it must be true or false"
            raise UsageError(msg)
        verdicts[str(name)] = right
    return verdicts


def _read_json(path: Path) -> Any:
    try:
        text = path.read_text("utf-8")
    except OSError as error:
        msg = f"{path} cannot be read: {error.strerror}"
        raise UsageError(msg) from error
    try:
        if text.lstrip().startswith("{") and "\n{" in text.strip():
            return [json.loads(line) for line in text.splitlines() if line.strip()]
        return json.loads(text)
    except ValueError as error:
        msg = f"{path} is neither JSON nor JSON Lines: {error}"
        raise UsageError(msg) from error


def judged_pairs(
    key: Mapping[str, Mapping[str, Any]], verdicts: Mapping[str, bool]
) -> list[JudgedPair]:
    """
    Return the questions all of whose blocks have a verdict.

    Raises:
        UsageError: A verdict's id is not in the key.
    """
    if strange := sorted(verdicts.keys() - key.keys()):
        msg = f"the key has no {strange[0]!r} ({len(strange)} such ids): is it of other requests?"
        raise UsageError(msg)
    arms = sorted({row["arm"] for row in key.values()} - {BOTH})
    questions: dict[tuple[str, str], dict[str, bool | None]] = defaultdict(dict)
    for name, row in key.items():
        for arm in arms if row["arm"] == BOTH else [row["arm"]]:
            questions[row["set"], row["id"]][arm] = verdicts.get(name)
    return [
        JudgedPair(of, {arm: bool(right) for arm, right in by_arm.items()})
        for (of, _), by_arm in questions.items()
        if None not in by_arm.values()
    ]


def verdict_lines(
    key: Mapping[str, Mapping[str, Any]], verdicts: Mapping[str, bool]
) -> Iterator[str]:
    """Yield a line for each set: right by each arm, and where the two arms disagree."""
    pairs = judged_pairs(key, verdicts)
    if not pairs:
        yield "no question has all its verdicts"
        return
    arms = sorted(pairs[0].right, key=lambda arm: (arm != "today", arm))
    by_set: dict[str, list[JudgedPair]] = defaultdict(list)
    for each in pairs:
        by_set[each.set].append(each)
    for name, own in (*by_set.items(), (ALL, pairs)):
        yield _line(name, own, arms)
    missing = len(key) - len(verdicts)
    if missing:
        yield f"{missing} blocks have no verdict; their questions are not counted"


def _line(name: str, pairs: Iterable[JudgedPair], arms: list[str]) -> str:
    own = list(pairs)
    parts = [f"{arm} {sum(each.right[arm] for each in own)}" for arm in arms]
    line = f"{name:12} {len(own):4} questions, right: {', '.join(parts)}"
    if len(arms) != 2:
        return line
    won = [sum(a.right[arm] and not all(a.right.values()) for a in own) for arm in arms]
    only = ", ".join(f"{arm} {count}" for arm, count in zip(arms, won, strict=True))
    return f"{line}; alone: {only} (sign test p = {sign_test(*won):.2f})"


def sign_test(one: int, other: int) -> float:
    """
    Return the two-sided probability of a split at least as uneven, were both as likely.

    >>> sign_test(0, 0), sign_test(1, 1), sign_test(0, 5)
    (1.0, 1.0, 0.0625)
    """
    of = one + other
    tail = sum(comb(of, least) for least in range(min(one, other) + 1))
    return min(1.0, 2 * tail / float(1 << of))
