"""Corrections that a value misses: an opposite of what was said, or an amount of before."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from fractions import Fraction
from itertools import islice
from typing import Final

from recollect.formation.support.cited_passages import Passage
from recollect.formation.support.told_clauses import TEXT_CHARACTERS_MAX, text_clauses
from recollect.text.chinese_scripts import simplified
from recollect.text.numerals import numbers_in, plain

NUMBERS_MAX: Final = 20
"""So many numbers of one value, and of the clauses that it cites, are compared."""
_FORMER: Final = re.compile(
    r"\b(?:last time|used to|before|previously|formerly|until now|instead of|wanted|hoped"
    r"|was meant)\b"
    r"|上次|以前|原[来來本先定]|本[来來](?!就)|之前",
    re.IGNORECASE,
)
_TOLD_AS_PAST: Final = re.compile(r"\b(?:was|were|had been|former)\b|曾|[当做任]过", re.IGNORECASE)
# "I am" tells no time: a time of day stands behind a number, or behind its day.
_MORNING: Final = (
    r"\bmornings?\b|(?:\d ?|\b(?:the|this|each|every|tomorrow|early|mon|tues?|wed|thurs?|fri"
    r"|sat|sun|\w{3,6}day|five|fifteen|thirty|one|two|three|four|six|seven|eight|nine|ten|eleven|twelve"
    r"|o'clock) )a\.?m\b"
)
# "She left", "that's all right": neither is a side.
_LEFT: Final = (
    r"(?<!\bi )(?<!\bhe )(?<!she )(?<!they )(?<!\bwe )(?<!has )(?<!have )(?<!had )(?<!'s )(?<!ve )"
    r"(?<!who )(?<!just )(?<!'d )(?<!got )\bleft\b(?! over| out\b| at \d| home| work)"
)
_RIGHT: Final = (
    r"(?<!all )(?<!that's )(?<!thats )(?<!\bis )(?<!\bok )(?<!are )\bright\b(?!,? (?:away|now|after"
    r"|before|there|here|then|one|thing|time|size|amount|answer|price|choice)\b| ?\?)"
    r"|\b(?:of|on|in|for) the right one\b"
)
_OPPOSITES: Final = tuple(
    (re.compile(one, re.IGNORECASE), re.compile(other, re.IGNORECASE))
    for one, other in (
        (_MORNING, r"\b(?:evenings?|tonight|2nite|ni(?:ght|te)(?! shifts?)|pm)\b"),
        (_LEFT, _RIGHT),
        (r"早上|上午|早晨|清晨", r"晚上|夜里|傍晚"),
        (r"上半年", r"下半年"),
        (r"左", r"右"),
        (r"(?<!不是)(?:男孩|儿子)", r"(?<!不是)(?:女孩|女儿|妹子|闺女)"),
        (r"哥哥", r"弟弟"),
        (r"姐姐", r"妹妹"),
    )
)


def correction_reasons(text: str, cited: Sequence[Passage], before: str = "") -> Iterator[str]:
    """
    Yield what *text* says the opposite of, or tells of now and was said of before.

    What the text *before* says may stay.
    """
    text = text[:TEXT_CHARACTERS_MAX]
    own = [each for each in cited if each.trust == "user"]
    yield from _turned_round(text, own, before)
    yield from _former_amount(text, own)


def _turned_round(text: str, cited: Sequence[Passage], before: str) -> Iterator[str]:
    """Yield a word of *text* whose opposite alone was said."""
    said = simplified("\n".join(f"{each.text} {each.question}" for each in cited))
    stood = simplified(before)
    told = simplified(text)
    for pair in _OPPOSITES:
        for mine, theirs in (pair, pair[::-1]):
            has = mine.search(told)
            if has is None or theirs.search(told) or mine.search(f"{said}\n{stood}"):
                continue
            if against := theirs.search(said):
                yield f"the cited words say {against.group()!r}, and the value {has.group()!r}"
                return


def _former_amount(text: str, cited: Sequence[Passage]) -> Iterator[str]:
    """Yield an amount that was said of before alone, and is told as that of now."""
    clauses = [plain(e.text) for passage in cited for e in text_clauses(passage.text)]
    former = _numbers_of(each for each in clauses if _FORMER.search(each))
    present = _numbers_of(each for each in clauses if not _FORMER.search(each))
    if not former or not present or _FORMER.search(text):
        return
    values = [e.text for e in text_clauses(text) if not _TOLD_AS_PAST.search(simplified(e.text))]
    told = _numbers_of(map(plain, values))
    if told & (former - present) and not told & present:
        yield "the value tells as of now what was said of before"


def _numbers_of(texts: Iterable[str]) -> set[Fraction]:
    numbers = (number for text in texts for number in numbers_in(text) if number.is_claim)
    return {each for number in islice(numbers, NUMBERS_MAX) for each in number.readings}
