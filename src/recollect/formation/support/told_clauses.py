"""
Clauses of a text with their content words, to find which of them a memory retells.

A memory seldom repeats a sentence, but the clause that it retells shares words with it. What
governs that clause (a denial, a doubt, who it speaks of) has to hold of the memory as well.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator
from typing import Final, NamedTuple

from recollect.formation.support.content_words import Token, is_form, tokens_in
from recollect.formation.support.vocabulary import groups_of, is_neutral, neutral_places
from recollect.text.lazy_patterns import lazy_pattern
from recollect.text.short_texts import kept_if_short

TEXT_CHARACTERS_MAX: Final = 4_000
"""Characters of a value, and of its citations, that are read clause by clause."""
_DIGITS_MIN: Final = 2
_PREFIX: Final = 4
_CLAUSE_END: Final = lazy_pattern(
    r"[,;:.!?…，；：。！？、()（）\n—\U0001f300-\U0001faff]+(?!\d)|\s[-–]\s"
    # Who chats in Chinese parts clauses with spaces.
    r"|(?<=[\u3400-\u9fff])[ \u3000]+(?=[\u3400-\u9fff])"
    r"|\b(?:but|because|bc|so that|though|although|while|whereas|and (?=(?:i|we|he|she|they|my"
    r"|it)\b))|但是?|不过(?!敏)|因为|所以|然后|可是|[虽雖]然",
    re.IGNORECASE,
)


class OwnWord(NamedTuple):
    """A word that says something: its stem or two characters, where it stands, its synonyms."""

    key: str
    start: int
    groups: frozenset[int] = frozenset()


class OwnWords:
    """An index of words that finds equal words, other forms and synonyms."""

    def __init__(self, words: Iterable[OwnWord]) -> None:
        self.keys: set[str] = set()
        self._groups: set[int] = set()
        self._near: defaultdict[str, set[str]] = defaultdict(set)
        for each in words:
            self.keys.add(each.key)
            self._groups |= each.groups
            if each.key.isascii():
                self._near[each.key[:_PREFIX]].add(each.key)

    def has(self, word: OwnWord) -> bool:
        """Return True if a word was said, a form of it or a synonym."""
        if word.key in self.keys or not self._groups.isdisjoint(word.groups):
            return True
        near = self._near.get(word.key[:_PREFIX], ()) if word.key.isascii() else ()
        return any(is_form(word.key, each) for each in near)

    def among(self, words: Iterable[OwnWord]) -> list[OwnWord]:
        """Return those of *words* that were said."""
        return [each for each in words if self.has(each)]


class TextClause(NamedTuple):
    """A clause as it is written, and its own words."""

    text: str
    words: tuple[OwnWord, ...]


@kept_if_short
def text_clauses(text: str) -> tuple[TextClause, ...]:
    """
    Return the clauses of the beginning of a text, without empty ones.

    >>> [[word.key for word in each.words] for each in text_clauses("a whippet, from Leeds")]
    [['whippet'], ['leed']]
    """
    return _clauses_of(text[:TEXT_CHARACTERS_MAX])


def _clauses_of(text: str) -> tuple[TextClause, ...]:
    found: list[TextClause] = []
    start = 0
    for match in (*_CLAUSE_END.finditer(text), None):
        end = match.start() if match else len(text)
        part = text[start:end]
        if part.strip():
            found.append(TextClause(part, tuple(_own_words(tokens_in(part)))))
        start = match.end() if match else end
    return tuple(found)


def words_of(clauses: Iterable[TextClause]) -> Iterator[OwnWord]:
    """Yield the words of all *clauses*."""
    for each in clauses:
        yield from each.words


def _own_words(tokens: Iterable[Token]) -> Iterator[OwnWord]:
    """Yield the words that say something by themselves; of Chinese, each two characters."""
    for token in tokens:
        if token.is_run:
            yield from _pairs_of(token)
        elif token.is_number:
            if len(token.key) >= _DIGITS_MIN:
                yield OwnWord(token.key, token.start)
        elif not is_neutral(token):
            yield OwnWord(token.key, token.start, groups_of(token))


def _pairs_of(run: Token) -> Iterator[OwnWord]:
    neutral = neutral_places(run.key)
    for at in range(len(run.key) - 1):
        if not (neutral[at] and neutral[at + 1]):
            yield OwnWord(run.key[at : at + 2], run.start + at)
