"""Slips of the tongue, for rules: "no wait, I meant Oslo" puts right the message before it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from recollect.formation.rule_statements import (
    NOTE,
    SENTENCE_CHARACTERS_MAX,
    RuleStatement,
    asked_in,
    statements_in,
)
from recollect.text.cantonese import written_chinese
from recollect.text.time_expressions import has_time_expression

_BEFORE_MAX: Final = 4
"""Messages before a correction in which the slip is looked for."""
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
_WITHIN: Final = re.compile(
    "(?<=[，。！；,;!\\s])(?:[啊呃哦喔欸诶]+[，,]?)?(?:不对不对|不对|不是|我?[说讲打写记]错了?|口误)"
    "[啊呀哦]?[\\s，。！、,.!…—]+(?:我?(?:想|是)说的?是?|应该)?"
    "(?P<rest>[^，。！？；?]{1,30}?)[\\s。！.!]*$"
    r"|(?<=[.!?,;\s\u2026\u2014\u2013-])(?i:no,? wait|wait,? no|scratch that|correction|oops"
    r"|my (?:bad|mistake)|I mean)\b[\s,.!:;\u2026\u2014\u2013-]+(?i:no\b[, ]*)?"
    r"(?i:I meant?(?: to (?:say|write))? |make (?:that|it) |(?:it'?s|it is) )?"
    r"(?P<english>[^.,!?;]{1,60}?)[\s.!]*$"
)
"""A slip that the same message puts right at its end."""
_NAME: Final = re.compile("[A-Z]\\w*")
_NAME_AT_END: Final = re.compile(f"{_NAME.pattern}$")
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
    found = _ENGLISH.fullmatch(plain) or _CHINESE.fullmatch(written_chinese(plain))
    if found is None or (found["bare"] and not found["opening"]):
        return []
    meant = _ARTICLE.sub("", words[slice(*found.span("value"))]).strip()
    slip = _ARTICLE.sub("", found["slip"] or "").strip()
    if has_time_expression(meant):
        return []
    right = [
        replace(each, number=number, speaker=speaker, quote=words.strip())
        for told in statements_in(number, speaker, before)
        if told.field in _ONE_VALUE and slip in {"", written_chinese(str(told.value))}
        for each in statements_in(number, speaker, told.quote.replace(str(told.value), meant))
        if each.field == told.field and str(each.value) == meant != str(told.value)
    ]
    return right if len(right) == 1 else []


def put_right_among(
    number: int, speaker: str, words: str, earlier: Sequence[str]
) -> list[RuleStatement]:
    """
    Return what *words* put right in the last of the *earlier* messages that states a value.

    Questions between the two do not part them; other messages do, unless *words* name the slip.

    >>> earlier = ["I moved to Nantes.", "Where do I live?"]
    >>> [each.value for each in put_right_among(3, "user", "No wait, I meant Rennes.", earlier)]
    ['Rennes']
    """
    if len(words) > SENTENCE_CHARACTERS_MAX:
        return []
    found = _ENGLISH.fullmatch(words) or _CHINESE.fullmatch(written_chinese(words))
    for before in reversed(earlier[-_BEFORE_MAX:] if found else []):
        if right := put_right(number, speaker, words, before):
            return right
        if any(each.field in _ONE_VALUE for each in statements_in(number, speaker, before)):
            return []
        if not (found and found["slip"]) and asked_in(before) != before.strip():
            return []
    return []


def told_in(number: int, speaker: str, words: str) -> list[RuleStatement]:
    """
    Return the statements in a message, those in its last sentence as the message puts them right.

    >>> [each.value for each in told_in(1, "user", "I live in Braga. No wait, Coimbra.")]
    ['Coimbra']
    """
    every = statements_in(number, speaker, words)
    plain = written_chinese(words).replace("\u2019", "'")
    found = _WITHIN.search(plain) if len(words) <= SENTENCE_CHARACTERS_MAX else None
    if found is None:
        return every
    before, after = words[: found.start()].rstrip(" \n，,；;。.!！…—–-"), words[found.start() :]
    told = statements_in(number, speaker, before)
    wrong = max(told, default=None, key=lambda each: before.rfind(each.quote))
    meant = words[slice(*found.span("rest" if found["rest"] else "english"))]
    own = statements_in(number, speaker, meant)
    if wrong is None or any(each.field != wrong.field for each in own):
        return every
    right = (own or _put_in_place(wrong, meant, is_chinese=bool(found["rest"])))[:1]
    if found["english"] and not right:
        return every  # "I live in Braga. Oops, it is late."
    return [
        each for each in every if not each.quote.startswith(wrong.quote) and each.quote not in after
    ] + [replace(each, quote=words.strip()) for each in right]


def _put_in_place(told: RuleStatement, meant: str, *, is_chinese: bool) -> list[RuleStatement]:
    """Return the statement with what was *meant* in the place of its value, or from its verb on."""
    quote, value = told.quote, str(told.value)
    if "是" not in quote:
        meant = meant.removeprefix("是")
    if not meant or (told.field in _ONE_VALUE and has_time_expression(meant)):
        return []
    again = []
    if is_chinese and meant[0] in quote:
        again.append(quote[: quote.rindex(meant[0])] + meant)
    if value != quote and value in quote and value[0].isupper() <= meant[0].isupper():
        again.append(quote[: quote.index(value)] + _ARTICLE.sub("", meant))
    if told.field == NOTE and _NAME.fullmatch(meant):
        again.append(_NAME_AT_END.sub(meant, quote))
    return [
        each
        for words in again
        for each in statements_in(told.number, told.speaker, words)
        if each.field == told.field and each.value != told.value
    ]
