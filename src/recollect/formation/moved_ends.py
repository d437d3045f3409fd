"""Moved ends: the day on which a plan is over moves with the day that its text names."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import date, datetime, timedelta
from typing import Final

from recollect.formation.past_plans import days_named
from recollect.records import JsonObject, Memory
from recollect.text.chinese_scripts import simplified
from recollect.text.days import MONTH_NAME, Days, month_number, stretch
from recollect.text.feasts import feasts_in
from recollect.text.searchable import memory_text

_TEXT_CHARACTERS_MAX: Final = 2_000
_LONG_AGO: Final = date(1950, 1, 1)
_DAY: Final = (
    r"(?:(?:[a-z]+day|周[一-龥]|星期[一-龥]) )?"
    rf"(?P<day>\d{{4}}-\d\d-\d\d|\d{{1,2}} {MONTH_NAME} \d{{4}}"
    r"|\d{4}年\d{1,2}月\d{1,2}[日号])"
)
_TOLD_END: Final = re.compile(
    r"(?:\b(?:till?|until|through|ends(?: on)?) |\((?:up )?to |直?[到至] ?(?=[^，。；]{0,16}止))"
    rf"{_DAY}",
    re.IGNORECASE,
)
"""The end of a stretch, as a text tells it: "must not drive for six weeks (to 2025-07-30)"."""
_CALLED_OFF: Final = re.compile(
    r"(?<!not )(?<!free )\b(?:cancell?ed|called off|scrapped|(?:pulled|dropped|backed) out"
    r"|withdr[ae]wn?"
    r"|(?:is|are|was)(?: now)? off(?= *(?:[,.;:(]|$|because|as|since|for good))"
    r"|(?:no longer|not) (?:going|coming|happening)(?: ahead| any ?more)?"
    r"|(?:does|do|did)(?:n't| not) need to (?:go|come)|won't be (?:going|coming))\b"
    r"|(?<![可能没未不免])(?<!免费)取消(?!费)|退(?:[了咗]|出了|团|赛|课)|[不唔](?:去|[来嚟])[了咗喇]|作废|告吹|泡汤",
    re.IGNORECASE,
)
"""Words for a plan that does not come about: that it was called off stays true."""

_MOVED: Final = re.compile(
    r"(?P<year>\d{4})(?:年|-)(?P<before>\d{1,2})(?:月|-)\d{1,2}[日号]?"
    r"[^，。；;\d]{0,12}[改推延移挪提换][^，。；;\d]{0,3}[到至为]"
    r"(?P<month>\d{1,2})(?:月|-)(?P<day>\d{1,2})(?!\d)"
)
_MOVED_ENGLISH: Final = re.compile(
    rf"(?P<before>{MONTH_NAME}) (?P<year>\d{{4}}),? to (?:[a-z]+day,? )?"
    rf"(?P<day>\d{{1,2}}) (?P<month>{MONTH_NAME})\b(?! \d{{4}})",
    re.IGNORECASE,
)
"""A whole date that moves to one without a year: "from 30 October 2025 to 12 November"."""
_MONTHS_BACK: Final = 6
_LONG_BEFORE: Final = timedelta(days=62)
"""Potatoes that are planted so long before Christmas are no plan for the day of planting."""


def moved_end(memory: Memory, value: JsonObject) -> datetime | None:
    """
    Return the end of *memory* once its value is *value*: later by as much as its last day is.

    A trip "on 18 October 2025" that ends on the 20th and is put off to 8 November ends on the
    10th. Without this it would be over before it begins. An end stays where the new text names no
    day, or names the old end or the old day still. One that the text tells ("till 11 August") is
    taken from it, and what has been called off ends no more.
    """
    until = memory.valid_until
    after = _last_day(value)
    if until is None or after is None or memory.is_document:
        return until
    is_called_off = _is_called_off(value) and not _is_called_off(memory.value)
    if is_called_off and after <= until.date():  # with a later day it was put off
        return None
    if after >= until.date() and after in _told_ends(value):
        return until + (after - until.date())
    before = _planned_day(memory.value, until.date())
    if after == before:
        return until
    is_put_off = after > until.date() or (after > before and not _names(value, before))
    is_moved = is_put_off or _ends_with(memory.value, until.date())
    has_end = after <= until.date() and _names(value, until.date())
    return until + (after - before) if is_moved and not has_end else until


def _planned_day(value: JsonObject, end: date) -> date:
    """
    Return the last day of a plan that ends on *end*, as *value* names it; else *end*.

    Of "in mid-October; not booked by 7 August" the month is the plan's, if it ends with it. A
    month alone that is over before is of something else, and so is a day long before.
    """
    named = _last_day(value)
    has_day = any(each.first == each.last for each in _stretches_of(value))
    if named is None or _ends_with(value, end) or (not has_day and named < end):
        return end
    return end if end - named > _LONG_BEFORE else min(named, end)


def _ends_with(value: JsonObject, end: date) -> bool:
    """Return True if *value* names the day, or a month that ends on it."""
    return any(each.last == end for each in _stretches_of(value))


def _names(value: JsonObject, day: date) -> bool:
    return any(each.first <= day <= each.last for each in _days_of(value))


def _last_day(value: JsonObject) -> date | None:
    return max((each.last for each in _days_of(value)), default=None)


def _days_of(value: JsonObject) -> list[Days]:
    """Return the days that *value* names; its months, if it names no day."""
    found = _stretches_of(value)
    return [each for each in found if each.first == each.last] or found


def _stretches_of(value: JsonObject) -> list[Days]:
    """Return the days and months that *value* names, and the last day of a feast with its year."""
    text = memory_text(value)[:_TEXT_CHARACTERS_MAX]
    return [*days_named(text), *_days_moved_to(text), *_feasts_of(text)]


def _days_moved_to(text: str) -> Iterator[Days]:
    """Yield the day to which a whole date moves, where the year is told with that alone."""
    for found in (*_MOVED.finditer(text), *_MOVED_ENGLISH.finditer(text)):
        groups = found.groupdict()
        before, month = groups["before"], groups["month"]
        former, latter = (
            (int(before), int(month)) if month.isdigit() else map(month_number, (before, month))
        )
        # From December to January; not an appointment that comes half a year sooner.
        year = int(groups["year"]) + (former - latter > _MONTHS_BACK)
        yield from filter(None, [stretch(year, latter, int(groups["day"]))])


def _feasts_of(text: str) -> Iterator[Days]:
    """Yield the last day of each feast whose year *text* names: "Thanksgiving 2025"."""
    for _, _, found, is_sure in feasts_in(simplified(text), _LONG_AGO):
        last = max((each.last for each in found), default=_LONG_AGO)
        # A date of the lunar calendar is sure without a year, and then as long ago.
        if is_sure and last.year > _LONG_AGO.year + 1:
            yield Days(last, last)


def _told_ends(value: JsonObject) -> set[date]:
    """Return the days that *value* tells as the end of a stretch."""
    text = memory_text(value)[:_TEXT_CHARACTERS_MAX]
    return {each.last for told in _TOLD_END.finditer(text) for each in days_named(told["day"])}


def _is_called_off(value: JsonObject) -> bool:
    return _CALLED_OFF.search(simplified(memory_text(value)[:_TEXT_CHARACTERS_MAX])) is not None
