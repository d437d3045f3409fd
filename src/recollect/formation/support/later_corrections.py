"""Later corrections: a figure that a user took back, and words turned round into their opposite."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from fractions import Fraction
from itertools import islice
from typing import Final

from recollect.formation.support.cited_passages import Passage
from recollect.formation.support.heard_window import HeardWindow
from recollect.formation.support.stances import is_negative
from recollect.formation.support.told_clauses import (
    TEXT_CHARACTERS_MAX,
    OwnWords,
    text_clauses,
    words_of,
)
from recollect.formation.support.voices import SENTENCE_END
from recollect.text.chinese_scripts import simplified
from recollect.text.numerals import numbers_in, plain

CORRECTIONS_MAX: Final = 20
"""So many corrections of one message, and spans of one text, are compared."""
_FIGURE: Final = r"\d+(?:[.:/]\d+)*[a-z]?"
_FIGURES: Final = re.compile(rf"(?<![\w.:/]){_FIGURE}(?![\w:/])")
_TAKEN_BACK: Final = re.compile(
    rf"\b(?:not|instead of|rather than) (?:the |on |at |a )?[£$€]?(?P<old>{_FIGURE})\b"
    rf"|不是(?P<han>{_FIGURE})",
    re.IGNORECASE,
)
_HOURS: Final = 24
_RANGE: Final = re.compile(
    r"(?<![\d.:/-])(?P<one>\d{1,3}) ?(?:to|-|–|~|至|到) ?(?P<other>\d{1,3})(?![\d:/%-]|\.\d)"
)
_PLAIN_FIGURES: Final = re.compile(
    r"(?<![\w.:/-])\d{2,6}(?:\.\d{1,2})?(?![\w:/-]|\.\d)|(?<![\w.:/-])\d\.\d{1,2}(?![\w:/.-])"
)
_MADE: Final = re.compile(
    r"\b(?:actually|make (?:it|that)|no wait|hang on|correction)\b(?P<rest>[^.!?\n]{1,40})",
    re.IGNORECASE,
)
_UNIT: Final = re.compile(
    r"[ -]?(?P<unit>min|hour|day|week|month|year|people|guest|person)\w*", re.IGNORECASE
)
_FORMER: Final = re.compile(
    r"\b(?:last time|used to|before|previously|formerly|until now|instead of|wanted|hoped"
    r"|was meant)\b"
    r"|上次|以前|原[来來本先定]|本[来來]|之前",
    re.IGNORECASE,
)
_FIRST_OF_TWO: Final = re.compile(
    r"\b(?!(?:go|goe|come|wa|be|look|start|at|their|the|hi|her|my|our|your|it|this|that)s?\b)"
    r"(?P<what>[a-z]{4,20}) first\b",
    re.IGNORECASE,
)
_PREFERRED: Final = re.compile(
    r"\bprefer(?:s|red|ring|ence for)? (?P<first>[^,.;!?\n]{2,60}?)"
    r" (?:to|over|rather than|instead of|not) (?P<then>[^,.;!?\n]{2,60})",
    re.IGNORECASE,
)
_UNIT_LETTERS: Final = 3
_OPPOSITES: Final = tuple(
    (re.compile(one, re.IGNORECASE), re.compile(other, re.IGNORECASE))
    for one, other in (
        (r"\bmornings?\b|\bam\b", r"\b(?:evenings?|tonight|nights?|pm)\b"),
        (r"\bleft\b", r"\bright\b"),
        (r"早上|上午|早晨|清晨", r"晚上|夜里|傍晚"),
        (r"上半年", r"下半年"),
        (r"左", r"右"),
        (r"男孩|儿子", r"女孩|女儿"),
        (r"哥哥", r"弟弟"),
        (r"姐姐", r"妹妹"),
    )
)


def correction_reasons(text: str, cited: Sequence[Passage], heard: HeardWindow) -> Iterator[str]:
    """Yield what *text* says that a user's words in the talk have taken back, or turn round."""
    text = text[:TEXT_CHARACTERS_MAX]
    own = [each for each in cited if each.trust == "user"]
    yield from _taken_back(text, own, heard)
    yield from _turned_round(text, own)
    yield from _other_range(text, own)
    yield from _transposed(text, own, heard)
    yield from _other_amount(text, own, heard)
    yield from _former_amount(text, own)
    yield from _other_first(text, own)
    yield from _other_preferred(text, own)


def _taken_back(text: str, cited: Sequence[Passage], heard: HeardWindow) -> Iterator[str]:
    first = min((each.line.number for each in cited), default=0)
    told = set(_FIGURES.findall(text))
    for voice in heard.voices if told else ():
        if voice.trust != "user" or voice.line.number < first:
            continue
        said = simplified(voice.text[:TEXT_CHARACTERS_MAX])
        for match in islice(_TAKEN_BACK.finditer(said), CORRECTIONS_MAX):
            old = match["old"] or match["han"]
            others = set(_FIGURES.findall(_sentence_around(said, match.start()))) - {old}
            if old in told and not others & told and _is_stated(old, text):
                yield f"message {voice.line.number} takes {old} back"
                return


def _sentence_around(text: str, at: int) -> str:
    start = max((match.end() for match in SENTENCE_END.finditer(text, 0, at)), default=0)
    end = SENTENCE_END.search(text, at)
    return text[start : end.start() if end else len(text)]


def _is_stated(figure: str, text: str) -> bool:
    """Return True if a figure stands in a clause of *text*, and in none that denies it."""
    clauses = [each.text for each in text_clauses(text) if figure in each.text]
    return bool(clauses) and not any(map(is_negative, clauses))


