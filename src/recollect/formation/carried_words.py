"""Compare texts by their content words: which words one adds or drops."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from recollect.formation.support.content_words import Token, WordIndex, tokens_in
from recollect.formation.support.vocabulary import (
    group_at,
    groups_of,
    groups_said,
    is_neutral,
    neutral_length,
)

_STRETCH_MIN: Final = 2
"""Shortest stretch that counts as a word in a script without spaces."""


def words_beyond(text: str, others: Sequence[str]) -> list[str]:
    """
    Return the content words of *text* that occur in none of *others*, in order.

    A word counts as said if another form, a synonym or a misspelling of it was. Neutral words
    (`support.neutral_words`) and numbers, which are compared elsewhere, are left out.

    >>> words_beyond("drinks herbal tea daily in Bergen", ["drinks tea", "in Bergen"])
    ['herbal']
    """
    index = WordIndex()
    for each in others:
        index.add(each, with_compounds=True)
    groups = groups_said(index)
    found: list[str] = []
    for token in tokens_in(text):
        if token.is_run:
            found += _stretches(token.key, index, groups)
        elif not _is_in_groups(token, index, groups):
            found.append(token.folded)
    return list(dict.fromkeys(found))


def _is_in_groups(token: Token, index: WordIndex, groups: frozenset[int]) -> bool:
    if is_neutral(token) or index.has(token) or index.resembles(token):
        return True
    return bool(groups_of(token) & groups)


def _stretches(run: str, index: WordIndex, groups: frozenset[int]) -> Iterator[str]:
    """Yield the stretches of a script without spaces that are neither said nor neutral."""
    at, stretch = 0, ""
    while at < len(run):
        length = _known_length(run, at, index, groups)
        if length == 0:
            stretch += run[at]
        elif stretch:
            if len(stretch) >= _STRETCH_MIN:
                yield stretch
            stretch = ""
        at += max(1, length)
    if len(stretch) >= _STRETCH_MIN:
        yield stretch


def _known_length(run: str, at: int, index: WordIndex, groups: frozenset[int]) -> int:
    """Return the length of the known or neutral text at *at*; 0 for an unknown character."""
    length, named = group_at(run, at)
    if not named & groups:
        length = 0
    said = index.longest(run, at) or int(run[at] in index.characters)
    return max(length, said, neutral_length(run, at))
