"""Former words: what is over or not done yet, told as what is so now."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import islice
from typing import Final

from recollect.formation.support.cited_passages import Passage
from recollect.formation.support.stances import is_negative
from recollect.formation.support.told_clauses import OwnWord, OwnWords, TextClause, text_clauses
from recollect.formation.support.voices import SENTENCE_END
from recollect.text.chinese_scripts import simplified

SHARED_WORDS_MIN: Final = 2
"""So many words of a clause about former times are retold."""
DENIED_VERBS_MAX: Final = 20
_FORMER: Final = re.compile(
    r"^[\W_]{0,3}(?:(?:and|so|but) )?(?:i|we|he|she|they|it) used to\b|\bformerly\b"
    r"|^[\W_]{0,3}[我他她]?(?:们)?(?:以前|原来|本来|原本|从前)",
    re.IGNORECASE,
)
_TOLD_AS_FORMER: Final = re.compile(
    r"\b(?:used to|formerly|former|previously|before|earlier|once|was|were|had|no longer|ex|from"
    r"|instead|replac\w*|switch\w*|mov\w*|chang\w*|origin\w*)\b"
    r"|以前|之前|原来|原本|本来|从前|曾|过|改|换|转|变|前|不再|戒|退",
    re.IGNORECASE,
)
_NOT_DONE: Final = re.compile(r"(?:还没有?|还未|尚未|没有?|未)(?P<verb>[\u3400-\u9fff])")
_NO_VERB: Final = frozenset("想什人啥事有多那这关问办法几到在过个钱空能")


def former_reasons(text: str, cited: Sequence[Passage]) -> Iterator[str]:
    """Yield why *text* may tell as so what *cited* words tell as over, or as not done."""
    own = [each for each in cited if each.trust == "user"]
    yield from _told_as_done(simplified(text), own)
    yield from _told_as_now(text, own)


def _told_as_done(text: str, cited: Sequence[Passage]) -> Iterator[str]:
    """Yield a verb that was said with "not yet" alone, and is told with "already"."""
    if "已" not in text:
        return
    said = "\n".join(simplified(each.text) for each in cited)
    for match in islice(_NOT_DONE.finditer(said), DENIED_VERBS_MAX):
        verb = match["verb"]
        if verb in _NO_VERB:
            continue
        is_told = re.search(rf"已经?{verb}", text)
        if is_told and not re.search(rf"已经?{verb}|(?<![没未有]){verb}[了好完]", said):
            yield f"the cited words say that it is not done: {match.group()!r}"
            return


def _told_as_now(text: str, cited: Sequence[Passage]) -> Iterator[str]:
    """Yield a clause about former times that *text* retells without saying so."""
    clauses = [
        clause
        for each in cited
        for sentence in SENTENCE_END.split(each.text)
        for clause in text_clauses(sentence)
    ]
    former = [each for each in clauses if _FORMER.search(simplified(each.text))]
    if not former or _TOLD_AS_FORMER.search(simplified(text)):
        return
    present = OwnWords(word for each in clauses if each not in former for word in each.words)
    for value in text_clauses(text):
        if is_negative(value.text):
            continue
        for clause in former:
            if len(_only_in(clause, present, value)) >= SHARED_WORDS_MIN:
                yield f"the cited words tell it of before: {clause.text.strip()[:80]!r}"
                return


def _only_in(clause: TextClause, present: OwnWords, value: TextClause) -> list[OwnWord]:
    """Return the words that a clause shares with a value and no clause about now has."""
    only = [each for each in clause.words if not present.has(each)]
    return OwnWords(value.words).among(only)
