"""Plans of the user, which the rule model lists where it is asked for all of them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from recollect.formation import rule_patterns as english
from recollect.formation.remembered_lines import RememberedLine
from recollect.formation.rule_later_words import moved_thing, tells_end
from recollect.formation.rule_stems import stems_in
from recollect.text.cantonese import written_chinese

SHOWN_MAX: Final = 6
"""Plans that an answer lists, the newest."""
_ASKS_PLANS: Final = re.compile(
    r"\W*(?:what (?:are|were) (?:all )?(?:my|our) (?:plans|appointments)"
    r"|what(?:'s| is) (?:coming up|(?:on )?(?:my|our) (?:plan|schedule|agenda))"
    r"|what (?:plans|appointments) (?:do|have) (?:i|we)(?: have| got)?"
    r"|what (?:do|have) (?:i|we)(?: have| got)? (?:planned|coming up)"
    r"|(?:do|have) (?:i|we)(?: have| got)?"
    r" (?:any (?:plans|appointments)|anything (?:planned|coming up))"
    r"|(?:any|my) plans|what am i planning)(?: for me| soon| now| again| next| coming up)*\W*"
    r"|(?:那|请问)?我?(?:最近|之后|接下来|后面|以后)?我?(?:都|还)?(?:有|定了?)些?(?:什么|啥|哪些|没有)?"
    r"(?:计划|安排|打算|行程|预约)[呢吗啊]?\W*"
    r"|(?:那|请问)?我的(?:计划|安排|行程|打算|预约)都?[是有]些?(?:什么|啥|哪些)[呢啊]?\W*",
    re.IGNORECASE,
)
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


def asks_plans(said: str) -> bool:
    """
    Return True for a question for all plans.

    >>> asks_plans("what are my plans?"), asks_plans("我接下來有什麼安排？")
    (True, True)
    >>> asks_plans("what do I have on Thursday?"), asks_plans("what is my name?")
    (False, False)
    """
    return _ASKS_PLANS.fullmatch(_plain(said)) is not None


def plans_among(lines: Sequence[RememberedLine]) -> list[RememberedLine]:
    """Return the newest plans among *lines*, which are oldest first; none that was dropped."""
    found = [
        each
        for number, each in enumerate(lines)
        if each.tense != "until"
        and each.speaker != "assistant"
        and (is_plan(each.text) or _is_moved(each.text, lines[:number]))
        and not any(_is_dropped(each.text, after.text) for after in lines[number + 1 :])
    ]
    return [*{each.text: each for each in found}.values()][-SHOWN_MAX:]


def is_plan(text: str) -> bool:
    """
    Return True for a statement of what the user will do.

    >>> is_plan("I'm flying to Oslo in May."), is_plan("我打算五月去奧斯陸。")
    (True, True)
    >>> is_plan("I like Oslo."), is_plan("I'm not going to Oslo.")
    (False, False)
    """
    plain = _plain(text)
    is_stated = not plain.endswith(("?", "？")) and not tells_end(text)
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
