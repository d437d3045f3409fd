"""The entries that name a coming day, for a question for plans."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date

from recollect.formation.plan_questions import ComingDays, first_day_within
from recollect.recall.context_plan import ContextPlan
from recollect.recall.results import Recalled
from recollect.records import Memory


def entries_of_days(plan: ContextPlan, ranked: Sequence[Recalled]) -> list[Recalled]:
    """Return those of *ranked* that name a day for whose plans is asked, the nearest first."""
    if plan.coming is None:
        return []
    dated = [(day, each) for each in ranked if (day := _day_of(plan, plan.coming, each))]
    dated.sort(key=lambda each: each[0])
    return [each for _, each in dated]


def _day_of(plan: ContextPlan, asked: ComingDays, entry: Recalled) -> date | None:
    """Return the first of the days that an entry names, or on which it begins or ends."""
    content = entry.content
    if not isinstance(content, Memory):
        # An assistant's message repeats, or proposes.
        is_told = content.role != "assistant"
        return first_day_within(asked, content.text, content.time.date()) if is_told else None
    if plan.has_ended(content):
        return None
    limits = [each.date() for each in (content.valid_from, content.valid_until) if each]
    days = [each for each in limits if asked.first <= each <= asked.last]
    named = first_day_within(asked, content.text, None)
    return min([*days, *([named] if named else [])], default=None)
