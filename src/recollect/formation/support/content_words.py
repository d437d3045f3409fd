"""Content words of a text in any script, by which a value is compared with a quote."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Final, NamedTuple

import Stemmer

from recollect.formation.wording.pieces import piece_spans
from recollect.text.analysis import MARKS, UNSPACED, fold
from recollect.text.chinese_scripts import simplified
from recollect.text.data_files import read_rows
from recollect.text.short_texts import CHARACTERS_MAX, kept_if_short
from recollect.text.word_caches import word_cache

WORD_CHARACTERS_MAX: Final = 64
"""A longer run of letters (a key, an encoded file) counts by its first characters only."""
_CLIPPED_MIN: Final = 5
"""Fewest letters of a word without its last g: shorter ones ("rain") are words of their own."""
_PREFIX: Final = 4
_SLIP_CHARACTERS_MAX: Final = 24
_SHORT_MIN: Final = 3
_TOKEN: Final = re.compile(
    rf"(?P<unspaced>[{UNSPACED}]+)"
    r"|(?P<number>\d[\d.,:/-]*)"
    rf"|(?P<word>[^\W\d_{UNSPACED}](?:[^\W_{UNSPACED}]|[{MARKS}]|['\u2019](?=[^\W\d_]))*)"
)
_STEMMER: Final = Stemmer.Stemmer("english", 0)
_IRREGULAR: Final = {
    form: base for base, *forms in read_rows(__package__, "irregular_verbs.txt") for form in forms
}
# Letters of Japanese grammar: a pair of them says nothing by itself.
_HIRAGANA: Final = "\u3041-\u309f"
_GRAMMAR: Final = re.compile(rf"[{_HIRAGANA}ー々]+")


class Token(NamedTuple):
    """A word as it is compared: its stem as *key*; a number, or a run without spaces, whole."""

    key: str
    start: int
    end: int
    folded: str = ""
    is_run: bool = False
    is_number: bool = False


def tokens_in(text: str) -> Iterable[Token]:
    """
    Return the words and numbers of *text*, in order; Chinese in its simplified form.

    >>> [each.key for each in tokens_in("Ada's cats moved 2 times to 臺北")]
    ['ada', 'cat', 'move', '2', 'time', 'to', '台北']
    """
    if len(text) > CHARACTERS_MAX:
        return _tokens_of(text)
    return _kept_tokens(text)


@kept_if_short
def _kept_tokens(text: str) -> tuple[Token, ...]:
    return tuple(_tokens_of(text))


def _tokens_of(text: str) -> Iterator[Token]:
    text = simplified(text)
    for offset, stop in piece_spans(text):
        for match in _TOKEN.finditer(text[offset:stop]):
            start, end = match.start() + offset, match.end() + offset
            if match.lastgroup == "number":
                yield Token(match.group().rstrip(".,:/-"), start, end, is_number=True)
            elif match.lastgroup == "unspaced":
                yield Token(match.group(), start, end, is_run=True)
            else:
                folded = _folded(match.group()[:WORD_CHARACTERS_MAX])
                yield Token(stem_of(folded), start, end, folded=folded)


@word_cache(maxsize=50_000)
def _folded(written: str) -> str:
    word = fold(written).replace("\u2019", "'")
    return word.removesuffix("'s")


@word_cache(maxsize=50_000)
def stem_of(folded: str) -> str:
    """
    Return the English stem of a word in ASCII; any other word as it is.

    >>> stem_of("walked"), stem_of("came"), stem_of("bought")
    ('walk', 'come', 'buy')
    """
    if not folded.isascii():
        return folded
    return str(_STEMMER.stemWord(_IRREGULAR.get(folded, folded)))


def _spoken_stem(folded: str) -> str:
    """Return the stem of a word that is written as it is spoken: "tearin", "lookin'"; else ""."""
    word = folded.removesuffix("'")
    is_clipped = len(word) >= _CLIPPED_MIN and word.isascii() and word.endswith("in")
    return stem_of(f"{word}g") if is_clipped else ""


def word_of(letters: str) -> Token:
    """
    Return the word that some letters of a word in lower-case ASCII are by themselves.

    >>> word_of("bees").key
    'bee'
    """
    if letters.isalpha():
        return Token(stem_of(letters), 0, len(letters), letters)
    return next(iter(_tokens_of(letters)))


def says_something(pair: str) -> bool:
    """Return True unless *pair* is grammar alone: letters of hiragana."""
    return _GRAMMAR.fullmatch(pair) is None


@dataclass(slots=True)
class WordIndex:
    """An index of the words of texts; see `WordIndex.add`."""

    keys: set[str] = field(default_factory=set)
    runs: set[str] = field(default_factory=set)
    compounds: set[str] = field(default_factory=set)
    pairs: set[str] = field(default_factory=set)
    characters: set[str] = field(default_factory=set)
    _by_prefix: defaultdict[str, set[str]] = field(default_factory=lambda: defaultdict(set))

    def add(self, text: str, *, with_compounds: bool = False) -> None:
        """
        Add the words of *text*; of scripts without spaces, characters and pairs of them.

        With compounds, neighbours written as one word are added too: "hay fever", hayfever.
        """
        before = ""
        for token in tokens_in(text):
            self.add_token(token)
            if with_compounds and before and token.folded:
                self.compounds.add(before + token.folded)
            before = token.folded

    def add_all(self, other: WordIndex) -> None:
        """Add the words of another index."""
        self.keys |= other.keys
        self.runs |= other.runs
        self.compounds |= other.compounds
        self.pairs |= other.pairs
        self.characters |= other.characters
        for prefix, keys in other._by_prefix.items():
            self._by_prefix[prefix] |= keys

    def add_token(self, token: Token) -> None:
        """Add one word."""
        if token.is_run:
            self.runs.add(token.key)
            self.characters.update(token.key)
            self.pairs.update(a + b for a, b in zip(token.key, token.key[1:], strict=False))
            return
        for key in (token.key, token.folded, _spoken_stem(token.folded)):
            if key and key not in self.keys:
                self.keys.add(key)
                self._by_prefix[key[:_PREFIX]].add(key)

    def has(self, token: Token) -> bool:
        """
        Return True if the word was said: itself, inflected, or as the beginning of a compound.

        >>> index = WordIndex()
        >>> index.add("planning an allergy-safe wedding")
        >>> [index.has(each) for each in tokens_in("plans allergic weeds fish")]
        [True, True, False, False]
        """
        if token.key in self.keys or token.is_number:
            return token.key in self.keys
        if token.folded in self.keys or token.folded in self.compounds:
            return True
        near = self._by_prefix.get(token.folded[:_PREFIX], ())
        return any(is_form(token.folded, each) for each in near)

    def has_token(self, token: Token) -> bool:
        """Return True if a word was said, or a stretch of characters one after the other."""
        if not token.is_run:
            return self.has(token)
        return self.longest(token.key, 0) == len(token.key) > 1

    def resembles(self, token: Token) -> bool:
        """
        Return True if the word may be a misspelling of one that was said.

        Every word is compared: this is for the words of a few sentences.

        >>> index = WordIndex()
        >>> index.add("an epipn, allergc")
        >>> [index.resembles(each) for each in tokens_in("EpiPen allergic peanut")]
        [True, True, False]
        """
        word = token.folded
        if token.is_run or token.is_number or not 5 <= len(word) <= _SLIP_CHARACTERS_MAX:
            return False
        allowed = 2 if len(word) >= 8 else 1
        return any(each[:1] == word[:1] and is_slip(word, each, allowed) for each in self.keys)

    def has_short(self, token: Token) -> bool:
        """Return True if the first letters of a long word were said for it: "mak", Maksutov."""
        word = token.folded
        return len(word) >= 2 * _SHORT_MIN and any(
            word[:length] in self.keys for length in range(_SHORT_MIN, len(word) - 1)
        )

    def longest(self, run: str, at: int) -> int:
        """Return the length of the longest part of *run* from *at* that occurs here."""
        end = at
        while end + 1 < len(run) and run[end : end + 2] in self.pairs:
            end += 1
        return end - at + 1 if end > at else 0


def is_form(one: str, other: str) -> bool:
    """
    Return True for forms of one word: a long common beginning, or one begins the other.

    >>> is_form("rauche", "raucht"), is_form("plan", "planet"), is_form("tea", "teach")
    (True, True, False)
    """
    short, long = sorted((one, other), key=len)
    if len(short) < 4:
        return False
    if long.startswith(short):
        return len(short) >= 5 or len(long) - len(short) <= 3
    common = next((n for n, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), 0)
    return common >= 5 and common >= 0.65 * len(long)


def is_slip(one: str, other: str, allowed: int) -> bool:
    """
    Return True if *one* is *other* with at most *allowed* letters changed, left out or added.

    >>> is_slip("shellfish", "shelfish", 1), is_slip("anna", "anne", 0)
    (True, False)
    """
    if abs(len(one) - len(other)) > allowed or min(len(one), len(other)) < 5:
        return False
    before = list(range(len(other) + 1))
    for row, a in enumerate(one, start=1):
        line = [row]
        for at, b in enumerate(other, start=1):
            line.append(min(before[at] + 1, line[-1] + 1, before[at - 1] + (a != b)))
        if min(line) > allowed:
            return False
        before = line
    return before[-1] <= allowed
