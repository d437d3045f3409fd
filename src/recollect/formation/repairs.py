"""
Repairs: ask a model again about its faulty calls, and accept only repairs of these.

Only faulty calls are sent again, with the messages that they cite and the memories that they are
about. Valid calls of the first answer are not shown, and a repair cannot change them.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from recollect.formation.offer import Offer
from recollect.formation.operations import (
    Fault,
    Insert,
    Operation,
    Patch,
    citations_of,
    same_operation,
)
from recollect.formation.tool_names import END, PATCH
from recollect.formation.window import Window, WindowLine
from recollect.ports import ToolCall

NEAR_LINES: Final = 2
"""Messages shown on each side of a cited one whose quote was not found."""
_CITED: Final = re.compile(
    r'"message"\s*:\s*(\d{1,4})|"\s*#?(\d{1,4})\s*(?:/[^":]{0,80})?[:\uff1a]'
)
_POINTS_BACK: Final = re.compile(
    r"\W*(?:(?:and|so|but|oh|well|yes|yeah|no|ok|okay|also|btw)\b\W*){0,3}(?:he|she|they)\b"
    r"|[\s嗯哦喔啊呀对對是的不过過好，,、。]{0,6}[他她佢]",
    re.IGNORECASE,
)
_DOUBTFUL: Final = frozenset({"claim", "hedge", "support"})
UNASKED: Final = "it was not asked for: only the faulty calls are made again"


@dataclass(frozen=True, slots=True, kw_only=True)
class FaultyCall:
    """A call with its faults; *operation* is ``None`` where it could not be read."""

    operation: Operation | None
    faults: tuple[Fault, ...]

    @property
    def is_doubtful(self) -> bool:
        """Whether a person can decide on it."""
        return self.operation is not None and all(each.kind in _DOUBTFUL for each in self.faults)

    @property
    def is_of_answer(self) -> bool:
        """Whether the answer as a whole is at fault, and no call of it."""
        return self.faults[0].kind == "answer"

    @property
    def about(self) -> tuple[str | None, str | None]:
        """Return the tool that was called, and for which memory, as far as is known."""
        if self.operation is None:
            return self.faults[0].tool, self.faults[0].target
        return about(self.operation)


def about(operation: Operation) -> tuple[str, str | None]:
    """Return the tool that asks for an operation, and the memory that it is for."""
    if isinstance(operation, Insert):
        return operation.type, None
    return PATCH if isinstance(operation, Patch) else END, operation.target


def is_retry(wrong: tuple[str | None, str | None], tried: tuple[str | None, str | None]) -> bool:
    """Return True if a call retries a faulty one: the same tool for the same memory."""
    (tool, target), (other_tool, other_target) = wrong, tried
    return tool is not None and tool == other_tool and target in {None, other_target}


def lines_for(
    wrong: Sequence[FaultyCall], calls: Sequence[ToolCall], window: Window
) -> frozenset[int]:
    """Return the numbers of the lines that faulty calls cite, with lines that explain them."""
    written = {call.id: call for call in calls}
    numbers: set[int] = set()
    for each in wrong:
        cited = list(_cited_by(each, written))
        if not cited:
            return frozenset(line.number for line in window.lines)
        is_misquoted = any(fault.kind in {"quote", "call"} for fault in each.faults)
        # The message before one may be the question that it answers.
        behind = NEAR_LINES if is_misquoted else 0
        for at in cited:
            before = NEAR_LINES if is_misquoted or _points_back(window.line(at)) else 1
            numbers.update(range(at - before, at + behind + 1))
    return frozenset(line.number for line in window.lines if line.number in numbers)


def _points_back(line: WindowLine | None) -> bool:
    """Return True if a message begins with a pronoun, for somebody of an earlier message."""
    return line is not None and _POINTS_BACK.match(line.text) is not None


def _cited_by(wrong: FaultyCall, calls: dict[str, ToolCall]) -> Iterator[int]:
    if wrong.operation is not None:
        yield from (each.message for each in citations_of(wrong.operation))
        return
    call = calls.get(wrong.faults[0].call or "")
    if call is None:
        return
    written = call.arguments
    text = written if isinstance(written, str) else json.dumps(written, default=str)
    for match in _CITED.finditer(text):
        yield int(match[1] or match[2])


def targets_of(wrong: Sequence[FaultyCall], offer: Offer) -> frozenset[str]:
    """Return the ids of the memories that faulty calls are about; all of them if one is unknown."""
    found = [each.about for each in wrong]
    if any(tool in {PATCH, END, None} and target is None for tool, target in found):
        return frozenset(offer.known)
    return frozenset(target for _, target in found if target is not None)


def only_repairs(
    operations: Sequence[Operation],
    wrong: Sequence[FaultyCall],
    kept: Sequence[Operation],
    offer: Offer,
) -> tuple[list[Operation], list[Operation]]:
    """
    Split *operations* into repairs of faulty calls and unrequested calls.

    One call repairs a faulty one, preferably by the same tool. A call that mixed several users'
    words is repaired by one call for each user. Valid calls are neither changed nor repeated.
    """
    if any(each.is_of_answer for each in wrong):
        return list(operations), []
    left = list(wrong)
    asked: list[Operation] = []
    unasked: list[Operation] = []
    # Those that say the same of the same words come first, then those of the same tool.
    order = sorted(operations, key=lambda each: min(_distance(each, w) for w in wrong))
    for each in order:
        if any(same_operation(each, other) for other in kept):
            continue
        repaired = min(left, key=lambda w: _distance(each, w), default=None)
        if repaired is None or _changes_valid_place(each, kept):
            unasked.append(each)
            continue
        if repaired.about[0] not in offer.whose:
            left.remove(repaired)
        asked.append(each)
    return [each for each in operations if any(each is other for other in asked)], unasked


def _distance(operation: Operation, wrong: FaultyCall) -> int:
    """Return how little a call resembles a retry of a faulty one: 0 for the same call."""
    if not is_retry(wrong.about, about(operation)):
        return 3
    if wrong.operation is None:
        return 2
    cited = {each.message for each in citations_of(wrong.operation)}
    is_near = not cited.isdisjoint(each.message for each in citations_of(operation))
    return 0 if same_operation(operation, wrong.operation) else 1 if is_near else 2


def _changes_valid_place(operation: Operation, kept: Sequence[Operation]) -> bool:
    """Return True if a call changes a place that a valid call has changed already."""
    if isinstance(operation, Insert):
        return False
    same = [e for e in kept if not isinstance(e, Insert) and e.target == operation.target]
    if not isinstance(operation, Patch):
        return bool(same)
    places = [path for each in same if isinstance(each, Patch) for path in _places(each)]
    return any(_is_within(one, other) for one in _places(operation) for other in places)


def _places(patch: Patch) -> list[str]:
    """Return the pointers that a patch changes; an append to a list changes none."""
    paths = (str(each.operation.get("path")) for each in patch.changes)
    return [path for path in paths if not path.endswith("/-")]


def _is_within(one: str, other: str) -> bool:
    return one == other or one.startswith(f"{other}/") or other.startswith(f"{one}/")
