"""Analyse a query once: its terms, and the people and times it mentions."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from typing import Final

from recollect.text.analysis import STOP_WORDS, UNSPACED, fold, is_first_person, terms_of
from recollect.text.chinese_scripts import simplified
from recollect.text.days import Days
from recollect.text.terms import date_terms, query_hashes, term_hash
from recollect.text.time_expressions import asks_when, days_meant
from recollect.text.word_caches import word_cache

# Only the past tense: "you told me" asks for what was said, "can you tell me" does not.
_ASKS_FOR_ANSWERS: Final = re.compile(
    r"\byou (?:told|said|suggest|recommend|mention|gave|provid|wrote|list|explain|advis|describ"
    r"|shared|made|creat|used|came)|\bremind me\b"
    r"|\bdid you (?:tell|say|write|give|make)\b"
    r"|\b(?:our )?(?:previous|last|earlier|past) (?:chat|conversation|discussion)"
    r"|\byour (?:recommend|suggest|advice|answer|list|response)"
    r"|[你您](?:说过|提到|推荐|建议|告诉|写的|列的|讲过)|提醒我"
    # "你给我推荐一本书" is a request, and "你上次给我推荐的书" is none.
    r"|[你您](?:之前|以前|先前|上次|刚才|那天|曾经?)?(?:[给跟和向对]我们?)?(?:说|推荐|建议|写|列|讲|做)[过的了]",
    re.IGNORECASE,
)

_ASKS_FOR_HISTORY: Final = re.compile(
    r"\b(?:before|previous(?:ly)?|former(?:ly)?|used to|originally|in the past|back then|earlier"
    r"|no longer|any ?more|still|history|chang\w*|switch\w*|mov(?:e|ed|ing)|replac\w*|since when"
    r"|how long|until when|last time|(?:where|what|who|which) (?:did|was|were) [^?]*\d{4})\b"
    r"|以前|之前|原来|原本|过去|曾经|从前|先前|变|改|换|搬|不再|还是|[还仍]住|历史|多久|什么时候起|\d{4}年.*(?:住|工作)",
    re.IGNORECASE,
)
"""Asks for more than what holds now: "used to", "how long", "before", 以前, 搬."""
_PAST: Final = re.compile(
    r"\b(?:was|were|did|had|ago|last|\d{4})\b|当时|那时|时候|[去前]年|\d{4}年|[上\d]个?月",
    re.IGNORECASE,
)
"""As in "Where was", "last", 当时."""

_ASKS: Final = re.compile(
    r"[?？]|\b(?:what|when|where|which|who|whom|whose|why|how|remind|remember|recall)\b"
    r"|什么|谁|哪|几|多少|怎|吗|记得",
    re.IGNORECASE,
)
"""A sign or a word of a question."""

_ASKS_ABOUT_ME: Final = re.compile(
    r"\b(?:about|know|describe|introduce) (?:me|myself)\b"
    r"|^\W*(?:please |(?:can|could|would) you (?:please )?)?"
    r"(?:list|show|plan|book|find|check|tell|give|help|suggest|recommend|write|draft|update|review"
    r"|compare|describe|prepare|schedule|organi[sz]e|summari[sz]e)\b.*\b(?:my|our)\b"
    r"|关于我|了解我|认识我|介绍(?:一下)?我|(?:帮|给|替)我.*我的",
    re.IGNORECASE,
)
"""As in "What do you know about me", "Plan my week", 介绍一下我."""
_SOMEBODY: Final = re.compile(
    r"\b(?:she|hers?|he|him|his|they|them|theirs?)\b|[她他]", re.IGNORECASE
)
_RUN: Final = re.compile(r"\w+")
_ANYWHERE: Final = ""
"""The index key of names that may occur inside a run of characters, as Chinese ones do."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AnalysedQuery:
    """A query with everything the signals need of it."""

    text: str
    terms: dict[int, int]
    """The number of occurrences of each term, by its hash."""
    words: dict[int, str]
    """The terms themselves, by their hashes, in the same order."""
    asked_at: date
    utc_offset: timedelta
    """That of the zone in which days are counted."""
    asks_when: bool
    asks_for_answers: bool
    """Whether it refers to an earlier answer of the assistant."""

    @property
    def message_length(self) -> int:
        """The number of terms that a message of these words has, with those of its day."""
        day = datetime.combine(self.asked_at, datetime.min.time())
        return sum(self.terms.values()) + len(date_terms(self.text, day))


# The same object for the same query: signals computed ahead are found by its identity.
@word_cache(maxsize=256)
def read_question(text: str, asked_at: date, utc_offset: timedelta = timedelta(0)) -> AnalysedQuery:
    """
    Analyse *text*, asked on the day *asked_at* of a zone at *utc_offset*.

    Chinese is folded to simplified characters.
    """
    text = simplified(text)
    found = terms_of(text)
    return AnalysedQuery(
        text=text,
        terms=query_hashes(found),
        words={term_hash(each): each for each in found},
        asked_at=asked_at,
        utc_offset=utc_offset,
        asks_when=asks_when(text),
        asks_for_answers=asks_for_answers(text),
    )


def asks_about_oneself(text: str) -> bool:
    """
    Return True if *text* asks for something about its speaker.

    >>> asks_about_oneself("What pets do I have?"), asks_about_oneself("How are you?")
    (True, False)
    >>> asks_about_oneself("List my pets"), asks_about_oneself("Tell me a joke")
    (True, False)
    """
    text = simplified(text)
    if _ASKS_ABOUT_ME.search(text):
        return True
    return is_first_person(text) and is_question(text)


