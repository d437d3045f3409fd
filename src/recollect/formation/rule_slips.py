"""Slips of the tongue, for rules: "no wait, I meant Oslo" puts right the message before it."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Final

from recollect.formation.rule_statements import (
    SENTENCE_CHARACTERS_MAX,
    RuleStatement,
    statements_in,
)
from recollect.text.chinese_scripts import simplified
from recollect.text.time_expressions import has_time_expression

_ONE_VALUE: Final = frozenset({"user_name", "home", "age", "occupation"})
"""Fields whose value a slip replaces; in a list of interests it might as well be one more."""
_VALUE: Final = "(?P<value>[^.,!?;，。！？；]{1,60}?)"
_ENGLISH: Final = re.compile(
    r"\W*(?P<opening>(?:(?:no|wait|sorry|oops|whoops|oh|hm+|actually|correction|scratch that"
    r"|my (?:bad|mistake)|typo)\b[\s,.!:;…—–-]*)*)"
    r"(?:I (?:actually )?meant?(?: to (?:say|write|type))?|make (?:that|it)|(?P<bare>it'?s|it is))"
    rf" {_VALUE}(?:,? (?:not|instead of|rather than) (?P<slip>[^.,!?;]{{1,60}}?))?[\s.!]*",
    re.IGNORECASE,
)
_CHINESE: Final = re.compile(
    "\\W*(?P<opening>(?:(?:不对|不是|等等|等一?下|[说打写]错了?|抱歉|不好意思|口误|[哦喔啊呃嗯]+)"
    "[\\s，。！、,.!…]*)*)"
    f"(?:我(?:是说|说的是|指的是|的意思是)|应该是|(?P<bare>是)) ?{_VALUE}"
    "(?:[，,]?(?:而?不是) ?(?P<slip>[^，。！？；]{1,30}?))?[\\s。！.!]*"
)
_ARTICLE: Final = re.compile(r"^an? ", re.IGNORECASE)


def put_right(number: int, speaker: str, words: str, before: str) -> list[RuleStatement]:
    """
    Return the statement of the message *before* with the value that *words* put in its place.

    There is none where *words* are no such correction, or fit no statement or several.

    >>> meant = put_right(2, "user", "No wait, I meant Coimbra.", "I moved to Braga last week.")
    >>> [(each.field, each.value, each.quote) for each in meant]
    [('home', 'Coimbra', 'No wait, I meant Coimbra.')]
    >>> put_right(2, "user", "I meant tomorrow.", "I live in Braga.")
    []
    """
    if len(words) > SENTENCE_CHARACTERS_MAX:
        return []
    plain = words.replace("\u2019", "'")
    found = _ENGLISH.fullmatch(plain) or _CHINESE.fullmatch(simplified(plain))
    if found is None or (found["bare"] and not found["opening"]):
        return []
    meant = _ARTICLE.sub("", words[slice(*found.span("value"))]).strip()
    slip = _ARTICLE.sub("", found["slip"] or "").strip()
    if has_time_expression(meant):
        return []
    right = [
        replace(each, number=number, speaker=speaker, quote=words.strip())
        for told in statements_in(number, speaker, before)
        if told.field in _ONE_VALUE and slip in {"", simplified(str(told.value))}
        for each in statements_in(number, speaker, told.quote.replace(str(told.value), meant))
        if each.field == told.field and str(each.value) == meant != str(told.value)
    ]
    return right if len(right) == 1 else []
