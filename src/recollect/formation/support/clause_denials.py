"""Denials of single clauses: the words that they deny, and wording that only looks like one."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Final

from recollect.formation.support.content_words import Token
from recollect.formation.support.restrictions import without_restrictions
from recollect.formation.support.stances import Clause, clauses_in, tells_end
from recollect.formation.support.subjects import speaks_of_another, speaks_of_user
from recollect.formation.support.vocabulary import is_neutral, neutral_length

_NOTHING_FOUND: Final = re.compile(
    r"没有|没反应|没事|阴性|\b(?:nothing|none|negative|all clear|no reaction|not at all)\b",
    re.IGNORECASE,
)
CHANGE: Final = re.compile(r"\b(?:touch|chang|alter)\w*\b", re.IGNORECASE)
_UNTOUCHED: Final = re.compile(
    r"\b(?:nobody|no one|none of \w+|never|not|\w+n't) (?:yet |ever )?" + CHANGE.pattern[2:],
    re.IGNORECASE,
)
_EXCEPTED: Final = re.compile(
    r"\bnot (?:(?P<self>me|i)|her|him|them|she|he|they|my \w+|the \w+)\b"
    r"|不是(?:(?P<自>我(?![妈爸哥姐弟妹爷奶外女儿老媳朋同闺室]))|[他她]|我)",
    re.IGNORECASE,
)
_EXCEPTION: Final = re.compile(r"except|exclud|除了", re.IGNORECASE)
_MEANS: Final = re.compile(
    r"\b(?:i mean|i meant|meaning|talking about|as in) *$|我[是指][说講讲說]?|我[说說講讲指]的",
    re.IGNORECASE,
)
_MEANT_NOT: Final = re.compile(r" *(?:and )?not (?!all\b|any|every)|不是", re.IGNORECASE)
"""Of whom the speaker does not speak: "Kelly my manager I mean, not Dev's sister"."""
_NAME_HAN: Final = 2
"""Characters of a Chinese clause that are read as its subject."""
_OF_ALLERGY: Final = frozenset("过敏不没原检测耐受")


def _asserted(clause: Clause) -> Clause:
    attitudes = frozenset((each, False) for each, _ in clause.attitudes)
    return replace(clause, denials=(), attitudes=attitudes)


def without_meant(clauses: Sequence[Clause]) -> Iterator[Clause]:
    """Yield *clauses*; one that only says who is not meant denies nothing of them."""
    is_meant = False
    for each in clauses:
        is_contrast = is_meant and _MEANT_NOT.match(each.text)
        yield _asserted(each) if is_contrast else each
        is_meant = _MEANS.search(each.text) is not None


def tells_denial(clause: Clause) -> bool:
    """Return True if a clause denies, or tells an end; "only" is neither."""
    is_end = clause.tells_end and tells_end(without_restrictions(clause.text))
    return bool(clause.denials) or is_end


def excepts_same(said: Clause, denying: Clause) -> bool:
    """Return True if *said* names the allergen of *denying*, and excepts the one it speaks of."""
    excepted = _EXCEPTED.search(said.text)
    if excepted is None or not set(own_keys(said)) & set(own_keys(denying)):
        return False
    is_self = bool(excepted["self"] or excepted["自"])
    return is_self == (speaks_of_user([_affirmed(denying)], "allergic"))


def _affirmed(clause: Clause) -> Clause:
    return replace(clause, attitudes=frozenset({("allergic", False)}))


def tells_both(clause: Clause, word: Token, told: frozenset[str]) -> bool:
    """
    Return True if *word* is the lesser side of a contrast, and the value tells the other side too.

    "Ray the mechanic, not Ray my brother" says that there are two: a value that names both keeps
    it. A value that has only the brother turns it round.
    """
    for start in clause.denials:
        before = [each for each in clause.words if each.end <= start]
        is_contrast = clause.text[start : start + 3].lower() == "not" and before
        if is_contrast and start < word.start and not is_neutral(before[-1]):
            return before[-1].key in told
    return False


def is_untouched(clause: Clause, word: Token) -> bool:
    """Return True for "the limit" in "nobody touched the limit"."""
    return any(each.end() <= word.start for each in _UNTOUCHED.finditer(clause.text))


def denies_all(clause: Clause) -> bool:
    """Return True if a clause says nothing but that something is not there: 貓完全沒有."""
    return not clause.attitudes and _NOTHING_FOUND.search(clause.text) is not None


def own_keys(clause: Clause) -> Iterator[str]:
    """Yield the words of a clause, without those of allergy; of Chinese, each character."""
    for word in clause.words:
        if word.is_run:
            places = (at for at in range(len(word.key)) if not neutral_length(word.key, at))
            yield from (word.key[at] for at in places if word.key[at] not in _OF_ALLERGY)
        elif not is_neutral(word) and not word.key.startswith("allerg"):
            yield word.key


def denied_words(clause: Clause) -> list[Token]:
    """Return the words that a clause denies."""
    # An exception denies nothing: in "24-hour times, except in youth notices" there are notices.
    clause = without_exceptions(clause)
    return [
        word
        for word in clause.words
        if not word.is_run and not is_neutral(word) and clause.denies(word.start)
    ]


def without_exceptions(clause: Clause) -> Clause:
    """Return a clause without the denials that only open an exception."""
    denials = [at for at in clause.denials if not _EXCEPTION.match(clause.text, at)]
    return replace(clause, denials=tuple(denials))


def names_subject(said: Clause, clause: Clause) -> bool:
    """Return True if *said* names what *clause* begins with."""
    first = clause.words[0] if clause.words else None
    if first is None:
        return False
    key = first.key[:_NAME_HAN] if first.is_run else first.key
    return any(key in each.key if first.is_run else key == each.key for each in said.words)


def without_kept_subject(clause: Clause, before: str, denying: Sequence[Clause]) -> Clause:
    """
    Return a clause of a value without its subject, if all of it stood *before*.

    "She can't do Pickle" says what she can't do. That Pickle loves him, as the note said already,
    it does not deny. The *denying* clauses have to speak of somebody else.
    """
    is_kept = clause.text.strip() in {each.text.strip() for each in clauses_in(before)}
    if not is_kept or not denying or not all(map(speaks_of_another, denying)):
        return clause
    first, rest = clause.words[0], clause.words[1:]
    if not first.is_run:
        return replace(clause, words=rest)
    cut = first._replace(
        key=first.key[_NAME_HAN:],
        folded=first.folded[_NAME_HAN:],
        start=first.start + _NAME_HAN,
    )
    return replace(clause, words=(cut, *rest) if cut.key else rest)
