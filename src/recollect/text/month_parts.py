"""Read parts of a month: its days, its beginning, middle or end, and the month behind its end."""

import re
from collections.abc import Iterator
from datetime import date
from typing import Final

from recollect.text.days import MONTH_NAME, Days, month_number, relative_span, stretch
from recollect.text.lazy_patterns import lazy_pattern
from recollect.text.numerals_chinese import whole_number
from recollect.text.numerals_english import ORDINALS

_PARTS: Final = {
    **dict.fromkeys(("first", "第一"), (1, 10)),
    **dict.fromkeys(("second", "第二"), (7, 17)),
    **dict.fromkeys(("third", "第三"), (14, 24)),
    **dict.fromkeys(("last", "最后一", "第四"), (20, 31)),
    **dict.fromkeys(("start", "beginning", "early", "初", "头", "上旬"), (1, 10)),
    **dict.fromkeys(("mid", "middle", "中", "中旬"), (10, 20)),
    **dict.fromkeys(("late", "end", "底", "末", "尾", "下旬"), (20, 31)),
}
_SHORTEST_MONTH: Final = 28
_MONTHS_NAMED: Final = lazy_pattern(rf"\b{MONTH_NAME}\b", re.IGNORECASE)


def part_of_month(match: re.Match[str], said_on: date) -> list[Days | None]:
    """Return the first, middle or last days of the named month, or of this one (and the next)."""
    first, last = _PARTS[match["part"].lower()]
    found: list[Days | None] = []
    for whole in _months_of(match, said_on, last):
        is_to_end = last > _SHORTEST_MONTH
        end = whole.last if is_to_end else whole.first.replace(day=last)
        # The last weekend of a month may end on the first day of the next.
        spilt = is_to_end and "weekend" in match.group()
        found.append(relative_span(whole.first.replace(day=first), end.day - first + spilt))
    return found


def until_month_end(match: re.Match[str], said_on: date) -> list[Days | None]:
    """Return the last days of the named month, and the month after, when what lasted is over."""
    return [
        *part_of_month(match, said_on),
        *(
            stretch(each.last.year + each.last.month // 12, each.last.month % 12 + 1, None)
            for each in _months_of(match, said_on, 31)
        ),
    ]


def years_around(said_on: date) -> tuple[int, int, int]:
    """Return the years that a month without one may be in."""
    return said_on.year - 1, said_on.year, said_on.year + 1


def _months_of(match: re.Match[str], said_on: date, last: int) -> Iterator[Days]:
    """Yield the months that *match* may name; *last* is the last day of the part it names."""
    groups = match.groupdict()
    months = said_on.year * 12 + said_on.month - 1
    if groups.get("name") or groups.get("month"):
        number = (
            month_number(groups["name"]) if groups.get("name") else whole_number(groups["month"])
        )
        wanted = [year * 12 + (number or 1) - 1 for year in years_around(said_on)]
    else:
        shift = {"上": -1, "下": 1}.get(groups.get("which") or "", 0)
        # 月中, said on the 30th, may be the middle of the month to come.
        is_next = "next" in match.group() or (not groups.get("which") and said_on.day > last)
        wanted = [months + shift, *([months + 1] if is_next else [])]
    for each in wanted:
        if whole := stretch(each // 12, each % 12 + 1, None):
            yield whole


def day_of_month(match: re.Match[str], said_on: date) -> list[Days | None]:
    """Return the days with a number, "the 10th": near the day of saying, and of named months."""
    return _days_numbered(whole_number(match["day"]), match.string, said_on)


def worded_day(match: re.Match[str], said_on: date) -> list[Days | None]:
    """Return the days with a number in words: "the twenty second"."""
    tens = {"twenty": 20, "thirty": 30}.get((match["tens"] or "").lower(), 0)
    return _days_numbered(tens + ORDINALS[match["ordinal"].lower()], match.string, said_on)


def _days_numbered(number: int | None, text: str, said_on: date) -> list[Days | None]:
    found = []
    for shift in (-1, 0, 1):
        months = said_on.year * 12 + said_on.month - 1 + shift
        found.append(stretch(months // 12, months % 12 + 1, number))
    near = [each for each in found if each and abs((each.first - said_on).days) <= 31]
    return [*near, *_in_named_months(text, said_on, number)]


def _in_named_months(text: str, said_on: date, day: int | None) -> Iterator[Days | None]:
    """Yield *day* of each month that the same text names, in the years around *said_on*."""
    named = {match.group()[:3].lower() for match in _MONTHS_NAMED.finditer(text)}
    for month in sorted(map(month_number, named)):
        for year in years_around(said_on):
            yield stretch(year, month, day)
