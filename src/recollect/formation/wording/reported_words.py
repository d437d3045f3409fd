"""
Quotations of any kind, and text behind "she wrote:", with which a speaker passes on others' words.

An apostrophe opens no quotation: neither in "don't" nor in "the dogs' bowl".
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator
from itertools import pairwise
from typing import Final

from recollect.text.lazy_patterns import lazy_pattern

_Span = tuple[int, int]

INTRODUCTION_CHARACTERS: Final = 120
"""Characters before a colon that may say whose words follow."""
_CLOSINGS: Final = {
    '"': '"',
    "\uff02": "\uff02",
    "\u201c": "\u201d",
    "\u201d": "\u201d",  # as Swedish and Finnish open one
    "\u201e": "\u201c\u201d",
    "\u00ab": "\u00bb",
    "\u00bb": "\u00ab",
    "\u2039": "\u203a",
    "\u203a": "\u2039",
    "\u300c": "\u300d",
    "\u300e": "\u300f",
}
_SINGLE: Final = "'\u2018\u2019\u201a\u201b\uff07`"
_LATIN: Final = "A-Za-z0-9\u00c0-\u024f"
_OPENING: Final = re.compile(
    rf"[{''.join(_CLOSINGS)}](?=\S)"
    rf"|(?<![{_LATIN}])[{_SINGLE}]"
    r"(?!(?:tis|twas|cause|cos|cuz|em|till?|n|bout|round|\d0s)\b)(?=\S)",
    re.IGNORECASE,
)
_NEXT_SINGLE: Final = re.compile(rf"(?<=[\s(:\uff1a,\uff0c.\u3002])[{_SINGLE}](?=\S)")
_SINGLE_CLOSING: Final = re.compile(rf"(?<=\S)['\u2018\u2019\uff07`](?![{_LATIN}])")
_POSSESSIVE: Final = re.compile(r"s['\u2019] (?=[a-z])")
_AFTER_A_LETTER: Final = frozenset('"\uff02\u00bb\u201d\u203a')
"""Marks that close, or are inches, where they stand behind a letter or a figure."""
_OF_ONESELF: Final = re.compile(
    r"\b(?:i|i[\u2019']\w+|me|my|mine|we|our|us)\b|[我俺咱]", re.IGNORECASE
)
_NAME_CHARACTERS_MAX: Final = 40
_WISHES: Final = re.compile(r"\bplease\b|请|請", re.IGNORECASE)
_COLON: Final = re.compile(r"[:\uff1a](?!//|\d)")
_SENTENCE_END: Final = re.compile(r"[.!?。！？\n](?=\s|[\u3400-\u9fff]|$)")
_INTRODUCES: Final = lazy_pattern(
    r"\b(?:wrote|writes|written|said|says|told|tells|replied|answered|texted|texts|posted"
    r"|e-?mailed|messaged|sent|reads|goes|asked|quot(?:es?|ed|ing)|forward(?:ed|ing)|past(?:ed|ing)"
    r"|copied|(?:received|got) (?:this|that|an?|the)|states|stated|added|claim(?:s|ed)"
    r"|announced|shouted|sang|sings)\b"
    r"|\b(?:(?:e-?)?mails?|messages?|letters?|texts?|posts?|tweets?|reviews?|advert|profile|bio"
    r"|article|page|website|transcript|quotes?|quotation|lyrics?|poem|speech|voicemail|fwd?|dm|sms"
    r"|comment|caption|script|dialogue|template)\b"
    r"|写道|[写寫][着著]|写的是|(?<![跟和对对你您])(?<!我[想要])(?<!我)[说說](?:道|过|了)?$|回[复答]"
    r"|答道|问道|留言|发来|来信|[信邮文]里|邮件|短信|消息|信件|原文|转发|如下|引用|歌词|台词",
    re.IGNORECASE,
)
_GOT_THING: Final = lazy_pattern(
    r"\b(?:got|received)\b(?:\s+[\w'-]+){1,4}?\s+(?:offers?|jobs?|role|place|spot|slot|seat|flat"
    r"|apartment|house|room|studio|allotment|plot|car|van|bike|puppy|dog|cat|kitten|visa|permit"
    r"|licen[cs]e|scholarship|grant|loan|mortgage|raise|rise|promotion|appointment|date|tickets?)"
    r"(?:\s+(?!from\b|by\b)[\w'-]+){0,3}\s*$",
    re.IGNORECASE,
)
"""Before a colon: something that one gets and that is no text; what it is like follows."""
_BY_ANOTHER: Final = re.compile(r"\b(?:you|your|yours|dear|hi|hello)\b", re.IGNORECASE)
_CLAUSE_MARK: Final = re.compile(r"[,;，；]")
_NEW_SUBJECT: Final = re.compile(
    r"\s+(?:that\s+)?(?:i|you|he|she|it|we|they|there)\b(?!\s+(?:just\s+)?(?:got|received|wrote|sent))",
    re.IGNORECASE,
)
_ASKS: Final = re.compile(
    r"[帮幫替给給]我|我[要想来來]|\bhelp\b|\bmy (?:reply|answer)\b", re.IGNORECASE
)
"""Before a colon: the speaker's own reply follows, as it should be said."""
_SALUTATION: Final = re.compile(
    r"[\s>]{0,8}(?:dear|hi|hello|hey|good (?:morning|afternoon|evening)|亲爱的|尊敬的|你好|您好"
    r"|[\u3400-\u9fff]{1,6}[,，:：!！])[^.!?。！？\n]{0,40}[,，:：!！.]?\s*$",
    re.IGNORECASE,
)
_SIGNED: Final = re.compile(
    r"\n[ \t>]{0,8}(?:(?:best|kind(?:est)?|warm(?:est)?) (?:regards|wishes)|best|regards|cheers"
    r"|love|yours|sincerely|xx?|此致|祝好|顺祝|敬上|致礼)[^\n]{0,40}"
    r"(?:\n[^\n]{1,40})?$",
    re.IGNORECASE,
)
_SIGNED_CHARACTERS: Final = 160
_PARAGRAPH_END: Final = re.compile(r"\n[ \t]*\n")


