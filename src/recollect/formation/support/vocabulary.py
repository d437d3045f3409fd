"""
Vocabulary: neutral words and synonym groups.

A paraphrase may add neutral words (``neutral_words.toml``), as they claim nothing that needs
support, and words of one synonym group (``synonyms.txt``) may replace each other in it.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Container
from functools import cache
from itertools import chain
from typing import Final

from recollect.formation.support.content_words import Token, WordIndex, stem_of
from recollect.formation.support.stances import tells_liking
from recollect.text.analysis import fold
from recollect.text.data_files import read_rows, read_words
from recollect.text.short_texts import kept_if_short

_NEUTRAL: Final = read_words(__package__, "neutral_words.toml")
_CHINESE: Final = frozenset(_NEUTRAL["chinese"])
_CHINESE_FIRSTS: Final = frozenset(word[0] for word in _CHINESE)
_SYNONYMS: Final = tuple(read_rows(__package__, "synonyms.txt"))
_NO_GROUPS: Final[frozenset[int]] = frozenset()
HAN_WORD_CHARACTERS_MAX: Final = 6
"""No word of the lists in a script without spaces is longer."""


def is_neutral(token: Token) -> bool:
    """Return True for a word that a paraphrase may add; numbers are checked elsewhere."""
    word = token.folded
    return token.is_number or len(word) < 2 or word in _neutral() or tells_liking(word)


def neutral_length(run: str, at: int) -> int:
    """Return the length of the neutral word in *run* at *at*; 0 if there is none."""
    return _longest(run, at, _CHINESE)


def groups_of(token: Token) -> frozenset[int]:
    """Return the synonym groups of a spaced word."""
    groups = _groups()
    return groups.get(token.folded) or groups.get(token.key) or frozenset()


def group_at(run: str, at: int) -> tuple[int, frozenset[int]]:
    """Return the length, and the groups, of the longest listed word in *run* from *at* on."""
    length = _longest(run, at, _groups())
    return length, _groups()[run[at : at + length]] if length else frozenset()


def groups_said(index: WordIndex) -> frozenset[int]:
    """Return the groups of all listed words of a text of bounded length."""
    groups = _groups()
    spaced = chain.from_iterable(groups.get(key, ()) for key in index.keys)
    return frozenset(chain(spaced, *map(_groups_in, index.runs)))


@kept_if_short
def _groups_in(run: str) -> frozenset[int]:
    groups, firsts = _groups(), _firsts()
    found: set[int] = set()
    for at, first in enumerate(run):
        if first not in firsts:
            continue
        for length in range(1, HAN_WORD_CHARACTERS_MAX + 1):
            found |= groups.get(run[at : at + length], _NO_GROUPS)
    return frozenset(found)


@kept_if_short
def neutral_places(run: str) -> tuple[int, ...]:
    """Return the length of the neutral word at each place of *run*; 0 where none begins."""
    return tuple(
        _longest(run, at, _CHINESE) if first in _CHINESE_FIRSTS else 0
        for at, first in enumerate(run)
    )


@kept_if_short
def group_places(run: str) -> tuple[tuple[int, int, frozenset[int]], ...]:
    """Return where listed words begin in *run*: the place, the longest word's length and groups."""
    groups, firsts = _groups(), _firsts()
    lengths = ((at, _longest(run, at, groups)) for at, e in enumerate(run) if e in firsts)
    return tuple((at, n, groups[run[at : at + n]]) for at, n in lengths if n)


def _longest(run: str, at: int, words: Container[str]) -> int:
    for length in range(min(HAN_WORD_CHARACTERS_MAX, len(run) - at), 0, -1):
        if run[at : at + length] in words:
            return length
    return 0


@cache
def _neutral() -> frozenset[str]:
    return frozenset(map(fold, (*_NEUTRAL["english"], *_NEUTRAL["others"])))


@cache
def _groups() -> dict[str, frozenset[int]]:
    found: defaultdict[str, set[int]] = defaultdict(set)
    for number, group in enumerate(_SYNONYMS):
        for word in group:
            key = fold(word)
            found[key].add(number)
            if key.isascii():
                found[stem_of(key)].add(number)
    return {word: frozenset(numbers) for word, numbers in found.items()}


@cache
def _firsts() -> frozenset[str]:
    """Return the first characters of the words that have groups."""
    return frozenset(word[0] for word in _groups())