def _turned_round(text: str, cited: Sequence[Passage]) -> Iterator[str]:
    said = simplified("\n".join(f"{each.text} {each.question}" for each in cited))
    told = simplified(text)
    for pair in _OPPOSITES:
        for mine, theirs in (pair, pair[::-1]):
            has = mine.search(told)
            if has is None or theirs.search(told) or mine.search(said):
                continue
            if against := theirs.search(said):
                yield f"the cited words say {against.group()!r}, and the value {has.group()!r}"
                return


def _other_range(text: str, cited: Sequence[Passage]) -> Iterator[str]:
    """Yield a span of two numbers of which one end was said with another, and the other not."""
    said = {_ends_of(match) for each in cited for match in _RANGE.finditer(each.text)}
    numbers = {number for each in cited for number in re.findall(r"\d+", each.text)}
    for match in islice(_RANGE.finditer(text), CORRECTIONS_MAX) if said else ():
        one, other = _ends_of(match)
        if {(one, other), (other, one)} & said or {match["one"], match["other"]} <= numbers:
            continue
        if any((each[0] == one) != (each[1] == other) for each in said):
            yield f"the cited words give another span than {match.group()!r}"
            return


def _transposed(text: str, cited: Sequence[Passage], heard: HeardWindow) -> Iterator[str]:
    """Yield a figure that nobody said, of the digits of one that was said."""
    known = "\n".join(each.source.text for each in heard.remembered)
    said = {each for passage in cited for each in _PLAIN_FIGURES.findall(passage.text)}
    spoken = {e for voice in heard.voices for e in _PLAIN_FIGURES.findall(voice.text)}
    for figure in islice(_PLAIN_FIGURES.findall(text), CORRECTIONS_MAX) if said else ():
        if figure in spoken or figure in known:
            continue
        twin = next((e for e in said if e != figure and sorted(e) == sorted(figure)), None)
        if twin:
            yield f"the cited words say {twin}, and the value {figure}"
            return


def _other_amount(text: str, cited: Sequence[Passage], heard: HeardWindow) -> Iterator[str]:
    """Yield an amount that a user corrected later: "actually make it 3 minutes"."""
    first = min((each.line.number for each in cited), default=0)
    told = _amounts_in(text)
    for voice in heard.voices if told else ():
        if voice.trust != "user" or voice.line.number < first:
            continue
        for match in islice(_MADE.finditer(voice.text[:TEXT_CHARACTERS_MAX]), CORRECTIONS_MAX):
            for unit, amounts in _amounts_in(match["rest"]).items():
                if unit in told and told[unit].isdisjoint(amounts):
                    yield f"message {voice.line.number} makes it {match['rest'].strip()[:40]!r}"
                    return


def _former_amount(text: str, cited: Sequence[Passage]) -> Iterator[str]:
    """Yield an amount that was said of before alone, and is told as that of now."""
    clauses = [plain(e.text) for passage in cited for e in text_clauses(passage.text)]
    former = _numbers_of(each for each in clauses if _FORMER.search(each))
    present = _numbers_of(each for each in clauses if not _FORMER.search(each))
    told = _numbers_of([plain(text)]) if former else set()
    if told & (former - present) and present and not told & present and not _FORMER.search(text):
        yield "the value tells as of now what was said of before"


def _numbers_of(texts: Iterable[str]) -> set[Fraction]:
    numbers = (number for text in texts for number in numbers_in(text) if number.is_claim)
    return {each for number in islice(numbers, CORRECTIONS_MAX) for each in number.readings}


def _other_first(text: str, cited: Sequence[Passage]) -> Iterator[str]:
    """Yield another thing that comes first than the one of two that was said to."""
    said = {m["what"].lower() for each in cited for m in _FIRST_OF_TWO.finditer(each.text)}
    told = {match["what"].lower() for match in _FIRST_OF_TWO.finditer(text)}
    if said and told and said.isdisjoint(told) and any(each in text.lower() for each in said):
        yield f"the cited words put {min(said)!r} first, and the value {min(told)!r}"


def _other_preferred(text: str, cited: Sequence[Passage]) -> Iterator[str]:
    """Yield a preference of two things that is told the other way round."""
    said = [m for each in cited for m in islice(_PREFERRED.finditer(each.text), CORRECTIONS_MAX)]
    for match in islice(_PREFERRED.finditer(text), CORRECTIONS_MAX) if said else ():
        first = OwnWords(words_of(text_clauses(match["first"])))
        for each in said:
            liked, other = (list(words_of(text_clauses(each[name]))) for name in ("first", "then"))
            if first.among(other) and not first.among(liked):
                yield f"the cited words prefer {each['first'].strip()[:40]!r}"
                return


def _amounts_in(text: str) -> dict[str, set[Fraction]]:
    """Return the amounts of each unit, known by its first letters."""
    found: defaultdict[str, set[Fraction]] = defaultdict(set)
    usual = plain(text)
    for number in islice(numbers_in(usual), CORRECTIONS_MAX):
        if unit := _UNIT.match(usual, number.end):
            found[unit["unit"][:_UNIT_LETTERS].lower()] |= number.readings
    return found


def _ends_of(match: re.Match[str]) -> tuple[int, int]:
    """Return both ends, those that may be hours as they stand on a clock."""
    one, other = int(match["one"]), int(match["other"])
    return (one % 12, other % 12) if max(one, other) <= _HOURS else (one, other)