def is_about_oneself(words: str) -> bool:
    """Return True if *words* have a pronoun of the first person, whoever that is."""
    return _OF_ONESELF.search(words) is not None


def is_name(quoted: str) -> bool:
    """
    Return True if a quotation names or stresses something, and states and asks nothing.

    >>> is_name("Mad Max"), is_name("I live in Oslo"), is_name("please keep it short")
    (True, False, False)
    """
    words = quoted.split()
    is_short = len(words) <= 3 and len(quoted) <= _NAME_CHARACTERS_MAX
    return is_short and not _OF_ONESELF.search(quoted) and not _WISHES.search(quoted)


def quotation_spans(text: str, *, unclosed: bool = False) -> Iterator[_Span]:
    """
    Yield the quotations of *text* with their marks, the outer ones of those that are nested.

    With *unclosed*, one that is never closed goes on to the end, unless it may be an apostrophe.

    >>> said = "I'm here. She wrote 'I don't live in Oslo' on the dogs' bowl."
    >>> [said[start:end] for start, end in quotation_spans(said)]
    ["'I don't live in Oslo'"]
    """
    doubles: dict[str, dict[int, int]] = {}
    singles = _SingleMarks(text)
    at = 0
    while opening := _OPENING.search(text, at):
        at = opening.end()
        mark, start = opening.group(), opening.start()
        if mark in _AFTER_A_LETTER and text[start - 1 : start].isalnum():
            continue
        if mark in _SINGLE:
            end = singles.end_of(at)
        else:
            if mark not in doubles:
                doubles[mark] = _ends_of(text, mark)
            end = doubles[mark].get(start)
            if end is None and unclosed and mark not in "\u201d\u00bb\u203a":
                end = len(text)
        if end is not None:
            yield start, end
            at = end


