"""Moved ends: the day on which a plan is over moves with the day that its text names."""

from __future__ import annotations

from datetime import date, datetime
from typing import Final

from recollect.formation.past_plans import days_named
from recollect.records import JsonObject, Memory
from recollect.text.days import Days
from recollect.text.searchable import memory_text

_TEXT_CHARACTERS_MAX: Final = 2_000


def moved_end(memory: Memory, value: JsonObject) -> datetime | None:
    """
    Return the end of *memory* once its value is *value*: later by as much as its last day is.

    A trip "on 18 October 2025" that ends on the 20th and is put off to 8 November ends on the
    10th. Without this it would be over before it begins. An end stays where the new text names no
    day, or names the old end or the old day still.
    """
    until = memory.valid_until
    after = _last_day(value)
    if until is None or after is None or memory.is_document:
        return until
    before = _planned_day(memory.value, until.date())
    if after == before:
        return until
    is_put_off = after > until.date() or (after > before and not _names(value, before))
    is_moved = is_put_off or before == until.date()
    has_end = after <= until.date() and _names(value, until.date())
    return until + (after - before) if is_moved and not has_end else until


def _planned_day(value: JsonObject, end: date) -> date:
    """
    Return the last day of a plan that ends on *end*, as *value* names it; else *end*.

    Of "in mid-October; not booked by 7 August" the month is the plan's, if it ends with it.
    """
    named = _last_day(value)
    is_ended_by = any(each.last == end for each in _stretches_of(value))
    return end if named is None or is_ended_by else min(named, end)


def _names(value: JsonObject, day: date) -> bool:
    return any(each.first <= day <= each.last for each in _days_of(value))


def _last_day(value: JsonObject) -> date | None:
    return max((each.last for each in _days_of(value)), default=None)


def _days_of(value: JsonObject) -> list[Days]:
    """Return the days that *value* names; its months, if it names no day."""
    found = _stretches_of(value)
    return [each for each in found if each.first == each.last] or found


def _stretches_of(value: JsonObject) -> list[Days]:
    """Return the days and months that *value* names."""
    return list(days_named(memory_text(value)[:_TEXT_CHARACTERS_MAX]))
