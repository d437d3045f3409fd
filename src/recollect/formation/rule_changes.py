"""Changes of what is known of the user, which the rule model lists where it is asked for them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from typing import Final

from recollect.formation.remembered_lines import RememberedLine
from recollect.text.change_questions import news_period

SHOWN_MAX: Final = 6
"""Changes that an answer lists, the newest."""


@dataclass(frozen=True, slots=True)
class AskedChanges:
    """Changes of the period that is asked for, oldest first, and the newest one before it."""

    found: Sequence[RememberedLine]
    before: RememberedLine | None


def changes_asked(said: str, lines: Sequence[RememberedLine]) -> AskedChanges | None:
    """
    Return what began or ended in the period that *said* asks for, ``None`` if it asks otherwise.

    A prompt does not tell the day: the newest one that it names stands for today.
    """
    days = [each.day for each in lines if each.day is not None]
    period = news_period(said, max(days, default=date.max))
    if period is None:
        return None
    dated = [(each.day, each) for each in lines if each.is_memory and each.tense and each.day]
    dated.sort(key=lambda each: each[0])
    found = [each for day, each in dated if period.first <= day <= period.last]
    before = [each for day, each in dated if day < period.first]
    return AskedChanges(found[-SHOWN_MAX:], before[-1] if before else None)