def _ends_of(text: str, mark: str) -> dict[int, int]:
    """Return the ends of all quotations that begin with *mark*, in one pass over the text."""
    closings = _CLOSINGS[mark]
    if mark in closings:
        places = [found.start() for found in re.finditer(mark, text)]
        return {begin: end + 1 for begin, end in pairwise(places)}
    opened: list[int] = []
    ends: dict[int, int] = {}
    for found in re.finditer(f"[{mark}{closings}]", text):
        if found.group() == mark:
            opened.append(found.start())
        elif opened:
            ends[opened.pop()] = found.end()
    return ends


class _SingleMarks:
    """The single marks of a text, found once: a mark at a time, hostile texts would take long."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._openings = [found.start() for found in _NEXT_SINGLE.finditer(text)]
        self._closings = [found.start() for found in _SINGLE_CLOSING.finditer(text)]

    def end_of(self, at: int) -> int | None:
        """Return the end of a quotation whose words begin at *at*, before the next one opens."""
        following = bisect_left(self._openings, at)
        last = self._openings[following] if following < len(self._openings) else len(self._text)
        end = None
        for number in range(bisect_left(self._closings, at), len(self._closings)):
            closing = self._closings[number]
            if closing >= last:
                break
            end = closing + 1
            if not _POSSESSIVE.match(self._text, closing - 1):
                break
        return end


def reported_spans(text: str) -> Iterator[tuple[int, int, int]]:
    r"""
    Yield the colon of each introduction such as "she wrote:", and the span that it introduces.

    That is a quotation, or the rest of the paragraph; of a letter all, with its signature. *text*
    has simplified characters.

    >>> said = "She wrote: I live in Oslo. Cold!\n\nI live in Rome."
    >>> [said[start:end] for _, start, end in reported_spans(said)]
    ['I live in Oslo. Cold!']
    """
    ends = dict(quotation_spans(text))
    signed = _SIGNED.search(text, max(0, len(text) - _SIGNED_CHARACTERS))
    reached = behind = 0
    for colon in _COLON.finditer(text):
        if colon.start() < reached:
            continue
        since = max(reached, behind, colon.start() - INTRODUCTION_CHARACTERS)
        before, behind = text[since : colon.start()], colon.end()
        if not _introduces(_SENTENCE_END.split(before)[-1]):
            continue
        start = next((at for at in range(colon.end(), len(text)) if not text[at].isspace()), None)
        if start is None:
            return
        is_signed = signed is not None
        reached = ends.get(start) or _end_of_paragraph(text, start, is_signed=is_signed)
        is_quoted = start in ends or is_signed
        if is_quoted or not _describes_thing(before, text[start:reached]):
            yield colon.start(), start, reached


def _introduces(before: str) -> bool:
    """
    Return True if the last words before a colon say whose words follow, and ask for none.

    >>> _introduces("my boss texted me this"), _introduces("my sister said she likes tea")
    (True, False)
    """
    clause = _CLAUSE_MARK.split(before)[-1]
    found = [each.end() for each in _INTRODUCES.finditer(clause)]
    return bool(found) and not (_ASKS.search(clause) or _NEW_SUBJECT.match(clause, found[-1]))


def _describes_thing(before: str, behind: str) -> bool:
    """
    Return True if the speaker got a thing that is no text, and lists what it is like.

    >>> _describes_thing("we got the flat", "two rooms, 900 a month. I sign on Friday")
    True
    >>> _describes_thing("I got an offer", "We need you in Oslo. I am Peter")
    False
    """
    clause = _CLAUSE_MARK.split(_SENTENCE_END.split(before)[-1])[-1]
    verbs = (each.group().lower() for each in _INTRODUCES.finditer(clause))
    is_text = not all(each.startswith(("got ", "received ")) for each in verbs)
    is_thing = _GOT_THING.search(clause) is not None and not is_text
    first = _SENTENCE_END.split(behind)[0]
    return is_thing and not is_about_oneself(first) and not _BY_ANOTHER.search(behind)


def _end_of_paragraph(text: str, start: int, *, is_signed: bool) -> int:
    """Return the end of the paragraph; of the text, if a letter begins or the text is signed."""
    end = _PARAGRAPH_END.search(text, start)
    if end is None or is_signed or _SALUTATION.fullmatch(text, start, end.start()):
        return len(text)
    return end.start()
