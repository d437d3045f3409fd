"""Compare a new prompt with the old one: both on the same cases, by one scorer."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from inspect import isawaitable
from numbers import Real
from typing import Final, TypeAlias

from anyio import to_thread

from recollect.agents.instructions.instruction_records import Scores, ScoringCase
from recollect.errors import UsageError
from recollect.providers.object_names import is_async

Scorer: TypeAlias = Callable[[str, ScoringCase], "float | Awaitable[float]"]
"""
Runs a prompt's text on a case, and scores the answer from 0 to 1.

A synchronous scorer runs in a worker thread, so it may block and use the memory.
"""

# Means of equal scores can differ by rounding, as float sums depend on the order.
_TIE: Final = 1e-9


async def scores_of(text: str, cases: Sequence[ScoringCase], scorer: Scorer) -> dict[str, float]:
    """
    Return the score of a prompt on each case, by name; cases run one after the other.

    Raises:
        UsageError: The scorer returned something other than a number from 0 to 1.
    """
    found: dict[str, float] = {}
    for case in cases:
        score = await _scored(scorer, text, case)
        if not (isinstance(score, Real) and 0 <= score <= 1):
            msg = f"the scorer returned {score!r} for the case {case.name!r}: return 0 to 1"
            raise UsageError(msg)
        found[case.name] = float(score)
    return found


async def _scored(scorer: Scorer, text: str, case: ScoringCase) -> float:
    said = scorer(text, case) if is_async(scorer) else await to_thread.run_sync(scorer, text, case)
    return await said if isawaitable(said) else said


def compared(old: dict[str, float], new: dict[str, float] | None) -> Scores:
    """Return both prompts' scores; *new* is ``None`` if the new prompt was not run."""
    return Scores(
        old=sum(old.values()) / len(old),
        new=None if new is None else sum(new.values()) / len(new),
        by_case={name: (score, None if new is None else new[name]) for name, score in old.items()},
    )


def verdict(scores: Scores, cases: Sequence[ScoringCase]) -> str:
    """
    Return why the new prompt is refused; ``""`` if it is better.

    >>> verdict(Scores(old=0.5, new=0.5, by_case={}), [])
    'it is no better than the old prompt: .500 against .500 over 0 cases'
    """
    for case in cases:
        was, now = scores.by_case.get(case.name, (0.0, 0.0))
        if case.required and (now is None or now < was - _TIE):
            return f"it does worse on the required case {case.name!r}: {now} against {was}"
    if scores.new is None:
        return "it was not run"
    if scores.new > scores.old + _TIE:
        return ""
    word = "worse" if scores.new < scores.old - _TIE else "no better"
    new, old = (f"{each:.3f}".removeprefix("0") for each in (scores.new, scores.old))
    return f"it is {word} than the old prompt: {new} against {old} over {len(cases)} cases"