def refers_to_somebody(text: str) -> bool:
    """
    Return True if *text* refers to a known person by a pronoun: "she", "their", 他.

    >>> refers_to_somebody("what do they charge to see her?"), refers_to_somebody("Tell me a joke")
    (True, False)
    """
    return bool(_SOMEBODY.search(simplified(text)))


def is_question(text: str) -> bool:
    """
    Return True if *text* is a question, or a request to recall.

    >>> is_question("Where do I live?"), is_question("I live in Lisbon.")
    (True, False)
    """
    return bool(_ASKS.search(simplified(text)))


def asks_for_answers(text: str) -> bool:
    """Return True if *text* refers to an earlier answer of the assistant."""
    return bool(_ASKS_FOR_ANSWERS.search(simplified(text)))


def asks_for_history(query: str) -> bool:
    """Return True if *query* asks for something past or changed."""
    return bool(_ASKS_FOR_HISTORY.search(fold(query)))


def asks_about_past(query: str) -> bool:
    """
    Return True if *query* may ask for something that is over.

    Wider than `asks_for_history`: a wrong "yes" only leaves an order as it was.

    >>> asks_about_past("Where did I live in 2020?"), asks_about_past("Where do I live?")
    (True, False)
    """
    return asks_for_history(query) or bool(_PAST.search(simplified(query)))


def days_of(question: AnalysedQuery, years: Iterable[int]) -> list[Days]:
    """Return the days that the question names; see `recollect.text.time_expressions.days_meant`."""
    return days_meant(question.text, question.asked_at, years)


def names_in(text: str, names: Iterable[str]) -> list[str]:
    """
    Return the names that occur in *text* as whole words, in full or by their first word.

    Case and the script of Chinese do not matter. A name that is also an English function word
    ("Will") must be capitalised, and not merely because it begins a sentence.

    >>> names_in("What did Ada's sister say to Bob?", ["Ada Lovelace", "Bob", "Bo"])
    ['Ada Lovelace', 'Bob']
    >>> names_in("Will it rain?", ["Will Lee"]), names_in("What did Will say?", ["Will Lee"])
    ([], ['Will Lee'])
    """
    text = simplified(text)
    return [name for name in _candidates(text, tuple(names)) if any(_mentions_of(name, text))]


def _candidates(text: str, names: tuple[str, ...]) -> list[str]:
    """Return the names, in order, that may occur in *text*: a prefilter by their first runs."""
    known = _by_first_run(names)
    runs = {_ANYWHERE, *_RUN.findall(text.casefold())}
    return [names[at] for at in sorted(at for run in runs for at in known.get(run, ()))]


@word_cache(maxsize=16)
def _by_first_run(names: tuple[str, ...]) -> dict[str, list[int]]:
    """
    Return the positions of *names* by their first run of word characters.

    A name with spaces occurs as whole words only, so that its first run must be a run of the text.
    """
    known: dict[str, list[int]] = {}
    for at, name in enumerate(names):
        run = _RUN.search(_first_word(simplified(name)).casefold())
        key = run.group() if run and _is_spaced(name) else _ANYWHERE
        known.setdefault(key, []).append(at)
    return known


def _mentions_of(name: str, text: str) -> Iterator[re.Match[str]]:
    """Yield the matches of *name*, or of its first word, in *text* that mean a person."""
    for match in _pattern(simplified(name)).finditer(simplified(text)):
        word = match["name"]
        is_function_word = fold(word) in STOP_WORDS
        is_written_as_name = word.istitle() and word != "I"
        begins = is_function_word and _begins_sentence(text, match.start())
        if not is_function_word or (is_written_as_name and not begins):
            yield match


def _begins_sentence(text: str, at: int) -> bool:
    before = text[:at].rstrip(" \t\"'([*-\u2018\u2019\u201c\u201d")
    return not before or before[-1] in ".!?:;\n\u2026\u3002\uff01\uff1f"


def without_names(text: str, names: Iterable[str]) -> str:
    """
    Return *text* without *names* (and their possessives), unless nothing else is left.

    For embedding. Between named people each entry has its speaker; a name in the query would raise
    the similarity of every entry that mentions the person, whatever it is about.

    >>> without_names("What did Ada's sister paint?", ["Ada"])
    'What did sister paint?'
    """
    rest = text
    for name in names:
        rest = _without(rest, name)
    rest = " ".join(rest.split())
    return rest if any(map(str.isalnum, rest)) else text


def _without(text: str, name: str) -> str:
    start, kept = 0, []
    for match in _mentions_of(name, text):
        kept.append(text[start : match.start()])
        start = match.end()
    return " ".join([*kept, text[start:]])


def _first_word(name: str) -> str:
    return next(iter(name.split(maxsplit=1)), name)


def _is_spaced(name: str) -> bool:
    return not re.search(rf"[{UNSPACED}]", name)


@word_cache(maxsize=4_096)
def _pattern(name: str) -> re.Pattern[str]:
    first = _first_word(name)
    wanted = {re.escape(each) for each in (name, first) if len(fold(each)) > 1}
    longest_first = "|".join(sorted(wanted or {re.escape(name)}, key=len, reverse=True))
    # A Chinese letter beside a Latin name ends it, as a space does: Mia对什么过敏.
    letter = rf"[^\W{UNSPACED}]"
    before, after = (f"(?<!{letter})", f"(?!{letter})") if _is_spaced(name) else ("", "")
    return re.compile(rf"{before}(?P<name>{longest_first})(?:['\u2019]s)?{after}", re.IGNORECASE)
