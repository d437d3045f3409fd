"""Plans of the user, which the rule model lists where it is asked for all of them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import date
from typing import Final

from recollect.formation import rule_patterns as english
from recollect.formation.plan_questions import ComingDays, coming_days, first_day_within
from recollect.formation.remembered_lines import RememberedLine
from recollect.formation.rule_later_words import moved_thing, tells_end
from recollect.formation.rule_stems import stems_in
from recollect.text.cantonese import written_chinese

SHOWN_MAX: Final = 6
"""Plans that an answer lists, the newest."""
_THINGS: Final = (
    r"(?:appointments?|interview|exam|meeting|flight|trip|concert|wedding|party|test|match|race"
    r"|deadline|holiday|vacation|reservation|booking|check-?up|surgery|operation)"
)
_PLAN: Final = re.compile(
    r"\b(?:I|[Ww]e)(?:'?m|'re| am| are)(?: also| now| both)?"
    r" (?:(?:flying|travell?ing|driving|heading|moving|going(?: back)?) to"
    r" (?:[A-Z]|the |see |visit )"
    r"|going on (?:an? |our |my |holiday\b)|(?:visiting|meeting|seeing) (?:[A-Z]|my |our |an? )"
    r"|planning (?:to|on|an?|our|my)\b|thinking (?:of|about) \w+ing|getting married"
    r"|starting (?:[A-Z]|my |an? |the ))"
    rf"|\b(?:I|[Ww]e)(?:'ve| have)(?: got)? (?:an?|my|our|the) (?:[\w-]+ ){{0,3}}?{_THINGS}\b"
    rf"|\b(?:[Mm]y|[Oo]ur) (?:[\w-]+ ){{0,2}}?{_THINGS} (?:is|are|starts)\b"
    r"|\b(?:I|[Ww]e)(?:'ve| have)? (?:just )?booked\b"
    r"|我们?[^，。！？不没]{0,10}(?:打算|计划|准备|约了|预约|订了|要[^，。！？不]{0,6}[去飞搬回考见办参]|会去)"
    r"|有(?:一?[个场])?[^，。！？]{0,6}(?:面试|考试|会议|婚礼|聚会|演唱会|约会|预约)"
)
_ANY_DAY: Final = date(2000, 1, 1)
"""Today, where no line has a day."""
_USUAL: Final = stems_in(
    "i we my our the a an is am are has have got to on at in of for with and it that this off was "
    "were been be no longer not cancelled canceled called next monday tuesday wednesday thursday "
    "friday saturday sunday morning afternoon evening january february march april may june july "
    "august september october november december"
)
"""Words that two messages may share which are about different plans."""
_HAN_PAIR: Final = re.compile("(?=([\u3400-\u9fff]{2}))")
_USUAL_CHINESE: Final = re.compile(
    "我们?|取消了?|不去了?|[下这]?个?(?:星期|周|礼拜)[一二三四五六日天]|了"
)


def plans_asked(said: str, lines: Sequence[RememberedLine]) -> list[RememberedLine] | None:
    """
    Return the newest plans among *lines* for which *said* asks, ``None`` if it asks otherwise.

    Those of named days have to name one of them. *lines* are oldest first; none is shown that was
    dropped. A prompt does not tell the day: the newest one of a message stands for today.
    """
    days = [each.day for each in lines if each.day is not None and each.speaker]
    asked = coming_days(said, max(days, default=_ANY_DAY))
    if asked is None:
        return None
    found = [
        each
        for number, each in enumerate(lines)
        if each.tense != "until"
        and each.speaker != "assistant"
        and _is_asked(asked, each, lines[:number])
        and not any(_is_dropped(each.text, after.text) for after in lines[number + 1 :])
    ]
    if asked.is_named and not found:
        return None  # a plan may tell its day in words that only its message's day explains
    return [*{each.text: each for each in found}.values()][-SHOWN_MAX:]


def _is_asked(asked: ComingDays, line: RememberedLine, before: Sequence[RememberedLine]) -> bool:
    """Return True for a plan, or a memory, of a day for whose plans is asked."""
    names_day = first_day_within(asked, line.text, line.day if line.speaker else None) is not None
    if line.is_memory and names_day:
        return True
    is_told = is_plan(line.text) or _is_moved(line.text, before)
    return is_told and (names_day or not asked.is_named)


def is_plan(text: str) -> bool:
    """
    Return True for a statement of what the user will do.

    >>> is_plan("I'm flying to Oslo in May."), is_plan("我打算五月去奧斯陸。")
    (True, True)
    >>> is_plan("I like Oslo."), is_plan("I'm not going to Oslo.")
    (False, False)
    """
    plain = _plain(text)
    is_asked = plain.endswith(("?", "？")) or coming_days(text, _ANY_DAY) is not None
    is_stated = not is_asked and not tells_end(text)
    return is_stated and any(
        not english.NOT_MEANT_BEFORE.search(plain[: found.start()])
        for found in _PLAN.finditer(plain)
    )


def _is_moved(text: str, lines: Sequence[RememberedLine]) -> bool:
    """Return True if *text* tells another day of what one of *lines* plans."""
    thing = moved_thing(text)
    return bool(thing) and any(thing <= stems_in(each.text) for each in lines if is_plan(each.text))


def _is_dropped(plan: str, later: str) -> bool:
    """Return True if *later* words tell the end of what a plan names."""
    if not tells_end(later):
        return False
    shared = (stems_in(plan) & stems_in(later)) - _USUAL
    return bool(shared) or bool(_pairs_in(plan) & _pairs_in(later))


def _pairs_in(text: str) -> frozenset[str]:
    return frozenset(_HAN_PAIR.findall(_USUAL_CHINESE.sub("，", _plain(text))))


def _plain(text: str) -> str:
    return written_chinese(text).replace("\u2019", "'").strip()
