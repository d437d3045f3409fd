"""Lost denials: what was said only with a denial, retold without one."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Final

from recollect.formation.support.cited_passages import Passage
from recollect.formation.support.stances import is_negative, reach_of_denial, verbal_denials_in
from recollect.formation.support.told_clauses import OwnWord, OwnWords, TextClause, text_clauses
from recollect.formation.support.voices import SENTENCE_END

SHARED_WORDS_MIN: Final = 2
"""So many denied words are retold; of Chinese, one pair of characters."""
SHOWN_CHARACTERS: Final = 80
_TO_ASSISTANT: Final = re.compile(r"^\W*(?:[你妳您](?![们說说])|you\b)", re.IGNORECASE)
"""A clause that a user says of whom they talk with, not of themselves: 虽然你没有爸爸."""
_SENTENCE: Final = re.compile(r"(?<=[.!?;；。！？])\s*|\n+")


def lost_denial_reasons(text: str, cited: Sequence[Passage]) -> Iterator[str]:
    """Yield the first clause of *cited* words that denies what *text* affirms."""
    own = [each for each in cited if each.trust == "user"]
    clauses = [
        (each, _is_quoted(each, passage))
        for passage in own
        for sentence in SENTENCE_END.split(passage.text)
        for each in text_clauses(sentence)
    ]
    # What stands beside a quote may speak of somebody else: 她不能吃辣，我老公….
    denied = [(each, _denied_words(each) if quoted else []) for each, quoted in clauses]
    affirmed = OwnWords(word for e, words in denied for word in e.words if word not in words)
    retold = (
        [OwnWords(each.words) for each in _affirming(text)] if any(w for _, w in denied) else []
    )
    for clause, words in denied:
        only = [each for each in words if not affirmed.has(each)]
        needed = SHARED_WORDS_MIN if all(each.key.isascii() for each in only) else 1
        if any(len(value.among(only)) >= needed for value in retold):
            yield f"the cited words deny it: {clause.text.strip()[:SHOWN_CHARACTERS]!r}"
            return


def _is_quoted(clause: TextClause, passage: Passage) -> bool:
    """Return True if a quote touches the clause, or stands elsewhere in other letters."""
    quote = passage.citation.quote.strip()
    start, at = passage.text.find(quote), passage.text.find(clause.text)
    if start < 0 or at < 0 or passage.citation.implied:
        return True
    return start < at + len(clause.text.rstrip()) and at < start + len(quote)


def _affirming(text: str) -> Iterator[TextClause]:
    """Yield the clauses of a value up to which its sentence denies nothing."""
    for sentence in _SENTENCE.split(text):
        for clause in text_clauses(sentence):
            if is_negative(clause.text):
                break
            yield clause


def _denied_words(clause: TextClause) -> list[OwnWord]:
    """Return the words behind a denial, as far as it reaches."""
    if _TO_ASSISTANT.match(clause.text):
        return []
    places = verbal_denials_in(clause.text)
    reaches = [(place, reach_of_denial(clause.text, place)) for place in places]
    return [e for e in clause.words if any(start < e.start < end for start, end in reaches)]
