"""Statements of a user that a relationship of theirs is over, for the rule model."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

from recollect.formation import rule_patterns as english
from recollect.formation import rule_patterns_chinese as chinese
from recollect.formation.rule_statements import SENTENCE_CHARACTERS_MAX, own_words_in
from recollect.text.chinese_scripts import simplified
from recollect.text.sentences import sentence_matches

_KIN: Final = r"my (?:husband|wife|partner|boyfriend|girlfriend|fianc[eé]e?)"
_WHO: Final = rf"(?P<who>[A-Z][\w-]+|(?i:{_KIN}))"
_SINCE: Final = r"(?: (?:have|are|got|just|recently|finally|now|sadly|officially))*"
_OVER: Final = (
    r"(?:bro(?:ke|ken) up|split(?: up)?|separated|divorced|no longer together"
    r"|not together any ?more)"
)
_END: Final = (
    r"(?=\s*(?:[.,!;]|$)"
    r"| (?:last|yesterday|today|this|in|on|and|but|after|a|two|three|for good|now|because)\b)"
)
_ENGLISH: Final = (
    re.compile(rf"(?:^|[,;:] |\b(?:and|but|so|that) ){_WHO} and I{_SINCE} {_OVER}{_END}"),
    re.compile(
        r"\bI(?:'ve| have)?(?: just| recently| finally)* (?:bro(?:ke|ken)|split) up with "
        rf"{_WHO}{_END}"
    ),
    re.compile(rf"\bI(?:'m| am| got)(?: now| finally)* divorced from {_WHO}{_END}"),
    re.compile(rf"\bI(?:'m| am) no longer (?:together )?with {_WHO}{_END}"),
)
_WHO_CHINESE: Final = "(?P<who>[A-Za-z]\\w*|[\u3400-\u9fff]{1,6}?)"
_WHEN_CHINESE: Final = "(?:已经|刚刚?|最近|昨天|今天|终于|上个?[周月]|正式|也|就|都)*"
_OVER_CHINESE: Final = "(?:分手|离婚|分开)了(?=[，。！；,;!]|$)"
_CHINESE: Final = (
    re.compile(f"(?:^|[，,；])我(?:和|跟|与|同) ?{_WHO_CHINESE} ?{_WHEN_CHINESE}{_OVER_CHINESE}"),
    re.compile(f"(?:^|[，,；]){_WHO_CHINESE} ?(?:和|跟|与|同)我{_WHEN_CHINESE}{_OVER_CHINESE}"),
)
_KIN_CHINESE: Final = re.compile("我?的?(?:丈夫|妻子|伴侣|老公|老婆|太太|先生|[男女]朋友|爱人)$")
_NOT_MEANT: Final = re.compile(
    r"\b(?:joking|kidding|joke|april fool\w*|almost|nearly|back together|made up"
    r"|in the (?:film|book|novel|play|dream|game|show))\b"
    r"|玩笑|逗[你您]|骗[你您]|差[点一]|没有?分|不会|复合|和好",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Breakup:
    """The end of the user's relationship with *who*, a name, or empty for "my husband"."""

    quote: str
    who: str

    def is_with(self, partner: str) -> bool:
        """Return True if it is over with *partner*, as a profile has the name."""
        return (
            not self.who or re.search(rf"(?<!\w){re.escape(self.who)}(?!\w)", partner) is not None
        )


def breakup_in(words: str) -> Breakup | None:
    """
    Return the end of a relationship that a message states of its speaker.

    >>> breakup_in("Rui and I broke up.").who
    'Rui'
    >>> breakup_in("My sister broke up with Tom.") is None
    True
    """
    if _NOT_MEANT.search(simplified(words)):
        return None
    for match in sentence_matches(own_words_in(words)):
        sentence = match.group().strip().replace("\u2019", "'")
        if len(sentence) <= SENTENCE_CHARACTERS_MAX and (found := _stated_in(sentence)):
            return found
    return None


def _stated_in(sentence: str) -> Breakup | None:
    plain = simplified(sentence).rstrip("。！!.")
    if not (english.QUESTION.search(sentence) or _is_denied(sentence)):
        for rule in _ENGLISH:
            if found := rule.search(plain):
                who = "" if found["who"].lower().startswith("my ") else found["who"]
                return Breakup(quote=sentence, who=who)
    if not (chinese.QUESTION.search(plain) or chinese.NOT_MEANT.search(plain)):
        for rule in _CHINESE:
            if found := rule.search(plain):
                who = sentence[slice(*found.span("who"))]
                return Breakup(
                    quote=sentence, who="" if _KIN_CHINESE.fullmatch(found["who"]) else who
                )
    return None


def _is_denied(sentence: str) -> bool:
    """Return True for a condition, a doubt, a denial, or words of others."""
    bare = re.sub(r"\b(?:no longer|not together any ?more)\b", "", sentence)
    return bool(english.NOT_MEANT.search(bare) or english.NOT_MEANT_BEFORE.search(bare))
