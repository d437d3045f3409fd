"""Statements of users that a relationship, home, job, liking or allergy is over, for rules."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

from recollect.formation import rule_patterns as english
from recollect.formation import rule_patterns_chinese as chinese
from recollect.formation.rule_statements import SENTENCE_CHARACTERS_MAX, own_words_in
from recollect.text.cantonese import written_chinese
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
_AS_OF: Final = r"(?:'ve| have)?(?: just| recently| finally| now| also)*"
_PLACE: Final = r"(?P<who>[A-Z][\w'-]*(?: [A-Z][\w'-]*)*)"
_WORK: Final = r"(?P<who>[A-Za-z][\w'-]*(?: (?!any|in|since|because)[\w'-]+){0,3}?)"
_ENGLISH: Final = tuple(
    (name, re.compile(rule))
    for name, rule in (
        ("partner", rf"(?:^|[,;:] |\b(?:and|but|so|that) ){_WHO} and I{_SINCE} {_OVER}{_END}"),
        ("partner", rf"\bI{_AS_OF} (?:bro(?:ke|ken)|split) up with {_WHO}{_END}"),
        ("partner", rf"\bI(?:'m| am| got)(?: now| finally)* divorced from {_WHO}{_END}"),
        ("partner", rf"\bI(?:'m| am) no longer (?:together )?with {_WHO}{_END}"),
        ("home", rf"\bI no longer live (?:in|at) {_PLACE}{_END}"),
        ("home", rf"\bI (?:don't|do not) live (?:in|at) {_PLACE} any ?(?:more|longer)\b"),
        ("home", rf"\bI{_AS_OF} moved (?:away|out) (?:from|of) {_PLACE}{_END}"),
        ("occupation", rf"\bI no longer work (?:as (?:an? )?|at |for ){_WORK}{_END}"),
        (
            "occupation",
            rf"\bI (?:don't|do not) work (?:as (?:an? )?|at |for ){_WORK} any ?(?:more|longer)\b",
        ),
        ("occupation", rf"\bI(?:'m| am) no longer an? {_WORK}{_END}"),
        ("occupation", rf"\bI(?:'m| am) not an? {_WORK} any ?(?:more|longer)\b"),
        (
            "occupation",
            rf"\bI{_AS_OF} (?:quit|left|lost) (?P<who>my job)(?: at [^.,;!?]{{1,40}}?)?{_END}",
        ),
        ("occupation", rf"\bI{_AS_OF} (?:quit|left|lost) my job as an? {_WORK}{_END}"),
        (
            "interests",
            rf"\bI (?:don't|do not) (?:like|love|enjoy) {_WORK} any ?(?:more|longer)\b",
        ),
        ("interests", rf"\bI no longer (?:like|love|enjoy) {_WORK}{_END}"),
        ("interests", rf"\bI (?:can't|cannot) stand {_WORK} any ?(?:more|longer)\b"),
        ("allergy", rf"\bI(?:'m| am) no longer allergic to {_WORK}{_END}"),
        ("allergy", rf"\bI(?:'m| am) not allergic to {_WORK} any ?(?:more|longer)\b"),
        ("occupation", rf"\bI{_AS_OF} (?P<who>retired|been laid off|got (?:laid off|fired)){_END}"),
    )
)
"""Each field with how its end is told; *who* is the partner, place, work or thing, or "my job"."""
_HAN: Final = "[\u3400-\u9fff]"
_WHO_CHINESE: Final = f"(?P<who>[A-Za-z][A-Za-z0-9-]*|{_HAN}{{1,6}}?)"
_WHEN_CHINESE: Final = "(?:已经|刚刚?|最近|昨天|今天|终于|上个?[周月]|正式|也|就|都)*"
_OVER_CHINESE: Final = "(?:分手|离婚|分开)了(?=[，。！；,;!]|$)"
_NO_MORE_CHINESE: Final = (
    f"(?:^|[，,；])我{_WHEN_CHINESE}(?:早就)?不(?=再|[^，。！；,;!]*了(?:[，。！；,;!]|$))再?"
)
_CHINESE_END: Final = "(?=[，。！；,;!]|$)"
_CHINESE: Final = tuple(
    (name, re.compile(rule))
    for name, rule in (
        (
            "partner",
            f"(?:^|[，,；])我(?:和|跟|与|同) ?{_WHO_CHINESE} ?{_WHEN_CHINESE}{_OVER_CHINESE}",
        ),
        (
            "partner",
            f"(?:^|[，,；]){_WHO_CHINESE} ?(?:和|跟|与|同)我{_WHEN_CHINESE}{_OVER_CHINESE}",
        ),
        ("partner", f"{_NO_MORE_CHINESE}(?:和|跟|与|同) ?{_WHO_CHINESE} ?在一起了?{_CHINESE_END}"),
        ("home", f"{_NO_MORE_CHINESE}住在? ?{_WHO_CHINESE} ?了?{_CHINESE_END}"),
        ("home", f"{_NO_MORE_CHINESE}在 ?{_WHO_CHINESE} ?住了?{_CHINESE_END}"),
        ("home", f"(?:^|[，,；])我{_WHEN_CHINESE}从 ?{_WHO_CHINESE} ?搬[走出](?:去|来)?了"),
        ("interests", f"{_NO_MORE_CHINESE}(?:喜欢|热?爱) ?{_WHO_CHINESE} ?了?{_CHINESE_END}"),
        (
            "interests",  # "今天不爬山了" is of one day
            (
                "(?:^|[，,；])我(?:现在|已经|早就)*(?:(?:现在|已经|早就)不|不再)"
                f"(?![再在是当做住和跟对])(?P<who>{_HAN}{{2,6}}?)了{_CHINESE_END}"
            ),
        ),
        ("allergy", f"{_NO_MORE_CHINESE}对 ?{_WHO_CHINESE} ?过敏了?{_CHINESE_END}"),
        (
            "allergy",
            f"(?:^|[，,；])我{_WHEN_CHINESE}对 ?{_WHO_CHINESE} ?不(?:再)?过敏了{_CHINESE_END}",
        ),
        ("occupation", f"{_NO_MORE_CHINESE}[当做是] ?{_WHO_CHINESE} ?了?{_CHINESE_END}"),
        (
            "occupation",
            f"{_NO_MORE_CHINESE}在 ?{_WHO_CHINESE} ?(?:工作|上班|做事)了?{_CHINESE_END}",
        ),
        (
            "occupation",
            (
                f"{_NO_MORE_CHINESE}在 ?(?!{chinese.CITY}|家|公司|这|那)"
                f"{_WHO_CHINESE} ?了{_CHINESE_END}"
            ),
        ),
        (
            "occupation",
            (
                f"(?:^|[，,；])我{_WHEN_CHINESE}从 ?{_WHO_CHINESE} ?{_WHEN_CHINESE}[离辞]职了?"
                f"{_CHINESE_END}"
            ),
        ),
        (
            "occupation",
            f"(?:^|[，,；])我{_WHEN_CHINESE}(?P<who>辞职|离职|退休|失业|被裁|被炒)了{_CHINESE_END}",
        ),
    )
)
_UNNAMED: Final = re.compile(
    rf"{_KIN}|my job|retired|been laid off|got (?:laid off|fired)"
    "|我?的?(?:丈夫|妻子|伴侣|老公|老婆|太太|先生|[男女]朋友|爱人)|辞职|离职|退休|失业|被裁|被炒",
    re.IGNORECASE,
)
_NO_LONGER: Final = re.compile(
    r"\b(?:no longer"
    r"|not (?:together|an? [^.,;]{1,40}?|allergic to [^.,;]{1,40}?) any ?(?:more|longer)"
    r"|(?:can't|cannot) (?=stand [^.,;]{1,60} any ?(?:more|longer))"
    r"|(?:don't|do not) (?=(?:live|work|like|love|enjoy) [^.,;]{1,60} any ?(?:more|longer)))\b"
)
"""Denials by which an end is told."""
_NOT_MEANT: Final = re.compile(
    r"\b(?:joking|kidding|joke|april fool\w*|almost|nearly|back together|made up"
    r"|in the (?:film|book|novel|play|dream|game|show))\b"
    r"|玩笑|逗[你您]|骗[你您]|差[点一]|没有?分|不会|复合|和好",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class ToldEnd:
    """
    The end of what a profile's *field* says of the user.

    *of* is the partner, home, work or thing that is over; empty for "my husband" and "my job".
    """

    quote: str
    field: str
    of: str

    def ends(self, value: str) -> bool:
        """Return True if *value*, as a profile has it, is what is over."""
        named = written_chinese(self.of)
        return (
            not named
            or re.search(
                rf"(?<![A-Za-z]){re.escape(named)}(?![A-Za-z])",
                written_chinese(value),
                re.IGNORECASE,
            )
            is not None
        )


def ends_in(words: str) -> list[ToldEnd]:
    """
    Return the ends that a message states, of a relationship, home, work, liking or allergy.

    One of a sentence, in the order in which they are told.

    >>> [each.of for each in ends_in("Rui and I broke up. I'm no longer a cook.")]
    ['Rui', 'cook']
    >>> [each.field for each in ends_in("I don't live in Bergen any more.")]
    ['home']
    >>> ends_in("My sister broke up with Tom.")
    []
    """
    if _NOT_MEANT.search(written_chinese(words)):
        return []
    sentences = (each.group().strip() for each in sentence_matches(own_words_in(words)))
    read = (_stated_in(each) for each in sentences if len(each) <= SENTENCE_CHARACTERS_MAX)
    return [each for each in read if each is not None]


def _stated_in(sentence: str) -> ToldEnd | None:
    plain = written_chinese(sentence).replace("\u2019", "'").rstrip("。！!.")
    rules: list[tuple[str, re.Pattern[str]]] = []
    if not (english.QUESTION.search(sentence) or _is_denied(plain)):
        rules += _ENGLISH
    if not (chinese.QUESTION.search(plain) or chinese.NOT_MEANT.search(plain)):
        rules += _CHINESE
    for name, rule in rules:
        if found := rule.search(plain):
            who = sentence[slice(*found.span("who"))]
            is_named = not _UNNAMED.fullmatch(found["who"])
            return ToldEnd(quote=sentence, field=name, of=who if is_named else "")
    return None


def _is_denied(plain: str) -> bool:
    """Return True for a condition, a doubt, a denial, or words of others."""
    bare = _NO_LONGER.sub("", plain)
    return bool(english.NOT_MEANT.search(bare) or english.NOT_MEANT_BEFORE.search(bare))
