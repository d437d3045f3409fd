"""What a query asks for, read once: its terms, whom and what time it speaks of."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import date
from functools import lru_cache
from typing import Final

from recollect.recall.analyse import UNSPACED, fold, terms_of
from recollect.recall.dates import Days, asks_when, days_meant
from recollect.recall.terms import query_hashes

# Only the past tense: "you told me" asks for what was said, "can you tell me" does not.
_ASKS_FOR_ANSWERS: Final = re.compile(
    r"\byou (?:told|said|suggest|recommend|mention|gave|provid|wrote|list|explain|advis|describ"
    r"|shared|made|creat|used|came)|\bremind me\b"
    r"|\b(?:our )?(?:previous|last|earlier|past) (?:chat|conversation|discussion)"
    r"|\byour (?:recommend|suggest|advice|answer|list|response)"
    r"|你(?:说过|提到|推荐|建议|告诉|写的|列的|讲过)|提醒我",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """A query as the signals need it."""

    text: str
    terms: dict[int, int]
    asked_at: date
    asks_when: bool
    asks_for_answers: bool
    """Whether it refers to what the assistant said."""


@lru_cache(maxsize=256)
def read_question(text: str, asked_at: date) -> Question:
    """Return what *text*, asked at *asked_at*, asks for."""
    return Question(
        text=text,
        terms=query_hashes(terms_of(text)),
        asked_at=asked_at,
        asks_when=asks_when(text),
        asks_for_answers=bool(_ASKS_FOR_ANSWERS.search(text)),
    )


def days_of(question: Question, years: Iterable[int]) -> list[Days]:
    """Return the days that the question names; see `recollect.recall.dates.days_meant`."""
    return days_meant(question.text, question.asked_at, years)


def names_in(text: str, names: Iterable[str]) -> list[str]:
    """
    Return those of *names* that occur in *text* as whole words, whole or by their first word.

    >>> names_in("What did Ada's sister say to Bob?", ["Ada Lovelace", "Bob", "Bo"])
    ['Ada Lovelace', 'Bob']
    """
    return [name for name in names if _pattern(name).search(text)]


def without_names(text: str, names: Iterable[str]) -> str:
    """
    Return *text* without *names* (and their possessive); unchanged if nothing else is left.

    Between people, a name says who, which is known from the entry; it would draw every
    entry of that speaker near.

    >>> without_names("What did Ada's sister paint?", ["Ada"])
    'What did sister paint?'
    """
    rest = text
    for name in names:
        rest = _pattern(name).sub(" ", rest)
    rest = " ".join(rest.split())
    return rest if any(map(str.isalnum, rest)) else text


@lru_cache(maxsize=4_096)
def _pattern(name: str) -> re.Pattern[str]:
    first = next(iter(name.split(maxsplit=1)), name)
    wanted = {re.escape(each) for each in (name, first) if len(fold(each)) > 1}
    longest_first = "|".join(sorted(wanted or {re.escape(name)}, key=len, reverse=True))
    is_spaced = not re.search(rf"[{UNSPACED}]", name)
    before, after = (r"(?<!\w)", r"(?!\w)") if is_spaced else ("", "")
    return re.compile(rf"{before}(?:{longest_first})(?:['\u2019]s)?{after}", re.IGNORECASE)
