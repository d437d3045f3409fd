"""Past plans: active entries about a day that was in the future and has passed."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from datetime import UTC, date, datetime, timedelta
from typing import Final

from recollect.formation.succession import has_ended
from recollect.records import Memory
from recollect.text.days import MONTH_NAME, Days, month_number, stretch
from recollect.text.searchable import memory_text

GONE_DAYS_MAX: Final = 60
"""Days after which a past plan is no longer offered."""
PLANS_MAX: Final = 3
"""Most past plans that are offered."""
READ_MAX: Final = 200
"""Entries of a type that are searched for past plans."""
_TEXT_CHARACTERS_MAX: Final = 2_000
# The forms in which a memory states a whole date. They are few so that hundreds of entries can be
# looked through at each formation; all forms there are would take half a millisecond each.
_YEAR: Final = re.compile(r"(?:19|20)\d\d")
_FORMS: Final = tuple(
    re.compile(form, re.IGNORECASE)
    for form in (
        r"(?P<year>\d{4})-(?P<month>\d\d)(?:-(?P<day>\d\d))?(?!\d)",
        r"(?P<year>\d{4})年(?P<month>\d{1,2})月(?:(?P<day>\d{1,2})[日号號])?",
        r"(?P<year>\d{4})年(?P<month>1[0-2]|0?[1-9])/(?P<day>\d{1,2})(?![\d/])",
        rf"(?:\b(?P<day>\d{{1,2}})(?:st|nd|rd|th)? )?\b(?P<name>{MONTH_NAME}) (?P<year>\d{{4}})\b",
        rf"\b(?P<name>{MONTH_NAME}) (?P<day>\d{{1,2}})(?:st|nd|rd|th)?,? (?P<year>\d{{4}})\b",
    )
)
_BEFORE, _BEHIND = 20, 10
"""Characters before and after a year in which its date may occur."""


def passed_day(memory: Memory, today: date) -> date | None:
    """
    Return the day of an active plan whose day has passed; ``None`` for other memories.

    A plan names a day or a month with its year, or begins on a day, that was still to come when it
    was said. Days without a year and days of the week may recur: they make no plan. What is in
    force for longer than the day that it names ("no driving after the operation") has not passed.
    """
    said_on = (memory.said_at or memory.created_at).date()
    if memory.is_document or said_on >= today or _ended_by(memory, today):
        return None
    if memory.valid_until is not None and memory.valid_until.date() >= today:
        return None
    text = memory_text(memory.value)[:_TEXT_CHARACTERS_MAX]
    days = [each.last for each in days_named(text) if each.first > said_on]
    if memory.valid_from is not None and memory.valid_from.date() > said_on:
        days.append(memory.valid_from.date())
    return max(days) if days and max(days) < today else None


def _ended_by(memory: Memory, today: date) -> bool:
    midnight = datetime(today.year, today.month, today.day, tzinfo=UTC)
    return has_ended(memory, midnight + timedelta(days=1))


def days_named(text: str) -> Iterator[Days]:
    """Yield the days and months that a text names with their year."""
    for year in _YEAR.finditer(text):
        begin = max(0, year.start() - _BEFORE)
        near = text[begin : year.end() + _BEHIND]
        found = (match for form in _FORMS for match in form.finditer(near))
        # What is near may hold another date, cut off: it is read around its own year.
        for match in (each for each in found if begin + each.start("year") == year.start()):
            groups = match.groupdict()
            name, day = groups.get("name"), groups["day"]
            month = month_number(name) if name else int(groups["month"])
            days = stretch(int(groups["year"]), month, int(day) if day else None)
            if days is not None:
                yield days


def recent_plans(memories: Sequence[Memory], today: date) -> list[Memory]:
    """Return the plans whose day went lately, those first that went last."""
    found = [(day, each) for each in memories if (day := passed_day(each, today)) is not None]
    lately = [each for each in found if (today - each[0]).days <= GONE_DAYS_MAX]
    lately.sort(key=lambda each: (each[0], each[1].type, each[1].key), reverse=True)
    return [memory for _, memory in lately[:PLANS_MAX]]
