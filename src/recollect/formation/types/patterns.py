r"""
The patterns of schemas, matched in time that no pattern and no text can blow up.

Schemas come from configuration and texts from a model; a matcher that backtracks can be made to
run for years by the two. This one follows all states at once (K. Thompson, "Regular expression
search algorithm", 1968), so that a text costs at most its length times the pattern's steps.
What cannot be matched so, lookaround and back references, is refused when types are loaded.

The language is that of ECMA-262, which JSON Schema asks for: ``^`` and ``$`` are the ends of the
text, ``\d`` and ``\w`` are ASCII, ``\p{L}`` is any letter; a pattern may match anywhere.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from recollect.errors import UsageError
from recollect.formation.types.pattern_reader import (
    WORD,
    Border,
    Chars,
    Choice,
    Node,
    Reader,
    Repeat,
    Row,
    Test,
)

PATTERN_CHARACTERS_MAX: Final = 1_000
PATTERN_STEPS_MAX: Final = 2_000
"""Most steps of a pattern once its counted repeats are written out."""
_WRITTEN_MAX: Final = 4 * PATTERN_STEPS_MAX  # repeats of nothing take no steps, but time


@dataclass(slots=True)
class _Step:
    """A step of a program: it takes a character, passes a border, or just goes on."""

    test: Test | None = None
    border: str = ""
    goes_to: tuple[int, ...] = ()


class _Program:
    """The steps of a pattern; the last accepts."""

    def __init__(self, node: Node, pattern: str) -> None:
        self.pattern = pattern
        self.steps: list[_Step] = []
        self.written = 0
        self._write(node)
        self._step(_Step())

    def _step(self, step: _Step) -> int:
        self.steps.append(step)
        return len(self.steps) - 1

    def _write(self, node: Node) -> None:
        self.written += 1
        if len(self.steps) > PATTERN_STEPS_MAX or self.written > _WRITTEN_MAX:
            msg = (
                f"the pattern {self.pattern!r} has more than {PATTERN_STEPS_MAX} steps "
                "(PATTERN_STEPS_MAX) with its repeats written out: repeat less, or use maxLength"
            )
            raise UsageError(msg)
        here = len(self.steps)
        if isinstance(node, Chars):
            self._step(_Step(test=node.test, goes_to=(here + 1,)))
        elif isinstance(node, Border):
            self._step(_Step(border=node.kind, goes_to=(here + 1,)))
        elif isinstance(node, Row):
            for part in node.parts:
                self._write(part)
        elif isinstance(node, Choice):
            self._write_choice(node)
        else:
            self._write_repeat(node)

    def _write_choice(self, node: Choice) -> None:
        fork = self._step(_Step())
        starts, ends = [], []
        for option in node.options:
            starts.append(len(self.steps))
            self._write(option)
            ends.append(self._step(_Step()))
        self.steps[fork].goes_to = tuple(starts)
        for end in ends:
            self.steps[end].goes_to = (len(self.steps),)

    def _write_repeat(self, node: Repeat) -> None:
        for _ in range(node.least):
            self._write(node.part)
        if node.most is None:
            fork = self._step(_Step())
            self._write(node.part)
            self._step(_Step(goes_to=(fork,)))
            self.steps[fork].goes_to = (fork + 1, len(self.steps))
            return
        forks = []
        for _ in range(node.most - node.least):
            forks.append(self._step(_Step()))
            self._write(node.part)
        for fork in forks:
            self.steps[fork].goes_to = (fork + 1, len(self.steps))


class Pattern:
    """A pattern that has been read, ready to be looked for."""

    def __init__(self, pattern: str) -> None:
        """
        Read *pattern*.

        Raises:
            UsageError: It is no pattern, is larger than a limit, or needs lookaround, back
                references or flags.
        """
        if len(pattern) > PATTERN_CHARACTERS_MAX:
            msg = (
                f"a pattern of {len(pattern)} characters; "
                f"PATTERN_CHARACTERS_MAX is {PATTERN_CHARACTERS_MAX}"
            )
            raise UsageError(msg)
        self._steps = _Program(Reader(pattern).read(), pattern).steps

    def is_in(self, text: str, spend: Callable[[int], None] = lambda _: None) -> bool:
        """
        Say whether a part of *text* matches; *spend* is told the steps taken at each character.

        >>> Pattern("^[a-z]+(-[a-z]+)*$").is_in("well-known")
        True
        """
        states: set[int] = set()
        for at in range(len(text) + 1):
            before, after = text[at - 1 : at] if at else "", text[at : at + 1]
            states.add(0)
            reached = self._reached(states, before, after)
            if len(self._steps) - 1 in reached:
                return True
            spend(len(reached))
            states = {
                self._steps[each].goes_to[0]
                for each in reached
                if after and (test := self._steps[each].test) is not None and test(after)
            }
        return False

    def _reached(self, states: set[int], before: str, after: str) -> set[int]:
        """Return all steps that can be come to between *before* and *after* without reading."""
        reached, waiting = set[int](), list(states)
        while waiting:
            each = waiting.pop()
            if each in reached:
                continue
            reached.add(each)
            step = self._steps[each]
            if step.test is None and (not step.border or _holds(step.border, before, after)):
                waiting += step.goes_to
        return reached


def _holds(border: str, before: str, after: str) -> bool:
    if border in "^$":
        return not (before if border == "^" else after)
    is_edge = (before in WORD) != (after in WORD)
    return is_edge == (border == "b")
