"""Write out dates that share a word: 六月二十五、二十六, 下周三到五, 四五月, "next wed to fri"."""

from __future__ import annotations

import re
from typing import Final

from recollect.text.days import MONTH_NAME
from recollect.text.lazy_patterns import lazy_pattern

TEXT_CHARACTERS_MAX: Final = 4_000
"""A longer text is left unchanged: the patterns are slow, and dates are in short sentences."""
_DIGITS: Final = "一二三四五六七八九"
_NUMBER: Final = r"(?:\d{1,2}|[一二三四五六七八九十廿]{1,3})"
_DAY: Final = rf"(?:[二三]?十[{_DIGITS}]|[廿卅][{_DIGITS}]?|二十|三十|[{_DIGITS}]|\d{{1,2}})"
_AND: Final = r"(?: ?[、,，~/-] ?| ?(?:到|至|和|跟|与|或|及|还有) ?)"
_WEEKDAYS: Final = "mon|tue|wed|thu|fri|sat|sun"
_NO_DAY: Final = r"(?![\d一二三四五六七八九十点月年个人时分万百千块元岁米公%.:])"
_DAYS_OF_MONTH: Final = lazy_pattern(
    rf"(?P<mark>(?<![\d一二三四五六七八九十]){_NUMBER}月份?)(?P<one>{_DAY})"
    rf"(?:[日号]?{_AND}|(?<=十[{_DIGITS}])(?=[二三]?十))(?P<two>{_DAY})(?P<end>[日号]?){_NO_DAY}"
)
"""As in 六月二十五、二十六, 6月3到5日."""
_DAYS_BEHIND_SLASH: Final = lazy_pattern(
    r"(?<![\d/.-])(?P<month>(?:1[0-2]|0?[1-9])/)(?P<one>[12]?\d|3[01]) ?[到至~] ?"
    rf"(?P<two>[12]?\d|3[01])(?!/){_NO_DAY}"
)
"""As in 12/12到14."""
_DAYS_OF_WEEK: Final = lazy_pattern(
    r"(?P<mark>(?:[上下]{1,2}|这|本|每|毎)?个?(?:周|星期|礼拜))(?P<one>[一二三四五六日天])"
    rf"{_AND}?(?P<two>[一二三四五六日天])(?P<end>){_NO_DAY}(?![次回节趟期种起])"
)
"""As in 下周三到五, 每周一三."""
_DAYS_OFF: Final = lazy_pattern(
    r"(?P<what>[休逢])(?P<one>[一二三四五六日天])[跟和与同、及](?P<two>[一二三四五六日天])"
    rf"{_NO_DAY}(?![次回节趟期种起])"
)
"""As in 休三跟日, 逢二同五."""
_MONTHS: Final = lazy_pattern(
    rf"(?<![\d一二三四五六七八九十年])(?P<one>{_NUMBER}){_AND}(?P<two>{_NUMBER}) ?月"
)
"""As in 4、5月, 四到六月."""
_MONTHS_BESIDE: Final = lazy_pattern(
    rf"(?<![\d一二三四五六七八九十])(?P<one>[{_DIGITS}])(?P<two>[{_DIGITS}])月"
)
"""As in 四五月."""
_WEEKDAYS_ENGLISH: Final = lazy_pattern(
    rf"\b(?P<mark>(?:next|this|last|every|on) )(?P<one>(?:{_WEEKDAYS})[a-z]{{0,6}})"
    rf" ?(?:-|/|&|,|and|to|till?|until|through|or) ?(?P<two>(?:{_WEEKDAYS})[a-z]{{0,6}})\b",
    re.IGNORECASE,
)
"""As in "next wed to fri"."""
_ORDINAL: Final = r"\d{1,2}(?:st|nd|rd|th)"
_NO_DAY_ENGLISH: Final = (
    r"\b(?! (?:of\b|jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec|birthday|grade|century|floor))"
)
_ORDINALS: Final = lazy_pattern(
    rf"(?<!the )\b(?P<one>{_ORDINAL}) ?(?:-|to|till?|until|through|and|&) ?(?:the )?"
    rf"(?P<two>{_ORDINAL}){_NO_DAY_ENGLISH}",
    re.IGNORECASE,
)
"""As in "3rd to 5th": the month stands elsewhere."""
_DAY_BEHIND_MONTH: Final = lazy_pattern(
    rf"\b(?P<month>{MONTH_NAME}), (?:(?:from|on|starting|leaving) )?(?:the )?"
    rf"(?P<day>{_ORDINAL}){_NO_DAY_ENGLISH}",
    re.IGNORECASE,
)
"""As in "in June, from the 3rd"."""
_DAY_OF_RETURN: Final = lazy_pattern(
    rf"\b(?P<out>\d{{1,2}}(?:st|nd|rd|th)? (?P<month>{MONTH_NAME})"
    r"(?:,? and|,)? (?:back|home|return(?:ing|s)?)(?: home| again)? (?:on )?(?:the )?)"
    rf"(?P<day>\d{{1,2}})(?:st|nd|rd|th)?{_NO_DAY_ENGLISH}(?![:.]\d| ?[ap]m\b)",
    re.IGNORECASE,
)
"""A day of leaving with its month, and one of coming back: "i fly 5 june back 24"."""
_DAY_BEHIND_MONTH_HAN: Final = lazy_pattern(
    rf"(?<![\d一二三四五六七八九十])(?P<month>{_NUMBER}月)(?P<rest>[^\d，,。日号]{{0,8}}[，,] ?)"
    rf"(?P<day>{_DAY}[日号])(?![线楼门院])"
)
"""A month, and behind a comma its day: "in September, the 20th", 九月去，20号走."""

