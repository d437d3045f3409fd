"""Lost doubts: a clause said in doubt, or as hearsay, that a value retells as certain."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import takewhile
from typing import Final

from recollect.formation.grounding.hedges import hedges_in, keeps_hedge, tells_fulfilled
from recollect.formation.support.cited_passages import Passage
from recollect.formation.support.endings import has_ending_cue
from recollect.formation.support.told_clauses import (
    OwnWord,
    OwnWords,
    TextClause,
    text_clauses,
    words_of,
)
from recollect.formation.support.voices import SENTENCE_END

SHARED_WORDS_MIN: Final = 2
"""Least words of a doubtful clause that a value repeats, unless the clause has fewer."""
SHOWN_CHARACTERS: Final = 80
_WISHED: Final = re.compile(
    r"\b(?:wish\w*|dream\w*|aspir\w*|interest\w*|request\w*|appreciat\w*|plans? to|open to)\b"
    r"|希望|想要|打算|有意",
    re.IGNORECASE,
)
"""Words of wishes and plans, which state nothing as certain."""


def lost_doubt_reasons(text: str, labels: str, cited: Sequence[Passage]) -> Iterator[str]:
    """Yield the first doubt of *cited* sentences that *text*, under its *labels*, leaves out."""
    own = [each for each in cited if each.trust == "user" and not each.citation.implied]
    doubtful = [
        found
        for each in own
        for sentence in SENTENCE_END.split(each.text)
        for found in _doubtful_clauses(sentence)
        if not tells_fulfilled(text, sentence)
    ]
    if not doubtful or _WISHED.search(text):
        return
    sure = OwnWords(word for each in cited for word in _sure_words(each.text))
    retold = [(each, OwnWords(each.words)) for each in text_clauses(text)]
    for hedge, clause in doubtful:
        only = [each for each in clause.words if not sure.has(each)]
        if any(_retells(only, clause, words) for _, words in retold) and not keeps_hedge(
            f"{text} {labels}", hedge
        ):
            yield _reason(hedge)
            return


def retells_doubt(text: str, quoted: Iterable[str]) -> bool:
    """
    Return True if *text* retells a clause of *quoted* sentences that is said in doubt.

    >>> retells_doubt("since she moved to Turin", ["maybe she moved to Turin"])
    True
    >>> retells_doubt("family visits", ["maybe she moved to Turin"])
    False
    """
    value = OwnWords(words_of(text_clauses(text)))
    doubtful = (clause for each in quoted for _, clause in _doubtful_clauses(each))
    return any(_retells(each.words, each, value) for each in doubtful)


def doubtful_end_reasons(cited: Sequence[Passage]) -> Iterator[str]:
    """Yield the doubt of an end if all its quotes express doubt, and none tells it for certain."""
    own = [each for each in cited if each.trust == "user" and not each.citation.implied]
    quotes = [each.citation.quote for each in own]
    if quotes and all(map(hedges_in, quotes)) and not any(map(_ends_for_certain, quotes)):
        yield _reason(quotes[0])


def _ends_for_certain(quote: str) -> bool:
    """
    Return True for "the landlady said no. So he's my cat now": the second is the speaker's own.

    Of a sentence with a doubt only what stands before it can be certain, unless the doubt is said
    of that: "he's gone, I think".
    """
    governed = {each.text for _, each in _doubtful_clauses(quote)}
    for sentence in SENTENCE_END.split(quote):
        before = takewhile(lambda each: not hedges_in(each.text), text_clauses(sentence))
        if any(each.text not in governed and has_ending_cue(each.text) for each in before):
            return True
    return False


def _reason(hedge: str) -> str:
    said = hedge.strip()[:SHOWN_CHARACTERS]
    return f"the speaker was in doubt, or told what others say: {said!r}"


def _retells(only: Sequence[OwnWord], clause: TextClause, value: OwnWords) -> bool:
    shared = value.among(only)
    if len(shared) >= SHARED_WORDS_MIN:
        return True
    # A clause of one word ("everyone says Roz") tells a name, of which nobody is in doubt.
    return len(shared) == len(clause.words) == 1 and clause.text[shared[0].start :][:1].islower()


def _doubtful_clauses(text: str) -> Iterator[tuple[str, TextClause]]:
    """Yield the words of each doubt, and the clause that it governs without them."""
    if not hedges_in(text):
        return
    for sentence in SENTENCE_END.split(text):
        clauses = text_clauses(sentence)
        for at, clause in enumerate(clauses):
            if not hedges_in(clause.text):
                continue
            rest = _without_hedges(clause)
            if rest.words:
                yield clause.text, rest
            elif at:  # "…, I guess"
                yield clause.text, clauses[at - 1]
            else:  # "apparently, …" governs all that follows
                yield from ((clause.text, each) for each in clauses[1:] if each.words)


def _sure_words(text: str) -> Iterator[OwnWord]:
    found = list(_doubtful_clauses(text))
    doubtful = {each.text for _, each in found} | {hedge for hedge, _ in found}
    for sentence in SENTENCE_END.split(text):
        for clause in text_clauses(sentence):
            if clause.text not in doubtful:
                yield from clause.words


def _without_hedges(clause: TextClause) -> TextClause:
    text = clause.text
    for each in hedges_in(text):
        text = text.replace(each, " ")
    return TextClause(text, tuple(words_of(text_clauses(text))))