_DAY_ALONE: Final = lazy_pattern(r"(?<![\d.:/-])(?P<day>[12]?\d|3[01])(?=那天)")
"""As in 26那天."""


def without_ellipses(text: str) -> str:
    """
    Return *text* (in its `plain` form) with a word that two dates share repeated for each.

    >>> without_ellipses("期末考六月二十五二十六"), without_ellipses("下周三到五去")
    ('期末考六月二十五日、六月二十六日', '下周三、下周五去')
    >>> without_ellipses("12/12到14"), without_ellipses("9/1到10/3")
    ('12/12、12/14', '9/1到10/3')
    >>> without_ellipses("固定休三跟日")
    '固定休周三、周日'
    >>> without_ellipses("四五月"), without_ellipses("next wed to fri")
    ('四月、五月', 'next wed, next fri')
    >>> without_ellipses("26那天推了")
    '26号那天推了'
    >>> without_ellipses("in May, from the 12th")
    'in May 12th'
    >>> without_ellipses("i fly 5 june back 24")
    'i fly 5 june back 24 june'
    """
    if len(text) > TEXT_CHARACTERS_MAX:
        return text
    text = _DAYS_OF_MONTH.sub(r"\g<mark>\g<one>日、\g<mark>\g<two>日", text)
    text = _DAYS_BEHIND_SLASH.sub(r"\g<month>\g<one>、\g<month>\g<two>", text)
    text = _DAYS_OF_WEEK.sub(r"\g<mark>\g<one>、\g<mark>\g<two>", text)
    text = _DAYS_OFF.sub(r"\g<what>周\g<one>、周\g<two>", text)
    text = _MONTHS.sub(r"\g<one>月、\g<two>月", text)
    text = _MONTHS_BESIDE.sub(_two_months, text)
    text = _DAY_BEHIND_MONTH.sub(r"\g<month> \g<day>", text)
    text = _DAY_OF_RETURN.sub(r"\g<out>\g<day> \g<month>", text)
    text = _DAY_BEHIND_MONTH_HAN.sub(r"\g<month>\g<rest>\g<month>\g<day>", text)
    text = _DAY_ALONE.sub(r"\g<day>号", text)
    text = _ORDINALS.sub(r"the \g<one>, the \g<two>", text)
    return _WEEKDAYS_ENGLISH.sub(r"\g<mark>\g<one>, \g<mark>\g<two>", text)


def _two_months(match: re.Match[str]) -> str:
    """Write out two consecutive months: "一二月" names two, "五二月" does not."""
    one, two = (_DIGITS.index(match[name]) for name in ("one", "two"))
    return f"{match['one']}月、{match['two']}月" if two == one + 1 else match.group()
